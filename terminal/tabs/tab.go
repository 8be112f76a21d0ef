package tabs

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/browsertabs/tabs/terminal"
	"github.com/browsertabs/tabs/tmuxctl"
)

const maxTitleRunes = 200

// tab is one session and the terminal that reads it.
type tab struct {
	box     *box
	host    *host // nil for a plain one
	session tmuxctl.SessionID
	id      string
	user    string
	created time.Time
	src     terminal.Source
	term    *terminal.Terminal
	done    chan struct{} // closed when the tab is gone from its box
	ready   chan struct{} // closed when the session's first state is known
	saver   saver

	storing   sync.Mutex // options are sent in the order they were read; before box.mu
	recording sync.Mutex // one write of the record at a time; before box.mu
	over      bool       // under recording: the tab has ended, its record is final

	// Under box.mu.
	title      string // given by the person
	order      int
	seen       sighting
	foreground string
	since      time.Time
	busy       string // a program that looks like the shell, found by looking at processes
	reason     string // why it ends, when it is known before
	record     Saved  // what is in the RecordStore
}

// attachTo makes the tab's terminal, which reads its session once run.
func (t *tab) attachTo(facts tmuxFacts) {
	log := t.box.s.log.With("sandbox_id", t.box.id, "tab_id", t.id)
	h := t.host
	t.done, t.ready = make(chan struct{}), make(chan struct{})
	src := &source{
		server: h.server, session: t.session, log: log,
		attach: func(ctx context.Context) (*tmuxctl.ControlClient, error) {
			return h.attach(ctx, t.session)
		},
		detached:        h.detached,
		alive:           func(ctx context.Context) error { return h.alive(ctx, t.session) },
		see:             t.see,
		loginLeft:       t.loginLeft,
		sessionsChanged: h.sessionsChanged,
		background:      t.box.s.background,
	}
	t.src = src
	t.term = terminal.New(terminal.Config{
		Source: src, Version: t.box.s.c.Version, Widths: facts.widths, Answers: facts.answers, Logger: log,
	})
}

// options are what makes a session this tab.
func (t *tab) options() map[string]string {
	return map[string]string{
		idOption: t.id, titleOption: t.title, orderOption: strconv.Itoa(t.order),
		createdOption: strconv.FormatInt(t.created.UnixMilli(), 10), userOption: t.user,
	}
}

// run reads the tab until it ends.
func (t *tab) run(ctx context.Context) {
	stop := t.term.Watch(t.changed)
	err := t.term.Run(ctx)
	stop()
	t.saver.stop()
	t.ended(ctx, err)
	close(t.done)
}

// ended takes the tab out of its box.
func (t *tab) ended(ctx context.Context, err error) {
	b := t.box
	if ctx.Err() != nil {
		return // our server ends; the session does not
	}
	gone := errors.Is(err, terminal.ErrServerGone)
	if err != nil && !gone {
		b.s.log.Warn("terminal ended", "sandbox_id", b.id, "tab_id", t.id, "err", err)
	}
	b.mu.Lock()
	reason := t.reason
	switch {
	case reason != "":
	case gone:
		reason = GoneServer
	default:
		reason = GoneClosed
	}
	delete(b.tabs, t.id)
	b.goneLocked(t.id, reason)
	revivable := reason == GoneServer && t.host != nil
	record := t.recordLocked(t.record.Lines)
	if revivable {
		b.saved[t.id] = record
		b.revivableChangedLocked()
	}
	b.mu.Unlock()
	b.s.log.Info("tab ended", "sandbox_id", b.id, "tab_id", t.id, "reason", reason)
	if t.host == nil {
		return
	}
	var last *Saved
	if revivable {
		last = &record
	}
	if err := t.closeRecord(ctx, last); err != nil {
		b.s.log.Warn("keep record of ended tab", "sandbox_id", b.id, "tab_id", t.id, "err", err)
	}
	t.host.gone(ctx)
}

// see takes what the source saw. It is called on the reader's goroutine.
func (t *tab) see(g sighting) {
	b := t.box
	b.mu.Lock()
	defer b.mu.Unlock()
	first := t.seen.serverPID == 0
	if first {
		close(t.ready)
	}
	// Somebody may have changed them with tmux by hand; our own change is on its way when they differ from ours as
	// they were before.
	if !first && g.title != t.seen.title {
		t.title, _ = checkTitle(g.title)
	}
	if !first && g.order != t.seen.order {
		t.order = g.order
	}
	t.seen = g
	t.watchForegroundLocked()
	b.changedLocked(t)
}

// watchForegroundLocked notes what runs in front of the shell, and since when.
func (t *tab) watchForegroundLocked() {
	p := t.seen.active
	fg := p.Command
	switch {
	case p.Dead:
		fg = ""
	case p.login && fg == t.seen.shell:
		fg = t.busy
	}
	if fg != t.foreground {
		t.foreground, t.since = fg, time.Now().UTC()
	}
}

// changed is called by the terminal when its Summary may have changed.
func (t *tab) changed() {
	t.box.mu.Lock()
	t.box.changedLocked(t)
	t.box.mu.Unlock()
	t.saver.changed(t)
}

// loginLeft is told of a login shell that was left with exit code 0. It returns whether its pane shall be closed.
func (t *tab) loginLeft() bool {
	if t.box.s.c.KeepExited {
		return false
	}
	t.box.mu.Lock()
	defer t.box.mu.Unlock()
	if t.reason == "" && t.seen.panes <= 1 {
		t.reason = GoneExited
	}
	return true
}

// viewLocked is the tab as callers see it.
func (t *tab) viewLocked() Tab {
	sum := t.term.Summary()
	v := Tab{
		ID: t.id, Sandbox: t.box.id, Title: t.title, Named: t.title != "", Order: t.order, State: StateLive,
		CreatedAt: t.created, Viewers: sum.Viewers, Size: sum.Size, User: t.user, Cwd: t.seen.active.Cwd,
		Foreground: t.foreground, Bell: sum.Bell, Activity: sum.Activity.UTC().Round(0), Plain: t.host == nil,
	}
	if t.host == nil {
		v.Cwd = sum.Cwd
	} else {
		v.Server = path.Base(t.host.server.Socket)
		v.Attach = fmt.Sprintf("tmux -u -S %s attach -t '%s'", t.host.server.Socket, t.session)
	}
	if v.Foreground != "" {
		v.Since = t.since.Round(0)
	}
	if v.Title == "" {
		v.Title = t.programTitle(sum)
	}
	dead, code := t.seen.dead, t.seen.active.ExitCode
	if t.host == nil {
		dead, code = sum.Dead, sum.Exit
	}
	if dead {
		v.State, v.ExitCode = StateEnded, &code
	}
	return v
}

// programTitle is what the program calls itself, or else what runs, or else where the shell is.
func (t *tab) programTitle(sum terminal.Summary) string {
	for _, s := range []string{sum.Title, t.foreground, path.Base("/" + t.seen.active.Cwd), t.seen.shell} {
		if title, err := checkTitle(s); err == nil && title != "" && title != "/" {
			return title
		}
	}
	return "Terminal"
}

// store writes what the person changed into the session, and into the record.
func (t *tab) store(ctx context.Context) error {
	if t.host == nil {
		return nil
	}
	done := make(chan error, 1)
	t.storing.Lock()
	t.box.mu.Lock()
	options := t.options()
	t.box.mu.Unlock()
	var lines []string
	for name, value := range options {
		lines = append(lines, tmuxctl.SetSessionOption(t.session, name, value))
	}
	c := tmuxctl.Lines(lines...)
	c.Done = then(func(err error) { done <- err })
	t.src.(*source).send(c)
	t.storing.Unlock()
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("store tab: %w", err)
		}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return t.put(ctx, t.savedLines())
}

// saver decides when a tab is saved: when it has been quiet for a while after a change, or has not been quiet for long.
type saver struct {
	mu      sync.Mutex // protects following
	timer   *time.Timer
	since   time.Time // of the first change that is not saved
	last    time.Time
	stopped bool
}

const (
	saveQuiet  = 3 * time.Second
	saveLatest = 30 * time.Second
)

func (s *saver) changed(t *tab) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = time.Now()
	if s.stopped || !s.since.IsZero() {
		return
	}
	s.since = s.last
	if s.timer == nil {
		s.timer = time.AfterFunc(saveQuiet, func() { s.due(t) })
	} else {
		s.timer.Reset(saveQuiet)
	}
}

func (s *saver) due(t *tab) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped || s.since.IsZero() {
		return
	}
	now := time.Now()
	if quiet := now.Sub(s.last); quiet < saveQuiet && now.Sub(s.since) < saveLatest {
		s.timer.Reset(saveQuiet - quiet)
		return
	}
	s.since = time.Time{}
	t.box.s.background(t.save)
}

func (s *saver) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	if s.timer != nil {
		s.timer.Stop()
	}
}

// checkTitle trims a title and refuses one that no strip can show, or that turns the direction of the text around it.
func checkTitle(title string) (string, error) {
	title = strings.TrimSpace(title)
	if !utf8.ValidString(title) || utf8.RuneCountInString(title) > maxTitleRunes || strings.ContainsFunc(title, breaksLine) {
		return "", invalid("title", fmt.Sprintf("a title has at most %d characters and no control characters", maxTitleRunes))
	}
	return title, nil
}

// breaksLine tells whether r is a control character, a line separator or one that turns the direction of text.
func breaksLine(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}
