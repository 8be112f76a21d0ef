package tabs

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/terminal"
	"github.com/browsertabs/tabs/tmuxctl"
)

// Options of a tab's session, which outlive our server.
const (
	idOption      = "@tab_id"
	titleOption   = "@tab_title" // given by the person; empty: the program's
	orderOption   = "@tab_order"
	createdOption = "@tab_created" // unix milliseconds
	userOption    = "@tab_user"    // as asked for, "" for the default
)

// sessionName is what our sessions are called; each is alone on its tmux server when it is made.
const sessionName = "tab"

// host is one tmux server. It begins with the session of one tab; sessions made by hand on it are tabs too.
type host struct {
	box    *box
	acc    *account
	dir    string
	server *tmuxctl.Server

	// attaching is held while a client of ours attaches or a session ends: before 3.7, tmux crashes when it has
	// anything to tell to control clients while one of them has not quite arrived.
	attaching sync.Mutex
	clients   int // our control clients; under attaching

	finding sync.Mutex // one find at a time

	mu      sync.Mutex // protects following
	pending bool       // a find was asked for and has not begun
	changed time.Time  // when sessions last came or went
}

// host returns the tmux server on a socket of a user's runtime directory.
func (b *box) host(acc *account, dir, socket string) *host {
	path := dir + "/" + socket
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.hosts[path]
	if h == nil {
		h = &host{box: b, acc: acc, dir: dir, server: &tmuxctl.Server{
			Socket: path, Config: dir + "/" + configFile, Start: acc.start,
		}}
		b.hosts[path] = h
	}
	return h
}

// probe tells whether the server lives. One that is wedged is replaced, which leaves none.
func (h *host) probe(ctx context.Context) error {
	err := h.server.Probe(ctx)
	if errors.Is(err, tmuxctl.ErrWedged) {
		h.box.s.log.Warn("replace wedged tmux server", "sandbox_id", h.box.id, "socket", h.server.Socket)
		if rerr := h.server.Replace(ctx); rerr != nil {
			return rerr
		}
		return fmt.Errorf("%w: it was wedged", tmuxctl.ErrNoServer)
	}
	return err
}

// find makes a tab of every session that is none yet.
func (h *host) find(ctx context.Context) error {
	h.finding.Lock()
	defer h.finding.Unlock()
	sessions, err := h.server.ListSessions(ctx, idOption, titleOption, orderOption, createdOption, userOption)
	if err != nil {
		err = h.probe(ctx)
		if err == nil { // it was busy
			sessions, err = h.server.ListSessions(ctx, idOption, titleOption, orderOption, createdOption, userOption)
		}
	}
	if errors.Is(err, tmuxctl.ErrNoServer) {
		h.gone(ctx)
		return nil
	}
	if err != nil {
		return err
	}
	if len(sessions) == 0 { // "exit-empty off": nobody could reach it any more
		h.server.Run(ctx, "kill-server")
		h.gone(ctx)
		return nil
	}
	facts, err := h.box.tmux(ctx, h.acc, h.dir)
	if err != nil {
		return err
	}
	for _, sess := range sessions {
		if err := h.adopt(ctx, sess, facts); err != nil {
			return err
		}
	}
	return nil
}

// adopt makes a tab of a session, and gives it what makes it one if it has not got it.
func (h *host) adopt(ctx context.Context, sess tmuxctl.Session, facts tmuxFacts) error {
	b := h.box
	t := &tab{
		box: b, host: h, session: sess.ID, id: sess.Options[idOption], user: h.acc.user,
		created: time.Unix(sess.Created, 0).UTC(),
	}
	// Any program in the tab can set its options.
	t.title, _ = checkTitle(sess.Options[titleOption])
	if created, ok := readCreated(sess.Options[createdOption]); ok {
		t.created = created
	}
	order, ordered := readOrder(sess.Options[orderOption])
	b.mu.Lock()
	other := b.tabs[t.id]
	known := other != nil && other.host == h && other.session == sess.ID
	for _, o := range b.tabs {
		known = known || o.host == h && o.session == sess.ID
	}
	full := len(b.tabs) >= maxTabs
	t.order = order
	if !ordered {
		t.order = b.nextOrderLocked()
	}
	b.mu.Unlock()
	if known {
		return nil
	}
	if full {
		b.s.log.Warn("leave session alone: too many tabs", "sandbox_id", b.id, "socket", h.server.Socket)
		return nil
	}
	if !validTabID(t.id) || other != nil {
		// Made by hand. Its name is a title if a person gave it; tmux itself only counts.
		t.id = sandbox.NewID("tab")
		if _, err := strconv.Atoi(sess.Name); err != nil && t.title == "" {
			t.title, _ = checkTitle(sess.Name)
		}
		var args []string
		for name, value := range t.options() {
			args = append(args, ";", "set-option", "-t", sess.ID.String()+":", name, value)
		}
		if _, err := h.server.Run(ctx, args[1:]...); err != nil {
			return fmt.Errorf("make a tab of session %s: %w", sess.ID, err)
		}
	}
	t.attachTo(facts)
	return b.add(t)
}

// Sessions made by hand are looked for when they have been quiet for a while: attaching to one while a script makes
// the next could crash tmux.
const (
	sessionsQuiet  = 150 * time.Millisecond
	sessionsLatest = 600 * time.Millisecond
)

// sessionsChanged looks for sessions made by hand, soon, and once for many changes.
func (h *host) sessionsChanged() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.changed = time.Now()
	if h.pending {
		return
	}
	h.pending = h.box.s.background(func(ctx context.Context) {
		h.awaitQuiet(ctx)
		if err := h.find(ctx); err != nil && ctx.Err() == nil {
			h.box.s.log.Warn("find sessions", "sandbox_id", h.box.id, "socket", h.server.Socket, "err", err)
		}
	})
}

// awaitQuiet returns when sessions have not come or gone for a while, or have done so for long.
func (h *host) awaitQuiet(ctx context.Context) {
	for latest := time.Now().Add(sessionsLatest); ; {
		h.mu.Lock()
		wait := min(time.Until(h.changed.Add(sessionsQuiet)), time.Until(latest))
		if wait <= 0 || ctx.Err() != nil {
			h.pending = false
			h.mu.Unlock()
			return
		}
		h.mu.Unlock()
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// kill ends a session.
func (h *host) kill(ctx context.Context, id tmuxctl.SessionID) error {
	h.attaching.Lock()
	defer h.attaching.Unlock()
	return h.server.KillSession(ctx, id)
}

// attach starts a control client on a session. The first of ours first ends those that an earlier server of ours left
// behind: they would freeze the programs.
func (h *host) attach(ctx context.Context, id tmuxctl.SessionID) (*tmuxctl.ControlClient, error) {
	h.attaching.Lock()
	defer h.attaching.Unlock()
	if h.clients == 0 {
		n, err := h.server.KillStaleClients(ctx, func(pid int) error {
			_, _, err := h.acc.run(ctx, "", `kill -9 "$1"`, strconv.Itoa(pid))
			return err
		})
		if n > 0 {
			h.box.s.log.Info("ended stale tmux clients", "socket", h.server.Socket, "count", n)
		}
		if err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, attachTimeout)
	defer cancel()
	c, err := h.server.Attach(ctx, id)
	if err == nil {
		h.clients++
	}
	return c, err
}

// attachTimeout is far above the 28 ms that an attach takes; a server that needs longer is probed.
const attachTimeout = 10 * time.Second

func (h *host) detached() {
	h.attaching.Lock()
	h.clients--
	h.attaching.Unlock()
}

// alive tells whether a session is still there: nil, errSessionEnded, terminal.ErrServerGone.
func (h *host) alive(ctx context.Context, id tmuxctl.SessionID) error {
	ctx, cancel := context.WithTimeout(ctx, attachTimeout)
	defer cancel()
	sessions, err := h.server.ListSessions(ctx)
	if err != nil {
		if err = h.probe(ctx); errors.Is(err, tmuxctl.ErrNoServer) {
			return terminal.ErrServerGone
		}
		return nil // not known to be gone: try again
	}
	for _, s := range sessions {
		if s.ID == id {
			return nil
		}
	}
	return errSessionEnded
}

// gone forgets the server when its last tab is gone, and removes its socket, unless a new one listens on it.
func (h *host) gone(ctx context.Context) {
	b := h.box
	b.mu.Lock()
	for _, t := range b.tabs {
		if t.host == h {
			b.mu.Unlock()
			return
		}
	}
	delete(b.hosts, h.server.Socket)
	b.mu.Unlock()
	if err := h.server.Probe(ctx); !errors.Is(err, tmuxctl.ErrNoServer) {
		return
	}
	if _, _, err := h.acc.run(ctx, "", `rm -f -- "$1" "$1".lines`, h.server.Socket); err != nil && ctx.Err() == nil {
		b.s.log.Warn("remove dead socket", "socket", h.server.Socket, "err", err)
	}
}

// readOrder reads orderOption; false for what is no place in a strip.
func readOrder(s string) (order int, ok bool) {
	order, err := strconv.Atoi(s)
	if err != nil || order < 0 || order > maxOrder {
		return 0, false
	}
	return order, true
}

// readCreated reads createdOption; false for what is no time of this century, which JSON cannot hold if it is far off.
func readCreated(s string) (created time.Time, ok bool) {
	ms, err := strconv.ParseInt(s, 10, 64)
	created = time.UnixMilli(ms).UTC()
	if err != nil || created.Year() < 2000 || created.Year() > 2099 {
		return time.Time{}, false
	}
	return created, true
}

// validTabID tells whether an option that anybody in the sandbox may set is an id of ours.
func validTabID(id string) bool {
	body, ok := strings.CutPrefix(id, "tab_")
	return ok && len(body) == 26 && strings.Trim(body, "0123456789ABCDEFGHJKMNPQRSTVWXYZ") == ""
}
