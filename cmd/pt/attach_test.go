package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/browsertabs/tabs/client"
)

// attached is `pt tab attach` in a terminal of its own.
type attached struct {
	t    *testing.T
	ptmx *os.File
	tty  *os.File // our own handle: the state of the terminal stays to be looked at
	cmd  *exec.Cmd

	mu  sync.Mutex // protects following
	out strings.Builder
}

// attachEnv is how pt runs.
type attachEnv struct {
	noTmux bool // no tmux on the PATH, so that bytes go through the server
	size   pty.Winsize
}

func startServer(t *testing.T) *server {
	t.Helper()
	need(t, "tmux", "bash")
	if err := buildServer(); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(work, "a")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{dir: dir}
	if err := s.makeDirs(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.end(t) })
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// openTab opens a tab with a shell that reads no startup files and whose prompt is known.
func openTab(t *testing.T, s *server, n client.NewTab) client.Tab {
	t.Helper()
	c, err := s.client()
	if err != nil {
		t.Fatal(err)
	}
	n.Command, n.Env = []string{"bash", "--norc", "--noprofile"}, map[string]string{"PS1": "ready> "}
	n.Cols, n.Rows = 80, 24
	tab, err := c.OpenTab(t.Context(), "local", n)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func attachTab(t *testing.T, s *server, id string, e attachEnv) *attached {
	t.Helper()
	return inTerminal(t, s, e, "tab", "attach", id)
}

// inTerminal runs pt in a terminal of its own.
func inTerminal(t *testing.T, s *server, e attachEnv, args ...string) *attached {
	t.Helper()
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(ptmx, &e.size); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a := &attached{t: t, ptmx: ptmx, tty: tty, cmd: &exec.Cmd{Path: self, Args: append([]string{"pt"}, args...)}}
	a.cmd.Env = append(s.environ(), "TERM=xterm-256color")
	if e.noTmux {
		a.cmd.Env = append(a.cmd.Env, "PATH=/nonexistent")
	}
	a.cmd.Stdin, a.cmd.Stdout, a.cmd.Stderr = tty, tty, tty
	a.cmd.SysProcAttr = sessionLeader()
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 4096)
		for {
			n, err := ptmx.Read(buf)
			a.mu.Lock()
			a.out.Write(buf[:n])
			a.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		if a.cmd.ProcessState == nil {
			a.cmd.Process.Kill()
			a.cmd.Wait()
		}
		tty.Close()
		ptmx.Close()
		<-read
	})
	return a
}

func (a *attached) text() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.out.String()
}

// see waits until the terminal has been sent want.
func (a *attached) see(want string) {
	a.t.Helper()
	poll(a.t, fmt.Sprintf("terminal shows %q", want), func() (bool, any) {
		return strings.Contains(a.text(), want), a.text()
	})
}

func (a *attached) typed(s string) {
	a.t.Helper()
	if _, err := io.WriteString(a.ptmx, s); err != nil {
		a.t.Fatal(err)
	}
}

// leaves waits until pt has ended by itself, with exit code 0.
func (a *attached) leaves() {
	a.t.Helper()
	done := make(chan error, 1)
	go func() { done <- a.cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			a.t.Fatalf("pt ended with %v:\n%s", err, a.text())
		}
	case <-time.After(20 * time.Second):
		a.cmd.Process.Kill()
		<-done
		a.t.Fatalf("pt does not end:\n%q", a.text())
	}
}

// state is what stty would say.
func (a *attached) state() string {
	a.t.Helper()
	st, err := term.GetState(int(a.tty.Fd()))
	if err != nil {
		a.t.Fatal(err)
	}
	return fmt.Sprintf("%+v", *st)
}

func poll(t *testing.T, what string, ok func() (bool, any)) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		good, last := ok()
		if good {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("never: %s; last seen %q", what, last)
		}
	}
}

func tabSize(t *testing.T, s *server, id string, want client.Size) {
	t.Helper()
	c, err := s.client()
	if err != nil {
		t.Fatal(err)
	}
	poll(t, fmt.Sprintf("tab has %v", want), func() (bool, any) {
		tab, err := c.Tab(context.Background(), id)
		return err == nil && tab.Cols == want.Cols && tab.Rows == want.Rows, fmt.Sprintf("%+v, %v", tab, err)
	})
}

// marker prints a word that the echo of the command does not hold.
const marker = "printf '%s%s\\n' DO NE\r"

func TestAttach(t *testing.T) {
	for _, tt := range []struct {
		name   string
		noTmux bool
		plain  bool
		leave  string
	}{
		{"tmux in this terminal", false, false, "\x02d"},
		{"tmux through the server", true, false, "\x02d"},
		{"tmux through the server, Ctrl-backslash", true, false, "\x1c\x1c"},
		{"tmux through the server, tilde", true, false, "\r~."},
		{"plain", false, true, "\x1c\x1c"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := startServer(t)
			tab := openTab(t, s, client.NewTab{Plain: tt.plain})
			a := attachTab(t, s, tab.ID, attachEnv{noTmux: tt.noTmux, size: pty.Winsize{Cols: 100, Rows: 30}})
			before := a.state()
			a.see("ready> ")
			if a.state() == before {
				t.Error("the terminal is not raw")
			}
			a.typed(marker)
			a.see("DONE")
			tabSize(t, s, tab.ID, client.Size{Cols: 100, Rows: 30})

			if err := pty.Setsize(a.ptmx, &pty.Winsize{Cols: 91, Rows: 17}); err != nil {
				t.Fatal(err)
			}
			tabSize(t, s, tab.ID, client.Size{Cols: 91, Rows: 17})
			// tmux tells the program a moment later than it tells us.
			poll(t, "the program has the size", func() (bool, any) {
				a.typed("stty size\r")
				time.Sleep(100 * time.Millisecond)
				return strings.Contains(a.text(), "17 91"), a.text()
			})

			a.typed(tt.leave)
			a.leaves()
			if after := a.state(); after != before {
				t.Errorf("terminal state is %s, was %s", after, before)
			}
			c, err := s.client()
			if err != nil {
				t.Fatal(err)
			}
			if left, err := c.Tab(t.Context(), tab.ID); err != nil || left.State != "live" {
				t.Errorf("after leaving: %+v, %v", left, err)
			}
			poll(t, "no tmux client but the server's own is left", func() (bool, any) {
				left := processes(s.dir)
				for _, argv := range left {
					if strings.Contains(argv, " attach") && !strings.Contains(argv, "-C ") {
						return false, fmt.Sprint(left)
					}
				}
				return true, nil
			})
		})
	}
}

// A tab that is opened to be attached has the terminal's size from its first moment.
func TestNewAttached(t *testing.T) {
	s := startServer(t)
	a := inTerminal(t, s, attachEnv{size: pty.Winsize{Cols: 99, Rows: 31}}, "tab", "new", "local", "--attach", "--",
		"bash", "--norc", "-c", "stty size; read")
	a.see("31 99")
	a.typed("\x02d")
	a.leaves()
}

// Nobody is asked for a tab from within itself.
func TestAttachWithinItself(t *testing.T) {
	s := startServer(t)
	tab := openTab(t, s, client.NewTab{})
	a := attachTab(t, s, tab.ID, attachEnv{size: pty.Winsize{Cols: 120, Rows: 30}})
	a.see("ready> ")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a.typed(fmt.Sprintf("env HOME=%s/home bash -c 'exec -a pt %s tab attach %s'\r", s.dir, self, tab.ID))
	a.see("this is the tab you are in")
	a.typed("\x02d")
	a.leaves()
}

// The end of a tab ends pt, and puts the terminal back.
func TestAttachedTabCloses(t *testing.T) {
	for _, noTmux := range []bool{false, true} {
		t.Run(fmt.Sprint("through the server ", noTmux), func(t *testing.T) {
			s := startServer(t)
			tab := openTab(t, s, client.NewTab{})
			a := attachTab(t, s, tab.ID, attachEnv{noTmux: noTmux, size: pty.Winsize{Cols: 80, Rows: 24}})
			before := a.state()
			a.see("ready> ")
			c, err := s.client()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.CloseTab(t.Context(), "local", tab.ID); err != nil {
				t.Fatal(err)
			}
			a.leaves()
			if after := a.state(); after != before {
				t.Errorf("terminal state is %s, was %s", after, before)
			}
		})
	}
}

// A restart of the server interrupts an attachment through it, and no more.
func TestAttachSurvivesRestart(t *testing.T) {
	s := startServer(t)
	tab := openTab(t, s, client.NewTab{})
	a := attachTab(t, s, tab.ID, attachEnv{noTmux: true, size: pty.Winsize{Cols: 80, Rows: 24}})
	a.see("ready> ")
	a.typed("kept=DO\r")
	a.see("kept=DO")
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	a.see("connection lost")
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	c, err := s.client()
	if err != nil {
		t.Fatal(err)
	}
	poll(t, "pt is a viewer again", func() (bool, any) {
		tab, err := c.Tab(context.Background(), tab.ID)
		return err == nil && tab.Viewers > 0, fmt.Sprint(tab, err)
	})
	poll(t, "the shell is the same", func() (bool, any) {
		a.typed("echo ${kept}NE\r")
		time.Sleep(100 * time.Millisecond)
		return strings.Contains(a.text(), "DONE"), a.text()
	})
	a.typed("\x1c\x1c")
	a.leaves()
}

// A signal leaves as a key would.
func TestAttachTerminated(t *testing.T) {
	s := startServer(t)
	tab := openTab(t, s, client.NewTab{})
	for _, noTmux := range []bool{false, true} {
		a := attachTab(t, s, tab.ID, attachEnv{noTmux: noTmux, size: pty.Winsize{Cols: 80, Rows: 24}})
		before := a.state()
		a.see("ready> ")
		if err := a.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		a.cmd.Wait() // its code is 1: it was interrupted
		if after := a.state(); after != before {
			t.Errorf("terminal state is %s, was %s", after, before)
		}
	}
}
