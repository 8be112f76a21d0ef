package tabs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/terminal"
)

const (
	// replayBytes is how much of its output a plain terminal keeps to show to a viewer that joins.
	replayBytes = 256 << 10
	// maxPlainInputBytes bounds input that the program does not read.
	maxPlainInputBytes = 4 << 20
	plainReadBytes     = 32 << 10
	// hangupGrace is how long the program of a closed plain terminal may take to leave.
	hangupGrace = time.Second
	plainPane   = terminal.PaneID(0)
)

// plainSource is a program on a PTY as a terminal.Source, for a sandbox without tmux. It ends with our server.
type plainSource struct {
	start func(context.Context, terminal.Size) (sandbox.Process, error)
	title string // of the program: its name
	// left tells whether to end the terminal when its program has ended with this code.
	left func(code int) bool

	closing chan struct{} // closed by close
	once    sync.Once
	wake    chan struct{} // capacity 1: todo has something
	typing  chan struct{} // capacity 1: input has something

	mu     sync.Mutex // protects following
	todo   []func(terminal.Handler)
	input  []plainInput
	queued int // bytes of input
	size   terminal.Size
	pastes map[string][]byte
	ended  bool

	// Of Run's goroutine alone.
	replay    []byte
	paused    bool
	bracketed bool   // the program asked for bracketed paste
	tail      []byte // the end of the last output, where a mode may have been cut
	proc      sandbox.Process
	state     terminal.PaneState
}

type plainInput struct {
	data []byte
	done func(error)
}

func newPlainSource(size terminal.Size, title string) *plainSource {
	return &plainSource{
		title: title, size: size, closing: make(chan struct{}),
		wake: make(chan struct{}, 1), typing: make(chan struct{}, 1), pastes: make(map[string][]byte),
	}
}

// close hangs up.
func (p *plainSource) close() { p.once.Do(func() { close(p.closing) }) }

// Run implements terminal.Source.
func (p *plainSource) Run(ctx context.Context, h terminal.Handler) error {
	defer p.drain(h)
	proc, err := p.start(ctx, p.size)
	if err != nil {
		return fmt.Errorf("start program: %w", err)
	}
	p.proc = proc
	p.state = terminal.PaneState{Pane: plainPane, Command: p.title}
	h.Attached(terminal.Attached{Windows: p.windows(), Panes: []terminal.PaneState{p.state}})

	var wg sync.WaitGroup
	defer wg.Wait()
	over := make(chan struct{})
	defer close(over)
	chunks := make(chan []byte)
	free := make(chan []byte, 1)
	free <- make([]byte, plainReadBytes)
	wg.Go(func() { p.read(chunks, free, over) })
	wg.Go(func() { p.write(over) })
	defer p.hangUp()

	for {
		select {
		case chunk, ok := <-chunks:
			if !ok {
				chunks = nil
				if code := p.exited(h); p.left(code) {
					return nil
				}
				continue // the screen is kept until it is closed
			}
			p.output(h, chunk)
			free <- chunk[:cap(chunk)]
		case <-p.wake:
			for _, fn := range p.take() {
				fn(h)
			}
		case <-p.closing:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// read reads the PTY, one chunk at a time, until its end.
func (p *plainSource) read(chunks chan<- []byte, free <-chan []byte, over <-chan struct{}) {
	defer close(chunks)
	for {
		select {
		case buf := <-free:
			n, err := p.proc.Stdout().Read(buf)
			if n > 0 {
				select {
				case chunks <- buf[:n]:
				case <-over:
					return
				}
			}
			if err != nil {
				return
			}
		case <-over:
			return
		}
	}
}

func (p *plainSource) output(h terminal.Handler, data []byte) {
	if len(p.replay) > 2*replayBytes { // seldom, so that each byte is moved once
		keep := p.replay[len(p.replay)-replayBytes:]
		keep = keep[bytes.IndexByte(keep, '\n')+1:]
		p.replay = append(make([]byte, 0, 2*replayBytes+plainReadBytes), keep...)
	}
	p.replay = append(p.replay, data...)
	p.watchBrackets(data)
	if !p.paused {
		h.Output(plainPane, data)
	}
}

var bracketsOn, bracketsOff = []byte("\x1b[?2004h"), []byte("\x1b[?2004l")

func (p *plainSource) watchBrackets(data []byte) {
	seen := append(p.tail, data...)
	on, off := bytes.LastIndex(seen, bracketsOn), bytes.LastIndex(seen, bracketsOff)
	if on >= 0 || off >= 0 {
		p.bracketed = on > off
	}
	p.tail = append(p.tail[:0:0], seen[max(0, len(seen)-len(bracketsOn)+1):]...)
}

// exited tells how the program ended.
func (p *plainSource) exited(h terminal.Handler) int {
	code, err := p.proc.Wait()
	if err != nil {
		code = -1
	}
	p.state.Dead, p.state.ExitCode = true, code
	h.PaneChanged(p.state)
	return code
}

// hangUp ends the program as a closed terminal does.
func (p *plainSource) hangUp() {
	p.proc.Signal("HUP")
	kill := time.AfterFunc(hangupGrace, func() { p.proc.Signal("KILL") })
	defer kill.Stop()
	p.proc.Close()
	p.proc.Wait()
}

func (p *plainSource) write(over <-chan struct{}) {
	for {
		select {
		case <-p.typing:
		case <-over:
			return
		}
		for {
			p.mu.Lock()
			if len(p.input) == 0 {
				p.mu.Unlock()
				break
			}
			in := p.input[0]
			p.input = p.input[1:]
			p.mu.Unlock()
			_, err := p.proc.Stdin().Write(in.data)
			p.mu.Lock()
			p.queued -= len(in.data)
			p.mu.Unlock()
			p.do(func(terminal.Handler) { in.done(err) }, in.done)
		}
	}
}

// do runs fn on Run's goroutine; lost is told when Run has returned.
func (p *plainSource) do(fn func(terminal.Handler), lost func(error)) {
	p.mu.Lock()
	ended := p.ended
	if !ended {
		p.todo = append(p.todo, fn)
	}
	p.mu.Unlock()
	if ended {
		if lost != nil {
			go lost(terminal.ErrDetached)
		}
		return
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *plainSource) take() []func(terminal.Handler) {
	p.mu.Lock()
	defer p.mu.Unlock()
	todo := p.todo
	p.todo = nil
	return todo
}

// drain completes what is left when Run ends.
func (p *plainSource) drain(h terminal.Handler) {
	p.mu.Lock()
	p.ended = true
	input := p.input
	p.input = nil
	p.mu.Unlock()
	for _, fn := range p.take() {
		fn(h)
	}
	for _, in := range input {
		in.done(terminal.ErrDetached)
	}
}

func (p *plainSource) send(data []byte, done func(error)) {
	if done == nil {
		done = func(error) {}
	}
	p.mu.Lock()
	var err error
	switch {
	case p.ended:
		err = terminal.ErrDetached
	case p.queued+len(data) > maxPlainInputBytes:
		err = errors.New("the program does not read its input")
	default:
		p.queued += len(data)
		p.input = append(p.input, plainInput{data, done})
	}
	p.mu.Unlock()
	if err != nil {
		p.do(func(terminal.Handler) { done(err) }, done)
		return
	}
	select {
	case p.typing <- struct{}{}:
	default:
	}
}

// SendKeys implements terminal.Source. There is no place for a mark that would outlive us.
func (p *plainSource) SendKeys(_ terminal.PaneID, data []byte, _ string, done func(error)) {
	p.send(bytes.Clone(data), done)
}

var errPasteTooLong = fmt.Errorf("a paste has at most %d bytes here", maxPlainInputBytes)

// PasteChunk implements terminal.Source.
func (p *plainSource) PasteChunk(buffer string, data []byte, done func(error)) {
	p.mu.Lock()
	var err error
	switch text, begun := p.pastes[buffer]; {
	case begun && text == nil, len(text)+len(data) > maxPlainInputBytes:
		p.pastes[buffer] = nil // too long: PasteEnd refuses it, since half of it would be worse than nothing
		err = errPasteTooLong
	default:
		p.pastes[buffer] = append(text, data...)
	}
	p.mu.Unlock()
	if done != nil {
		p.do(func(terminal.Handler) { done(err) }, done)
	}
}

// PasteEnd implements terminal.Source.
func (p *plainSource) PasteEnd(buffer string, _ terminal.PaneID, _ string, done func(error)) {
	p.do(func(terminal.Handler) {
		p.mu.Lock()
		text, begun := p.pastes[buffer]
		delete(p.pastes, buffer)
		p.mu.Unlock()
		if begun && text == nil {
			if done != nil {
				done(errPasteTooLong)
			}
			return
		}
		if p.bracketed {
			text = slices.Concat([]byte("\x1b[200~"), text, []byte("\x1b[201~"))
		}
		p.send(text, done)
	}, done)
}

// PasteAbort implements terminal.Source.
func (p *plainSource) PasteAbort(buffer string) {
	p.mu.Lock()
	delete(p.pastes, buffer)
	p.mu.Unlock()
}

// Capture implements terminal.Source: what a plain terminal shows is what its program wrote last.
func (p *plainSource) Capture(_ terminal.PaneID, o terminal.CaptureOptions, at func(), done func(terminal.Capture, error)) {
	p.do(func(terminal.Handler) {
		if o.Resume {
			p.paused = false
		}
		if at != nil {
			at()
		}
		replay := p.replay[max(0, len(p.replay)-replayBytes):]
		if len(replay) < len(p.replay) {
			replay = replay[bytes.IndexByte(replay, '\n')+1:]
		}
		done(terminal.Capture{Replay: append([]byte{}, replay...)}, nil)
	}, func(err error) { done(terminal.Capture{}, err) })
}

// Pause implements terminal.Source.
func (p *plainSource) Pause(pane terminal.PaneID) {
	p.do(func(h terminal.Handler) {
		p.paused = true
		h.Paused(pane)
	}, nil)
}

// Resize implements terminal.Source.
func (p *plainSource) Resize(size terminal.Size, done func(error)) {
	p.do(func(h terminal.Handler) {
		size = size.Clamp()
		var err error
		if p.proc != nil && !p.state.Dead {
			err = p.proc.Resize(size.Cols, size.Rows)
		}
		if err == nil {
			p.size = size
			h.WindowsChanged(p.windows())
		}
		if done != nil {
			done(err)
		}
	}, done)
}

// Do implements terminal.Source: all operations need tmux.
func (p *plainSource) Do(op terminal.Op, done func(error)) {
	if done == nil {
		return
	}
	err := &sandbox.Error{Code: sandbox.CodeNotSupported, Remedy: "sudo apt install tmux",
		Message: "panes and windows need tmux, which this terminal runs without"}
	p.do(func(terminal.Handler) { done(err) }, done)
}

// SetPaneOption implements terminal.Source: nothing outlives our server here.
func (p *plainSource) SetPaneOption(terminal.PaneID, string, string) {}

func (p *plainSource) windows() terminal.Windows {
	return terminal.Windows{
		List: []terminal.Window{{Name: p.title, Active: true}},
		Layout: terminal.Layout{
			Size: p.size, Active: plainPane,
			Panes: []terminal.PaneBox{{ID: plainPane, Cols: p.size.Cols, Rows: p.size.Rows}},
		},
	}
}

// openPlain starts a program without tmux.
func (t *tab) openPlain(ctx context.Context, o OpenOptions) error {
	b := t.box
	title := "shell"
	if len(o.Command) > 0 {
		title = path.Base(o.Command[0])
	}
	env := []string{"TERM=xterm-256color", "COLORTERM=truecolor"}
	for k, v := range o.Env {
		env = append(env, k+"="+v)
	}
	src := newPlainSource(o.Size, title)
	started := make(chan error, 1)
	src.start = func(ctx context.Context, size terminal.Size) (sandbox.Process, error) {
		proc, err := b.s.c.Provider.Exec(ctx, b.id, sandbox.Exec{
			Argv: o.Command, Env: env, Dir: o.Cwd, User: o.User, TTY: true, Cols: size.Cols, Rows: size.Rows,
		})
		err = startError(o.Command, err)
		started <- err
		return proc, err
	}
	src.left = func(code int) bool {
		if code != 0 || len(o.Command) > 0 || b.s.c.KeepExited {
			return false
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if t.reason == "" {
			t.reason = GoneExited
		}
		return true
	}
	t.src = src
	t.done = make(chan struct{})
	t.term = terminal.New(terminal.Config{
		Source: src, Version: b.s.c.Version, Plain: true, Logger: b.s.log.With("sandbox_id", b.id, "tab_id", t.id),
		Answers: terminal.Answers{Palette: b.s.c.Palette},
	})
	if err := b.add(t); err != nil {
		return err
	}
	select {
	case err := <-started:
		if err != nil {
			<-t.done
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// startError says what is wrong with a command that cannot be started.
func startError(command []string, err error) error {
	var known *sandbox.Error
	missing := errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist)
	if errors.As(err, &known) || len(command) == 0 || !missing && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.ENOEXEC) {
		return err
	}
	why := "is not a program that this user may run"
	if missing {
		why = "is not there"
	}
	return &sandbox.Error{Code: sandbox.CodeInvalidRequest, Field: "command", Err: err,
		Message: fmt.Sprintf("cannot run %.200q: it %s", command[0], why)}
}

func (t *tab) endPlain() { t.src.(*plainSource).close() }
