// Package cli holds the commands of pt, one file per noun. Run is its entry. Answers go to stdout, everything else to
// stderr. It must not import the server's packages: what pt knows, it asks /v1.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/browsertabs/tabs/client"
)

// Version is pt's own; main sets it before Run.
var Version = "dev"

const defaultTimeout = 30 * time.Second

// Stdio is where a command reads and writes. In may be an *os.File that is a terminal.
type Stdio struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// app is what every command shares: the global flags and where to write.
type app struct {
	Stdio
	output  string
	quiet   bool
	profile string
	apiURL  string
	key     string
	timeout time.Duration
	verbose bool

	// The flags of a command are parsed before it runs; what went wrong before that is a mistake in how pt was called.
	running bool
}

// Run carries out one command line and returns the exit code of pt.
func Run(ctx context.Context, args []string, stdio Stdio) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := &app{Stdio: stdio}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(stdio.In)
	root.SetOut(stdio.Out)
	root.SetErr(stdio.Err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	return a.report(err)
}

func (a *app) root() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pt",
		Short: "Sandboxes and their tabs, from the command line",
		Long: `pt talks to a Tabs server. It finds the server and the key in this order: flags, the environment
(PLATINUM_API_KEY or PT_TOKEN; PT_API_URL or PLATINUM_API_URL), ~/.config/platinum/credentials (written by
"pt login"), and last the key file of a server with its default data directory on this machine.

Exit codes: 0 ok; 1 other; 2 usage; 3 not allowed (401, 403); 4 not found; 5 conflict; 6 quota or rate;
7 wait timed out; 8 reached a failed state.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE:          group,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			if err := a.checkFlags(); err != nil {
				return err
			}
			a.running = true
			return nil
		},
	}
	cmd.CompletionOptions.DisableDefaultCmd = true
	f := cmd.PersistentFlags()
	f.StringVarP(&a.output, "output", "o", "table", "output `format`: table, json, yaml, ids")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "ids only, and no remarks on stderr")
	f.StringVar(&a.profile, "profile", "", "`name` of the login to use (PT_PROFILE; default \"default\")")
	f.StringVar(&a.apiURL, "api-url", "", "address of the server (PT_API_URL)")
	f.StringVar(&a.key, "key", "", "API key (PLATINUM_API_KEY); others on this machine can see it in the process list")
	f.DurationVar(&a.timeout, "timeout", defaultTimeout, "give up on an answer after this long; 0 never")
	f.BoolVarP(&a.verbose, "verbose", "v", false, "show each request on stderr")
	must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)))
	cmd.AddCommand(a.loginCmd(), a.whoamiCmd(), a.versionCmd(), a.completionCmd(), a.apiCmd(), a.sandboxCmd(), a.tabCmd())
	return cmd
}

// group is the RunE of a command that only holds others.
func group(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	return &usageError{
		msg:  fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath()),
		hint: suggest(cmd, args[0]),
	}
}

func suggest(cmd *cobra.Command, arg string) string {
	cmd.SuggestionsMinimumDistance = 2
	if s := cmd.SuggestionsFor(arg); len(s) > 0 {
		return cmd.CommandPath() + " " + s[0]
	}
	return cmd.CommandPath() + " --help"
}

func (a *app) checkFlags() error {
	if a.timeout < 0 {
		return &usageError{msg: "--timeout must not be negative"}
	}
	for _, f := range formats {
		if a.output == f {
			return nil
		}
	}
	return &usageError{msg: fmt.Sprintf("unknown output format %q", a.output), hint: "-o " + strings.Join(formats, "|")}
}

// client returns a Client for the configured server and key.
func (a *app) client() (*client.Client, error) {
	t, err := a.target()
	if err != nil {
		return nil, err
	}
	return a.clientFor(t)
}

func (a *app) clientFor(t target) (*client.Client, error) {
	cfg := client.Config{BaseURL: t.url, Key: t.key, UserAgent: userAgent()}
	if a.verbose {
		cfg.HTTP = logging(a.Err)
	}
	c, err := client.New(cfg)
	if err != nil {
		return nil, &usageError{msg: err.Error()}
	}
	return c, nil
}

// userAgent names this machine, for other people's eyes: it is the name of a viewer.
func userAgent() string {
	host, err := os.Hostname()
	if err != nil || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r > '~' || r == '(' || r == ')' }) {
		return "pt/" + Version
	}
	return "pt/" + Version + " (" + host + ")"
}

// withTimeout bounds a call by --timeout.
func (a *app) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if a.timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, a.timeout, errTimeout)
}

var errTimeout = errors.New("no answer in time")

// note writes a remark for the person, never data.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.Err, format+"\n", args...)
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// hostOf shortens an address for messages.
func hostOf(rawURL string) string {
	if u, err := url.Parse(rawURL); err == nil && u.Host != "" {
		return u.Host
	}
	return rawURL
}
