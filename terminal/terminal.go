package terminal

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"
)

var (
	// ErrServerGone says that the tmux server behind a Source died.
	ErrServerGone = errors.New("tmux server gone")
	// ErrDetached says that the stream ended before tmux answered.
	ErrDetached = errors.New("detached from tmux")
	// ErrClosed says that the terminal is closed or its source has ended.
	ErrClosed = errors.New("terminal closed")
)

// maxViewers bounds the viewers of one terminal.
const maxViewers = 64

// Config is what New needs.
type Config struct {
	Source  Source
	Version string  // of our server, told to viewers
	Plain   bool    // not tmux; told to viewers
	Widths  Widths  // of this tmux; told to viewers
	Answers Answers // which queries this tmux answers itself
	Logger  *slog.Logger
}

// Widths says which clusters a tmux joins into one wide character.
type Widths struct {
	ZWJ       bool `json:"zwj"`
	VS16      bool `json:"vs16"`
	Flags     bool `json:"flags"`
	SkinTones bool `json:"skinTones"`
}

// Terminal is one tab's running terminal: it reads a Source and serves what it reads to viewers. It is the source's
// Handler.
type Terminal struct {
	c      Config
	src    Source
	log    *slog.Logger
	stream string        // names the offsets of this terminal's panes
	kick   chan struct{} // tells keep of an earlier deadline
	closed chan struct{} // Close was called
	done   chan struct{} // Run has returned

	mu       sync.Mutex // protects following
	running  bool
	attached bool
	end      *ending // set once; no viewer joins after it
	panes    map[PaneID]*pane
	windows  Windows
	viewers  []*viewer
	lastID   int // of a viewer
	inputs   inputs
	owner    owner
	bell     bool
	activity time.Time
	deadline time.Time // when keep wakes up
	watchers map[*func()]struct{}
	changed  bool // Summary may have changed; watchers are told on unlock
	toldAt   time.Time
	joined   sync.WaitGroup // viewers being served
}

// New returns a Terminal that reads nothing until Run.
func New(c Config) *Terminal {
	log := c.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Terminal{
		c: c, src: c.Source, log: log,
		stream:   strings.ToLower(rand.Text()),
		kick:     make(chan struct{}, 1),
		closed:   make(chan struct{}),
		done:     make(chan struct{}),
		panes:    map[PaneID]*pane{},
		watchers: map[*func()]struct{}{},
	}
}

// ending is why a terminal is over, and what viewers are told.
type ending struct {
	text   *endedText // nil: nothing but the close code
	code   int
	reason string
	flush  bool // viewers get the last output first
}

// Run reads the source until it ends; it returns after every viewer has left. It may be called once.
func (t *Terminal) Run(ctx context.Context) error {
	defer close(t.done)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t.mu.Lock()
	t.running = true
	t.mu.Unlock()

	var wg sync.WaitGroup
	wg.Go(func() { t.keep(ctx) })
	wg.Go(func() {
		select {
		case <-t.closed:
			cancel()
		case <-ctx.Done():
		}
	})
	err := t.src.Run(ctx, t)
	t.finish(ctx, err)
	cancel()
	wg.Wait()
	t.joined.Wait()
	return err
}

// finish sends every viewer away, saying why.
func (t *Terminal) finish(ctx context.Context, err error) {
	t.mu.Lock()
	defer t.unlock()
	if t.end != nil {
		return
	}
	switch {
	case errors.Is(err, ErrServerGone):
		t.endLocked(&ending{&endedText{"ended", "server_gone", nil}, CloseServerGone, "terminal server gone", true})
	case err != nil || ctx.Err() != nil:
		t.endLocked(&ending{code: CloseRestart, reason: "server restarts"})
	default:
		text := &endedText{"ended", "closed", nil}
		if p := t.panes[t.windows.Layout.Active]; p != nil && p.state.Dead {
			exit := p.state.ExitCode
			text = &endedText{"ended", "exited", &exit}
		}
		t.endLocked(&ending{text, CloseTabGone, "tab ended", true})
	}
}

func (t *Terminal) endLocked(e *ending) {
	t.end = e
	t.changed = true
	for _, v := range t.viewers {
		v.sendAwayLocked()
	}
}

// Close sends every viewer away with a code that says to come back, detaches from the source and waits for Run.
func (t *Terminal) Close(ctx context.Context) error {
	t.mu.Lock()
	running := t.running
	if t.end == nil {
		t.endLocked(&ending{code: CloseRestart, reason: "server restarts"})
		close(t.closed)
	}
	t.unlock()
	if !running {
		return nil
	}
	select {
	case <-t.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// unlock unlocks mu and then tells watchers, who may call back.
func (t *Terminal) unlock() {
	var tell []func()
	if t.changed {
		t.changed = false
		t.toldAt = time.Now()
		for fn := range t.watchers {
			tell = append(tell, *fn)
		}
	}
	t.mu.Unlock()
	for _, fn := range tell {
		fn()
	}
}

// Summary is what a tab list shows of a terminal.
type Summary struct {
	Title    string // of the active pane, from the program
	Cwd      string
	Command  string
	Size     Size
	Viewers  int
	Bell     bool // rang since a viewer last looked
	Dead     bool
	Exit     int
	Activity time.Time // last output
}

// Summary returns what a tab list shows.
func (t *Terminal) Summary() Summary {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := Summary{Size: t.windows.Layout.Size, Viewers: len(t.viewers), Bell: t.bell, Activity: t.activity}
	if p := t.panes[t.windows.Layout.Active]; p != nil {
		s.Title, s.Cwd, s.Command = p.state.Title, p.state.Cwd, p.state.Command
		s.Dead, s.Exit = p.state.Dead, p.state.ExitCode
	}
	return s
}

// Watch calls fn, from the terminal's own goroutines, when Summary may have changed: at once, but for output, which is
// told at most once a second. fn must not block.
func (t *Terminal) Watch(fn func()) (stop func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watchers[&fn] = struct{}{}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.watchers, &fn)
	}
}

// Do carries out an operation on panes and windows.
func (t *Terminal) Do(ctx context.Context, op Op) error {
	return t.wait(ctx, func(done func(error)) { t.src.Do(op, done) })
}

// Resize gives the terminal a size; a viewer that owns the size may change it again.
func (t *Terminal) Resize(ctx context.Context, size Size) error {
	return t.wait(ctx, func(done func(error)) { t.src.Resize(size.Clamp(), done) })
}

// LastLines returns up to n last lines of the active pane's history and screen, with SGR, for keeping.
func (t *Terminal) LastLines(ctx context.Context, n int) ([]byte, error) {
	t.mu.Lock()
	pane := t.windows.Layout.Active
	attached := t.attached
	t.mu.Unlock()
	if !attached {
		return nil, ErrDetached
	}
	var lines []byte
	err := t.wait(ctx, func(done func(error)) {
		t.src.Capture(pane, CaptureOptions{History: n}, nil, func(c Capture, err error) {
			if err == nil {
				lines = lastLines(c, n)
			}
			done(err)
		})
	})
	if err != nil {
		return nil, err // lines may still be written by a late answer
	}
	return lines, nil
}

// wait starts an operation of the source and waits until it is done.
func (t *Terminal) wait(ctx context.Context, start func(done func(error))) error {
	done := make(chan error, 1)
	start(func(err error) { done <- err })
	select {
	case err := <-done:
		return err
	case <-t.done:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}
