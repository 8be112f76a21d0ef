package tmuxctl_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/browsertabs/tabs/tmuxctl"
	"github.com/browsertabs/tabs/tmuxctl/tmuxtest"
)

// client is an attached control client with what it has seen.
type client struct {
	*tmuxctl.ControlClient
	cancel context.CancelFunc
	done   chan struct{}
	err    error // after done

	mu     sync.Mutex // protects following
	output map[tmuxctl.PaneID]*bytes.Buffer
	events []tmuxctl.Event
}

// attach attaches to a session until the test ends.
func attach(t testing.TB, s *tmuxtest.Server, id tmuxctl.SessionID) *client {
	t.Helper()
	cc, err := s.Attach(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &client{ControlClient: cc, cancel: cancel, done: make(chan struct{}), output: map[tmuxctl.PaneID]*bytes.Buffer{}}
	go func() {
		defer close(c.done)
		c.err = cc.Run(ctx, c.handle)
	}()
	t.Cleanup(func() {
		cancel()
		<-c.done
	})
	return c
}

func (c *client) handle(e tmuxctl.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, ok := e.(*tmuxctl.Output)
	if !ok {
		c.events = append(c.events, e)
		return
	}
	if c.output[o.Pane] == nil {
		c.output[o.Pane] = &bytes.Buffer{}
	}
	c.output[o.Pane].Write(o.Data)
}

// outputOf returns what a pane has written so far.
func (c *client) outputOf(id tmuxctl.PaneID) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.output[id] == nil {
		return ""
	}
	return c.output[id].String()
}

// saw tells whether an event for which ok holds has come.
func (c *client) saw(ok func(tmuxctl.Event) bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.events {
		if ok(e) {
			return true
		}
	}
	return false
}

// do runs a command and returns the text of its replies.
func (c *client) do(t testing.TB, cmd tmuxctl.Command) string {
	t.Helper()
	replies, err := c.Do(t.Context(), cmd.Line, cmd.Replies)
	if err != nil {
		t.Fatalf("%.200s: %v", cmd.Line, err)
	}
	var text []string
	for _, r := range replies {
		for _, l := range r.Lines {
			text = append(text, string(l))
		}
	}
	return strings.Join(text, "\n")
}

func TestClientEchoes(t *testing.T) {
	s := tmuxtest.Start(t)
	c := attach(t, s, s.New("echo"))
	c.do(t, tmuxctl.SendKeys(0, []byte("hello\n")))
	tmuxtest.Until(t, "echo", func() bool { return strings.Contains(c.outputOf(0), "hello\r\nhello\r\n") })
}

func TestRunEnds(t *testing.T) {
	tests := []struct {
		name string
		end  func(t *testing.T, s *tmuxtest.Server, c *client)
		want error
	}{
		{"session killed", func(t *testing.T, s *tmuxtest.Server, c *client) { s.Tmux("kill-session") }, nil},
		{"detached", func(t *testing.T, s *tmuxtest.Server, c *client) { s.Tmux("detach-client", "-s", "=end") }, nil},
		{"server killed", func(t *testing.T, s *tmuxtest.Server, c *client) {
			kill(t, strings.TrimSpace(s.Tmux("display-message", "-p", "#{pid}")))
		}, tmuxctl.ErrNoServer},
		{"kill-server", func(t *testing.T, s *tmuxtest.Server, c *client) {
			c.Send(tmuxctl.Lines("kill-server"))
		}, nil}, // tmux says the same as when the session ends
		{"client killed", func(t *testing.T, s *tmuxtest.Server, c *client) {
			kill(t, strings.TrimSpace(s.Tmux("list-clients", "-F", "#{client_pid}")))
		}, errAny},
		{"cancelled", func(t *testing.T, s *tmuxtest.Server, c *client) { c.cancel() }, context.Canceled},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := tmuxtest.Start(t)
			c := attach(t, s, s.New("end"))
			started := time.Now()
			test.end(t, s, c)
			select {
			case <-c.done:
			case <-time.After(10 * time.Second):
				t.Fatal("Run still runs")
			}
			t.Logf("ended after %v with %v", time.Since(started).Round(time.Millisecond), c.err)
			if test.want == errAny && c.err != nil && !errors.Is(c.err, tmuxctl.ErrNoServer) {
				return
			}
			if !errors.Is(c.err, test.want) {
				t.Errorf("Run returned %v, want %v", c.err, test.want)
			}
		})
	}
}

var errAny = errors.New("any error but that the server died")

func kill(t *testing.T, pid string) {
	t.Helper()
	var n int
	if _, err := fmt.Sscan(pid, &n); err != nil {
		t.Fatal(err)
	}
	if err := killPID(n); err != nil {
		t.Fatal(err)
	}
}

// TestReplies: every command is done exactly once and in order, whatever becomes of it.
func TestReplies(t *testing.T) {
	s := tmuxtest.Start(t)
	c := attach(t, s, s.New("replies"))
	type result struct {
		lines []string
		errs  []string
	}
	tests := []struct {
		name string
		cmd  tmuxctl.Command
		want result
	}{
		{"one", tmuxctl.Lines("display-message -p one"), result{[]string{"one"}, []string{""}}},
		{"two", tmuxctl.Lines("display-message -p one", "display-message -p two"), result{[]string{"one", "two"}, []string{"", ""}}},
		{"no output", tmuxctl.Lines("set-option -g @a b"), result{nil, []string{""}}},
		{"several lines", tmuxctl.Lines(`display-message -p "a\nb\n\n%%end 1 2 1\nc"`), result{[]string{"a", "b", "", "%end 1 2 1", "c"}, []string{""}}},
		{"error in the middle", tmuxctl.Lines("display-message -p one", "select-pane -t %99", "display-message -p three"),
			result{[]string{"one"}, []string{"", "can't find pane: %99", "not run: can't find pane: %99"}}},
		{"does not parse", tmuxctl.Lines("display-message -p one", "nonsense", "display-message -p three"),
			result{nil, []string{"parse error: unknown command: nonsense", "not run: parse error: unknown command: nonsense", "not run: parse error: unknown command: nonsense"}}},
		{"quotes left open", tmuxctl.Lines(`display-message -p "one`), result{[]string{"one"}, []string{""}}},
		{"empty", tmuxctl.Command{Replies: 1}, result{nil, []string{"refuse tmux command of 0 bytes: want one line and at least one reply"}}},
		{"two lines", tmuxctl.Command{Line: "list-keys\nlist-keys", Replies: 1}, result{nil, []string{"refuse tmux command of 19 bytes: want one line and at least one reply"}}},
		{"no reply", tmuxctl.Command{Line: "list-keys"}, result{nil, []string{"refuse tmux command of 9 bytes: want one line and at least one reply"}}},
	}
	type answer struct {
		at int
		result
	}
	answers := make(chan answer, 10*len(tests))
	for range 3 {
		for i, test := range tests {
			cmd := test.cmd
			begun := false
			cmd.Begin = func() { begun = true }
			cmd.Done = func(replies []tmuxctl.Reply) {
				a := answer{at: i}
				for _, r := range replies {
					for _, l := range r.Lines {
						a.lines = append(a.lines, string(l))
					}
					if a.errs = append(a.errs, ""); r.Err != nil {
						a.errs[len(a.errs)-1] = r.Err.Error()
					}
				}
				if !begun {
					a.errs = append(a.errs, "Begin did not run")
				}
				answers <- a
			}
			c.Send(cmd)
		}
	}
	for i := range 3 * len(tests) {
		a := <-answers
		test := tests[i%len(tests)]
		if a.at != i%len(tests) || fmt.Sprintf("%q", a.result) != fmt.Sprintf("%q", test.want) {
			t.Errorf("answer %d is that of %q: %q; want %q: %q", i, tests[a.at].name, a.result, test.name, test.want)
		}
	}
	c.cancel()
	<-c.done
	if len(answers) > 0 {
		t.Errorf("%d answers too many", len(answers))
	}
}

// TestBeginIsExact: what a capture shows and the output after its Begin make up the whole, nothing twice.
func TestBeginIsExact(t *testing.T) {
	s := tmuxtest.Start(t)
	c := attach(t, s, s.New("count", "sh", "-c", "stty -onlcr; read go; i=0; while [ $i -lt 3000 ]; do printf '%05d\r' $i; i=$((i+1)); done; cat"))
	c.Send(tmuxctl.SendKeys(0, []byte("\r")))
	for range 20 {
		var before int
		var shown string
		done := make(chan struct{})
		cmd := tmuxctl.Capture(0, []string{"cursor_x"}, 0, false)
		cmd.Begin = func() { before = len(c.outputOf(0)) }
		cmd.Done = func(replies []tmuxctl.Reply) {
			defer close(done)
			if replies[1].Err == nil && len(replies[1].Lines) > 0 {
				shown = string(replies[1].Lines[0])
			}
		}
		c.Send(cmd)
		<-done
		tail := c.outputOf(0)
		if before >= 6 && before%6 == 0 {
			if want := tail[before-6 : before-1]; !strings.HasPrefix(shown, want) {
				t.Fatalf("at offset %d the screen shows %.10q, want %q", before, shown, want)
			}
		}
	}
	tmuxtest.Until(t, "last number", func() bool { return strings.HasSuffix(c.outputOf(0), "02999\r") })
}

// TestCommandsAfterEnd: a command sent when nobody reads any more is done, with an error.
func TestCommandsAfterEnd(t *testing.T) {
	s := tmuxtest.Start(t)
	c := attach(t, s, s.New("over"))
	c.cancel()
	<-c.done
	if _, err := c.Do(t.Context(), "list-keys", 1); err == nil || !errors.Is(err, context.Canceled) {
		t.Errorf("Do after the end: %v, want why the client ended", err)
	}
}

// TestEndCompletesAll: commands under way when the server dies are done.
func TestEndCompletesAll(t *testing.T) {
	s := tmuxtest.Start(t)
	c := attach(t, s, s.New("dies"))
	var pid int
	fmt.Sscan(c.do(t, tmuxctl.Lines("display-message -p '#{pid}'")), &pid)
	const n = 50
	errs := make(chan error, 3*n)
	signal(t, pid, syscall.SIGSTOP)
	for range n {
		c.Send(tmuxctl.Command{Line: "list-keys ; list-keys", Replies: 2, Done: func(replies []tmuxctl.Reply) {
			for _, r := range replies {
				errs <- r.Err
			}
		}})
	}
	signal(t, pid, syscall.SIGKILL)
	<-c.done
	if !errors.Is(c.err, tmuxctl.ErrNoServer) {
		t.Errorf("Run returned %v", c.err)
	}
	if len(errs) != 2*n {
		t.Fatalf("%d replies, want %d", len(errs), 2*n)
	}
	for range 2 * n {
		if err := <-errs; !errors.Is(err, tmuxctl.ErrNoServer) {
			t.Fatalf("reply is %v, want that the server died", err)
		}
	}
}

// TestBacklog: Send never waits for a tmux that does not read, and what it keeps is bounded.
func TestBacklog(t *testing.T) {
	s := tmuxtest.Start(t)
	c := attach(t, s, s.New("stuck"))
	var pid int
	fmt.Sscan(c.do(t, tmuxctl.Lines("display-message -p '#{pid}'")), &pid)
	signal(t, pid, syscall.SIGSTOP)
	defer signal(t, pid, syscall.SIGCONT)
	line := tmuxctl.AppendBuffer("b", bytes.Repeat([]byte("x"), 1<<20))
	var mu sync.Mutex
	done := 0
	const sent = 20
	for range sent {
		c.Send(tmuxctl.Command{Line: line, Replies: 1, Done: func([]tmuxctl.Reply) { mu.Lock(); done++; mu.Unlock() }})
	}
	<-c.done
	if !errors.Is(c.err, tmuxctl.ErrBacklog) {
		t.Errorf("Run returned %v, want ErrBacklog", c.err)
	}
	tmuxtest.Until(t, "all commands done", func() bool { mu.Lock(); defer mu.Unlock(); return done == sent })
}

// TestNotifications: what a person does in the tab comes as typed events.
func TestNotifications(t *testing.T) {
	s := tmuxtest.Start(t)
	c := attach(t, s, s.New("events"))
	second := attach(t, s, s.New("other"))
	var window tmuxctl.WindowID
	var pane tmuxctl.PaneID
	c.do(t, tmuxctl.Lines(tmuxctl.SubscribePane(0, "#{pane_dead}#{pane_title} : x")))
	c.do(t, tmuxctl.Lines(tmuxctl.ResizeWindow(0, 100, 40)))
	pane, err := tmuxctl.ParsePaneID(c.do(t, tmuxctl.Lines(tmuxctl.SplitPane(0, tmuxctl.Right))))
	if err != nil {
		t.Fatal(err)
	}
	// One line each: the layouts are told after the line has run.
	c.do(t, tmuxctl.Lines(tmuxctl.SelectPane(0), tmuxctl.ZoomPane(0)))
	c.do(t, tmuxctl.Lines(tmuxctl.ZoomPane(0), tmuxctl.SwapPanes(0, pane), tmuxctl.ResizePane(pane, 20, 0)))
	c.do(t, tmuxctl.Lines("copy-mode -t %0", tmuxctl.LeaveMode(0), tmuxctl.LeaveMode(0)))
	windowID := c.do(t, tmuxctl.NewWindow(c.Session()))
	if window, err = tmuxctl.ParseWindowID(windowID); err != nil {
		t.Fatal(err)
	}
	c.do(t, tmuxctl.AssertWindow(window))
	// A line's notifications come after it, and a window that is no more counts as unlinked.
	c.do(t, tmuxctl.Lines(tmuxctl.RenameWindow(window, "a #b c\"d")))
	c.do(t, tmuxctl.Lines(tmuxctl.RenameWindow(window, "a #b c\"d"), tmuxctl.RenameSession(c.Session(), "new name"),
		tmuxctl.SelectWindow(0), tmuxctl.KillWindow(window), tmuxctl.KillPane(pane), tmuxctl.KillSession(second.Session())))
	<-second.done
	want := map[string]func(tmuxctl.Event) bool{
		"attach":        func(e tmuxctl.Event) bool { return e == tmuxctl.SessionChanged{Session: c.Session(), Name: "events"} },
		"session begun": func(e tmuxctl.Event) bool { return e == tmuxctl.SessionsChanged{} },
		"other client": func(e tmuxctl.Event) bool {
			o, ok := e.(tmuxctl.ClientSessionChanged)
			return ok && o.Session == second.Session() && o.Name == "other"
		},
		"other left": func(e tmuxctl.Event) bool { _, ok := e.(tmuxctl.ClientDetached); return ok },
		"resized": func(e tmuxctl.Event) bool {
			l, ok := e.(tmuxctl.LayoutChange)
			return ok && l.Layout.Root.Box == tmuxctl.Box{Cols: 100, Rows: 40} && l.Layout.Root.Split == tmuxctl.NoSplit
		},
		"split": func(e tmuxctl.Event) bool {
			l, ok := e.(tmuxctl.LayoutChange)
			return ok && l.Layout.Root.Split == tmuxctl.LeftRight && len(l.Layout.Panes()) == 2 && len(l.Visible.Panes()) == 2
		},
		"zoomed": func(e tmuxctl.Event) bool {
			l, ok := e.(tmuxctl.LayoutChange)
			return ok && strings.Contains(l.Flags, "Z") && len(l.Layout.Panes()) == 2 && len(l.Visible.Panes()) == 1 && l.Visible.Panes()[0].Pane == 0
		},
		"swapped and resized": func(e tmuxctl.Event) bool {
			l, ok := e.(tmuxctl.LayoutChange)
			return ok && len(l.Layout.Panes()) == 2 && l.Layout.Panes()[0] == tmuxctl.PaneBox{Box: tmuxctl.Box{Cols: 20, Rows: 40}, Pane: pane}
		},
		"pane selected":  func(e tmuxctl.Event) bool { return e == tmuxctl.WindowPaneChanged{Window: 0, Pane: 0} },
		"mode":           func(e tmuxctl.Event) bool { return e == tmuxctl.PaneModeChanged{Pane: 0} },
		"window":         func(e tmuxctl.Event) bool { return e == tmuxctl.WindowAdd{Window: window} },
		"window renamed": func(e tmuxctl.Event) bool { return e == tmuxctl.WindowRenamed{Window: window, Name: "a #b c\"d"} },
		"window shown": func(e tmuxctl.Event) bool {
			return e == tmuxctl.SessionWindowChanged{Session: c.Session(), Window: window}
		},
		"window gone": func(e tmuxctl.Event) bool {
			return e == tmuxctl.WindowClose{Window: window, Unlinked: true} || e == tmuxctl.WindowClose{Window: window}
		},
		"session renamed": func(e tmuxctl.Event) bool { return e == tmuxctl.SessionRenamed{Session: c.Session(), Name: "new name"} },
		"subscription": func(e tmuxctl.Event) bool {
			s, ok := e.(tmuxctl.SubscriptionChanged)
			return ok && s.Name == "%0" && s.HasPane && s.Pane == 0 && s.HasWindow && strings.HasPrefix(s.Value, "0") && strings.HasSuffix(s.Value, " : x")
		},
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("events: %+v", c.events)
		}
	})
	for name, ok := range want {
		tmuxtest.Until(t, name, func() bool { return c.saw(ok) })
	}
	if c.saw(func(e tmuxctl.Event) bool {
		u, ok := e.(tmuxctl.Unknown)
		if ok {
			t.Errorf("unknown %q", u.Line)
		}
		return ok
	}) {
		t.Fail()
	}
}

// TestPause: a paused pane sends nothing, and what it wrote meanwhile is not sent later.
func TestPause(t *testing.T) {
	s := tmuxtest.Start(t)
	c := attach(t, s, s.New("pause"))
	if answer := c.do(t, tmuxctl.Lines(tmuxctl.PausePane(0))); answer != "%pause %0" {
		t.Errorf("answer to PausePane is %q", answer)
	}
	c.do(t, tmuxctl.SendKeys(0, []byte("lost\n")))
	tmuxtest.Until(t, "text on the screen", func() bool { return strings.Contains(s.Tmux("capture-pane", "-p"), "lost\nlost") })
	resumed := c.do(t, tmuxctl.Capture(0, nil, 100, true))
	if !strings.Contains(resumed, "lost\nlost") {
		t.Errorf("capture with resume is %q", resumed)
	}
	c.do(t, tmuxctl.SendKeys(0, []byte("seen\n")))
	tmuxtest.Until(t, "text after the pause", func() bool { return strings.Contains(c.outputOf(0), "seen\r\nseen\r\n") })
	if o := c.outputOf(0); strings.Contains(o, "lost") {
		t.Errorf("output is %q", o)
	}
	c.do(t, tmuxctl.Lines("refresh-client -f pause-after=3600"))
	c.do(t, tmuxctl.SendKeys(0, []byte("extended\n")))
	tmuxtest.Until(t, "extended output", func() bool { return strings.Contains(c.outputOf(0), "extended\r\nextended\r\n") })
}
