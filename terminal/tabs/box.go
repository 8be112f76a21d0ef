package tabs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/tmuxctl"
)

// startParallel is how many tmux servers are probed and attached at once at start.
const startParallel = 8

// box is the tabs of one sandbox.
type box struct {
	s  *Service
	id string

	starting sync.Mutex // held while start runs; before mu
	started  bool       // under starting

	mu       sync.Mutex // protects following
	tabs     map[string]*tab
	hosts    map[string]*host // by socket
	saved    map[string]Saved // revivable, by id
	watchers map[*watcher]struct{}
	users    map[string]*userFacts
	opening  int // tabs being opened, which count for maxTabs
}

func newBox(s *Service, id string) *box {
	return &box{
		s: s, id: id,
		tabs: make(map[string]*tab), hosts: make(map[string]*host), saved: make(map[string]Saved),
		watchers: make(map[*watcher]struct{}), users: make(map[string]*userFacts),
	}
}

// start finds and attaches what runs, once. A failure is not kept: the next call tries again.
func (b *box) start(ctx context.Context) error {
	b.starting.Lock()
	defer b.starting.Unlock()
	if b.started {
		return nil
	}
	records, err := b.s.c.Records.SavedTabs(ctx, b.id)
	if err != nil {
		return fmt.Errorf("list saved tabs: %w", err)
	}
	users := map[string]bool{"": true}
	byID := make(map[string]Saved, len(records))
	for _, r := range records {
		users[r.User], byID[r.ID] = true, r
	}
	for user := range users {
		if err := b.scan(ctx, user); err != nil {
			var known *sandbox.Error
			if user != "" && errors.As(err, &known) { // the user was removed
				b.s.log.Warn("find tabs of user", "sandbox_id", b.id, "user", user, "err", err)
				continue
			}
			return fmt.Errorf("find tabs: %w", err)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, r := range byID {
		if t := b.tabs[id]; t != nil {
			t.record = r
		} else {
			b.saved[id] = r
		}
	}
	b.started = true
	return nil
}

// scan attaches to every tmux server in a user's runtime directory and removes dead sockets.
func (b *box) scan(ctx context.Context, user string) error {
	dir, err := b.s.c.Provider.RuntimeDir(ctx, b.id, user)
	if err != nil {
		return err
	}
	acc := b.account(user)
	out, _, err := acc.run(ctx, "", `cd "$1" && for s in tab_*; do [ -S "$s" ] && echo "$s"; done; :`, dir)
	if err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(startParallel)
	for name := range strings.Lines(out) {
		name = strings.TrimSuffix(name, "\n")
		g.Go(func() error {
			h := b.host(acc, dir, name)
			if err := h.find(gctx); err != nil {
				// One server that cannot be told from dead must not keep the others away.
				b.s.log.Warn("find tabs of tmux server", "sandbox_id", b.id, "socket", h.server.Socket, "err", err)
			}
			return nil
		})
	}
	return g.Wait()
}

func (b *box) account(user string) *account {
	return &account{ctx: b.s.ctx, provider: b.s.c.Provider, sandboxID: b.id, user: user}
}

// sortedLocked is the tabs in the order of the strip.
func (b *box) sortedLocked() []*tab {
	list := make([]*tab, 0, len(b.tabs))
	for _, t := range b.tabs {
		list = append(list, t)
	}
	slices.SortFunc(list, func(x, y *tab) int {
		return cmp.Or(cmp.Compare(x.order, y.order), x.created.Compare(y.created), cmp.Compare(x.id, y.id))
	})
	return list
}

func (b *box) snapshotLocked() *Snapshot {
	snap := &Snapshot{Tabs: []Tab{}, Revivable: b.revivableLocked()}
	for _, t := range b.sortedLocked() {
		snap.Tabs = append(snap.Tabs, t.viewLocked())
	}
	return snap
}

// revivableLocked is never nil.
func (b *box) revivableLocked() []Saved {
	list := make([]Saved, 0, len(b.saved))
	for _, r := range b.saved {
		list = append(list, r)
	}
	slices.SortFunc(list, func(x, y Saved) int { return cmp.Or(cmp.Compare(x.Order, y.Order), cmp.Compare(x.ID, y.ID)) })
	return list
}

// add shows a tab and starts reading it.
func (b *box) add(t *tab) error {
	b.mu.Lock()
	b.tabs[t.id] = t
	b.changedLocked(t)
	b.mu.Unlock()
	if b.s.background(t.run) {
		return nil
	}
	b.mu.Lock()
	delete(b.tabs, t.id)
	b.mu.Unlock()
	return errClosed
}

// update implements Service.Update.
func (b *box) update(ctx context.Context, t *tab, u Update) (Tab, error) {
	b.mu.Lock()
	var moved []*tab
	if u.Title != nil {
		t.title = *u.Title
		moved = append(moved, t)
	}
	if u.Order != nil {
		moved = append(moved, b.reorderLocked(t, *u.Order)...)
	}
	for _, m := range moved {
		b.changedLocked(m)
	}
	v := t.viewLocked()
	b.mu.Unlock()
	var errs []error
	for _, m := range moved {
		errs = append(errs, m.store(ctx))
	}
	return v, errors.Join(errs...)
}

// reorderLocked puts t at an index and numbers the strip anew. It returns those whose number changed.
func (b *box) reorderLocked(t *tab, index int) (moved []*tab) {
	list := b.sortedLocked()
	list = slices.DeleteFunc(list, func(o *tab) bool { return o == t })
	list = slices.Insert(list, min(index, len(list)), t)
	for i, o := range list {
		if o.order != i {
			o.order = i
			moved = append(moved, o)
		}
	}
	return moved
}

// nextOrderLocked is the place after all tabs, and after those that can be revived: they come back to theirs.
func (b *box) nextOrderLocked() int {
	next := 0
	for _, t := range b.tabs {
		next = max(next, t.order+1)
	}
	for _, r := range b.saved {
		next = max(next, r.Order+1)
	}
	return min(next, maxOrder)
}

// forget implements Service.Forget.
func (b *box) forget(ctx context.Context, ids []string) error {
	b.mu.Lock()
	if ids == nil {
		for id := range b.saved {
			ids = append(ids, id)
		}
	}
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { _, ok := b.saved[id]; return !ok })
	b.mu.Unlock()
	if len(ids) == 0 {
		return nil
	}
	if err := b.s.c.Records.DeleteTabs(ctx, b.id, ids); err != nil {
		return fmt.Errorf("forget saved tabs: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		delete(b.saved, id)
	}
	b.revivableChangedLocked()
	return nil
}

// close saves what changed since it was saved last.
func (b *box) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, closeSaveTimeout)
	defer cancel()
	b.mu.Lock()
	list := b.sortedLocked()
	b.mu.Unlock()
	var g errgroup.Group
	g.SetLimit(startParallel)
	for _, t := range list {
		g.Go(func() error {
			t.save(ctx)
			return nil
		})
	}
	g.Wait()
}

// closeSaveTimeout bounds saving at Close; what is not saved is a few seconds old in the records.
const closeSaveTimeout = 3 * time.Second

// userFacts is what is known of tmux as one user of the sandbox finds it.
type userFacts struct {
	mu      sync.Mutex
	known   bool // under mu
	version tmuxctl.Version
	facts   tmuxFacts
}

// tmux returns what this user's tmux can do; an Error when there is none that serves. It asks once.
func (b *box) tmux(ctx context.Context, acc *account, dir string) (tmuxFacts, error) {
	b.mu.Lock()
	u := b.users[acc.user]
	if u == nil {
		u = &userFacts{}
		b.users[acc.user] = u
	}
	b.mu.Unlock()
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.known {
		return u.facts, nil
	}
	version, err := (&tmuxctl.Server{Start: acc.start}).Version(ctx)
	switch {
	case errors.Is(err, tmuxctl.ErrMissing):
		return tmuxFacts{}, &sandbox.Error{Code: sandbox.CodeTmuxMissing, Err: err,
			Message: "tmux is not installed, and without it terminals do not outlive the browser",
			Remedy:  "sudo apt install tmux"}
	case errors.Is(err, tmuxctl.ErrTooOld):
		return tmuxFacts{}, &sandbox.Error{Code: sandbox.CodeTmuxTooOld, Err: err,
			Message: fmt.Sprintf("tmux %s is too old: 3.2 or newer is needed", version),
			Remedy:  "sudo apt install tmux"}
	case err != nil:
		return tmuxFacts{}, err
	}
	facts, err := b.probe(ctx, acc, dir, version)
	if err != nil {
		// Widths may be off by a column then, which is no reason to open nothing.
		b.s.log.Warn("probe tmux", "sandbox_id", b.id, "version", version.String(), "err", err)
		return facts, nil
	}
	u.known, u.version, u.facts = true, version, facts
	return facts, nil
}
