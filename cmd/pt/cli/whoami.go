package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/browsertabs/tabs/client"
)

func (a *app) whoamiCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "whoami",
		Short: "Show whose key this is, what it may use, and on which server",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			ctx, cancel := a.withTimeout(cmd.Context())
			defer cancel()
			w, err := c.Whoami(ctx)
			if err != nil {
				return err
			}
			return printOne(a, w, w.OrgID, []column[client.Whoami]{
				{"server", func(client.Whoami) string { return c.BaseURL() }},
				{"version", func(w client.Whoami) string { return w.Version }},
				{"organisation", func(w client.Whoami) string { return w.OrgName + " (" + w.OrgID + ")" }},
				{"key", func(w client.Whoami) string { return orDash(w.KeyID) }},
				{"scope", func(w client.Whoami) string {
					if w.Scope == nil {
						return "full access"
					}
					return *w.Scope
				}},
				{"title limit", func(w client.Whoami) string { return strconv.Itoa(w.Limits.TitleChars) + " characters" }},
			})
		},
	}
}

func orDash(s *string) string {
	if s == nil || *s == "" {
		return "-"
	}
	return *s
}
