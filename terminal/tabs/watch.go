package tabs

import (
	"context"
	"reflect"
)

// watcher is one Watch: what it has not been told yet. Its size is bounded by the tabs there are and were.
type watcher struct {
	wake chan struct{} // capacity 1

	// Under box.mu.
	changed   map[string]bool // tabs
	gone      []Gone
	revivable bool
	told      map[string]Tab // what was sent last, so that what is equal is not sent again
}

// watch subscribes and takes the first snapshot at one moment: nothing is missed between.
func (b *box) watch(ctx context.Context) (<-chan Event, error) {
	w := &watcher{wake: make(chan struct{}, 1), changed: make(map[string]bool), told: make(map[string]Tab)}
	b.mu.Lock()
	first := b.snapshotLocked()
	for _, t := range first.Tabs {
		w.told[t.ID] = t
	}
	b.watchers[w] = struct{}{}
	b.mu.Unlock()

	ch := make(chan Event)
	started := b.s.background(func(serviceCtx context.Context) {
		defer close(ch)
		defer func() {
			b.mu.Lock()
			delete(b.watchers, w)
			b.mu.Unlock()
		}()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stop := context.AfterFunc(serviceCtx, cancel)
		defer stop()
		b.serve(ctx, w, first, ch)
	})
	if !started {
		return nil, errClosed
	}
	return ch, nil
}

func (b *box) serve(ctx context.Context, w *watcher, first *Snapshot, ch chan<- Event) {
	next := []Event{{Tabs: first}}
	for {
		for _, e := range next {
			select {
			case ch <- e:
			case <-ctx.Done():
				return
			}
		}
		select {
		case <-w.wake:
		case <-ctx.Done():
			return
		}
		b.mu.Lock()
		next = b.newsLocked(w)
		b.mu.Unlock()
	}
}

// newsLocked returns what w was not told, as it is now.
func (b *box) newsLocked(w *watcher) []Event {
	var news []Event
	for _, g := range w.gone {
		delete(w.told, g.ID)
		news = append(news, Event{Gone: &g})
	}
	if w.revivable {
		news = append(news, Event{Revivable: b.revivableLocked()})
	}
	for _, t := range b.sortedLocked() {
		if !w.changed[t.id] {
			continue
		}
		v := t.viewLocked()
		if old, ok := w.told[t.id]; ok && reflect.DeepEqual(old, v) {
			continue
		}
		w.told[t.id] = v
		news = append(news, Event{Tab: &v})
	}
	w.gone, w.revivable = nil, false
	clear(w.changed)
	return news
}

// tellLocked notes something for every watcher and wakes it.
func (b *box) tellLocked(note func(*watcher)) {
	for w := range b.watchers {
		note(w)
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

func (b *box) changedLocked(t *tab) {
	b.tellLocked(func(w *watcher) { w.changed[t.id] = true })
}

func (b *box) goneLocked(id, reason string) {
	b.tellLocked(func(w *watcher) {
		delete(w.changed, id)
		w.gone = append(w.gone, Gone{ID: id, Reason: reason})
	})
}

func (b *box) revivableChangedLocked() {
	b.tellLocked(func(w *watcher) { w.revivable = true })
}
