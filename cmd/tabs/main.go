// Command tabs is the server: `tabs serve`, and what the person who runs it needs beside. It reads the configuration
// and wires the packages together; everything else is theirs.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/browsertabs/tabs/static"
)

// version is set by the linker.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main without the process around it.
func run(ctx context.Context, args, env []string, stdout, stderr io.Writer) int {
	root := newRoot(env, stdout, stderr)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	var bad problems
	if errors.As(err, &bad) {
		for _, p := range bad {
			fmt.Fprintln(stderr, "tabs:", p)
		}
		return 2
	}
	fmt.Fprintln(stderr, "tabs:", err)
	var usage usageError
	if errors.As(err, &usage) {
		return 2
	}
	return 1
}

// usageError is a command line that makes no sense.
type usageError struct{ error }

func newRoot(env []string, stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "tabs",
		Short: "Terminals in the browser that outlive it",
		// Errors are printed once, by run, without the usage text that would hide them.
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w (see %s --help)", err, c.CommandPath())}
	})
	root.AddCommand(
		serveCommand(env, stdout, stderr), configCommand(env, stdout), loginCommand(env, stdout), orgCommand(env, stdout),
		&cobra.Command{
			Use: "version", Short: "Print the version", Args: cobra.NoArgs,
			Run: func(*cobra.Command, []string) {
				fmt.Fprintf(stdout, "tabs %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			},
		},
		&cobra.Command{
			Use: "licenses", Short: "Print the licences of everything in this binary", Args: cobra.NoArgs,
			Run: func(*cobra.Command, []string) { io.WriteString(stdout, static.Licenses()) },
		},
	)
	return root
}
