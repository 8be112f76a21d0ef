package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// exactArgs asks for as many arguments as there are descriptions of them, and says which one is missing.
func exactArgs(what ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		return needArgs(cmd, len(args), what)
	}
}

// argsThenCommand asks for the described arguments before "--", and takes any after it.
func argsThenCommand(what ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		n := len(args)
		if dash := cmd.ArgsLenAtDash(); dash >= 0 {
			n = dash
		} else if n > len(what) {
			return &usageError{
				msg:  fmt.Sprintf("%s: put -- before the command to run", cmd.CommandPath()),
				hint: cmd.UseLine(),
			}
		}
		return needArgs(cmd, n, what)
	}
}

func needArgs(cmd *cobra.Command, n int, what []string) error {
	switch {
	case n < len(what):
		return &usageError{msg: fmt.Sprintf("%s needs %s", cmd.CommandPath(), what[n]), hint: cmd.UseLine()}
	case n > len(what):
		return &usageError{msg: fmt.Sprintf("%s takes %d argument(s), got %d", cmd.CommandPath(), len(what), n), hint: cmd.UseLine()}
	}
	return nil
}
