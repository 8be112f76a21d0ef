package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/sandbox/sqlite"
)

func orgCommand(env environment, stdout io.Writer) *cobra.Command {
	org := &cobra.Command{Use: "org", Short: "Organisations, which see nothing of each other"}
	create := &cobra.Command{
		Use: "create NAME", Short: "Make an organisation and print its key, once",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{errors.New("want one name: tabs org create NAME")}
			}
			return nil
		},
	}
	dir := dataDirFlag(create, env)
	create.RunE = func(cmd *cobra.Command, args []string) error {
		a, err := orgOf(cmd.Context(), *dir, args[0])
		if err != nil {
			return err
		}
		fmt.Fprintln(stdout, a.Key)
		return nil
	}
	org.AddCommand(create)
	return org
}

// orgOf makes the organisation through the server when one runs, else in its database.
func orgOf(ctx context.Context, dir, name string) (a orgAnswer, err error) {
	d, err := openDataDir(dir)
	if errors.Is(err, errLocked) {
		err = callServer(ctx, dir, "/orgs", url.Values{"name": {name}}.Encode(), &a)
		return a, err
	}
	if err != nil {
		return a, err
	}
	defer d.Close()
	db, err := sqlite.Open(ctx, d.file(databaseFile))
	if err != nil {
		return a, err
	}
	defer db.Close()
	s := sandbox.New(sandbox.Config{Store: db})
	// The first organisation is this server's own, and "local" is its.
	if _, err := s.FirstOrg(ctx); err != nil {
		return a, err
	}
	return createOrg(ctx, s, name)
}
