package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	minWindowBytes = 64 << 10  // in flight to a page whose rate nobody measured
	maxWindowBytes = 512 << 10 // the ring holds no more
	windowDelay    = 12 * time.Millisecond
	maxTextBytes   = 256 << 10 // of text frames that wait
	maxPendingOps  = 64
	awayGrace      = time.Second     // for a last frame and a close frame
	lastFlush      = 5 * time.Second // for the last output of a tab that ended
)

// Conn is a viewer's connection, as the terminal needs it; web adapts a websocket to it. Read and Write may run at the
// same time, each by one goroutine; cancelling their ctx ends the connection. Close may run beside both.
type Conn interface {
	// Read returns the next frame; binary or text. data is valid until the next Read.
	Read(ctx context.Context) (binary bool, data []byte, err error)
	// Write sends one frame.
	Write(ctx context.Context, binary bool, data []byte) error
	// Close ends the connection with a close code of docs/PROTOCOL.md.
	Close(code int, reason string) error
}

// ViewerConfig is what the server knows of a viewer beside its Hello.
type ViewerConfig struct {
	Name string // device name, shown to others: "iPhone", "pt on laptop"
}

// dirty says which frames a viewer must get because their contents changed.
type dirty uint8

const (
	dirtyWelcome dirty = 1 << iota
	dirtyLayout
	dirtySize
	dirtyAck
	dirtyEnded // was sent
)

// viewer is one browser looking at a terminal.
type viewer struct {
	t        *Terminal
	conn     Conn
	id       string
	name     string
	readOnly bool
	resume   Hello // its stream and panes, until the panes are known
	wake     chan struct{}
	cancel   context.CancelCauseFunc

	closing sync.Once
	heard   atomic.Int64 // unix nanoseconds of the last frame read
	writing atomic.Int64 // since when a write is under way; 0: none

	// Terminal.mu protects what follows.
	size       *Size // that fits its page
	scrollback int
	input      *input
	typed      time.Time
	changed    dirty
	texts      [][]byte
	textBytes  int
	ops        int // under way
	views      []*view
	turn       int
	rate       rate
	gone       bool // has left
	away       *time.Timer
}

// errAway ends a viewer's loops with a close code.
type errAway struct {
	code   int
	reason string
}

func (e *errAway) Error() string { return fmt.Sprintf("sent away: %d %s", e.code, e.reason) }

// Serve gives a viewer the terminal until it leaves or is sent away; hello is its first frame, already authenticated.
// It closes c. The error says why the viewer left; nil when it did so itself or the terminal is over.
func (t *Terminal) Serve(ctx context.Context, c Conn, hello Hello, vc ViewerConfig) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	v, err := t.join(c, hello, vc, cancel)
	if err != nil {
		away, _ := errors.AsType[*errAway](err)
		_ = c.Close(away.code, away.reason)
		return err
	}
	defer t.joined.Done()

	var wg sync.WaitGroup
	wg.Go(func() { v.finish(v.writeLoop(ctx)) })
	v.finish(v.readLoop(ctx))
	wg.Wait()
	t.mu.Lock()
	if v.away != nil {
		v.away.Stop()
	}
	t.mu.Unlock()

	err = context.Cause(ctx)
	if away, ok := errors.AsType[*errAway](err); ok && isExpectedClose(away.code) {
		return nil
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, errLeft) {
		return nil
	}
	return err
}

func isExpectedClose(code int) bool {
	switch code {
	case CloseNormal, CloseGoingAway, CloseRestart, CloseTabGone, CloseServerGone:
		return true
	}
	return false
}

// errLeft says that the viewer's connection ended by its own doing.
var errLeft = errors.New("viewer left")

// finish ends a viewer because one of its loops did: it leaves the terminal before the connection is closed, which can
// take seconds.
func (v *viewer) finish(err error) {
	v.t.leave(v)
	v.closing.Do(func() {
		code, reason := CloseGoingAway, "" // the peer went first and knows
		if away, ok := errors.AsType[*errAway](err); ok {
			code, reason = away.code, away.reason
		} else if f, ok := errors.AsType[*FrameError](err); ok {
			code, reason = f.Code, f.Text
		}
		_ = v.conn.Close(code, reason)
	})
	v.cancel(err)
}

func (t *Terminal) join(c Conn, h Hello, vc ViewerConfig, cancel context.CancelCauseFunc) (*viewer, error) {
	t.mu.Lock()
	defer t.unlock()
	if t.end != nil {
		return nil, &errAway{t.end.code, t.end.reason}
	}
	if len(t.viewers) >= maxViewers {
		return nil, &errAway{CloseTooManyViewers, "too many viewers"}
	}
	t.lastID++
	v := &viewer{
		t: t, conn: c, id: "v" + strconv.Itoa(t.lastID), name: vc.Name, cancel: cancel,
		readOnly: h.ReadOnly, size: h.Size, scrollback: h.Scrollback, resume: h,
		wake: make(chan struct{}, 1),
	}
	v.heard.Store(time.Now().UnixNano())
	if h.Input != "" && !h.ReadOnly {
		t.replaceLocked(v, h.Input)
		v.input = t.inputs.get(h.Input)
		if v.input.taken > 0 { // perhaps acked to a connection that was gone
			v.changed |= dirtyAck
		}
	}
	t.viewers = append(t.viewers, v)
	t.joined.Add(1)
	t.bell = false
	t.changed = true
	t.sizeOfferedLocked(v)
	v.dirty(dirtyWelcome | dirtyLayout | dirtySize)
	if t.attached {
		v.showLocked(h.Panes)
	}
	t.wakeAtLocked(time.Now().Add(viewerCheck))
	return v, nil
}

// replaceLocked sends away the viewer whose page now comes with a new connection; nobody else has its input id.
func (t *Terminal) replaceLocked(v *viewer, input string) {
	for _, o := range t.viewers {
		if o.input == nil || o.input.id != input {
			continue
		}
		t.removeLocked(o)
		v.typed = o.typed
		o.cancel(&errAway{CloseGoingAway, "came back on another connection"})
		return
	}
}

// leave takes v out of the terminal; further calls do nothing.
func (t *Terminal) leave(v *viewer) {
	t.mu.Lock()
	defer t.unlock()
	t.removeLocked(v)
}

func (t *Terminal) removeLocked(v *viewer) {
	if v.gone {
		return
	}
	v.gone = true
	t.viewers = slices.DeleteFunc(t.viewers, func(o *viewer) bool { return o == v })
	for _, w := range v.views {
		w.p.dropView(w)
		w.p.settle(v.resume.Input, w.settled())
	}
	v.views = nil
	t.abortPasteLocked(v)
	if t.owner.v == v {
		t.ownerLeftLocked()
	}
	t.changed = true
}

func (p *pane) dropView(w *view) {
	p.views = slices.DeleteFunc(p.views, func(o *view) bool { return o == w })
}

// maxUnsettled bounds the pages a pane remembers; one that is forgotten may show an old history after it resumed.
const maxUnsettled = 64

// settle remembers whether the page with this input id may resume the pane.
func (p *pane) settle(page string, settled bool) {
	switch {
	case settled:
		delete(p.unsettled, page)
	case p.unsettled == nil || len(p.unsettled) >= maxUnsettled:
		p.unsettled = map[string]bool{page: true}
	default:
		p.unsettled[page] = true
	}
}

// showLocked makes v's views those of the panes that are shown now. resume says up to which offsets the page has them.
func (v *viewer) showLocked(resume map[PaneID]uint64) {
	t := v.t
	if v.resume.Panes != nil && resume == nil {
		resume = v.resume.Panes
	}
	v.resume.Panes = nil
	if v.resume.Stream != t.stream {
		resume = nil
	}
	old := v.views
	v.views = nil
	for _, b := range t.windows.Layout.Panes {
		i := slices.IndexFunc(old, func(w *view) bool { return w.p.id == b.ID && w.p == t.panes[b.ID] })
		if i >= 0 {
			v.views = append(v.views, old[i])
			old = slices.Delete(old, i, i+1)
			continue
		}
		p := t.paneLocked(b.ID)
		w := &view{v: v, p: p, history: v.scrollback}
		p.views = append(p.views, w)
		v.views = append(v.views, w)
		if offset, ok := resume[b.ID]; ok && p.ring.has(offset) && !p.paused && !p.unsettled[v.resume.Input] {
			w.live, w.cursor, w.acked = true, offset, offset
			w.seq = -1                                                     // tells the size anew
			if n := len(p.marks); n > 0 && p.marks[n-1].offset >= offset { // it missed a resize, perhaps, and what came after
				w.resyncLocked(true, time.Now())
				p.captureLocked(t)
			}
			continue
		}
		w.need = needScreen
		w.wantsFull = w.history > 0
		p.captureLocked(t)
	}
	for _, w := range old {
		w.p.dropView(w)
	}
	v.wakeUp()
}

func (v *viewer) wakeUp() {
	select {
	case v.wake <- struct{}{}:
	default:
	}
}

func (v *viewer) dirty(d dirty) {
	v.changed |= d
	v.wakeUp()
}

// text queues a text frame; a viewer that reads none of too many is sent away.
func (v *viewer) text(m any) {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // every text is plain data
	}
	if v.textBytes += len(b); v.textBytes > maxTextBytes {
		v.cancel(&errAway{CloseStalled, "reads too slowly"})
		return
	}
	v.texts = append(v.texts, b)
	v.wakeUp()
}

// sendAwayLocked has the write loop end with t.end, or ends it when it does not get there.
func (v *viewer) sendAwayLocked() {
	v.wakeUp()
	grace := awayGrace
	if v.t.end.flush {
		grace = lastFlush
	}
	if v.away == nil {
		e := &errAway{v.t.end.code, v.t.end.reason}
		v.away = time.AfterFunc(grace, func() { v.cancel(e) })
	}
}

// checkLocked ends a viewer whose peer is silent or takes nothing.
func (v *viewer) checkLocked(now time.Time) {
	silent := now.Sub(time.Unix(0, v.heard.Load()))
	since := v.writing.Load()
	if silent > viewerSilent || since != 0 && now.Sub(time.Unix(0, since)) > viewerStuck {
		v.cancel(&errAway{CloseStalled, "connection stalled"})
	}
}

// framePool holds room for output frames, so that an idle viewer holds none.
var framePool = sync.Pool{New: func() any {
	b := make([]byte, 0, outputHeaderBytes+maxOutputBytes)
	return &b
}}

func (v *viewer) writeLoop(ctx context.Context) error {
	for {
		buf := framePool.Get().(*[]byte)
		err := v.writeAll(ctx, *buf)
		framePool.Put(buf)
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-v.wake:
		}
	}
}

// writeAll writes frames until there is none. What comes while a write is under way goes into the next frame together;
// nothing waits for more to come.
func (v *viewer) writeAll(ctx context.Context, buf []byte) error {
	for {
		v.t.mu.Lock()
		binary, data, err := v.frameLocked(buf[:0])
		v.t.unlock()
		if err != nil || data == nil {
			return err
		}
		v.writing.Store(time.Now().UnixNano())
		err = v.conn.Write(ctx, binary, data)
		v.writing.Store(0)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errLeft, err)
		}
	}
}

// frameLocked returns the next frame for v; nil data: none.
func (v *viewer) frameLocked(b []byte) (binary bool, data []byte, err error) {
	t := v.t
	if t.end != nil && !t.end.flush {
		return false, nil, &errAway{t.end.code, t.end.reason}
	}
	if v.gone {
		return false, nil, nil // its context ends
	}
	if m := v.stateLocked(); m != nil {
		data, err = json.Marshal(m)
		return false, data, err
	}
	if len(v.texts) > 0 {
		data = v.texts[0]
		v.texts = v.texts[1:]
		v.textBytes -= len(data)
		return false, data, nil
	}
	if v.changed&dirtyAck != 0 && t.attached {
		v.changed &^= dirtyAck
		if v.input != nil {
			return true, appendInputAck(b, v.input.taken), nil
		}
	}
	for range v.views {
		w := v.views[v.turn%len(v.views)]
		v.turn++ // panes take turns, so that none waits for another's flood
		if f := w.frameLocked(t, b); f != nil {
			return true, f, nil
		}
	}
	if t.end == nil {
		return false, nil, nil
	}
	if t.end.text != nil && v.changed&dirtyEnded == 0 { // after the last output
		v.changed |= dirtyEnded
		data, err = json.Marshal(t.end.text)
		return false, data, err
	}
	return false, nil, &errAway{t.end.code, t.end.reason}
}

// stateLocked returns the next text that tells of state, if any changed.
func (v *viewer) stateLocked() any {
	t := v.t
	if !t.attached {
		return nil
	}
	take := func(d dirty) bool {
		had := v.changed&d != 0
		v.changed &^= d
		return had
	}
	layout := &t.windows.Layout
	switch {
	case take(dirtyWelcome):
		next := uint64(0)
		if v.input != nil {
			next = v.input.next
		}
		return welcomeText{"welcome", ProtocolVersion, t.c.Version, v.id, t.stream, next, t.c.Plain, t.c.Widths}
	case take(dirtySize):
		m := sizeText{Type: "size", Size: layout.Size}
		if o := t.owner.v; o != nil {
			m.Owner, m.OwnerName, m.Mine, m.Size = o.id, o.name, o == v, t.owner.want
		}
		return m
	case take(dirtyLayout):
		return layoutText{"layout", t.windows.Current, notNil(t.windows.List), layout.Size, layout.Zoomed, layout.Active, notNil(layout.Panes)}
	}
	for _, w := range v.views {
		if !w.stateSent {
			w.stateSent = true
			return paneText{"pane", w.p.state}
		}
	}
	return nil
}

func notNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func (v *viewer) readLoop(ctx context.Context) error {
	for {
		binary, data, err := v.conn.Read(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errLeft, err)
		}
		v.heard.Store(time.Now().UnixNano())
		if len(data) > MaxFrameBytes {
			return &FrameError{CloseTooBig, "frame too big"}
		}
		if binary {
			err = v.binaryFrame(data)
		} else {
			err = v.textFrame(data)
		}
		if err != nil {
			return err
		}
	}
}

func (v *viewer) binaryFrame(data []byte) error {
	f, err := decodeFrame(data)
	if err != nil {
		return err
	}
	t := v.t
	t.mu.Lock()
	defer t.unlock()
	if v.gone || t.end != nil || !t.attached {
		return nil // a page sends input again from welcome's offset
	}
	switch f.kind {
	case frameAck:
		for _, w := range v.views {
			if w.p.id == f.pane {
				w.ackLocked(t, f.offset)
			}
		}
		return nil
	case frameInput:
		return t.inputLocked(v, f)
	default:
		return t.pasteLocked(v, f)
	}
}

func (v *viewer) textFrame(data []byte) error {
	var m viewerText
	if err := json.Unmarshal(data, &m); err != nil {
		return badFrame("text frame is not JSON as docs/PROTOCOL.md says")
	}
	t := v.t
	t.mu.Lock()
	defer t.unlock()
	if v.gone || t.end != nil {
		return nil
	}
	switch m.Type {
	case "ping":
		v.text(pongText{"pong", m.T})
	case "resize":
		s := Size{m.Cols, m.Rows}
		if s.Cols < 1 || s.Rows < 1 {
			v.text(noticeText{"notice", "bad_size", fmt.Sprintf("A size of %s is not possible; the size stays.", s)})
			return nil
		}
		s = s.Clamp()
		v.size = &s
		t.sizeOfferedLocked(v)
	case "takeSize":
		if v.canOwn() {
			t.giveSizeLocked(v)
		} else {
			v.text(noticeText{"notice", "read_only", "A viewer that only looks cannot decide the size."})
		}
	case "scrollback":
		for _, w := range v.views {
			if w.p.id == m.Pane {
				w.deepenLocked(t, min(max(m.Lines, 0), maxScrollback))
			}
		}
	case "do":
		t.doLocked(v, m)
	default:
		return badFrame("unknown text frame %q", m.Type[:min(len(m.Type), 32)])
	}
	return nil
}

// ops are the operations of the do frame.
var ops = []string{
	"selectPane", "resizePane", "splitPane", "closePane", "zoomPane", "swapPane", "movePane", "selectWindow",
	"newWindow", "respawnPane", "leaveMode", "clearHistory",
}

func (t *Terminal) doLocked(v *viewer, m viewerText) {
	fail := func(code, text string) { v.text(doneText{"done", m.ID, &textError{code, text}}) }
	switch {
	case !slices.Contains(ops, m.Op.Name):
		fail("unknown_op", fmt.Sprintf("There is no operation %q.", m.Op.Name[:min(len(m.Op.Name), 32)]))
	case v.readOnly:
		fail("read_only", "A viewer that only looks cannot change panes.")
	case !t.attached:
		fail("not_attached", "The terminal is not attached yet; try again.")
	case v.ops >= maxPendingOps:
		fail("busy", "Too many operations at once; try again.")
	default:
		v.ops++
		id := m.ID
		t.src.Do(m.Op, func(err error) {
			t.mu.Lock()
			defer t.unlock()
			v.ops--
			var e *textError
			if err != nil {
				e = &textError{"failed", err.Error()}
			} else if m.Op.Name == "clearHistory" {
				t.forgetHistoryLocked(m.Op.Pane)
			}
			v.text(doneText{"done", id, e})
		})
	}
}

// forgetHistoryLocked has every page take the pane anew, without the history that tmux has cleared.
func (t *Terminal) forgetHistoryLocked(pane PaneID) {
	p := t.panes[pane]
	if p == nil {
		return
	}
	for _, w := range p.views {
		w.need |= needFull
	}
	p.captureLocked(t)
}
