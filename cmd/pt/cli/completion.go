package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/browsertabs/tabs/client"
)

// completionTimeout bounds what Tab waits for: a slow server must not freeze the shell.
const completionTimeout = 2 * time.Second

func (a *app) completionCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print a completion script for your shell",
		Long: `Print a completion script. It completes commands, flags, and the ids of sandboxes and tabs.

  bash: source <(pt completion bash)
  zsh:  source <(pt completion zsh)
  fish: pt completion fish | source`,
		Args:      cobra.MatchAll(exactArgs("a shell: bash, zsh or fish"), cobra.OnlyValidArgs),
		ValidArgs: []string{"bash", "zsh", "fish"},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch args[0] {
			case "bash":
				return cmd.Root().GenBashCompletionV2(a.Out, true)
			case "zsh":
				return cmd.Root().GenZshCompletion(a.Out)
			}
			return cmd.Root().GenFishCompletion(a.Out, true)
		},
	}
}

type completer = func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective)

// completeSandbox completes the first argument with the ids of sandboxes.
func (a *app) completeSandbox() completer {
	return a.complete(func(ctx context.Context, c *client.Client, add func(id, text string)) error {
		all, err := c.Sandboxes(ctx)
		for _, s := range all {
			add(s.ID, s.Name+", "+s.State)
		}
		return err
	})
}

// completeTab completes the first argument with the ids of tabs, those of all sandboxes.
func (a *app) completeTab() completer {
	return a.complete(func(ctx context.Context, c *client.Client, add func(id, text string)) error {
		all, err := c.Sandboxes(ctx)
		if err != nil {
			return err
		}
		for _, s := range all {
			// One sandbox that does not answer must not hide the others' tabs.
			tabs, _ := c.Tabs(ctx, s.ID)
			for _, t := range tabs {
				add(t.ID, oneLine(t.Title))
			}
		}
		return nil
	})
}

func (a *app) complete(list func(ctx context.Context, c *client.Client, add func(id, text string)) error) completer {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		c, err := a.client()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		var found []cobra.Completion
		err = list(ctx, c, func(id, text string) { found = append(found, cobra.CompletionWithDesc(id, text)) })
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}
