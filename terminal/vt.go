package terminal

import "unicode/utf8"

// Bounds of what the parser keeps of one sequence; what is longer is followed to its end and ignored.
const (
	maxCSIBytes    = 128
	maxStringBytes = 16 << 10
)

type vtState uint8

const (
	vtGround vtState = iota
	vtEscape
	vtEscapeInter
	vtCSI
	vtOSC
	vtDCS
	vtDCSEscape
	vtString // APC, PM, SOS, and the title string of ESC k
)

// vt is a parser of terminal output, with tmux's reading where terminals differ. It only looks: the stream goes on
// unchanged.
type vt struct {
	state   vtState
	inter   byte   // last intermediate of an escape sequence
	csi     []byte // parameters and intermediates of a CSI
	str     []byte // of an OSC or DCS
	long    bool   // the sequence is beyond its bound
	partial []byte // a character of which not all bytes came
}

// vtHandler is told what a vt found. Slices are valid only during the call.
type vtHandler interface {
	ascii(n int)    // n printable ASCII characters
	char(r rune)    // another character
	control(c byte) // a C0 control
	escape(inter, final byte)
	csi(params []byte, final byte) // params: prefix, parameters, intermediates
	osc(s []byte)
	dcs(s []byte)
}

// midSequence says whether the stream so far ends inside a sequence or a character.
func (v *vt) midSequence() bool { return v.state != vtGround || len(v.partial) > 0 }

func (v *vt) reset() {
	v.state, v.inter, v.long = vtGround, 0, false
	v.csi, v.str, v.partial = v.csi[:0], v.str[:0], v.partial[:0]
}

func (v *vt) feed(data []byte, h vtHandler) {
	for i := 0; i < len(data); {
		if v.state == vtGround {
			i += v.ground(data[i:], h)
			continue
		}
		c := data[i]
		i++
		switch v.state {
		case vtOSC, vtString:
			switch {
			case c == 0x1b || c == 0x07 && v.state == vtOSC:
				if v.state == vtOSC && !v.long {
					h.osc(v.str)
				}
				v.enter(vtGround)
				if c == 0x1b {
					v.enter(vtEscape)
				}
			case c == 0x18 || c == 0x1a:
				v.enter(vtGround)
			default:
				v.collect(c)
			}
		case vtDCS:
			switch c {
			case 0x1b:
				v.state = vtDCSEscape
			case 0x18, 0x1a:
				v.enter(vtGround)
			default:
				v.collect(c)
			}
		case vtDCSEscape:
			if c == '\\' {
				if !v.long {
					h.dcs(v.str)
				}
				v.enter(vtGround)
				continue
			}
			v.state = vtDCS
			v.collect(c) // as tmux: the ESC is dropped, so that ESC ESC is one ESC
		default:
			v.sequence(c, h)
		}
	}
}

func (v *vt) enter(s vtState) {
	v.state, v.inter, v.long = s, 0, false
	v.csi, v.str = v.csi[:0], v.str[:0]
	if cap(v.str) > 1024 {
		v.str = nil
	}
}

func (v *vt) collect(c byte) {
	if len(v.str) >= maxStringBytes {
		v.long = true
		return
	}
	v.str = append(v.str, c)
}

// sequence takes a byte of an escape sequence or CSI.
func (v *vt) sequence(c byte, h vtHandler) {
	switch {
	case c == 0x1b:
		v.enter(vtEscape)
		return
	case c == 0x18 || c == 0x1a:
		v.enter(vtGround)
		return
	case c < 0x20:
		h.control(c)
		return
	case c >= 0x7f: // DEL and bytes no sequence has: tmux ignores them
		return
	}
	switch v.state {
	case vtEscape, vtEscapeInter:
		if c < 0x30 {
			v.inter = c
			v.state = vtEscapeInter
			return
		}
		if v.state == vtEscape {
			switch c {
			case '[':
				v.enter(vtCSI)
				return
			case ']':
				v.enter(vtOSC)
				return
			case 'P':
				v.enter(vtDCS)
				return
			case 'X', '^', '_', 'k':
				v.enter(vtString)
				return
			}
		}
		h.escape(v.inter, c)
		v.enter(vtGround)
	case vtCSI:
		if c < 0x40 {
			if len(v.csi) < maxCSIBytes {
				v.csi = append(v.csi, c)
			} else {
				v.long = true
			}
			return
		}
		if !v.long {
			h.csi(v.csi, c)
		}
		v.enter(vtGround)
	}
}

// ground takes text up to the next control and returns how many bytes it took, at least one. As in tmux, bytes that are
// no character show nothing.
func (v *vt) ground(data []byte, h vtHandler) int {
	n := 0
	for n < len(data) && data[n] >= 0x20 && data[n] < 0x7f {
		n++
	}
	if n > 0 {
		v.partial = v.partial[:0]
		h.ascii(n)
		return n
	}
	switch c := data[0]; {
	case c == 0x1b:
		v.partial = v.partial[:0]
		v.enter(vtEscape)
	case c < 0x20:
		v.partial = v.partial[:0]
		h.control(c)
	case c == 0x7f:
	case len(v.partial) > 0 || !utf8.FullRune(data):
		v.character(c, h)
	default:
		if r, size := utf8.DecodeRune(data); size > 1 {
			h.char(r)
			return size
		}
		v.character(c, h)
	}
	return 1
}

// character collects a character byte by byte.
func (v *vt) character(c byte, h vtHandler) {
	if len(v.partial) == 0 && (c < 0xc2 || c > 0xf4) {
		return
	}
	v.partial = append(v.partial, c)
	size := 2
	switch lead := v.partial[0]; {
	case lead >= 0xf0:
		size = 4
	case lead >= 0xe0:
		size = 3
	}
	if len(v.partial) < size {
		return
	}
	if r, n := utf8.DecodeRune(v.partial); n == size {
		h.char(r)
	}
	v.partial = v.partial[:0]
}

// params reads the parameters of a CSI one by one. Missing ones are -1.
type params struct {
	rest []byte
	more bool
}

// splitCSI splits what a CSI carries into its prefix (< = > ? or 0), parameters and last intermediate (or 0).
func splitCSI(b []byte) (prefix byte, p params, inter byte) {
	if len(b) > 0 && b[0] >= '<' && b[0] <= '?' {
		prefix, b = b[0], b[1:]
	}
	for i, c := range b {
		if c < '0' {
			inter = b[len(b)-1]
			b = b[:i]
			break
		}
	}
	return prefix, params{rest: b, more: true}, inter
}

// next returns the next parameter; colon says that the one after it is a sub-parameter. ok is false at the end.
func (p *params) next() (n int, colon, ok bool) {
	if !p.more {
		return -1, false, false
	}
	n = -1
	for i, c := range p.rest {
		if c >= '0' && c <= '9' {
			n = min(max(n, 0)*10+int(c-'0'), 1<<20)
			continue
		}
		p.rest = p.rest[i+1:]
		return n, c == ':', true
	}
	p.more = false
	return n, false, true
}

// get returns the next parameter, or def when it is missing or 0.
func (p *params) get(def int) int {
	n, _, _ := p.next()
	if n <= 0 {
		return def
	}
	return n
}
