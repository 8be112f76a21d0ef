package terminaltest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/browsertabs/tabs/terminal"
)

// ShownBytes is how much of its output a pane shows.
const ShownBytes = 32 << 10

// Source is a terminal.Source without tmux. What a pane shows is the last ShownBytes that were emitted for it, so that a
// snapshot and the output after it must add up to the end of all that was.
type Source struct {
	// Echo has SendKeys come back as output.
	Echo bool
	// CaptureFunc answers captures instead, when set.
	CaptureFunc func(pane terminal.PaneID, o terminal.CaptureOptions) (terminal.Capture, error)

	mu       sync.Mutex // protects following
	queue    []func(terminal.Handler)
	held     []func(terminal.Handler) // while holding, answers to commands
	holding  bool
	ready    chan struct{}
	end      error
	ended    bool
	attached terminal.Attached
	shown    map[terminal.PaneID]*bytes.Buffer
	keys     map[terminal.PaneID]*bytes.Buffer
	buffers  map[string]*bytes.Buffer
	mark     string
	paused   map[terminal.PaneID]bool
	dropped  int // bytes a paused pane wrote
	calls    []string
	sizes    []terminal.Size
	options  map[terminal.PaneID]string
}

// NewSource returns a Source with one window and one pane, number 1.
func NewSource(size terminal.Size) *Source {
	s := &Source{
		ready: make(chan struct{}, 1),
		shown: map[terminal.PaneID]*bytes.Buffer{}, keys: map[terminal.PaneID]*bytes.Buffer{},
		buffers: map[string]*bytes.Buffer{}, paused: map[terminal.PaneID]bool{}, options: map[terminal.PaneID]string{},
	}
	s.attached = terminal.Attached{
		Windows: OneWindow(size, 1),
		Panes:   []terminal.PaneState{{Pane: 1}},
	}
	return s
}

// OneWindow is a window of panes side by side, each as large as the window: no test looks closer.
func OneWindow(size terminal.Size, panes ...terminal.PaneID) terminal.Windows {
	w := terminal.Windows{Current: 1, List: []terminal.Window{{ID: 1, Name: "sh", Active: true}}}
	w.Layout = terminal.Layout{Size: size, Active: panes[0]}
	for i, p := range panes {
		w.Layout.Panes = append(w.Layout.Panes, terminal.PaneBox{ID: p, Left: i * (size.Cols + 1), Cols: size.Cols, Rows: size.Rows})
	}
	return w
}

// SetAttached says what Run tells first.
func (s *Source) SetAttached(a terminal.Attached) { s.attached = a }

func (s *Source) push(f func(terminal.Handler)) {
	s.mu.Lock()
	s.queue = append(s.queue, f)
	s.mu.Unlock()
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// answer queues the answer to a command, or keeps it while answers are held.
func (s *Source) answer(f func(terminal.Handler)) {
	s.mu.Lock()
	if s.holding {
		s.held = append(s.held, f)
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	s.push(f)
}

// Hold keeps back the answers to commands from now on; Release gives them.
func (s *Source) Hold() {
	s.mu.Lock()
	s.holding = true
	s.mu.Unlock()
}

// Release ends Hold.
func (s *Source) Release() {
	s.mu.Lock()
	held := s.held
	s.held, s.holding = nil, false
	s.mu.Unlock()
	for _, f := range held {
		s.push(f)
	}
}

// Run implements terminal.Source.
func (s *Source) Run(ctx context.Context, h terminal.Handler) error {
	h.Attached(s.attached)
	for {
		s.mu.Lock()
		queue := s.queue
		s.queue = nil
		ended := s.ended
		s.mu.Unlock()
		for _, f := range queue {
			f(h)
		}
		if len(queue) > 0 {
			continue
		}
		if ended {
			return s.end
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.ready:
		}
	}
}

// End has Run return err after what is queued.
func (s *Source) End(err error) {
	s.mu.Lock()
	s.end, s.ended = err, true
	s.mu.Unlock()
	s.push(func(terminal.Handler) {})
}

// Emit has a program write data in pane.
func (s *Source) Emit(pane terminal.PaneID, data string) { s.EmitBytes(pane, []byte(data)) }

// EmitBytes is Emit for bytes that stay unchanged until they are read.
func (s *Source) EmitBytes(pane terminal.PaneID, data []byte) {
	s.push(func(h terminal.Handler) {
		s.mu.Lock()
		s.buffer(s.shown, pane).Write(data)
		paused := s.paused[pane]
		if paused {
			s.dropped += len(data)
		}
		s.mu.Unlock()
		if !paused {
			h.Output(pane, data)
		}
	})
}

// Stream has a program write data without keeping what the pane shows; for benchmarks.
func (s *Source) Stream(pane terminal.PaneID, data []byte) {
	s.push(func(h terminal.Handler) { h.Output(pane, data) })
}

// Reattach has the source attach anew.
func (s *Source) Reattach(a terminal.Attached) {
	s.push(func(h terminal.Handler) { h.Attached(a) })
}

// Windows tells of windows.
func (s *Source) Windows(w terminal.Windows) {
	s.push(func(h terminal.Handler) { h.WindowsChanged(w) })
}

// State tells of a pane's state.
func (s *Source) State(p terminal.PaneState) {
	s.push(func(h terminal.Handler) { h.PaneChanged(p) })
}

// Copy tells of a text copied in copy mode.
func (s *Source) Copy(pane terminal.PaneID, text string) {
	s.push(func(h terminal.Handler) { h.Copied(pane, []byte(text)) })
}

// PauseByTmux has tmux itself pause a pane.
func (s *Source) PauseByTmux(pane terminal.PaneID) {
	s.push(func(h terminal.Handler) {
		s.mu.Lock()
		s.paused[pane] = true
		s.mu.Unlock()
		h.Paused(pane)
	})
}

func (s *Source) buffer(m map[terminal.PaneID]*bytes.Buffer, pane terminal.PaneID) *bytes.Buffer {
	b := m[pane]
	if b == nil {
		b = &bytes.Buffer{}
		m[pane] = b
	}
	return b
}

func (s *Source) call(format string, args ...any) {
	s.calls = append(s.calls, fmt.Sprintf(format, args...))
}

func finish(done func(error), err error) func(terminal.Handler) {
	return func(terminal.Handler) {
		if done != nil {
			done(err)
		}
	}
}

// SendKeys implements terminal.Source.
func (s *Source) SendKeys(pane terminal.PaneID, data []byte, mark string, done func(error)) {
	s.mu.Lock()
	s.buffer(s.keys, pane).Write(data)
	s.call("keys %d %q", pane, data)
	if mark != "" {
		s.mark = mark
	}
	s.mu.Unlock()
	if s.Echo && len(data) > 0 {
		s.EmitBytes(pane, bytes.Clone(data))
	}
	s.answer(finish(done, nil))
}

// PasteChunk implements terminal.Source.
func (s *Source) PasteChunk(buffer string, data []byte, done func(error)) {
	s.mu.Lock()
	if s.buffers[buffer] == nil {
		s.buffers[buffer] = &bytes.Buffer{}
	}
	s.buffers[buffer].Write(data)
	s.mu.Unlock()
	s.answer(finish(done, nil))
}

// PasteEnd implements terminal.Source.
func (s *Source) PasteEnd(buffer string, pane terminal.PaneID, mark string, done func(error)) {
	s.mu.Lock()
	if b := s.buffers[buffer]; b != nil {
		s.buffer(s.keys, pane).Write(b.Bytes())
		delete(s.buffers, buffer)
	}
	s.mark = mark
	s.call("paste %d", pane)
	s.mu.Unlock()
	s.answer(finish(done, nil))
}

// PasteAbort implements terminal.Source.
func (s *Source) PasteAbort(buffer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.buffers, buffer)
}

// Capture implements terminal.Source.
func (s *Source) Capture(pane terminal.PaneID, o terminal.CaptureOptions, at func(), done func(terminal.Capture, error)) {
	s.mu.Lock()
	s.call("capture %d %d %v", pane, o.History, o.Resume)
	s.mu.Unlock()
	s.answer(func(terminal.Handler) {
		s.mu.Lock()
		if o.Resume {
			s.paused[pane] = false
		}
		shown := s.buffer(s.shown, pane).Bytes()
		c := terminal.Capture{Replay: append([]byte{}, shown[max(len(shown)-ShownBytes, 0):]...)}
		s.mu.Unlock()
		if at != nil {
			at()
		}
		var err error
		if s.CaptureFunc != nil {
			c, err = s.CaptureFunc(pane, o)
		}
		done(c, err)
	})
}

// Pause implements terminal.Source.
func (s *Source) Pause(pane terminal.PaneID) {
	s.mu.Lock()
	s.call("pause %d", pane)
	s.mu.Unlock()
	s.push(func(h terminal.Handler) {
		s.mu.Lock()
		s.paused[pane] = true
		s.mu.Unlock()
		h.Paused(pane)
	})
}

// Resize implements terminal.Source: the panes of its first window get the size.
func (s *Source) Resize(size terminal.Size, done func(error)) {
	s.mu.Lock()
	s.call("resize %s", size)
	s.sizes = append(s.sizes, size)
	s.mu.Unlock()
	s.answer(func(h terminal.Handler) {
		h.WindowsChanged(OneWindow(size, 1))
		if done != nil {
			done(nil)
		}
	})
}

// Do implements terminal.Source.
func (s *Source) Do(op terminal.Op, done func(error)) {
	s.mu.Lock()
	s.call("do %s", op.Name)
	s.mu.Unlock()
	s.answer(finish(done, nil))
}

// SetPaneOption implements terminal.Source.
func (s *Source) SetPaneOption(pane terminal.PaneID, name, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.call("option %s", name)
	s.options[pane] = value
}

// Keys returns what was typed and pasted into pane.
func (s *Source) Keys(pane terminal.PaneID) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buffer(s.keys, pane).String()
}

// Shown returns what was ever emitted in pane.
func (s *Source) Shown(pane terminal.PaneID) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buffer(s.shown, pane).String()
}

// Mark returns the input mark.
func (s *Source) Mark() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mark
}

// Option returns what SetPaneOption stored last.
func (s *Source) Option(pane terminal.PaneID) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.options[pane]
}

// Sizes returns all sizes asked for.
func (s *Source) Sizes() []terminal.Size {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]terminal.Size(nil), s.sizes...)
}

// Calls returns the commands that begin with prefix.
func (s *Source) Calls(prefix string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var calls []string
	for _, c := range s.calls {
		if strings.HasPrefix(c, prefix) {
			calls = append(calls, c)
		}
	}
	return calls
}

// Dropped returns how many bytes paused panes wrote.
func (s *Source) Dropped() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}
