package terminal

import (
	"context"
	"time"
)

const (
	viewerCheck  = 15 * time.Second
	viewerSilent = 150 * time.Second // of a page that pings, in the background once a minute
	viewerStuck  = 75 * time.Second  // in one write
)

// earlier returns the earlier of two times, of which zero means never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// keep does what is due at a time, not on an event.
func (t *Terminal) keep(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		t.mu.Lock()
		now := time.Now()
		t.deadline = time.Time{}
		t.deadline = earlier(t.tickLocked(now), t.deadline) // a tick may ask for more
		wait := time.Hour
		if !t.deadline.IsZero() {
			wait = max(t.deadline.Sub(now), 0)
		}
		t.unlock()
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return
		case <-t.kick:
		case <-timer.C:
		}
	}
}

// wakeAtLocked has keep look no later than at.
func (t *Terminal) wakeAtLocked(at time.Time) {
	if t.deadline.IsZero() || at.Before(t.deadline) {
		t.deadline = at
		select {
		case t.kick <- struct{}{}:
		default:
		}
	}
}

// tickLocked does what is due and returns when to come again; zero: never.
func (t *Terminal) tickLocked(now time.Time) (next time.Time) {
	if t.end != nil {
		return next
	}
	for _, p := range t.panes {
		next = earlier(next, p.tickLocked(t, now))
	}
	if left := t.owner.left; !left.IsZero() {
		if now.Sub(left) >= ownerGrace {
			t.inheritLocked()
		} else {
			next = earlier(next, left.Add(ownerGrace))
		}
	}
	if t.activity.After(t.toldAt) {
		if due := t.toldAt.Add(time.Second); due.After(now) {
			next = earlier(next, due)
		} else {
			t.changed = true
		}
	}
	for _, v := range t.viewers {
		v.checkLocked(now)
	}
	if len(t.viewers) > 0 {
		next = earlier(next, now.Add(viewerCheck))
	}
	return next
}
