package cli

import "bytes"

const ctrlBackslash = 0x1c

// The ends of a bracketed paste.
var (
	pasteStart = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// escapes looks for the ways to leave in what is typed: Ctrl-\ twice, or "~." at the start of a line. "~~" there is one
// "~". What may become one of them is held back until the next key. Inside a bracketed paste nothing is looked for, so
// that a pasted text cannot make anybody leave. The zero value is at the start of a line.
type escapes struct {
	midLine bool // something has been typed on this line
	held    byte // ctrlBackslash or '~', held back
	paste   bool
	tail    []byte // the last bytes, to find the ends of a paste across reads
}

// filter returns what to send on, and whether to leave.
func (e *escapes) filter(typed []byte) (send []byte, leave bool) {
	for _, c := range typed {
		e.track(c)
		if e.paste {
			send = e.release(send)
			send = append(send, c)
			continue
		}
		switch held := e.held; {
		case held == ctrlBackslash && c == ctrlBackslash, held == '~' && c == '.':
			return send, true
		case held == '~' && c == '~':
			e.held = 0
			send = append(send, c)
		case c == ctrlBackslash, c == '~' && !e.midLine && held == 0:
			send = e.release(send)
			e.held = c
			continue
		default:
			send = e.release(send)
			send = append(send, c)
		}
		e.midLine = c != '\r' && c != '\n'
	}
	return send, false
}

func (e *escapes) release(send []byte) []byte {
	if e.held != 0 {
		send = append(send, e.held)
		e.held = 0
		e.midLine = true
	}
	return send
}

// track follows the ends of bracketed pastes.
func (e *escapes) track(c byte) {
	e.tail = append(e.tail, c)
	if n := len(e.tail) - len(pasteStart); n > 0 {
		e.tail = append(e.tail[:0], e.tail[n:]...)
	}
	switch {
	case bytes.Equal(e.tail, pasteStart):
		e.paste = true
	case bytes.Equal(e.tail, pasteEnd):
		e.paste = false
		e.midLine = true
	}
}
