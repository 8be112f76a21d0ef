package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/browsertabs/tabs/client"
)

var errNoTerminal = &usageError{msg: "attaching needs a terminal for input and output", hint: "pt tab open TAB shows it in a browser"}

func (a *app) tabAttachCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "attach TAB",
		Short: "Work in a tab from your own terminal",
		Long: `Work in a tab from your own terminal, as a tmux client of it: all its panes, windows and keys. The tab takes the
size of your terminal; browsers that look at it show it at that size meanwhile, and get the size back when you leave
or when somebody types there.

Leave with Ctrl-B d, as in any tmux, or close the terminal; the tab goes on. When the tab is not on this machine, or
this machine has no tmux, its bytes travel through the server. Then Ctrl-\ Ctrl-\ or, at the start of a line, ~. leaves
too, even when nothing answers any more. A tab without tmux (plain) is always shown that way.`,
		Args:              exactArgs(tabArg),
		ValidArgsFunction: a.completeTab(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !a.onTerminal() {
				return errNoTerminal
			}
			c, t, err := a.findTab(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.attach(cmd.Context(), c, t)
		},
	}
}

// attach gives the terminal to the tab until the person leaves or the tab ends.
func (a *app) attach(ctx context.Context, c *client.Client, t client.Tab) error {
	if t.State == "gone" {
		return &hintError{fmt.Errorf("the terminal server of tab %s died; nothing is left to attach to", t.ID), "pt tab close " + t.ID}
	}
	if t.Plain {
		return a.bridge(ctx, leavePlain, func(ctx context.Context, size client.Size) (remote, error) {
			return dialPlain(ctx, c, t, size)
		})
	}
	line, ok := parseAttach(t.AttachCommand)
	if _, err := exec.LookPath("tmux"); err == nil && ok && onThisMachine(c.BaseURL(), t, line.socket) {
		if insideOf(line.socket) {
			return &hintError{errors.New("this is the tab you are in"), "attach from another terminal"}
		}
		return a.attachLocal(ctx, c, t, line)
	}
	return a.bridge(ctx, leaveTmux, func(ctx context.Context, size client.Size) (remote, error) {
		return dialTmux(ctx, c, t, size)
	})
}
