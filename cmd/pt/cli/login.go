package cli

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func (a *app) loginCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "login",
		Short: "Check a key and keep it for later calls",
		Long: `Check a key against the server and keep both in ~/.config/platinum/credentials, readable by you alone.

The key is asked for on the terminal, or read from standard input:

  pt login --api-url https://tabs.example.org
  pt login --profile work --api-url https://tabs.example.org < key.txt`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := readCredentials()
			if err != nil {
				// A file that cannot be read is replaced; a person who logs in wants exactly that.
				a.note("pt: %s", oneLine(err.Error()))
			}
			if all == nil {
				all = map[string]credentials{}
			}
			name := a.profileName()
			t := target{
				url: strings.TrimRight(cmp.Or(a.apiURL, os.Getenv("PT_API_URL"), os.Getenv("PLATINUM_API_URL"),
					all[name].APIURL, findLocalServer().url, defaultURL), "/"),
				key: a.key,
			}
			if t.key == "" {
				if t.key, err = a.readKey(t.url); err != nil {
					return err
				}
			}
			c, err := a.clientFor(t)
			if err != nil {
				return err
			}
			ctx, cancel := a.withTimeout(cmd.Context())
			defer cancel()
			who, err := c.Whoami(ctx)
			if err != nil {
				return err
			}
			all[name] = credentials{APIURL: t.url, Key: t.key}
			path, err := writeCredentials(all)
			if err != nil {
				return err
			}
			a.note("logged in to %s, organisation %s; key kept in %s", hostOf(t.url), oneLine(who.OrgName), path)
			return nil
		},
	}
}

// readKey asks for a key without showing it, or reads one line where nobody can be asked.
func (a *app) readKey(url string) (string, error) {
	f, ok := a.In.(*os.File)
	if ok && term.IsTerminal(int(f.Fd())) {
		fmt.Fprintf(a.Err, "Key for %s: ", url)
		b, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(a.Err)
		if err != nil {
			return "", fmt.Errorf("read key: %w", err)
		}
		return checkKey(string(b))
	}
	line, err := bufio.NewReader(io.LimitReader(a.In, 4096)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read key: %w", err)
	}
	return checkKey(line)
}

func checkKey(s string) (string, error) {
	if s = strings.TrimSpace(s); s == "" {
		return "", &usageError{msg: "no key given", hint: "pt login < key.txt, or pt login --key KEY"}
	}
	return s, nil
}
