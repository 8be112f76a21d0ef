package terminal

import (
	"errors"
	"time"
)

func isDetached(err error) bool {
	return errors.Is(err, ErrDetached) || errors.Is(err, ErrServerGone)
}

// Attached implements Handler.
func (t *Terminal) Attached(a Attached) {
	t.mu.Lock()
	defer t.unlock()
	again := t.attached
	t.attached = true
	if again { // what came meanwhile is lost; offsets go on
		for _, p := range t.panes {
			p.ring.gap()
			p.modes.outer.reset()
			p.capturing, p.paused, p.flooding, p.answering = false, false, false, 0
			p.wake()
		}
		t.owner.busy, t.owner.asked = false, Size{}
	}
	t.adoptInputsLocked(readMark(a.InputMark))
	for _, s := range a.Panes {
		p := t.paneLocked(s.Pane)
		p.state = s
		if o := a.Options[s.Pane]; o != "" && !again {
			p.modes.decode(o)
			p.saved = o
		}
	}
	t.setWindowsLocked(a.Windows)
	for _, v := range t.viewers {
		v.dirty(dirtyWelcome | dirtySize)
		t.sizeOfferedLocked(v)
	}
	if t.owner.v != nil {
		t.wantSizeLocked(t.owner.want)
	}
	t.changed = true
}

// adoptInputsLocked takes over where tmux says that input streams go on. Viewers that wait for the attachment have
// streams already; bytes that were on their way are settled by the mark.
func (t *Terminal) adoptInputsLocked(marked inputs) {
	for _, s := range t.inputs {
		s.next, s.paste = s.taken, nil
	}
	for _, m := range marked {
		s := t.inputs.get(m.id)
		s.next, s.taken = m.next, m.next
	}
	for _, v := range t.viewers {
		if v.input != nil {
			v.input = t.inputs.get(v.input.id)
		}
	}
}

// Output implements Handler.
func (t *Terminal) Output(id PaneID, data []byte) {
	now := time.Now()
	t.mu.Lock()
	defer t.unlock()
	p := t.paneLocked(id)
	p.outputLocked(t, data, now)
	if len(t.watchers) > 0 && !t.activity.After(t.toldAt) {
		t.wakeAtLocked(t.toldAt.Add(time.Second))
	}
	t.activity = now
	if p.modes.bell {
		p.modes.bell = false
		if len(t.viewers) == 0 && !t.bell {
			t.bell, t.changed = true, true
		}
	}
}

// Paused implements Handler.
func (t *Terminal) Paused(id PaneID) {
	t.mu.Lock()
	defer t.unlock()
	p := t.paneLocked(id)
	if p.paused {
		return
	}
	p.paused, p.flooding = true, true // tmux paused it because we read too slowly
	p.sampleAt = time.Now()
	t.wakeAtLocked(p.sampleAt)
}

// WindowsChanged implements Handler.
func (t *Terminal) WindowsChanged(w Windows) {
	t.mu.Lock()
	defer t.unlock()
	t.setWindowsLocked(w)
}

func (t *Terminal) setWindowsLocked(w Windows) {
	t.windows = w
	for _, b := range w.Layout.Panes {
		t.paneLocked(b.ID).resizeLocked(t, Size{b.Cols, b.Rows})
	}
	for _, v := range t.viewers {
		v.showLocked(nil)
		v.dirty(dirtyLayout)
	}
	if t.owner.v != nil && w.Layout.Size != t.owner.want && w.Layout.Size != t.owner.asked {
		t.owner.asked = Size{} // someone else sized the window; the owner's next resize must reach tmux
	}
	t.changed = true
}

// PaneArrived implements Handler.
func (t *Terminal) PaneArrived(id PaneID, modes string) {
	t.mu.Lock()
	defer t.unlock()
	p := t.paneLocked(id)
	if modes == "" || p.saved != "" {
		return
	}
	p.modes.decode(modes)
	p.saved = modes
	for _, w := range p.views { // what they were shown was made without it
		w.need |= needFull
	}
	p.captureLocked(t)
}

// PaneChanged implements Handler.
func (t *Terminal) PaneChanged(s PaneState) {
	t.mu.Lock()
	defer t.unlock()
	p := t.paneLocked(s.Pane)
	if p.state == s {
		return
	}
	p.state = s
	for _, w := range p.views {
		w.stateSent = false
		w.v.wakeUp()
	}
	t.changed = true
}

// Copied implements Handler. Only who typed last copied; other people's clipboards are left alone.
func (t *Terminal) Copied(id PaneID, text []byte) {
	t.mu.Lock()
	defer t.unlock()
	var last *viewer
	for _, v := range t.viewers {
		if last == nil || v.typed.After(last.typed) {
			last = v
		}
	}
	if last != nil && len(text) <= maxTextBytes/2 {
		last.text(clipboardText{"clipboard", id, string(text)})
	}
}
