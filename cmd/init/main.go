// Command init is PID 1 of a sandbox. With the argument "hold" it does nothing until its standard input ends, so that a
// namespace has somebody in it.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/browsertabs/tabs/sandbox/runc/agent"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "hold" {
		io.Copy(io.Discard, os.Stdin)
		return
	}
	if err := agent.Serve(); err != nil {
		fmt.Fprintln(os.Stderr, "init:", err)
		os.Exit(1)
	}
}
