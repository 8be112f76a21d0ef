package terminal

import "time"

const (
	ownerIdle  = 5 * time.Second        // after which another viewer's typing takes the size
	ownerGrace = 700 * time.Millisecond // in which an owner that reloads gets the size back
)

// owner is who decides the size: rule 8. One resize is under way at a time; those asked for meanwhile become one.
type owner struct {
	v      *viewer   // nil: nobody
	active time.Time // the owner last typed or took the size
	left   time.Time // the last owner left
	want   Size
	asked  Size // last asked of the source
	busy   bool // a Resize is under way
}

// giveSizeLocked makes v the owner.
func (t *Terminal) giveSizeLocked(v *viewer) {
	t.owner.v, t.owner.active, t.owner.left = v, time.Now(), time.Time{}
	t.wantSizeLocked(*v.size)
	for _, o := range t.viewers {
		o.dirty(dirtySize)
	}
}

// canOwn says whether v may decide the size.
func (v *viewer) canOwn() bool { return v.size != nil && !v.readOnly }

// sizeOfferedLocked is called when v came or said what fits its page.
func (t *Terminal) sizeOfferedLocked(v *viewer) {
	switch {
	case !v.canOwn():
	case t.owner.v == nil:
		t.giveSizeLocked(v)
	case t.owner.v == v:
		t.wantSizeLocked(*v.size)
	}
}

// typedLocked is called before v's input is delivered, so that a resize comes first.
func (t *Terminal) typedLocked(v *viewer) {
	now := time.Now()
	v.typed = now
	switch {
	case t.owner.v == v:
		t.owner.active = now
	case v.canOwn() && (t.owner.v == nil || now.Sub(t.owner.active) >= ownerIdle):
		t.giveSizeLocked(v)
	}
}

func (t *Terminal) ownerLeftLocked() {
	t.owner.v = nil
	t.owner.left = time.Now()
	for _, o := range t.viewers {
		o.dirty(dirtySize)
	}
	t.wakeAtLocked(t.owner.left.Add(ownerGrace))
}

// inheritLocked gives a size without an owner to the viewer that typed last.
func (t *Terminal) inheritLocked() {
	t.owner.left = time.Time{}
	var next *viewer
	for _, v := range t.viewers {
		if v.canOwn() && (next == nil || v.typed.After(next.typed)) {
			next = v
		}
	}
	if next != nil {
		t.giveSizeLocked(next)
	}
}

func (t *Terminal) wantSizeLocked(s Size) {
	t.owner.want = s
	if t.owner.busy || !t.attached || s == t.owner.asked && s == t.windows.Layout.Size {
		return
	}
	t.owner.busy, t.owner.asked = true, s
	t.src.Resize(s, func(err error) {
		t.mu.Lock()
		defer t.unlock()
		t.owner.busy = false
		if err != nil {
			t.owner.asked = Size{}
			return
		}
		if t.owner.v != nil && t.owner.want != s {
			t.wantSizeLocked(t.owner.want)
		}
	})
}
