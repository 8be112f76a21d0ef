package terminal

import (
	"slices"
	"time"
)

// Sampling of floods: a pane that sends more than floodBytes within floodSpan is paused and captured every
// sampleEvery, until less than calmBytes come between two samples.
const (
	floodBytes  = 512 << 10
	floodSpan   = 100 * time.Millisecond
	sampleEvery = 66 * time.Millisecond
	sampleAlone = time.Second           // with no viewer
	sampleTyped = 10 * time.Millisecond // after a key, so that Ctrl-C shows
	calmBytes   = 16 << 10
)

const (
	resyncAfter = 150 * time.Millisecond // the last resize
	reflowAfter = 500 * time.Millisecond // the repaint, for the history
	ringIdle    = 10 * time.Second       // after which a ring is dropped
	saveEvery   = time.Second            // at most, modes of a pane
	maxPanes    = 256
	maxMarks    = 64 // resizes a ring remembers
)

// resizeMark says that a pane has a size from an offset on.
type resizeMark struct {
	seq    int
	offset uint64
	size   Size
}

// pane is one pane's stream and what is known of it. Terminal.mu protects it.
type pane struct {
	id    PaneID
	state PaneState
	ring  ring
	modes *modes
	size  Size
	base  Size // before the first of marks
	marks []resizeMark
	seq   int // of the latest mark

	output    time.Time // last came
	resyncAt  time.Time
	reflowed  bool // by a resize since the last resync
	mainStale bool // resized while the alternate screen was shown: tmux resizes the main one when it is shown again
	saveAt    time.Time
	savedAt   time.Time
	saved     string // what tmux keeps of modes
	answering int    // bytes of answers on their way

	capturing bool
	views     []*view         // of viewers
	unsettled map[string]bool // pages that left before they were made exact, by input id

	burst      int // bytes since burstStart
	burstStart time.Time
	flooding   bool
	paused     bool
	sampleAt   time.Time
	sampled    int // bytes since the last sample
}

// paneLocked returns the pane of this id, new if need be.
func (t *Terminal) paneLocked(id PaneID) *pane {
	p := t.panes[id]
	if p == nil {
		if len(t.panes) >= maxPanes {
			t.forgetPaneLocked()
		}
		p = &pane{id: id, state: PaneState{Pane: id}, modes: newModes(Size{80, 24}, t.c.Answers)}
		t.panes[id] = p
	}
	return p
}

// forgetPaneLocked drops the pane that has been silent longest and is not shown. Which panes other windows still have
// nobody tells; a pane forgotten too early is known again from its next capture.
func (t *Terminal) forgetPaneLocked() {
	var oldest *pane
	for _, p := range t.panes {
		if !t.shownLocked(p.id) && (oldest == nil || p.output.Before(oldest.output)) {
			oldest = p
		}
	}
	if oldest != nil {
		delete(t.panes, oldest.id)
	}
}

func (t *Terminal) shownLocked(id PaneID) bool {
	return slices.ContainsFunc(t.windows.Layout.Panes, func(b PaneBox) bool { return b.ID == id })
}

// resize marks that the pane has size s from here on.
func (p *pane) resizeLocked(t *Terminal, s Size) {
	if p.size == s {
		return
	}
	if p.size == (Size{}) {
		p.base = s
	} else {
		p.resyncAt = time.Now().Add(resyncAfter)
		p.reflowed = p.reflowed || p.size.Cols != s.Cols
		p.mainStale = p.mainStale || p.modes.set&bitAlternate != 0
		t.wakeAtLocked(p.resyncAt)
	}
	p.size = s
	p.seq++
	p.marks = append(p.marks, resizeMark{p.seq, p.ring.end, s})
	if len(p.marks) > maxMarks || p.marks[0].offset < p.ring.start {
		p.dropMarks()
	}
	p.modes.resize(s)
	p.wake()
}

// dropMarks forgets resizes that no cursor can need.
func (p *pane) dropMarks() {
	n := max(len(p.marks)-maxMarks, 0)
	for n < len(p.marks)-1 && p.marks[n+1].offset <= p.ring.start {
		n++
	}
	if n > 0 {
		p.base = p.marks[n-1].size
		p.marks = append(p.marks[:0], p.marks[n:]...)
	}
}

// sizeAt is the pane's size at an offset the ring has.
func (p *pane) sizeAt(offset uint64) (s Size, seq int) {
	s, seq = p.base, p.seq-len(p.marks)
	for _, m := range p.marks {
		if m.offset > offset {
			break
		}
		s, seq = m.size, m.seq
	}
	return s, seq
}

func (p *pane) wake() {
	for _, w := range p.views {
		w.v.wakeUp()
	}
}

// needed is the offset of the first byte that a viewer still wants from the ring.
func (p *pane) needed() uint64 {
	n := p.ring.end
	for _, w := range p.views {
		if w.live && w.cursor < n {
			n = w.cursor
		}
	}
	return n
}

// outputLocked takes bytes of the pane.
func (p *pane) outputLocked(t *Terminal, data []byte, now time.Time) {
	p.ring.append(data, p.needed())
	p.wake()
	p.output = now
	p.modes.feed(data)
	if p.mainStale && p.modes.set&bitAlternate == 0 {
		p.mainStale, p.reflowed = false, true
		p.resyncAt = now.Add(resyncAfter)
		t.wakeAtLocked(p.resyncAt)
	}
	if len(p.modes.out) > 0 {
		p.answerLocked(t)
	}
	if p.modes.changed && p.saveAt.IsZero() {
		p.saveAt = p.savedAt.Add(saveEvery)
		if p.saveAt.Before(now) {
			p.saveAt = now.Add(20 * time.Millisecond) // a program sets several modes at once
		}
		t.wakeAtLocked(p.saveAt)
	}
	p.modes.changed = false
	if p.ring.len() > minRingBytes {
		t.wakeAtLocked(now.Add(ringIdle))
	}
	p.floodLocked(t, len(data), now)
}

func (p *pane) floodLocked(t *Terminal, n int, now time.Time) {
	if p.flooding {
		if p.sampled += n; p.sampled > calmBytes && !p.paused {
			p.pauseLocked(t)
			if len(p.views) == 0 {
				p.sampleAt = now.Add(sampleAlone)
			}
		}
		return
	}
	if now.Sub(p.burstStart) > floodSpan {
		p.burstStart, p.burst = now, 0
	}
	if p.burst += n; p.burst > floodBytes {
		p.flooding = true
		p.sampleAt = now.Add(sampleEvery)
		p.pauseLocked(t)
		t.wakeAtLocked(p.sampleAt)
	}
}

func (p *pane) pauseLocked(t *Terminal) {
	if t.end == nil {
		p.paused = true
		t.src.Pause(p.id)
	}
}

// answerLocked sends the answers to a program's queries; they belong to no input stream.
func (p *pane) answerLocked(t *Terminal) {
	n := len(p.modes.out)
	if p.answering+n <= maxAnswerBytes && t.end == nil {
		p.answering += n
		t.src.SendKeys(p.id, p.modes.out, "", func(error) {
			t.mu.Lock()
			p.answering -= n
			t.mu.Unlock()
		})
	}
	p.modes.out = p.modes.out[:0]
}

// typedLocked makes the next sample come soon.
func (p *pane) typedLocked(t *Terminal) {
	if p.flooding {
		if soon := time.Now().Add(sampleTyped); soon.Before(p.sampleAt) {
			p.sampleAt = soon
			t.wakeAtLocked(soon)
		}
	}
}

// tickLocked does what is due and returns when to come again; zero: never.
func (p *pane) tickLocked(t *Terminal, now time.Time) (next time.Time) {
	due := func(at time.Time) bool {
		if at.IsZero() || at.After(now) {
			next = earlier(next, at)
			return false
		}
		return true
	}
	if p.flooding && due(p.sampleAt) {
		p.sampleLocked(t, now)
		next = earlier(next, p.sampleAt)
	}
	if due(p.resyncAt) {
		p.resyncAt = time.Time{}
		for _, w := range p.views {
			w.resyncLocked(p.reflowed, now)
		}
		p.reflowed = false
		p.captureLocked(t)
	}
	if due(p.saveAt) {
		p.saveAt = time.Time{}
		if s := p.modes.encode(); s != p.saved && t.end == nil {
			p.saved, p.savedAt = s, now
			t.src.SetPaneOption(p.id, ModesOption, s)
		}
	}
	if p.ring.buf != nil && due(p.output.Add(ringIdle)) {
		p.ring.trim()
		p.wake()
	}
	for _, w := range p.views {
		if due(w.fullAt) {
			w.fullAt = time.Time{}
			w.need |= needFull
			p.captureLocked(t)
		}
	}
	return next
}

// resyncLocked makes w exact again after a resize: the screen, and if lines were wrapped anew the history too, which
// tmux and xterm.js do not always do alike.
func (w *view) resyncLocked(reflowed bool, now time.Time) {
	w.need |= needRepaint
	if reflowed && w.history > 0 {
		w.fullAt = now.Add(reflowAfter)
		w.v.t.wakeAtLocked(w.fullAt)
	}
}

// sampleLocked shows viewers a flooding pane, or finds that the flood is over.
func (p *pane) sampleLocked(t *Terminal, now time.Time) {
	if !p.paused { // since the last sample little came
		p.flooding, p.burst = false, 0
		for _, w := range p.views {
			w.need |= needFull
			w.fullAt = time.Time{}
		}
		p.captureLocked(t)
		return
	}
	p.sampleAt = now.Add(sampleEvery)
	if len(p.views) == 0 {
		p.sampleAt = now.Add(sampleAlone)
	}
	for _, w := range p.views {
		if !w.parsing() {
			w.need |= needScreen
		}
	}
	p.requestLocked(t, 0)
}
