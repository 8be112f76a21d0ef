package terminal

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	maxInputs        = 8         // input streams a tab remembers
	maxPendingInput  = 256 << 10 // bytes of one stream that tmux has not taken yet
	inputMarkVersion = "1"
)

// Why input is refused, in inputRefused frames.
const (
	refusedReadOnly = "read_only"
	refusedHole     = "hole"      // bytes before it never came
	refusedPaneGone = "pane_gone" // also: not shown
	refusedPaneDead = "pane_dead"
	refusedPaneMode = "pane_mode" // tmux itself would take the keys
	refusedBusy     = "busy"      // tmux takes no more
	refusedTooBig   = "too_big"
	refusedFailed   = "failed" // tmux said no
)

// input is one page's stream of input: rule 7. Bytes before next are delivered, refused or on their way to tmux; those
// before taken are settled.
type input struct {
	id    string
	next  uint64
	taken uint64
	paste *paste
}

// paste is a text that comes in pieces. It counts as taken as a whole, and begins anew with another viewer.
type paste struct {
	v       *viewer
	start   uint64
	pane    PaneID
	buffer  string
	size    int
	refused string // why the rest of it is dropped
	clean   pasteCleaner
}

// inputs are the input streams of a tab, latest used last.
type inputs []*input

func (in *inputs) get(id string) *input {
	for i, s := range *in {
		if s.id == id {
			*in = append(append((*in)[:i], (*in)[i+1:]...), s)
			return s
		}
	}
	s := &input{id: id}
	if len(*in) >= maxInputs {
		*in = append((*in)[:0], (*in)[1:]...)
	}
	*in = append(*in, s)
	return s
}

// mark is what tmux keeps: where each stream goes on, once what is on its way is taken. A paste that is under way does
// not count.
func (in inputs) mark() string {
	b := []byte(inputMarkVersion)
	for _, s := range in {
		next := s.next
		if s.paste != nil {
			next = s.paste.start
		}
		b = append(append(b, ' '), s.id...)
		b = strconv.AppendUint(append(b, ':'), next, 10)
	}
	return string(b)
}

// readMark reads what mark wrote; what it cannot read it leaves out.
func readMark(mark string) inputs {
	fields := strings.Fields(mark)
	if len(fields) == 0 || fields[0] != inputMarkVersion {
		return nil
	}
	var in inputs
	for _, f := range fields[1:] {
		id, offset, _ := strings.Cut(f, ":")
		n, err := strconv.ParseUint(offset, 10, 53)
		if err == nil && inputID.MatchString(id) && len(in) < maxInputs {
			in = append(in, &input{id: id, next: n, taken: n})
		}
	}
	return in
}

// inputLocked takes an input frame of v.
func (t *Terminal) inputLocked(v *viewer, f viewerFrame) error {
	s := v.input
	end := f.offset + uint64(len(f.data))
	if v.readOnly {
		v.text(refusedText{"inputRefused", end, refusedReadOnly})
		return nil
	}
	if s == nil {
		return badFrame("input without an input id in hello")
	}
	if s.paste != nil && s.paste.v == v {
		return badFrame("input between the pieces of a paste")
	}
	if end <= s.next { // sent again after a reconnect
		v.dirty(dirtyAck)
		return nil
	}
	if f.offset > s.next {
		t.refuseLocked(s, v, end, refusedHole)
		return nil
	}
	data := f.data[s.next-f.offset:]
	if why := t.refusalLocked(f.pane); why != "" {
		t.refuseLocked(s, v, end, why)
		return nil
	}
	if s.next-s.taken+uint64(len(data)) > maxPendingInput {
		t.refuseLocked(s, v, end, refusedBusy)
		return nil
	}
	t.typedLocked(v)
	t.panes[f.pane].typedLocked(t)
	s.next = end
	t.src.SendKeys(f.pane, data, t.inputs.mark(), func(err error) { t.taken(s, end, err) })
	return nil
}

// refusalLocked says why a pane takes no input, or "".
func (t *Terminal) refusalLocked(id PaneID) string {
	switch p := t.panes[id]; {
	case p == nil || !t.shownLocked(id):
		return refusedPaneGone
	case p.state.Dead:
		return refusedPaneDead
	case p.state.Mode != "":
		return refusedPaneMode
	}
	return ""
}

// refuseLocked settles a stream's bytes before end as not delivered, and has tmux remember.
func (t *Terminal) refuseLocked(s *input, v *viewer, end uint64, why string) {
	s.next = end
	v.text(refusedText{"inputRefused", end, why})
	if t.end == nil {
		t.src.SendKeys(t.windows.Layout.Active, nil, t.inputs.mark(), func(err error) { t.taken(s, end, err) })
	}
}

// taken is called when tmux has taken a stream's bytes before end, or has not.
func (t *Terminal) taken(s *input, end uint64, err error) {
	t.mu.Lock()
	defer t.unlock()
	if err != nil && isDetached(err) {
		return // the mark tells whoever attaches next
	}
	s.taken = max(s.taken, end)
	for _, v := range t.viewers {
		if v.input != s {
			continue
		}
		if err != nil {
			v.text(refusedText{"inputRefused", end, refusedFailed})
		} else {
			v.dirty(dirtyAck)
		}
	}
}

// pasteLocked takes a piece of a paste.
func (t *Terminal) pasteLocked(v *viewer, f viewerFrame) error {
	s := v.input
	end := f.offset + uint64(len(f.data))
	if v.readOnly {
		v.text(refusedText{"inputRefused", end, refusedReadOnly})
		return nil
	}
	if s == nil {
		return badFrame("paste without an input id in hello")
	}
	if end < s.next || end == s.next && (s.paste == nil || len(f.data) > 0) {
		v.dirty(dirtyAck)
		return nil
	}
	p := s.paste
	if p == nil {
		p = &paste{v: v, start: s.next, pane: f.pane, refused: t.refusalLocked(f.pane)}
		p.buffer = fmt.Sprintf("tabs-%s-%d", s.id, p.start)
		s.paste = p
	}
	if p.v != v || p.pane != f.pane {
		return badFrame("pieces of two pastes mixed")
	}
	data := f.data
	if f.offset > s.next {
		p.refuse(t, refusedHole)
	} else {
		data = data[s.next-f.offset:]
	}
	s.next = end
	if p.size += len(data); p.size > maxPasteBytes && p.refused == "" {
		p.refuse(t, refusedTooBig)
		v.text(noticeText{"notice", "paste_too_big", fmt.Sprintf("The text is larger than %d MiB and was not pasted.", maxPasteBytes>>20)})
	}
	if p.refused == "" {
		if clean := p.clean.clean(data); len(clean) > 0 {
			t.src.PasteChunk(p.buffer, clean, nil)
		}
	}
	if f.flags&pasteLast == 0 {
		return nil
	}
	s.paste = nil
	if p.refused == "" { // the pane may have changed since the first piece
		if why := t.refusalLocked(p.pane); why != "" {
			p.refuse(t, why)
		}
	}
	if p.refused != "" {
		t.refuseLocked(s, v, end, p.refused)
		return nil
	}
	t.typedLocked(v)
	t.panes[p.pane].typedLocked(t)
	t.src.PasteEnd(p.buffer, p.pane, t.inputs.mark(), func(err error) { t.taken(s, end, err) })
	return nil
}

func (p *paste) refuse(t *Terminal, why string) {
	if p.refused == "" {
		p.refused = why
		t.src.PasteAbort(p.buffer)
	}
}

// abortPasteLocked forgets a paste whose viewer left; the page sends it again from its start.
func (t *Terminal) abortPasteLocked(v *viewer) {
	if s := v.input; s != nil && s.paste != nil && s.paste.v == v {
		if s.paste.refused == "" && t.end == nil {
			t.src.PasteAbort(s.paste.buffer)
		}
		s.next = s.paste.start
		s.paste = nil
	}
}

// pasteCleaner takes out of a pasted text the control characters with which it could end its own brackets or type
// commands: all but tab, line feed and carriage return, C1 included.
type pasteCleaner struct{ c2 bool } // the piece before ended in 0xC2, which begins a C1 character

func (c *pasteCleaner) clean(data []byte) []byte {
	out := make([]byte, 0, len(data)+1)
	for _, b := range data {
		if c.c2 {
			c.c2 = false
			if b >= 0x80 && b < 0xa0 {
				continue
			}
			out = append(out, 0xc2)
		}
		switch {
		case b == 0xc2:
			c.c2 = true
		case b < 0x20 && b != '\t' && b != '\n' && b != '\r', b == 0x7f:
		default:
			out = append(out, b)
		}
	}
	return out
}
