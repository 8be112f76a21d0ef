package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/browsertabs/tabs/client"
)

// attachLine is what an attachCommand says. Only these two words are taken from it: a line from a server is never run
// as it is, since "this machine" may be the far end of a port forward.
type attachLine struct {
	socket string
	target string // "" for the only session
}

// parseAttach reads "tmux [-u] -S SOCKET attach-session [-t TARGET]".
func parseAttach(line string) (attachLine, bool) {
	words, ok := splitWords(line)
	if !ok || len(words) == 0 || words[0] != "tmux" {
		return attachLine{}, false
	}
	var l attachLine
	attach := false
	for i := 1; i < len(words); i++ {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch w := words[i]; {
		case w == "-u" && !attach:
		case w == "-S" && !attach && next != "":
			l.socket, i = next, i+1
		case (w == "attach" || w == "attach-session") && !attach:
			attach = true
		case w == "-t" && attach && next != "":
			l.target, i = next, i+1
		default:
			return attachLine{}, false
		}
	}
	return l, attach && filepath.IsAbs(l.socket)
}

// splitWords splits a line at spaces and undoes single quotes, double quotes and backslashes. It refuses what a shell
// would do more with.
func splitWords(line string) ([]string, bool) {
	var words []string
	var word strings.Builder
	inWord := false
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\'':
			end := strings.IndexByte(line[i+1:], '\'')
			if end < 0 {
				return nil, false
			}
			word.WriteString(line[i+1 : i+1+end])
			i, inWord = i+1+end, true
		case c == '\\' && i+1 < len(line):
			i, inWord = i+1, true
			word.WriteByte(line[i])
		case c == ' ':
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		case strings.IndexByte("\"$`\\;&|<>()*?[#~!{}\n\t", c) >= 0 && !(c == '~' && inWord):
			return nil, false
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, true
}

// onThisMachine tells whether the tab's tmux can be reached from here: the server is asked over loopback, and its
// socket is here and ours.
func onThisMachine(baseURL string, t client.Tab, socket string) bool {
	u, err := url.Parse(baseURL)
	if err != nil || t.SandboxID != "local" {
		return false
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return false
	}
	fi, err := os.Lstat(socket)
	if err != nil || fi.Mode().Type() != os.ModeSocket {
		return false
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// insideOf tells whether pt runs in a pane of this tmux server, where attaching would show the tab within itself.
func insideOf(socket string) bool {
	own, _, _ := strings.Cut(os.Getenv("TMUX"), ",")
	if own == "" {
		return false
	}
	a, errA := os.Stat(own)
	b, errB := os.Stat(socket)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// attachLocal runs tmux in this terminal and waits for it. It stays around, rather than exec tmux, so that the tab's
// size follows this terminal and the terminal's state is put back whatever happens to tmux.
func (a *app) attachLocal(ctx context.Context, c *client.Client, t client.Tab, line attachLine) error {
	in := a.In.(*os.File)
	state, err := term.GetState(int(in.Fd()))
	if err != nil {
		return fmt.Errorf("read terminal state: %w", err)
	}
	defer term.Restore(int(in.Fd()), state)

	holding, release := context.WithCancel(ctx)
	held := make(chan struct{})
	go func() {
		defer close(held)
		a.holdSize(holding, c, t)
	}()
	defer func() { release(); <-held }()

	args := []string{"-u", "-S", line.socket, "attach-session"}
	if line.target != "" {
		args = append(args, "-t", line.target)
	}
	cmd := exec.CommandContext(ctx, "tmux", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, a.Out, a.Err
	cmd.Env = withoutEnv(os.Environ(), "TMUX", "TMUX_PANE") // or tmux refuses to run in a pane of another
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	// tmux reads Ctrl-C and Ctrl-\ as keys, but until it has set the terminal up they would end pt alone.
	signal.Ignore(syscall.SIGQUIT)
	defer signal.Reset(syscall.SIGQUIT)
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return exitError(exitOther) // tmux has said why
		}
		return fmt.Errorf("run tmux: %w", err)
	}
	return nil
}

func withoutEnv(env []string, names ...string) []string {
	var kept []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		drop := false
		for _, n := range names {
			drop = drop || n == name
		}
		if !drop {
			kept = append(kept, kv)
		}
	}
	return kept
}
