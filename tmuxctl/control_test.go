package tmuxctl_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
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
