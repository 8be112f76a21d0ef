package tmuxctl_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/browsertabs/tabs/tmuxctl"
	"github.com/browsertabs/tabs/tmuxctl/tmuxtest"
)

// shell is a session with a shell to type into, as a person would.
type shell struct {
	*client
	t     testing.TB
	s     *tmuxtest.Server
	typed int
}

func openShell(t testing.TB, s *tmuxtest.Server) *shell {
	t.Helper()
	c := attach(t, s, s.New("shell", "env", "-u", "ENV", "PS1=$ ", "sh", "-i"))
	c.do(t, tmuxctl.AssertOptions(c.Session()))
	return &shell{client: c, t: t, s: s}
}

// run types a command and waits until it is done; its exit status must be 0.
func (sh *shell) run(command string) {
	sh.t.Helper()
	sh.typed++
	// The echo of what is typed must not look like the answer.
	marker := fmt.Sprintf("<%d:0>", sh.typed)
	sh.Send(tmuxctl.SendKeys(0, fmt.Appendf(nil, "%s; printf '<%%s:%%s>\\n' %d $?\n", command, sh.typed)))
	tmuxtest.Until(sh.t, command, func() bool { return strings.Contains(sh.outputOf(0), marker) })
}

// mustLive opens sessions and windows in every way and checks that the server has lived through it.
func (sh *shell) mustLive() {
	sh.t.Helper()
	pid := sh.s.Tmux("display-message", "-p", "#{pid}")
	for i := range 3 {
		if _, err := sh.s.NewSession(sh.t.Context(), tmuxctl.NewSession{
			Name: fmt.Sprintf("more-%d-%d", sh.typed, i), Cols: 80, Rows: 24, Command: []string{"cat"},
		}); err != nil {
			sh.t.Fatalf("session %d: %v", i, err)
		}
		sh.do(sh.t, tmuxctl.NewWindow(sh.Session()))
	}
	if now := sh.s.Tmux("display-message", "-p", "#{pid}"); now != pid {
		sh.t.Fatalf("server %s was replaced by %s", pid, now)
	}
	select {
	case <-sh.done:
		sh.t.Fatalf("client ended: %v", sh.err)
	default:
	}
}

// byHand opens sessions and windows by commands typed into the tab.
func (sh *shell) byHand() {
	sh.t.Helper()
	for _, command := range []string{
		"new-window", "neww -d cat", "new -d cat", "new-session -d cat", "split-window cat", "break-pane -d", "new-window \\; split-window cat \\; breakp -d",
	} {
		sh.run("tmux " + command)
	}
}

// TestGlobalManual is what kills an unguarded tmux up to 3.6 at the next new session or window.
func TestGlobalManual(t *testing.T) {
	for _, command := range []string{
		"set -g window-size manual",
		"set-option -g window-size manual",
		"set -gq window-size manual",
		"set -wg window-size manual",
		"set -g window-si manual",
		"set -gF window-size '#{l:manual}'",
		"setw -g window-size manual",
		"set-window-option -g window-size manual",
		"set -g window-size manual \\; new-window",
		"setw -g window-size manual \\; new-session -d",
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			sh := openShell(t, tmuxtest.Start(t))
			sh.run("tmux " + command)
			if v := strings.TrimSpace(sh.s.Tmux("show-options", "-gwqv", "window-size")); v != "latest" {
				t.Errorf("global window-size is %q", v)
			}
			sh.mustLive()
			sh.run("tmux " + command)
			sh.byHand()
			sh.mustLive()
		})
	}
}

// TestUnguarded shows that the guards are needed: without them this tmux dies.
func TestUnguarded(t *testing.T) {
	s := tmuxtest.StartWith(t, "")
	v, err := s.Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if v.AtLeast(3, 7) {
		t.Skipf("tmux %s no longer dies of a global window-size manual", v)
	}
	s.Tmux("new-session", "-d", "cat", ";", "set-option", "-g", "window-size", "manual")
	if _, err := s.Run(t.Context(), "new-session", "-d", "cat"); !errors.Is(err, tmuxctl.ErrNoServer) {
		t.Errorf("tmux %s: second session: %v, want that the server dies", v, err)
	}
}

func TestGlobalManualSourced(t *testing.T) {
	for _, line := range []string{"set -g window-size manual", "setw -g window-size manual"} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "tmux.conf")
			if err := os.WriteFile(file, []byte(line+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Run("live", func(t *testing.T) {
				sh := openShell(t, tmuxtest.Start(t))
				sh.run("tmux source-file " + file)
				sh.mustLive()
				sh.run("tmux source " + file)
				sh.byHand()
				sh.mustLive()
			})
			t.Run("user configuration", func(t *testing.T) {
				sh := openShell(t, tmuxtest.StartWith(t, tmuxctl.ConfigText(2000, "/nonexistent", file)))
				sh.byHand()
				sh.mustLive()
			})
		})
	}
}

// TestHookRemoved: a configuration that replaces our hook leaves the aliases, and our own command lines.
func TestHookRemoved(t *testing.T) {
	sh := openShell(t, tmuxtest.Start(t))
	sh.run("tmux set-hook -g after-set-option 'set -g @theirs 1'")
	sh.run("tmux set -g window-size manual")
	if v := strings.TrimSpace(sh.s.Tmux("show-options", "-gwqv", "window-size")); v != "manual" {
		t.Fatalf("global window-size is %q: this tests nothing", v)
	}
	sh.byHand()
	sh.run("tmux set -g window-size manual")
	sh.mustLive()
	sh.do(t, tmuxctl.AssertOptions(sh.Session()))
	sh.run("tmux set -g window-size manual")
	if v := strings.TrimSpace(sh.s.Tmux("show-options", "-gwqv", "window-size")); v != "latest" {
		t.Errorf("with the hook set again global window-size is %q", v)
	}
}

// TestWindowSizeByUser: what a person may do with window-size goes on working.
func TestWindowSizeByUser(t *testing.T) {
	sh := openShell(t, tmuxtest.Start(t))
	show := func(flags string) string { return strings.TrimSpace(sh.s.Tmux("show-options", flags, "window-size")) }
	sh.run("tmux set -gu window-size")
	sh.run("tmux set -wu window-size")
	if v := show("-wqv"); v != "" {
		t.Errorf("window-size of the window is %q, want none", v)
	}
	sh.run("tmux set -w window-size manual")
	if v := show("-wqv"); v != "manual" {
		t.Errorf("window-size of the window is %q, want manual", v)
	}
	sh.run("tmux setw window-size largest")
	if v := show("-wqv"); v != "largest" {
		t.Errorf("window-size of the window is %q, want largest", v)
	}
	sh.run("tmux set -g window-size smallest")
	if v := show("-gwqv"); v != "smallest" {
		t.Errorf("global window-size is %q, want smallest", v)
	}
	sh.run("tmux set -gu window-size")
	if v := show("-gwqv"); v != "latest" {
		t.Errorf("global window-size is %q, want the default", v)
	}
	sh.mustLive()
}

// TestUserConfigurations are the settings of people's tmux.conf that end or change sessions.
func TestUserConfigurations(t *testing.T) {
	for name, text := range map[string]string{
		"sessions": `
			set -g destroy-unattached on
			set destroy-unattached on
			set -g detach-on-destroy off
			set -s exit-unattached on
			set -g lock-after-time 1`,
		"programs": `
			set -g remain-on-exit off
			set -g default-command 'exec sh'
			set -g default-shell /bin/sh
			set -g default-terminal tmux-256color
			set -g update-environment DISPLAY
			set-environment -g FOO bar`,
		"looks": `
			set -g status 2
			set -g mouse on
			setw -g aggressive-resize on
			set -g prefix C-a
			set -g pane-border-status top`,
		"hooks": `
			set -g @plugin 'x/y'
			run-shell -b true
			if-shell true 'set -g @z 1'
			set-hook -g after-set-option 'display-message x'
			set-hook -g client-detached 'display-message x'
			set-hook -g after-new-window 'set -g @made 1'`,
		"aliases":  "set -s command-alias[9000] 'setw=display-message'",
		"mistakes": "this is not a tmux command",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "tmux.conf")
			if err := os.WriteFile(file, []byte(text+"\nset -g window-size manual\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			for how, config := range map[string]string{"sourced": tmuxctl.ConfigText(2000, file), "live": tmuxctl.ConfigText(2000)} {
				t.Run(how, func(t *testing.T) {
					s := tmuxtest.StartWith(t, config)
					sh := openShell(t, s)
					if how == "live" {
						sh.run("tmux source-file " + file + " || true")
					}
					sh.mustLive()

					if mode := s.Tmux("display-message", "-p", "-t", "=shell:0.0", "#{pane_mode}"); mode != "\n" {
						t.Errorf("pane is in %s", mode)
					}

					// Our server restarts: the client leaves, the tab stays, another client comes.
					pane := s.Tmux("display-message", "-p", "-t", "=shell:", "#{pane_pid}")
					sh.cancel()
					<-sh.done
					next := attach(t, s, sh.Session())
					if now := s.Tmux("display-message", "-p", "-t", "=shell:", "#{pane_pid}"); now != pane {
						t.Errorf("program %s was replaced by %s", pane, now)
					}
					// The session ends, others are there: our client must end too.
					s.Tmux("kill-session", "-t", sh.Session().String())
					tmuxtest.Until(t, "end of the client", func() bool {
						select {
						case <-next.done:
							return true
						default:
							return false
						}
					})
				})
			}
		})
	}
}

// TestConfig: what a program sees, and what is left when it ends.
func TestConfig(t *testing.T) {
	t.Setenv("LANG", "")
	t.Setenv("LC_ALL", "")
	t.Setenv("LC_CTYPE", "")
	s := tmuxtest.Start(t)
	id, err := s.NewSession(t.Context(), tmuxctl.NewSession{
		Name: "config", Cwd: "/usr", Cols: 91, Rows: 33,
		Env:     map[string]string{"SAYS": "a b;"},
		Options: map[string]string{"@title": "tîtle\nof #{pane_id};"},
		Command: []string{"sh", "-c", `printf '%s,%s,%s,%s,%s,%s' "$TERM" "$COLORTERM" "$PWD" "$SAYS" "$(stty size)" 'wïde 漢'; sleep 1; exit 7`},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := attach(t, s, id)
	dead := []string{"pane_dead", "pane_dead_status", "window_width", "window_height", "history_limit", "@title"}
	var vars map[string]string
	tmuxtest.Until(t, "end of the program", func() bool {
		replies, err := c.Do(t.Context(), tmuxctl.Variables(0, dead), 1)
		if err != nil {
			t.Fatal(err)
		}
		if vars, err = tmuxctl.ParseVariables(replies[0], dead); err != nil {
			t.Fatal(err)
		}
		if vars["pane_dead"] == "1" && vars["pane_dead_status"] == "" {
			// tmux 3.3a may overlook the end of a child until the next one ends.
			c.do(t, tmuxctl.Lines("run-shell -b true"))
			return false
		}
		return vars["pane_dead"] == "1"
	})
	for name, want := range map[string]string{
		"pane_dead_status": "7", "window_width": "91", "window_height": "33", "history_limit": "2000",
		"@title": "tîtle\nof #{pane_id};",
	} {
		if vars[name] != want {
			t.Errorf("%s is %q, want %q", name, vars[name], want)
		}
	}
	screen := strings.TrimRight(c.do(t, tmuxctl.Lines("capture-pane -p -t %0")), "\n")
	if want := "xterm-256color,truecolor,/usr,a b;,33 91,wïde 漢"; screen != want {
		t.Errorf("screen is %q, want %q", screen, want)
	}
	list, err := s.ListSessions(t.Context(), "@title", "@none")
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || list[0].ID != id || list[0].Name != "config" || list[0].Created == 0 || list[0].Options["@title"] != "tîtle\nof #{pane_id};" {
		t.Errorf("sessions are %+v", list)
	}

	c.do(t, tmuxctl.Lines(tmuxctl.RespawnPane(0)))
	tmuxtest.Until(t, "second end of the program", func() bool {
		return c.do(t, tmuxctl.Lines("display-message -p -t %0 '#{pane_dead}'")) == "1"
	})
}

// TestLoginShell: without a command the pane runs a login shell.
func TestLoginShell(t *testing.T) {
	t.Setenv("SHELL", "/bin/bash")
	t.Setenv("HOME", t.TempDir())
	s := tmuxtest.Start(t)
	id, err := s.NewSession(context.Background(), tmuxctl.NewSession{Name: "login", Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	c := attach(t, s, id)
	c.do(t, tmuxctl.SendKeys(0, []byte("shopt -q login_shell && echo log''in\n")))
	tmuxtest.Until(t, "login shell", func() bool { return strings.Contains(c.outputOf(0), "login\r\n") })
}
