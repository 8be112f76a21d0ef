package tmuxctl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var (
	// ErrBacklog says that tmux did not read our commands for so long that the client was given up.
	ErrBacklog = errors.New("tmux does not read commands")
	// ErrProtocol says that what tmux sent is not control mode, or is out of bounds.
	ErrProtocol = errors.New("unexpected control mode stream")
	// ErrEnded says that the client ended before tmux answered: nobody knows whether the command ran.
	ErrEnded = errors.New("tmux client ended")
	// ErrTooLong is the Err of a reply longer than maxBlockBytes.
	ErrTooLong = errors.New("tmux reply too long")
)

const (
	// maxBlockBytes bounds one reply. 10,000 coloured lines are 1.2 MB.
	maxBlockBytes = 32 << 20
	// maxBacklogBytes bounds the commands that tmux has not read yet.
	maxBacklogBytes = 16 << 20
	// exitGrace is how long the process may take to end after %exit or after its stdin has ended. tmux can keep a
	// client for ever when its server was killed under it.
	exitGrace = time.Second
	// stallCheck is how often a client with an unanswered command asks whether its server is wedged.
	stallCheck = 5 * time.Second
)

// Reply is one %begin/%end block that answers a command of ours; Err is set when it ended in %error, or never came.
type Reply struct {
	Lines [][]byte // valid only during the callback
	Err   error
}

// Command is a line sent to tmux. One line can hold several commands joined by " ; ": each answers with a Reply,
// and after the first error tmux drops the rest of the line. A line that is empty or has a newline is refused.
type Command struct {
	Line string
	// Replies is how many commands the line holds.
	Replies int
	// Begin, if set, runs when the first reply begins: the exact point of the stream at which tmux ran the line.
	Begin func()
	// Done, if set, runs once when the last reply has come or the client ended. Err of a Reply that never came is
	// why. Both run on the reader's goroutine, in stream order, and must not block. A command sent after Run has
	// returned is done with an error, on a goroutine of its own.
	Done func([]Reply)
}

// Lines returns the command whose line holds these commands, each with one reply.
func Lines(commands ...string) Command {
	return Command{Line: strings.Join(commands, " ; "), Replies: len(commands)}
}

// Then returns a command with the commands of c and then those of d in one line. Begin and Done are those of c.
func (c Command) Then(d Command) Command {
	switch {
	case d.Replies == 0:
	case c.Replies == 0:
		c.Line, c.Replies = d.Line, d.Replies
	default:
		c.Line, c.Replies = c.Line+" ; "+d.Line, c.Replies+d.Replies
	}
	return c
}

// ControlClient is one `tmux -C attach-session`: one reader, a FIFO of pending commands. Whoever attached it must call
// Run.
type ControlClient struct {
	stream  Stream
	probe   func(context.Context) error
	session SessionChanged // what %session-changed said at the start

	// Of the reader's goroutine alone.
	lines  lineReader
	parser Parser
	block  block
	now    *pending // the command whose replies are coming
	// refusal is the last error of a block that is not ours: why an attach failed.
	refusal error

	progress atomic.Uint64 // counts the lines read, for the watchdog
	wake     chan struct{} // capacity 1: unsent has something

	mu     sync.Mutex // protects following
	fifo   []*pending // sent and not answered yet
	unsent []byte
	failed error // why the client was given up; the first wins
	ended  bool  // Run has completed all there was
}

// pending is a command that waits for its replies.
type pending struct {
	Command
	refused error // the line was not sent as it is, and why
	begun   bool
	replies []Reply
}

// Send queues a command; never blocks on tmux.
func (c *ControlClient) Send(cmd Command) {
	p := &pending{Command: cmd}
	if cmd.Replies < 1 || strings.Trim(cmd.Line, " ") == "" || strings.ContainsAny(cmd.Line, "\n\x00") {
		// Something that tmux refuses goes in its place, so that the answer still comes in order.
		p.refused = fmt.Errorf("refuse tmux command of %d bytes: want one line and at least one reply", len(cmd.Line))
		p.Line = "refused-command"
	}
	c.mu.Lock()
	if c.ended {
		err := c.failed
		c.mu.Unlock()
		if cmd.Done != nil {
			go p.finish(fmt.Errorf("%w: %w", ErrEnded, orClosed(err)))
		}
		return
	}
	c.fifo = append(c.fifo, p)
	if len(c.unsent)+len(p.Line) >= maxBacklogBytes {
		c.mu.Unlock()
		c.fail(ErrBacklog)
		return
	}
	c.unsent = append(append(c.unsent, p.Line...), '\n')
	c.mu.Unlock()
	p.Line = "" // no longer needed, and it may be long
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Do sends one command line and waits for its replies; not from Run's goroutine. The lines are copies. The error is
// that of the first reply that has one.
func (c *ControlClient) Do(ctx context.Context, line string, replies int) ([]Reply, error) {
	done := make(chan []Reply, 1)
	c.Send(Command{Line: line, Replies: replies, Done: func(rs []Reply) {
		for i := range rs {
			for j, l := range rs[i].Lines {
				rs[i].Lines[j] = bytes.Clone(l)
			}
		}
		done <- rs
	}})
	select {
	case rs := <-done:
		for _, r := range rs {
			if r.Err != nil {
				return rs, r.Err
			}
		}
		return rs, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Session returns the id of the session the client attached to.
func (c *ControlClient) Session() SessionID { return c.session.Session }

// Run reads until the session ends, the stream breaks or ctx is done, calling handle for each notification in stream
// order on one goroutine; the first is the SessionChanged of the attach. It owns the process: when Run returns, the
// process has ended and every command is done. nil: %exit because the session ended, kill-server included, or we detached;
// ErrNoServer: the server died; ErrWedged: it answers nobody any more; else the cause of ctx, or why the stream broke.
func (c *ControlClient) Run(ctx context.Context, handle func(Event)) error {
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { c.write(over) })
	wg.Go(func() { c.watch(ctx, over) })
	stop := context.AfterFunc(ctx, func() {
		// The end of its stdin detaches a control client.
		c.stream.CloseWrite()
	})
	defer stop()

	handle(c.session)
	err := c.read(handle)
	c.reap()
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err != nil && !errors.Is(err, ErrNoServer):
		// The client ended without a word, or was killed: its server may be why.
		if why := c.probe(ctx); errors.Is(why, ErrNoServer) || errors.Is(why, ErrWedged) {
			err = why
		}
	}
	close(over)
	wg.Wait()
	c.complete(err)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil {
		return c.failed
	}
	return err
}

// fail gives the client up: Run ends with err.
func (c *ControlClient) fail(err error) {
	c.mu.Lock()
	if c.failed == nil {
		c.failed = err
	}
	c.mu.Unlock()
	c.stream.Kill()
}

// read handles lines until %exit or the end of the stream.
func (c *ControlClient) read(handle func(Event)) error {
	for {
		e, err := c.next()
		if err != nil {
			return err
		}
		if e == nil {
			continue
		}
		handle(e)
		if exit, ok := e.(Exit); ok {
			return exitError(exit.Reason)
		}
	}
}

// exitError tells a session that ended, or a client that was detached, from a server that died.
func exitError(reason string) error {
	if strings.HasPrefix(reason, "server exited") || reason == "lost server" {
		return fmt.Errorf("%w: %s", ErrNoServer, reason)
	}
	return nil
}

// next reads one line. It returns its event, or nil when it belonged to a block.
func (c *ControlClient) next() (Event, error) {
	line, tooLong, err := c.lines.next()
	if err != nil {
		return nil, fmt.Errorf("read tmux: %w", err)
	}
	c.progress.Add(1)
	if c.block.open {
		if g, ok := parseGuard(line, "%end"); ok && g == c.block.guard {
			c.endBlock(nil)
		} else if g, ok := parseGuard(line, "%error"); ok && g == c.block.guard {
			c.endBlock(errors.New(c.block.text()))
		} else {
			c.block.add(line, tooLong)
		}
		return nil, nil
	}
	if tooLong {
		return nil, fmt.Errorf("%w: a line of more than %d bytes: %.80q", ErrProtocol, maxBlockBytes, line)
	}
	if g, ok := parseGuard(line, "%begin"); ok {
		return nil, c.beginBlock(g)
	}
	if _, ok := parseGuard(line, "%end"); ok {
		return nil, fmt.Errorf("%w: %.80q without %%begin", ErrProtocol, line)
	}
	return c.parser.Event(line), nil
}

// beginBlock opens a block. Those with flag 1 answer our commands, first in first out.
func (c *ControlClient) beginBlock(g guard) error {
	c.block.begin(g)
	if !g.own {
		return nil
	}
	if c.now == nil {
		c.mu.Lock()
		if len(c.fifo) > 0 {
			c.now = c.fifo[0]
			c.fifo[0] = nil
			c.fifo = c.fifo[1:]
		}
		c.mu.Unlock()
		if c.now == nil {
			return fmt.Errorf("%w: a reply to no command", ErrProtocol)
		}
	}
	if !c.now.begun {
		c.now.begun = true
		if c.now.Begin != nil {
			c.now.Begin()
		}
	}
	return nil
}

func (c *ControlClient) endBlock(err error) {
	if !c.block.own && err != nil {
		c.refusal = err
	}
	if p := c.now; c.block.own && p != nil {
		reply := Reply{Err: err}
		if c.block.tooLong {
			reply.Err = ErrTooLong
		}
		last := err != nil || len(p.replies)+1 >= p.Replies
		if err == nil && p.Done != nil {
			reply.Lines = c.block.lines(last)
		}
		p.replies = append(p.replies, reply)
		if last {
			c.now = nil
			p.finish(err)
		}
	}
	c.block.end()
}

// finish completes p: replies that never came get err.
func (p *pending) finish(err error) {
	if p.Done == nil {
		return
	}
	if p.refused != nil {
		p.replies, err = nil, p.refused
	} else if len(p.replies) > 0 && err != nil {
		err = fmt.Errorf("not run: %w", err)
	}
	for len(p.replies) < max(p.Replies, 1) {
		p.replies = append(p.replies, Reply{Err: err})
	}
	p.Done(p.replies)
}

// complete finishes every command that will get no answer any more.
func (c *ControlClient) complete(err error) {
	for {
		c.mu.Lock()
		if c.failed != nil {
			err = c.failed
		}
		p := c.now
		if c.now = nil; p == nil && len(c.fifo) > 0 {
			p, c.fifo = c.fifo[0], c.fifo[1:]
		}
		if p == nil {
			c.ended, c.unsent = true, nil
			if c.failed == nil {
				c.failed = err
			}
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
		p.finish(fmt.Errorf("%w: %w", ErrEnded, orClosed(err)))
	}
}

// orClosed is err, or what says that the session ended.
func orClosed(err error) error {
	if err == nil {
		return errors.New("session ended")
	}
	return err
}

// write sends what Send queued until the client is over.
func (c *ControlClient) write(over <-chan struct{}) {
	var batch []byte
	for {
		select {
		case <-c.wake:
		case <-over:
			return
		}
		c.mu.Lock()
		batch, c.unsent = c.unsent, batch[:0]
		c.mu.Unlock()
		// An error means that the process is going: the reader learns why.
		if _, err := c.stream.Write(batch); err != nil {
			return
		}
		if cap(batch) > 1<<20 {
			batch = nil // a paste has passed
		}
	}
}

// watch gives the client up when ctx is done and it does not leave, or when a command stays unanswered and the server
// turns out to be dead or wedged.
func (c *ControlClient) watch(ctx context.Context, over <-chan struct{}) {
	tick := time.NewTicker(stallCheck)
	defer tick.Stop()
	var seen uint64
	for {
		select {
		case <-over:
			return
		case <-ctx.Done():
			select {
			case <-over:
			case <-time.After(exitGrace):
				c.stream.Kill()
			}
			return
		case <-tick.C:
		}
		c.mu.Lock()
		waiting := len(c.fifo) > 0
		c.mu.Unlock()
		read := c.progress.Load()
		stalled := waiting && read == seen
		seen = read
		if !stalled {
			continue
		}
		if err := c.probe(ctx); errors.Is(err, ErrWedged) || errors.Is(err, ErrNoServer) {
			c.fail(err)
		}
	}
}

// reap ends the process, by force if it does not leave by itself.
func (c *ControlClient) reap() {
	c.stream.CloseWrite()
	kill := time.AfterFunc(exitGrace, func() { c.stream.Kill() })
	c.stream.Wait()
	kill.Stop()
	c.stream.Kill()
}
