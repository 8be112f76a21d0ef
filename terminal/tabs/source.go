package tabs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/browsertabs/tabs/terminal"
	"github.com/browsertabs/tabs/tmuxctl"
)

const (
	// inputMarkOption keeps the terminal's input mark with the session, beside the tab's other options.
	inputMarkOption = "@tab_input"
	// pauseAfter makes tmux say the age of output; it is large, since the source cuts long before it.
	pauseAfter = "60"
	// maxOutputAge is the age at which output is cut while another client takes tmux's back-pressure away: with it,
	// Ctrl-C under `yes` takes 30 ms, without it 1.7 s.
	maxOutputAge = 30 * time.Millisecond
	// reattachWait is the first wait before attaching again after a stream broke; it doubles to reattachWaitMax.
	reattachWait    = 20 * time.Millisecond
	reattachWaitMax = 2 * time.Second
)

// errSessionEnded says that the session is no more, in order.
var errSessionEnded = errors.New("tmux session ended")

// source is the tmux session of one tab as a terminal.Source: one control client at a time, attached again whenever
// the stream breaks while the session lives.
type source struct {
	server  *tmuxctl.Server
	session tmuxctl.SessionID
	log     *slog.Logger
	// attach starts a control client; the host clears stale ones before, where it is the first.
	attach   func(context.Context) (*tmuxctl.ControlClient, error)
	detached func() // the control client that attach returned has ended
	// alive tells whether the session is still there: nil, errSessionEnded or terminal.ErrServerGone.
	alive func(context.Context) error
	// see is told what the tab list wants to know, on Run's goroutine.
	see func(sighting)
	// loginLeft is told of a login shell that was left with exit code 0, and says whether to close its pane.
	loginLeft func() bool
	// sessionsChanged is called when sessions of this tmux server came or went.
	sessionsChanged func()
	// background runs what must not hold up the reader, on a goroutine that somebody waits for.
	background func(func(context.Context)) bool

	// expected says that we end the session ourselves. tmux tells an ended session, a killed server and a machine
	// that shuts down apart by nothing but that: whatever we did not do must be revivable.
	expected atomic.Bool
	panes    atomic.Int32 // how many there are

	mu     sync.Mutex // protects following
	client *tmuxctl.ControlClient
	size   terminal.Size // last asked for; zero: nobody asked yet
	known  targets

	// Of Run's goroutine alone.
	h        terminal.Handler
	state    sessionState
	attached bool // h.Attached was called for this client
}

// Run implements terminal.Source.
func (s *source) Run(ctx context.Context, h terminal.Handler) error {
	s.h = h
	wait := reattachWait
	for {
		began := time.Now()
		err := s.runClient(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		switch end := s.alive(ctx); {
		case errors.Is(end, errSessionEnded):
			return nil
		case errors.Is(end, terminal.ErrServerGone):
			if s.expected.Load() {
				return nil
			}
			return terminal.ErrServerGone
		}
		if time.Since(began) > 10*reattachWaitMax {
			wait = reattachWait
		}
		s.log.Info("attach again", "err", err)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
		wait = min(2*wait, reattachWaitMax)
	}
}

// runClient attaches and reads until the client ends.
func (s *source) runClient(ctx context.Context) error {
	client, err := s.attach(ctx)
	if err != nil {
		return fmt.Errorf("attach: %w", err)
	}
	defer s.detached()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.state = sessionState{}
	s.attached = false
	s.mu.Lock()
	s.client = client
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.client = nil
		s.mu.Unlock()
	}()
	s.setUp(cancel)
	return client.Run(ctx, func(e tmuxctl.Event) { s.handle(e, cancel) })
}

// setUp asks for all there is to know. giveUp ends the client when tmux does not answer as expected.
func (s *source) setUp(giveUp func()) {
	s.send(tmuxctl.AssertOptions(s.session))
	s.send(tmuxctl.Command{Line: stateCommands(s.session), Replies: 4, Done: func(rs []tmuxctl.Reply) {
		err := s.state.load(rs)
		if err != nil {
			if !errors.Is(err, tmuxctl.ErrEnded) {
				s.log.Warn("read state of session", "err", err)
			}
			giveUp()
			return
		}
		s.keepSizes()
		s.watchDeaths()
		s.limitLag()
		s.watch()
		s.attached = true
		s.h.Attached(s.state.attached())
		s.tell()
		for id, p := range s.state.panes {
			s.settle(p, nil)
			s.closeLeft(id)
		}
		s.lookAtBuffers(0)
	}})
}

// watch subscribes to what changes of the windows and panes that there are now.
func (s *source) watch() {
	wanted := make(map[string]string) // command lines by subscription
	for _, w := range s.state.windows {
		wanted[w.id.String()] = tmuxctl.SubscribeWindow(w.id, watchFormat)
	}
	for id := range s.state.panes {
		wanted[tmuxctl.PaneID(id).String()] = tmuxctl.SubscribePane(tmuxctl.PaneID(id), paneFormat)
	}
	var lines []string
	for name := range s.state.watched {
		if wanted[name] == "" {
			lines = append(lines, tmuxctl.Unsubscribe(name))
		}
	}
	for name, line := range wanted {
		if !s.state.watched[name] {
			lines = append(lines, line)
		}
	}
	s.state.watched = make(map[string]bool, len(wanted))
	for name := range wanted {
		s.state.watched[name] = true
	}
	if len(lines) > 0 {
		s.send(tmuxctl.Lines(lines...))
	}
}

// keepSizes makes every window keep its size whatever clients come and go.
func (s *source) keepSizes() {
	for _, w := range s.state.windows {
		s.send(tmuxctl.AssertWindow(w.id))
	}
}

// watchDeaths makes tmux tell at once when a pane's program ends; a subscription may take a second. It does so by
// pausing the pane, since tmux then writes into the screen what is not in the stream, and only a capture can show it.
func (s *source) watchDeaths() {
	hook := fmt.Sprintf("pane-died[%d]", 9000+s.session%1000)
	command := "run-shell -C \"refresh-client -t " + s.state.clientName + " -A '#{hook_pane}:pause'\""
	s.send(tmuxctl.Command{Line: "set-hook -g " + tmuxctl.Quote(hook) + " " + tmuxctl.Quote(command), Replies: 1})
}

// limitLag makes tmux tell the age of output while another client is attached to its server.
func (s *source) limitLag() {
	flag := "!pause-after"
	if s.state.clients > 1 {
		flag = "pause-after=" + pauseAfter
	}
	if flag == s.state.lagFlag || s.state.lagFlag == "" && s.state.clients <= 1 {
		return
	}
	s.state.lagFlag = flag
	s.send(tmuxctl.Command{Line: "refresh-client -f " + tmuxctl.Quote(flag), Replies: 1})
}

// send queues a command; one that cannot be sent is done with an error, never on the caller's goroutine.
func (s *source) send(c tmuxctl.Command) {
	s.mu.Lock()
	client := s.client
	s.mu.Unlock()
	if client != nil {
		client.Send(c)
		return
	}
	if c.Done == nil {
		return
	}
	replies := make([]tmuxctl.Reply, max(c.Replies, 1))
	for i := range replies {
		replies[i].Err = tmuxctl.ErrEnded
	}
	go c.Done(replies)
}

// then makes a Command's Done of a callback that wants to know only whether all went well.
func then(done func(error)) func([]tmuxctl.Reply) {
	if done == nil {
		return nil
	}
	return func(rs []tmuxctl.Reply) { done(replyError(rs)) }
}

// replyError is the first error of a command line, as a terminal wants it.
func replyError(rs []tmuxctl.Reply) error {
	for _, r := range rs {
		if errors.Is(r.Err, tmuxctl.ErrEnded) {
			return fmt.Errorf("%w: %w", terminal.ErrDetached, r.Err)
		}
		if r.Err != nil {
			return r.Err
		}
	}
	return nil
}

// SendKeys implements terminal.Source.
func (s *source) SendKeys(pane terminal.PaneID, data []byte, mark string, done func(error)) {
	c := tmuxctl.SendKeys(tmuxctl.PaneID(pane), data).Then(s.markInput(mark))
	if c.Replies == 0 {
		c = tmuxctl.Lines("refresh-client") // nothing to do, yet the answer must come in its place
	}
	c.Done = then(done)
	s.send(c)
}

// markInput stores an input mark; no command when there is none.
func (s *source) markInput(mark string) tmuxctl.Command {
	if mark == "" {
		return tmuxctl.Command{}
	}
	return tmuxctl.Lines(tmuxctl.SetSessionOption(s.session, inputMarkOption, mark))
}

// PasteChunk implements terminal.Source.
func (s *source) PasteChunk(buffer string, data []byte, done func(error)) {
	c := tmuxctl.Lines(tmuxctl.AppendBuffer(buffer, data))
	c.Done = then(done)
	s.send(c)
}

// PasteEnd implements terminal.Source.
func (s *source) PasteEnd(buffer string, pane terminal.PaneID, mark string, done func(error)) {
	c := tmuxctl.Lines(tmuxctl.PasteBuffer(buffer, tmuxctl.PaneID(pane))).Then(s.markInput(mark))
	c.Done = then(done)
	s.send(c)
}

// PasteAbort implements terminal.Source.
func (s *source) PasteAbort(buffer string) { s.send(tmuxctl.Lines(tmuxctl.DeleteBuffer(buffer))) }

// Pause implements terminal.Source.
func (s *source) Pause(pane terminal.PaneID) {
	s.send(tmuxctl.Lines(tmuxctl.PausePane(tmuxctl.PaneID(pane))))
}

// Resize implements terminal.Source.
func (s *source) Resize(size terminal.Size, done func(error)) {
	s.mu.Lock()
	s.size = size.Clamp()
	s.mu.Unlock()
	// What is current is known to tmux alone while its answer is on the way.
	c := tmuxctl.Lines(fmt.Sprintf("resize-window -t %s: -x %d -y %d", s.session, size.Clamp().Cols, size.Clamp().Rows))
	c.Done = then(done)
	s.send(c)
}

// SetPaneOption implements terminal.Source.
func (s *source) SetPaneOption(pane terminal.PaneID, name, value string) {
	s.send(tmuxctl.Lines(tmuxctl.SetPaneOption(tmuxctl.PaneID(pane), name, value)))
}

// Do implements terminal.Source.
func (s *source) Do(op terminal.Op, done func(error)) {
	c, err := command(s.session, s.targets(), op)
	if err != nil {
		c = tmuxctl.Lines("refresh-client")
		c.Done = func([]tmuxctl.Reply) {
			if done != nil {
				done(err)
			}
		}
	} else {
		c.Done = then(done)
	}
	if op.Name == "closePane" && s.panes.Load() == 1 {
		c.Done = s.expectEnd(c.Done)
	}
	if op.Name == "newWindow" || op.Name == "splitPane" {
		s.send(tmuxctl.AssertOptions(s.session))
	}
	s.send(c)
}

// expectEnd is for a command that ends the session if all goes well.
func (s *source) expectEnd(done func([]tmuxctl.Reply)) func([]tmuxctl.Reply) {
	s.expected.Store(true)
	return func(rs []tmuxctl.Reply) {
		if err := replyError(rs); err != nil && !errors.Is(err, terminal.ErrDetached) {
			s.expected.Store(false)
		}
		if done != nil {
			done(rs)
		}
	}
}
