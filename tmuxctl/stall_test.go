package tmuxctl

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// fakeStream is a tmux client as a test wants it. What is written to tmux goes to wrote; Kill ends it.
type fakeStream struct {
	from    *io.PipeReader // what tmux says
	to      *io.PipeWriter
	wrote   *bytes.Buffer
	polite  bool // leaves when its stdin ends
	mu      sync.Mutex
	killed  bool
	closed  chan struct{}
	onClose sync.Once
}

func newFakeStream() *fakeStream {
	f := &fakeStream{wrote: &bytes.Buffer{}, closed: make(chan struct{})}
	f.from, f.to = io.Pipe()
	return f
}

func (f *fakeStream) Read(b []byte) (int, error) { return f.from.Read(b) }

func (f *fakeStream) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.wrote.Write(b)
}

func (f *fakeStream) end() { f.onClose.Do(func() { f.to.Close(); close(f.closed) }) }

func (f *fakeStream) CloseWrite() error {
	if f.polite {
		f.end()
	}
	return nil
}

func (f *fakeStream) Wait() (int, string, error) { <-f.closed; return 0, "", nil }

func (f *fakeStream) Kill() error {
	f.mu.Lock()
	f.killed = true
	f.mu.Unlock()
	f.end()
	return nil
}

// fakeClient is a client attached to a fakeStream that says text, with its Run under way.
func fakeClient(ctx context.Context, f *fakeStream, text string, probe error) (c *ControlClient, run chan error) {
	c = &ControlClient{
		stream: f, wake: make(chan struct{}, 1), lines: lineReader{r: f},
		probe: func(context.Context) error { return probe },
	}
	run = make(chan error, 1)
	go func() { run <- c.Run(ctx, func(Event) {}) }()
	go io.WriteString(f.to, text)
	return c, run
}

// TestSilence: a client whose server answers nothing any more is given up, but only once the server is known to be
// gone, and not while it is merely slow.
func TestSilence(t *testing.T) {
	for name, test := range map[string]struct{ probe, want error }{
		"wedged": {ErrWedged, ErrWedged},
		"gone":   {ErrNoServer, ErrNoServer},
		"slow":   {context.DeadlineExceeded, context.Canceled},
		"fine":   {nil, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				c, run := fakeClient(ctx, newFakeStream(), "", test.probe)
				time.Sleep(time.Minute)
				if len(run) > 0 {
					t.Fatalf("Run returned %v with no command under way", <-run)
				}
				var got error
				c.Send(Command{Line: "list-keys", Replies: 1, Done: func(rs []Reply) { got = rs[0].Err }})
				time.Sleep(time.Minute)
				if cancel(); test.want != context.Canceled && len(run) == 0 {
					t.Error("Run still runs")
				}
				if err := <-run; !errors.Is(err, test.want) {
					t.Errorf("Run: %v, want %v", err, test.want)
				}
				if !errors.Is(got, test.want) {
					t.Errorf("command: %v, want %v", got, test.want)
				}
			})
		})
	}
}

// TestExitThenSilence: the process is killed when it says %exit, or shall leave, and does not go.
func TestExitThenSilence(t *testing.T) {
	for name, text := range map[string]string{"exit": "%exit\n", "cancel": ""} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				f := newFakeStream()
				_, run := fakeClient(ctx, f, text, nil)
				if text == "" {
					cancel()
				}
				begun := time.Now()
				if err := <-run; text != "" && err != nil {
					t.Errorf("Run: %v", err)
				}
				if took := time.Since(begun); !f.killed || took > 2*exitGrace {
					t.Errorf("killed: %v, after %v", f.killed, took)
				}
			})
		})
	}
}

// TestBrokenStream: what is not control mode ends the client with an error, and every command is done.
func TestBrokenStream(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want error
	}{
		"end in a line":         {"%output %1 a", io.EOF},
		"end in a block":        {"%begin 1 2 1\nhalf\n", io.EOF},
		"reply to nothing":      {"%begin 1 2 1\n%end 1 2 1\n%begin 1 3 1\n", ErrProtocol},
		"end without a begin":   {"%end 1 2 1\n", nil},
		"noise":                 {"noise\n\n%\n%begin\n%begin x y z\n%error 1 2\n", io.EOF},
		"block with fake ends":  {"%begin 1 2 1\n%end 1 3 1\n%end 2 2 1\n%error 1 2 0\n%end 1 2 1 \n%end\n", io.EOF},
		"blocks that lie still": {"%begin 1 2 0\n%begin 1 3 1\n%end 1 2 0\n", io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeStream()
				f.polite = true
				c := &ControlClient{stream: f, wake: make(chan struct{}, 1), lines: lineReader{r: strings.NewReader(test.text)}, probe: func(context.Context) error { return nil }}
				done := 0
				c.Send(Command{Line: "a ; b", Replies: 1, Done: func(rs []Reply) { done++ }})
				err := c.Run(t.Context(), func(Event) {})
				if test.want != nil && !errors.Is(err, test.want) || err == nil {
					t.Errorf("Run: %v, want %v", err, test.want)
				}
				if done != 1 {
					t.Errorf("done %d times", done)
				}
			})
		})
	}
}

// TestLongReply: a reply over the bound is an error of that command alone.
func TestLongReply(t *testing.T) {
	line := strings.Repeat("x", 1<<20) + "\n"
	text := "%begin 1 2 1\n" + strings.Repeat(line, maxBlockBytes>>20+1) + "%end 1 2 1\n%begin 1 3 1\nfine\n%end 1 3 1\n%exit\n"
	f := newFakeStream()
	f.polite = true
	c := &ControlClient{stream: f, wake: make(chan struct{}, 1), lines: lineReader{r: strings.NewReader(text)}}
	var got []error
	for range 2 {
		c.Send(Command{Line: "x", Replies: 1, Done: func(rs []Reply) { got = append(got, rs[0].Err) }})
	}
	if err := c.Run(t.Context(), func(Event) {}); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || !errors.Is(got[0], ErrTooLong) || got[1] != nil {
		t.Errorf("replies: %v", got)
	}
	if cap(c.block.data) > keepBytes || cap(c.lines.buf) > 4<<20 {
		t.Errorf("kept %d and %d bytes", cap(c.block.data), cap(c.lines.buf))
	}
}
