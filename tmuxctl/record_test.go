package tmuxctl_test

import (
	"context"
	"flag"
	"os"
	"sync"
	"testing"

	"github.com/browsertabs/tabs/tmuxctl"
	"github.com/browsertabs/tabs/tmuxctl/tmuxtest"
)

var record = flag.String("record", "", "write a transcript of this tmux to this file")

// TestRecord records the transcript that TestTranscripts reads.
func TestRecord(t *testing.T) {
	if *record == "" {
		t.Skip("records only with -record")
	}
	s := tmuxtest.Start(t)
	var mu sync.Mutex
	var transcript []byte
	start := s.Start
	s.Start = func(ctx context.Context, argv, env []string) (tmuxctl.Stream, error) {
		st, err := start(ctx, argv, env)
		if err != nil || argv[len(argv)-1] != "$0" {
			return st, err
		}
		return &recorder{Stream: st, keep: func(b []byte) {
			mu.Lock()
			defer mu.Unlock()
			transcript = append(transcript, b...)
		}}, nil
	}
	c := attach(t, s, s.New("first", "sh", "-c", `printf '\033[31mred\033[0m\ttab \\ 漢字\r\n'; cat`))
	other := attach(t, s, s.New("second"))
	for _, cmd := range []tmuxctl.Command{
		tmuxctl.Lines(tmuxctl.SubscribePane(0, "#{pane_mode}"), tmuxctl.SubscribeWindow(0, "#{session_name} #{window_name}")),
		tmuxctl.SendKeys(0, []byte("typed: é 漢 \\ \x01\n")),
		tmuxctl.Lines(tmuxctl.ResizeWindow(0, 100, 30)),
		tmuxctl.Lines(tmuxctl.SplitPane(0, tmuxctl.Right)),
		tmuxctl.Lines(tmuxctl.SplitPane(0, tmuxctl.Down)),
		tmuxctl.Lines(tmuxctl.ZoomPane(0)),
		tmuxctl.Lines(tmuxctl.ZoomPane(0)),
		tmuxctl.Lines("copy-mode -t %0"),
		tmuxctl.Lines(tmuxctl.LeaveMode(0)),
		tmuxctl.NewWindow(0),
		tmuxctl.Lines(tmuxctl.RenameWindow(0, "named window")),
		tmuxctl.Lines(tmuxctl.RenameSession(0, "named session")),
		tmuxctl.Lines(tmuxctl.SelectWindow(0)),
		tmuxctl.Lines(tmuxctl.AppendBuffer("buffer", []byte("text"))),
		tmuxctl.Lines(tmuxctl.DeleteBuffer("buffer")),
		tmuxctl.Lines(tmuxctl.PausePane(0)),
		tmuxctl.Capture(0, []string{"pane_id", "cursor_x", "cursor_y"}, 100, true),
		tmuxctl.Lines("refresh-client -f pause-after=3600"),
		tmuxctl.SendKeys(0, []byte("extended\n")),
	} {
		c.do(t, cmd)
	}
	c.Do(t.Context(), "select-pane -t %99 ; list-keys", 2)
	c.Do(t.Context(), "nonsense", 1)
	tmuxtest.Until(t, "subscription", func() bool {
		return c.saw(func(e tmuxctl.Event) bool { s, ok := e.(tmuxctl.SubscriptionChanged); return ok && s.Name == "@0" })
	})
	other.cancel()
	<-other.done
	tmuxtest.Until(t, "detach of the other client", func() bool {
		return c.saw(func(e tmuxctl.Event) bool { _, ok := e.(tmuxctl.ClientDetached); return ok })
	})
	c.Send(tmuxctl.Lines(tmuxctl.KillSession(0)))
	<-c.done
	if err := os.WriteFile(*record, transcript, 0o644); err != nil {
		t.Fatal(err)
	}
}

// recorder keeps what is read.
type recorder struct {
	tmuxctl.Stream
	keep func([]byte)
}

func (r *recorder) Read(b []byte) (int, error) {
	n, err := r.Stream.Read(b)
	r.keep(b[:n])
	return n, err
}
