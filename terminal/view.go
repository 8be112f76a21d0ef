package terminal

import (
	"bytes"
	"time"
)

const (
	maxOutputBytes = 32 << 10  // in one output frame
	maxChunkBytes  = 256 << 10 // in one snapshot frame
	maxLagBytes    = 256 << 10 // behind, a viewer gets a snapshot

	fullFallback = 300 * time.Millisecond // for the history, when a screen is not acked
	fullAfterLag = time.Second            // in which a viewer must not fall behind again to get the history
)

// needs is what captures a view waits for.
type needs uint8

const (
	needScreen  needs = 1 << iota // to show anything
	needRepaint                   // to be exact again; the page keeps its scrollback
	needFull                      // history
)

// view is what one viewer has of one pane. Terminal.mu protects it.
type view struct {
	v         *viewer
	p         *pane
	live      bool   // cursor is a place in the ring, or was lately
	cursor    uint64 // next byte to send
	acked     uint64 // the page has parsed the bytes before
	seq       int    // of the latest resize sent
	need      needs
	fullAt    time.Time // when to ask for the history
	snap      *snapshot // being sent
	chunk     int
	unparsed  bool // a snapshot was sent and not acked
	wantsFull bool // ask for the history once the screen is parsed
	history   int  // lines of it that the page keeps
	stateSent bool
}

// snapshot is what a pane shows at an offset, as frames for any number of viewers.
type snapshot struct {
	offset  uint64
	seq     int
	all     bool // the history that there is
	history int  // lines of it asked for
	frames  [][]byte
	repaint [][]byte
}

// parsing says whether a snapshot is on its way into the page.
func (w *view) parsing() bool { return w.snap != nil || w.unparsed }

// captureLocked asks for what the views of p need, if it is not asked for already.
func (p *pane) captureLocked(t *Terminal) {
	var need needs
	history := 0
	for _, w := range p.views {
		if w.snap != nil { // it asks again when that is sent
			continue
		}
		need |= w.need
		if w.need&needFull != 0 {
			history = max(history, w.history)
		}
	}
	switch {
	case need&(needScreen|needRepaint) != 0: // first the screen: a long history takes tmux tens of milliseconds
		p.requestLocked(t, 0)
	case need != 0:
		p.requestLocked(t, history)
	}
}

// requestLocked captures p, going on with it if it is paused.
func (p *pane) requestLocked(t *Terminal, history int) {
	if p.capturing || t.end != nil || !t.attached {
		return
	}
	p.capturing = true
	resume := p.paused
	var at *capturePoint
	t.src.Capture(p.id, CaptureOptions{History: history, Resume: resume},
		func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			at = p.captureBeganLocked(t, resume)
		},
		func(c Capture, err error) { t.captured(p, at, c, err, history) })
}

// capturePoint is what is known of a pane at the place of a capture in its stream.
type capturePoint struct {
	offset  uint64
	seq     int
	size    Size
	modes   *modes
	resumed bool
}

func (p *pane) captureBeganLocked(t *Terminal, resumed bool) *capturePoint {
	if resumed {
		p.ring.gap()
		p.modes.outer.reset() // bytes are missing; what the sequence was that the pause cut, the capture tells
		p.paused, p.sampled = false, 0
		p.sampleAt = time.Now().Add(sampleEvery)
		t.wakeAtLocked(p.sampleAt)
		p.wake()
	}
	return &capturePoint{p.ring.end, p.seq, p.size, p.modes.clone(), resumed}
}

// deepenLocked makes the page keep this many lines of history. Fewer than before it drops by itself.
func (w *view) deepenLocked(t *Terminal, lines int) {
	more := lines > w.history
	w.history = lines
	if more {
		w.need |= needFull
		w.p.captureLocked(t)
	}
}

// captured renders a capture and hands it to all views that wait for one.
func (t *Terminal) captured(p *pane, at *capturePoint, c Capture, err error, history int) {
	t.mu.Lock()
	if err != nil || at == nil {
		p.capturing = false
		if p.flooding && !isDetached(err) { // the pane is gone
			p.flooding = false
		}
		t.unlock()
		return
	}
	v := readVars(c.Vars)
	if p.ring.end == at.offset {
		p.modes.captured(v)
		if at.resumed {
			p.modes.outer.feed(c.Pending, p.modes)
		}
	}
	repaint := false
	wanted := false
	for _, w := range p.views {
		repaint = repaint || w.need == needRepaint || w.need == needRepaint|needFull
		wanted = wanted || w.need != 0
	}
	t.unlock()

	// Rendering and copying a long history takes milliseconds; viewers go on meanwhile.
	at.modes.captured(v)
	s := &snapshot{offset: at.offset, seq: at.seq, history: history, all: history >= v.history || c.Replay != nil}
	size := v.size
	if size.Cols == 0 {
		size = at.size
	}
	if wanted {
		s.frames = s.render(p.id, size, v, at, c, false)
	}
	if repaint && c.Replay == nil {
		s.repaint = s.render(p.id, size, v, at, c, true)
	}

	t.mu.Lock()
	defer t.unlock()
	p.capturing = false
	for _, w := range p.views {
		w.takeLocked(s)
		w.v.wakeUp()
	}
	p.captureLocked(t)
}

func (s *snapshot) render(pane PaneID, size Size, v *vars, at *capturePoint, c Capture, inPlace bool) [][]byte {
	r := renderer{b: make([]byte, 0, len(c.Screen)+len(c.Saved)+len(c.Replay)+2048), v: v, m: at.modes, half: at.modes.outer.partial, history: min(s.history, v.history)}
	b := r.render(c, inPlace)
	var frames [][]byte
	for i := 0; i == 0 || i < len(b); i += maxChunkBytes {
		var flags byte
		if i == 0 && !inPlace {
			flags |= snapshotFirst
		}
		if i+maxChunkBytes >= len(b) {
			flags |= snapshotLast
		}
		if (s.all || s.history > 0) && !inPlace {
			flags |= snapshotHistory
		}
		piece := b[i:min(i+maxChunkBytes, len(b))]
		f := appendSnapshotHeader(make([]byte, 0, snapshotHeaderBytes+len(piece)), pane, at.offset, size, flags)
		frames = append(frames, append(f, piece...))
	}
	return frames
}

// takeLocked has w send s, if it is what w waits for.
func (w *view) takeLocked(s *snapshot) {
	if w.need == 0 || w.snap != nil || !w.p.ring.has(s.offset) {
		return
	}
	switch {
	case w.need == needRepaint && s.repaint != nil:
		w.need = 0
		w.snap = &snapshot{offset: s.offset, seq: s.seq, frames: s.repaint}
	case s.all || s.history >= w.history:
		w.need, w.fullAt, w.wantsFull = 0, time.Time{}, false
		w.snap = s
	case w.need&needScreen != 0:
		w.need &^= needScreen | needRepaint
		w.snap = s
	case w.need&needRepaint != 0 && s.repaint != nil:
		w.need &^= needRepaint
		w.snap = &snapshot{offset: s.offset, seq: s.seq, frames: s.repaint}
	default:
		return
	}
	w.chunk = 0
	w.live, w.cursor, w.acked, w.seq = true, s.offset, s.offset, s.seq
}

// settled says that the page has, or is getting, all that the pane shows; not that it will be made exact later.
func (w *view) settled() bool {
	return w.live && w.need == 0 && w.fullAt.IsZero() && !w.wantsFull && !w.parsing() && w.p.resyncAt.IsZero() && !w.p.mainStale
}

// frameLocked returns the next binary frame of the view, or nil. b is room for it.
func (w *view) frameLocked(t *Terminal, b []byte) []byte {
	p, v := w.p, w.v
	if w.snap != nil {
		f := w.snap.frames[w.chunk]
		if w.chunk++; w.chunk == len(w.snap.frames) {
			w.snap, w.unparsed = nil, true
			if w.wantsFull {
				w.fullAt = time.Now().Add(fullFallback)
				t.wakeAtLocked(w.fullAt)
			}
			p.captureLocked(t) // what was needed meanwhile
		}
		return f
	}
	if w.live && w.need&needScreen == 0 && (!p.ring.has(w.cursor) || p.ring.end-w.cursor > maxLagBytes) {
		w.live = false
		w.wantsFull = false
		if w.history > 0 {
			w.fullAt = time.Now().Add(fullAfterLag)
			t.wakeAtLocked(w.fullAt)
		}
	}
	if !w.live {
		if !w.parsing() && w.need&needScreen == 0 {
			w.need |= needScreen
		}
		if w.need != 0 {
			p.captureLocked(t)
		}
		return nil
	}
	if w.need&needScreen != 0 {
		return nil
	}
	limit := p.ring.end
	if w.seq < p.seq {
		size, seq := p.nextSize(w.seq, w.cursor)
		if seq > w.seq {
			w.seq = seq
			return appendResize(b, p.id, w.cursor, size)
		}
		for _, m := range p.marks {
			if m.seq > w.seq {
				limit = m.offset
				break
			}
		}
	}
	n := min(int(limit-w.cursor), maxOutputBytes)
	if t.end == nil {
		n = min(n, v.roomLocked())
	}
	if n <= 0 {
		return nil
	}
	b = p.ring.read(appendOutput(b, p.id, w.cursor), w.cursor, n)
	w.cursor += uint64(n)
	v.sentLocked(w)
	return b
}

// nextSize is the size to tell a view at cursor that was last told the mark seq.
func (p *pane) nextSize(seq int, cursor uint64) (Size, int) {
	size, at := p.sizeAt(cursor)
	if at > seq {
		return size, at
	}
	return Size{}, seq
}

// ackLocked takes the page's word that it has parsed the bytes before offset.
func (w *view) ackLocked(t *Terminal, offset uint64) {
	if offset > w.cursor || offset < w.acked || !w.live && !w.unparsed {
		return
	}
	w.v.ackedLocked(w, offset)
	w.acked = offset
	if w.unparsed && w.snap == nil {
		w.unparsed = false
		if w.wantsFull && w.history > 0 {
			w.wantsFull = false
			w.fullAt = time.Time{}
			w.need |= needFull
			w.p.captureLocked(t)
		}
	}
	w.v.wakeUp()
}

// lastLines returns the last n lines of a capture that are not blank at its end.
func lastLines(c Capture, n int) []byte {
	b := c.Screen
	if c.Replay != nil {
		b = c.Replay
	}
	lines := bytes.Split(b, []byte("\n"))
	for len(lines) > 0 && len(bytes.TrimSpace(lines[len(lines)-1])) == 0 {
		lines = lines[:len(lines)-1]
	}
	var s style
	if skip := len(lines) - n; skip > 0 {
		for _, l := range lines[:skip] {
			s = s.after(l)
		}
		lines = lines[skip:]
	}
	for i, l := range lines {
		lines[i] = bytes.TrimRight(l, " \r")
	}
	return s.before(bytes.Join(lines, []byte("\n")))
}
