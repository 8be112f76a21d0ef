package terminal

import "bytes"

// privateModes are the DEC private modes a pane's modes know, in the order of their bits.
var privateModes = [...]int{1, 5, 6, 7, 12, 25, 45, 47, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1016, 2004, 2026, 2031}

// modeSet is a set of privateModes, by index.
type modeSet uint32

func modeBit(mode int) modeSet {
	if mode == 1047 || mode == 1049 {
		mode = 47
	}
	for i, m := range privateModes {
		if m == mode {
			return 1 << i
		}
	}
	return 0
}

var (
	bitCursorKeys = modeBit(1)
	bitOrigin     = modeBit(6)
	bitWrap       = modeBit(7)
	bitCursor     = modeBit(25)
	bitAlternate  = modeBit(47)
	bitSync       = modeBit(2026)

	// modesTold are those that tmux tells in format variables.
	modesTold = modeBit(1) | modeBit(6) | modeBit(7) | modeBit(25) | modeBit(47) | mouseTracking | modeBit(1005) | modeBit(1006)

	mouseTracking = modeBit(1000) | modeBit(1002) | modeBit(1003)
	defaultModes  = bitWrap | bitCursor
)

const (
	maxKittyStack = 16
	maxLinkBytes  = 1024
)

// kitty is the state of the kitty keyboard protocol on one screen.
type kitty struct {
	flags uint8
	stack []uint8
}

// charsets are G0 and G1 ('B' ASCII, '0' line drawing) and which of the two is shifted in.
type charsets struct {
	g     [2]byte
	shift uint8
}

// savedCursor is what DECSC saves.
type savedCursor struct {
	ok     bool
	x, y   int
	pen    pen
	sets   charsets
	origin bool
}

// modes follows a pane's stream for what no format variable of tmux tells, and writes the answers to queries that tmux
// leaves open. Where the cursor is it knows from the last capture on, unless something moved it in a way only a screen
// could tell.
type modes struct {
	outer vt
	inner vt // of what is wrapped in ESC P tmux;
	nest  bool

	size        Size
	x, y        int // x is size.Cols when the next character wraps
	top, bottom int // scroll region, rows

	set       modeSet
	insert    bool
	newline   bool
	keypad    bool
	shape     uint8 // of DECSCUSR
	otherKeys uint8 // xterm's modifyOtherKeys
	pen       pen
	sets      charsets
	link      []byte // parameters and URI of the OSC 8 in progress
	saved     savedCursor
	main      savedCursor // of the main screen, under an alternate one
	kitty     [2]kitty    // main, alternate
	title     []byte      // of OSC 0 and 2; only what is not tmux needs it

	bell    bool // rang since somebody cleared it
	changed bool // something a restarted server must know changed since somebody cleared it

	answers Answers
	out     []byte // answers to queries, taken by the terminal
}

func newModes(size Size, a Answers) *modes {
	m := &modes{answers: a}
	m.outer.reset()
	m.hardReset()
	m.resize(size)
	m.changed = false
	return m
}

func (m *modes) hardReset() {
	m.softReset()
	m.set = defaultModes
	m.kitty = [2]kitty{}
	m.otherKeys, m.newline = 0, false
	m.x, m.y = 0, 0
}

// softReset is DECSTR.
func (m *modes) softReset() {
	m.set = m.set&^(bitOrigin|bitCursorKeys) | bitCursor | bitWrap
	m.insert, m.keypad, m.shape = false, false, 0
	m.pen, m.link, m.saved = pen{}, nil, savedCursor{}
	m.sets = charsets{g: [2]byte{'B', 'B'}}
	m.top, m.bottom = 0, m.size.Rows-1
	m.changed = true
}

func (m *modes) resize(s Size) {
	if s == m.size {
		return
	}
	m.size = s
	m.top, m.bottom = 0, s.Rows-1
	m.x, m.y = min(m.x, s.Cols), min(m.y, s.Rows-1)
}

// feed follows the next bytes of the stream.
func (m *modes) feed(data []byte) { m.outer.feed(data, m) }

func (m *modes) ascii(n int) {
	if m.nest || m.size.Cols == 0 {
		return
	}
	m.x += n
	if m.x <= m.size.Cols {
		return
	}
	if m.set&bitWrap == 0 {
		m.x = m.size.Cols
		return
	}
	lines := (m.x - 1) / m.size.Cols
	m.x -= lines * m.size.Cols
	m.down(lines)
}

func (m *modes) char(r rune) {
	if m.nest {
		return
	}
	switch runeWidth(r) {
	case 1:
		m.ascii(1)
	case 2:
		if m.x+2 > m.size.Cols && m.set&bitWrap != 0 {
			m.x = 0
			m.down(1)
		}
		m.x = min(m.x+2, m.size.Cols)
	}
}

// down moves the cursor n lines, scrolling at the bottom.
func (m *modes) down(n int) {
	limit := m.size.Rows - 1
	if m.y <= m.bottom {
		limit = m.bottom
	}
	m.y = min(m.y+n, limit)
}

func (m *modes) up(n int) {
	limit := 0
	if m.y >= m.top {
		limit = m.top
	}
	m.y = max(m.y-n, limit)
}

func (m *modes) moveTo(x, y int) {
	low, high := 0, m.size.Rows-1
	if m.set&bitOrigin != 0 {
		low, high = m.top, m.bottom
		y += m.top
	}
	m.x = min(max(x, 0), m.size.Cols-1)
	m.y = min(max(y, low), high)
}

func (m *modes) control(c byte) {
	if m.nest {
		return
	}
	switch c {
	case '\a':
		m.bell = true
	case '\b':
		m.x = max(min(m.x, m.size.Cols-1)-1, 0)
	case '\t':
		m.x = min((m.x/8+1)*8, m.size.Cols-1)
	case '\n', '\v', '\f':
		m.down(1)
		if m.newline {
			m.x = 0
		}
	case '\r':
		m.x = 0
	case 0x0e, 0x0f:
		m.sets.shift = 0x0f - c
		m.changed = true
	}
}

func (m *modes) escape(inter, final byte) {
	switch inter {
	case '(', ')':
		if final != '0' {
			final = 'B' // as tmux: line drawing or not
		}
		m.sets.g[inter-'('] = final
		m.changed = true
		return
	case '#':
		if final == '8' {
			m.top, m.bottom, m.x, m.y = 0, m.size.Rows-1, 0, 0
		}
		return
	case 0:
	default:
		return
	}
	switch final {
	case '7':
		m.save()
	case '8':
		m.restore()
	case 'c':
		m.hardReset()
	case 'D':
		m.down(1)
	case 'E':
		m.down(1)
		m.x = 0
	case 'M':
		m.up(1)
	case '=', '>':
		m.keypad = final == '='
		m.changed = true
	}
}

func (m *modes) save() {
	m.saved = savedCursor{true, m.x, m.y, m.pen, m.sets, m.set&bitOrigin != 0}
	m.changed = true
}

func (m *modes) restore() {
	if !m.saved.ok {
		m.x, m.y = 0, 0
		m.pen = pen{}
		return
	}
	m.x, m.y = min(m.saved.x, m.size.Cols), min(m.saved.y, m.size.Rows-1)
	m.pen, m.sets = m.saved.pen, m.saved.sets
	m.set &^= bitOrigin
	if m.saved.origin {
		m.set |= bitOrigin
	}
}

func (m *modes) csi(b []byte, final byte) {
	prefix, p, inter := splitCSI(b)
	switch {
	case prefix == 0 && inter == 0:
		m.plainCSI(p, final)
	case prefix == '?' && inter == 0:
		switch final {
		case 'h', 'l':
			for n, _, ok := p.next(); ok; n, _, ok = p.next() {
				m.setPrivate(n, final == 'h')
			}
		case 'u':
			m.answerKitty()
		}
	case prefix == '>' && inter == 0:
		switch final {
		case 'u':
			m.kittyPush(p.get(0))
		case 'm':
			if p.get(0) == 4 {
				m.otherKeys = uint8(min(p.get(0), 2))
				m.changed = true
			}
		case 'n':
			if p.get(0) == 4 {
				m.otherKeys = 0
				m.changed = true
			}
		}
	case prefix == '<' && final == 'u':
		m.kittyPop(p.get(1))
	case prefix == '=' && final == 'u':
		m.kittySet(p.get(0), p.get(1))
	case inter == '$' && final == 'p':
		n, _, _ := p.next()
		m.answerMode(prefix, n)
	case prefix == 0 && inter == ' ' && final == 'q':
		m.shape = uint8(min(p.get(0), 6))
		m.changed = true
	case prefix == 0 && inter == '!' && final == 'p':
		m.softReset()
	}
}

func (m *modes) plainCSI(p params, final byte) {
	switch final {
	case 'm':
		m.pen.sgr(p)
	case 'A':
		m.up(p.get(1))
		m.settle()
	case 'B', 'e':
		n := p.get(1)
		if m.y <= m.bottom {
			m.y = min(m.y+n, m.bottom)
		} else {
			m.y = min(m.y+n, m.size.Rows-1)
		}
		m.settle()
	case 'C', 'a':
		m.x = min(m.x+p.get(1), m.size.Cols-1)
	case 'D':
		m.settle()
		m.x = max(m.x-p.get(1), 0)
	case 'E':
		m.down(p.get(1))
		m.x = 0
	case 'F':
		m.up(p.get(1))
		m.x = 0
	case 'G', '`':
		m.x = min(p.get(1), m.size.Cols) - 1
	case 'H', 'f':
		y := p.get(1)
		m.moveTo(p.get(1)-1, y-1)
	case 'd':
		m.moveTo(min(m.x, m.size.Cols-1), p.get(1)-1)
	case 'I':
		m.x = min((m.x/8+p.get(1))*8, m.size.Cols-1)
	case 'Z':
		m.x = max(((m.x+7)/8-p.get(1))*8, 0)
	case 'b':
		m.ascii(min(p.get(1), 1<<16))
	case 'r':
		top, bottom := p.get(1)-1, min(p.get(m.size.Rows), m.size.Rows)-1
		if top < bottom {
			m.top, m.bottom = top, bottom
			m.moveTo(0, 0)
		}
	case 's':
		m.save()
	case 'u':
		m.restore()
	case 'h', 'l':
		for n, _, ok := p.next(); ok; n, _, ok = p.next() {
			switch n {
			case 4:
				m.insert = final == 'h'
			case 20:
				m.newline = final == 'h'
			}
		}
		m.changed = true
	case 't':
		m.answerSize(p.get(0))
	}
}

// settle ends a pending wrap.
func (m *modes) settle() { m.x = min(m.x, m.size.Cols-1) }

func (m *modes) setPrivate(n int, on bool) {
	bit := modeBit(n)
	if bit == 0 {
		return
	}
	was := m.set
	if n == 1049 && on != (m.set&bitAlternate != 0) {
		if on {
			m.main = savedCursor{x: m.x, y: m.y, pen: m.pen}
		} else {
			m.x, m.y, m.pen = min(m.main.x, m.size.Cols), min(m.main.y, m.size.Rows-1), m.main.pen
		}
	}
	if on {
		if bit&mouseTracking != 0 { // each replaces the other
			m.set &^= mouseTracking
		}
		m.set |= bit
	} else {
		m.set &^= bit
	}
	if bit == bitOrigin {
		m.moveTo(0, 0)
	}
	if m.set != was && bit != bitSync { // sync changes with every frame, and no restart can fall in one that matters
		m.changed = true
	}
}

func (m *modes) screen() *kitty {
	if m.set&bitAlternate != 0 {
		return &m.kitty[1]
	}
	return &m.kitty[0]
}

func (m *modes) kittyPush(flags int) {
	k := m.screen()
	if len(k.stack) == maxKittyStack {
		k.stack = k.stack[:copy(k.stack, k.stack[1:])]
	}
	k.stack = append(k.stack, k.flags)
	k.flags = uint8(flags & 31)
	m.changed = true
}

func (m *modes) kittyPop(n int) {
	k := m.screen()
	for ; n > 0 && len(k.stack) > 0; n-- {
		k.flags = k.stack[len(k.stack)-1]
		k.stack = k.stack[:len(k.stack)-1]
	}
	if n > 0 {
		k.flags = 0
	}
	m.changed = true
}

func (m *modes) kittySet(flags, how int) {
	k := m.screen()
	f := uint8(flags & 31)
	switch how {
	case 1:
		k.flags = f
	case 2:
		k.flags |= f
	case 3:
		k.flags &^= f
	}
	m.changed = true
}

func (m *modes) osc(s []byte) {
	cmd, rest, _ := bytes.Cut(s, []byte(";"))
	switch string(cmd) {
	case "8":
		_, uri, ok := bytes.Cut(rest, []byte(";"))
		if !ok || m.nest {
			return
		}
		if len(uri) == 0 || len(rest) > maxLinkBytes {
			rest = rest[:0]
		}
		if len(m.link) > 0 || len(rest) > 0 {
			m.link = append(m.link[:0], rest...)
		}
	case "0", "2":
		m.title = append(m.title[:0], rest[:min(len(rest), 1024)]...)
	case "4", "10", "11", "12":
		m.answerColor(string(cmd), rest)
	}
}

var tmuxPrefix = []byte("tmux;")

func (m *modes) dcs(s []byte) {
	if wrapped, ok := bytes.CutPrefix(s, tmuxPrefix); ok {
		if !m.nest {
			m.nest = true
			m.inner.feed(wrapped, m)
			m.nest = false
		}
		return
	}
	m.answerDCS(s)
}

// captured takes from a capture what tmux knows better: all that its format variables tell.
func (m *modes) captured(c *vars) {
	if c.size.Cols == 0 {
		return
	}
	m.resize(c.size)
	m.x, m.y = c.x, c.y
	m.top, m.bottom = c.top, c.bottom
	set := m.set&^modesTold | c.set
	if set != m.set || m.insert != c.insert || m.keypad != c.keypad {
		m.changed = true
	}
	m.set, m.insert, m.keypad = set, c.insert, c.keypad
}

// clone returns a copy that later output does not change.
func (m *modes) clone() *modes {
	c := *m
	c.link = bytes.Clone(m.link)
	c.outer.partial = bytes.Clone(m.outer.partial)
	for i := range c.kitty {
		c.kitty[i].stack = bytes.Clone(m.kitty[i].stack)
	}
	c.inner, c.outer.csi, c.outer.str, c.title, c.out = vt{}, nil, nil, nil, nil
	return &c
}
