// Command pt is the command line of Tabs. It only speaks /v1.
package main

import (
	"context"
	"os"

	"github.com/browsertabs/tabs/cmd/pt/cli"
)

// version is set by the linker.
var version = "dev"

func main() {
	cli.Version = version
	os.Exit(cli.Run(context.Background(), os.Args[1:], cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
