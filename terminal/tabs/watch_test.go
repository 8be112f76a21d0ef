package tabs

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/browsertabs/tabs/sandbox"
)

// watching is a page's view of the tabs, made of events alone.
type watching struct {
	t    *testing.T
	mu   sync.Mutex // protects following
	tabs map[string]Tab
	left map[string]string
	rev  []string
	n    int
}

func (r *running) watch() *watching {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ch, err := r.Watch(ctx, sandbox.LocalID)
	if err != nil {
		r.t.Fatal(err)
	}
	w := &watching{t: r.t, tabs: make(map[string]Tab), left: make(map[string]string)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range ch {
			w.take(e)
		}
	}()
	r.t.Cleanup(func() {
		cancel()
		<-done
	})
	return w
}

func (w *watching) take(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n++
	switch {
	case e.Tabs != nil:
		if w.n != 1 {
			w.t.Error("a second snapshot")
		}
		for _, t := range e.Tabs.Tabs {
			w.tabs[t.ID] = t
		}
		w.setRevivable(e.Tabs.Revivable)
	case e.Tab != nil:
		w.tabs[e.Tab.ID] = *e.Tab
	case e.Gone != nil:
		delete(w.tabs, e.Gone.ID)
		w.left[e.Gone.ID] = e.Gone.Reason
	case e.Revivable != nil:
		w.setRevivable(e.Revivable)
	}
}

func (w *watching) setRevivable(list []Saved) {
	w.rev = []string{}
	for _, s := range list {
		w.rev = append(w.rev, s.ID)
	}
}

func (w *watching) is(what string, ok func() bool) {
	w.t.Helper()
	until(w.t, what, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return ok()
	})
}

func (w *watching) gone(id, reason string) {
	w.t.Helper()
	var got string
	w.is(id+" is gone", func() bool { got = w.left[id]; return got != "" })
	if got != reason {
		w.t.Errorf("%s is gone because %q, want %q", id, got, reason)
	}
}

func (w *watching) revivable(ids ...string) {
	w.t.Helper()
	defer func() {
		if w.t.Failed() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.t.Logf("revivable %q, want %q", w.rev, ids)
		}
	}()
	w.is("the revivable tabs are these", func() bool { return slices.Equal(w.rev, ids) })
}

func TestWatch(t *testing.T) {
	m := newMachine(t)
	r := m.boot()
	a := r.open(OpenOptions{Title: "a"})
	w := r.watch()
	w.is("the snapshot has it", func() bool { return w.tabs[a.ID].Title == "a" })
	b := r.open(OpenOptions{Title: "b"})
	w.is("a new tab shows", func() bool { return w.tabs[b.ID].Title == "b" })
	title, order := "B", 0
	if _, err := r.Update(t.Context(), sandbox.LocalID, b.ID, Update{Title: &title, Order: &order}); err != nil {
		t.Fatal(err)
	}
	w.is("both have new places", func() bool {
		return w.tabs[b.ID].Title == "B" && w.tabs[b.ID].Order == 0 && w.tabs[a.ID].Order == 1
	})
	p := r.look(a.ID, "page0001")
	w.is("its viewer is counted", func() bool { return w.tabs[a.ID].Viewers == 1 })
	p.Vanish()
	var before time.Time
	w.is("its viewer is gone", func() bool { before = w.tabs[a.ID].Activity; return w.tabs[a.ID].Viewers == 0 })
	r.tmux(a.ID, "send-keys", "printf '\\a'", "Enter")
	w.is("the bell shows", func() bool { return w.tabs[a.ID].Bell && w.tabs[a.ID].Activity.After(before) })
	if err := r.End(t.Context(), sandbox.LocalID, a.ID); err != nil {
		t.Fatal(err)
	}
	w.gone(a.ID, GoneClosed)
	// What the page made of events is what there is.
	w.is("list and events say the same", func() bool {
		got := r.list()
		return len(got) == 1 && got[0] == w.tabs[b.ID]
	})
}

// TestWatchSlow: who does not read holds nobody up, and sees the last state when it reads again.
func TestWatchSlow(t *testing.T) {
	r := newMachine(t).boot()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ch, err := r.Watch(ctx, sandbox.LocalID)
	if err != nil {
		t.Fatal(err)
	}
	v := r.open(OpenOptions{})
	began := time.Now()
	for i := range 200 {
		title := string(rune('a' + i%26))
		if _, err := r.Update(ctx, sandbox.LocalID, v.ID, Update{Title: &title}); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("200 updates in %v", time.Since(began))
	var last Tab
	events := 0
	until(t, "the last title comes", func() bool {
		select {
		case e := <-ch:
			events++
			if e.Tab != nil {
				last = *e.Tab
			}
		default:
		}
		return last.Title == "r"
	})
	if events > 20 {
		t.Errorf("%d events for who reads late", events)
	}
	cancel()
	until(t, "the channel is closed", func() bool {
		select {
		case _, ok := <-ch:
			return !ok
		default:
			return false
		}
	})
}

func TestOrderIsConsistent(t *testing.T) {
	m := newMachine(t)
	r := m.boot()
	var ids []string
	for range 4 {
		ids = append(ids, r.open(OpenOptions{}).ID)
	}
	move := func(id string, to int) {
		t.Helper()
		if _, err := r.Update(t.Context(), sandbox.LocalID, id, Update{Order: &to}); err != nil {
			t.Fatal(err)
		}
	}
	order := func() (got []string) {
		for i, v := range r.list() {
			got = append(got, v.ID)
			if v.Order != i {
				t.Errorf("tab %d has order %d", i, v.Order)
			}
		}
		return got
	}
	move(ids[3], 0)
	move(ids[0], 99)
	want := []string{ids[3], ids[1], ids[2], ids[0]}
	if got := order(); !slices.Equal(got, want) {
		t.Errorf("order %q, want %q", got, want)
	}
	bad := -1
	_, err := r.Update(t.Context(), sandbox.LocalID, ids[0], Update{Order: &bad})
	wantCode(t, err, sandbox.CodeInvalidRequest, "order")
	// It is stored with each session: another server of ours, and a person inside, read the same.
	for i, id := range want {
		if got := r.tmux(id, "show-options", "-v", orderOption); got != string(rune('0'+i)) {
			t.Errorf("%s has stored order %s, want %d", id, got, i)
		}
	}
	r.shutDown()
	r = m.boot()
	if got := order(); !slices.Equal(got, want) {
		t.Errorf("after a restart order %q, want %q", got, want)
	}
}
