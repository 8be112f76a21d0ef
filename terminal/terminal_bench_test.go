package terminal_test

import (
	"context"
	"encoding/binary"
	"runtime"
	"strings"
	"testing"

	"github.com/browsertabs/tabs/terminal"
	"github.com/browsertabs/tabs/terminal/terminaltest"
)

// benchmark runs a terminal and n viewers that ack all they get, until stop.
func benchmark(n int) (term *terminal.Terminal, sinks []*sink, stop func()) {
	term = terminal.New(terminal.Config{Source: terminaltest.NewSource(size80)})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- term.Run(ctx) }()
	for range n {
		s := newSink()
		sinks = append(sinks, s)
		go term.Serve(ctx, s, terminal.Hello{Protocol: 1}, terminal.ViewerConfig{}) //nolint:errcheck // ends with Run
		<-s.got
	}
	return term, sinks, func() {
		cancel()
		<-ended
	}
}

// BenchmarkEcho is a single character through the terminal to one viewer.
func BenchmarkEcho(b *testing.B) {
	term, sinks, stop := benchmark(1)
	defer stop()
	key := []byte("x")
	b.ReportAllocs()
	for b.Loop() {
		term.Output(1, key)
		<-sinks[0].got
	}
}

// BenchmarkViewerMemory reports what a viewer that has caught up costs.
func BenchmarkViewerMemory(b *testing.B) {
	const viewers = 60
	memory := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	for b.Loop() {
		before := memory()
		term, sinks, stop := benchmark(viewers)
		term.Output(1, []byte(lines(100)))
		for _, s := range sinks {
			for n := 0; n < 3200; {
				n += <-s.got
			}
		}
		b.ReportMetric(float64(memory()-before)/viewers, "B/viewer")
		stop()
	}
}

// BenchmarkAttach is a viewer that comes to 10,000 coloured lines and has all of them.
func BenchmarkAttach(b *testing.B) {
	line := "\x1b[0;34mdrwxr-xr-x\x1b[0m some \x1b[0;1;32mcoloured\x1b[0m line of usual length, with a number at its end 12345\n"
	history := []byte(strings.Repeat(line, 10_000))
	src := terminaltest.NewSource(size80)
	src.CaptureFunc = func(_ terminal.PaneID, o terminal.CaptureOptions) (terminal.Capture, error) {
		c := terminal.Capture{Vars: map[string]string{
			"pane_width": "80", "pane_height": "24", "history_size": "10000", "wrap_flag": "1", "cursor_flag": "1",
		}}
		c.Screen = []byte(strings.TrimSuffix(strings.Repeat(line, 24), "\n"))
		if o.History > 0 {
			c.Screen = append(history[:len(history):len(history)], c.Screen...)
		}
		return c, nil
	}
	term := terminal.New(terminal.Config{Source: src})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- term.Run(ctx) }()
	b.SetBytes(int64(len(history)))
	for b.Loop() {
		c := &fullSink{sink: newSink(), full: make(chan struct{})}
		left := make(chan error, 1)
		go func() {
			left <- term.Serve(ctx, c, terminal.Hello{Protocol: 1, Scrollback: 10_000}, terminal.ViewerConfig{})
		}()
		<-c.full
		_ = c.sink.Close(0, "")
		<-left
	}
	cancel()
	<-ended
}

// fullSink is a connection that acks snapshots and tells when one with history is complete.
type fullSink struct {
	*sink
	full chan struct{}
}

func (s *fullSink) Write(_ context.Context, bin bool, data []byte) error {
	if !bin || data[0] != 0x02 || data[17]&2 == 0 {
		return nil
	}
	s.acks <- binary.BigEndian.Uint64(data[5:])
	if data[17]&4 != 0 {
		close(s.full)
	}
	return nil
}

func (s *fullSink) Close(int, string) error { return nil }
