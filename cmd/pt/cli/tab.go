package cli

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/browsertabs/tabs/client"
)

const tabArg = "a tab: its id, as in pt tab list"

func (a *app) tabCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "tab",
		Aliases: []string{"tabs"},
		Short:   "List, open, attach, rename and close tabs",
		Args:    cobra.ArbitraryArgs,
		RunE:    group,
	}
	cmd.AddCommand(a.tabListCmd(), a.tabNewCmd(), a.tabAttachCmd(), a.tabOpenCmd(), a.tabRenameCmd(), a.tabCloseCmd())
	return cmd
}

var tabColumns = []column[client.Tab]{
	{"ID", func(t client.Tab) string { return t.ID }},
	{"TITLE", func(t client.Tab) string { return t.Title }},
	{"STATE", tabState},
	{"RUNNING", func(t client.Tab) string { return orDash(&t.Foreground) }},
	{"SIZE", func(t client.Tab) string { return fmt.Sprintf("%dx%d", t.Cols, t.Rows) }},
	{"VIEWERS", func(t client.Tab) string { return strconv.Itoa(t.Viewers) }},
	{"USER", func(t client.Tab) string { return t.User }},
	{"AGE", func(t client.Tab) string { return age(t.CreatedAt) }},
	{"DIRECTORY", func(t client.Tab) string { return t.Cwd }},
}

func tabState(t client.Tab) string {
	s := t.State
	if t.ExitCode != nil {
		s += fmt.Sprintf(" (%d)", *t.ExitCode)
	}
	if t.Plain {
		s += ", plain"
	}
	if t.Bell {
		s += ", bell"
	}
	return s
}

func (a *app) tabListCmd() *cobra.Command {
	return &cobra.Command{
		Use:               "list SANDBOX",
		Aliases:           []string{"ls"},
		Short:             "List the tabs of a sandbox, in the order of its page",
		Args:              exactArgs("a sandbox: its id or name, as in pt sandbox list"),
		ValidArgsFunction: a.completeSandbox(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			ctx, cancel := a.withTimeout(cmd.Context())
			defer cancel()
			all, err := c.Tabs(ctx, args[0])
			if err != nil {
				return err
			}
			return printList(a, all, func(t client.Tab) string { return t.ID }, tabColumns)
		},
	}
}

func (a *app) tabNewCmd() *cobra.Command {
	var n client.NewTab
	var env []string
	var attach bool
	cmd := &cobra.Command{
		Use:     "new SANDBOX [-- COMMAND...]",
		Aliases: []string{"create"},
		Short:   "Open a tab and print its id",
		Long: `Open a tab and print its id. Without a command it runs a login shell. A command is run as given, with no shell
around it:

  pt tab new dev --title build -- make -j2
  pt tab new dev -- bash -lc 'make && make install'`,
		Args:              argsThenCommand("a sandbox: its id or name, as in pt sandbox list"),
		ValidArgsFunction: a.completeSandbox(),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if n.Env, err = parseEnv(env); err != nil {
				return err
			}
			if attach && !a.onTerminal() {
				return errNoTerminal
			}
			n.Command = args[1:]
			c, err := a.client()
			if err != nil {
				return err
			}
			if size, ok := a.terminalSize(); ok {
				n.Cols, n.Rows = size.Cols, size.Rows
			}
			ctx, cancel := a.withTimeout(cmd.Context())
			defer cancel()
			t, err := c.OpenTab(ctx, args[0], n)
			if err != nil {
				return err
			}
			if attach {
				return a.attach(cmd.Context(), c, t)
			}
			return printID(a, t, t.ID)
		},
	}
	f := cmd.Flags()
	f.StringVar(&n.Title, "title", "", "title to keep; without it the program's own is shown")
	f.StringVar(&n.User, "user", "", "`user` of the sandbox to run as")
	f.StringVar(&n.Cwd, "cwd", "", "`directory` to start in; without it the user's home")
	f.StringArrayVar(&env, "env", nil, "`NAME=value` to set, may be repeated; NAME alone passes yours on")
	f.BoolVar(&n.Plain, "plain", false, "without tmux: the tab ends with the server")
	f.BoolVar(&attach, "attach", false, "attach to it at once")
	return cmd
}

func parseEnv(list []string) (map[string]string, error) {
	if len(list) == 0 {
		return nil, nil
	}
	env := make(map[string]string, len(list))
	for _, s := range list {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			if value, ok = os.LookupEnv(name); !ok {
				return nil, &usageError{msg: fmt.Sprintf("--env %s: no such variable here", name), hint: "--env NAME=value"}
			}
		}
		if name == "" {
			return nil, &usageError{msg: fmt.Sprintf("--env %q has no name", s), hint: "--env NAME=value"}
		}
		env[name] = value
	}
	return env, nil
}

func (a *app) tabRenameCmd() *cobra.Command {
	return &cobra.Command{
		Use:               "rename TAB TITLE",
		Short:             `Give a tab a title; "" gives the title back to its program`,
		Args:              exactArgs(tabArg, "a title"),
		ValidArgsFunction: a.completeTab(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, t, err := a.findTab(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			ctx, cancel := a.withTimeout(cmd.Context())
			defer cancel()
			if t, err = c.UpdateTab(ctx, t.SandboxID, t.ID, client.TabUpdate{Title: &args[1]}); err != nil {
				return err
			}
			return printID(a, t, t.ID)
		},
	}
}

func (a *app) tabCloseCmd() *cobra.Command {
	return &cobra.Command{
		Use:               "close TAB...",
		Aliases:           []string{"rm"},
		Short:             "End tabs and every program in them",
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completeTab(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return needArgs(cmd, 0, []string{tabArg})
			}
			for _, id := range args {
				if err := a.closeTab(cmd.Context(), id); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func (a *app) tabOpenCmd() *cobra.Command {
	var printOnly bool
	cmd := &cobra.Command{
		Use:   "open TAB",
		Short: "Print a tab's address, and open it in the browser of this desktop",
		Long: `Print the address of a tab's page, and open it in the browser where there is a desktop to open it on and somebody
looks: standard output is a terminal.`,
		Args:              exactArgs(tabArg),
		ValidArgsFunction: a.completeTab(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, t, err := a.findTab(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			ctx, cancel := a.withTimeout(cmd.Context())
			defer cancel()
			s, err := c.Sandbox(ctx, t.SandboxID)
			if err != nil {
				return err
			}
			u, err := tabURL(s.TabsURL, t.ID)
			if err != nil {
				return err
			}
			if f := a.format(); f == "json" || f == "yaml" {
				err = a.printValue(map[string]string{"id": t.ID, "url": u})
			} else {
				_, err = fmt.Fprintln(a.Out, u)
			}
			if err != nil || printOnly || !a.onTerminal() {
				return err
			}
			return openBrowser(ctx, u)
		},
	}
	cmd.Flags().BoolVar(&printOnly, "print", false, "only print it")
	return cmd
}

func tabURL(page, tabID string) (string, error) {
	u, err := url.Parse(page)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("the server gave no usable address of its page: %q", page)
	}
	q := u.Query()
	q.Set("tab", tabID)
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// openBrowser opens u on this desktop; where there is none, it does nothing.
func openBrowser(ctx context.Context, u string) error {
	var name string
	switch {
	case runtime.GOOS == "darwin":
		name = "open"
	case os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != "":
		name = "xdg-open"
	default:
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if out, err := exec.CommandContext(ctx, name, u).CombinedOutput(); err != nil {
		return fmt.Errorf("open browser: %w: %s", err, out)
	}
	return nil
}

// findTab finds a tab by its id alone.
func (a *app) findTab(ctx context.Context, id string) (*client.Client, client.Tab, error) {
	c, err := a.client()
	if err != nil {
		return nil, client.Tab{}, err
	}
	ctx, cancel := a.withTimeout(ctx)
	defer cancel()
	t, err := c.Tab(ctx, id)
	return c, t, err
}

func (a *app) closeTab(ctx context.Context, id string) error {
	c, t, err := a.findTab(ctx, id)
	if err != nil {
		return err
	}
	ctx, cancel := a.withTimeout(ctx)
	defer cancel()
	return c.CloseTab(ctx, t.SandboxID, t.ID)
}

// onTerminal tells whether somebody sits at a terminal that both ends of pt are connected to.
func (a *app) onTerminal() bool {
	in, ok := a.In.(*os.File)
	out, ok2 := a.Out.(*os.File)
	return ok && ok2 && term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd()))
}

func (a *app) terminalSize() (client.Size, bool) {
	out, ok := a.Out.(*os.File)
	if !ok {
		return client.Size{}, false
	}
	cols, rows, err := term.GetSize(int(out.Fd()))
	if err != nil || cols < 2 || rows < 1 {
		return client.Size{}, false
	}
	return client.Size{Cols: cols, Rows: rows}, true
}
