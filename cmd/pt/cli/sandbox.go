package cli

import (
	"github.com/spf13/cobra"

	"github.com/browsertabs/tabs/client"
)

func (a *app) sandboxCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "sandbox",
		Aliases: []string{"sandboxes"},
		Short:   "List and show sandboxes",
		Args:    cobra.ArbitraryArgs,
		RunE:    group,
	}
	cmd.AddCommand(a.sandboxListCmd(), a.sandboxGetCmd())
	return cmd
}

var sandboxColumns = []column[client.Sandbox]{
	{"ID", func(s client.Sandbox) string { return s.ID }},
	{"NAME", func(s client.Sandbox) string { return s.Name }},
	{"STATE", func(s client.Sandbox) string { return s.State }},
	{"PROVIDER", func(s client.Sandbox) string { return s.Provider }},
	{"AGE", func(s client.Sandbox) string { return age(s.CreatedAt) }},
}

func (a *app) sandboxListCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List sandboxes",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			ctx, cancel := a.withTimeout(cmd.Context())
			defer cancel()
			all, err := c.Sandboxes(ctx)
			if err != nil {
				return err
			}
			return printList(a, all, func(s client.Sandbox) string { return s.ID }, sandboxColumns)
		},
	}
}

func (a *app) sandboxGetCmd() *cobra.Command {
	return &cobra.Command{
		Use:               "get SANDBOX",
		Short:             "Show one sandbox, by id or name",
		Args:              exactArgs("a sandbox: its id or name, as in pt sandbox list"),
		ValidArgsFunction: a.completeSandbox(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			ctx, cancel := a.withTimeout(cmd.Context())
			defer cancel()
			s, err := c.Sandbox(ctx, args[0])
			if err != nil {
				return err
			}
			return printOne(a, s, s.ID, append(sandboxColumns[:len(sandboxColumns):len(sandboxColumns)],
				column[client.Sandbox]{"TABS", func(s client.Sandbox) string { return s.TabsURL }}))
		},
	}
}
