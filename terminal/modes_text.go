package terminal

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

// modesTextVersion begins what encode writes; another version's is not read.
const modesTextVersion = "1"

// encode writes what a restarted server must know as a short text of letters, digits and -_., alone, so that it needs
// no quoting in a tmux command.
func (m *modes) encode() string {
	link := "-"
	if len(m.link) > 0 {
		link = base64.RawURLEncoding.EncodeToString(m.link)
	}
	flags := 0
	for i, on := range []bool{m.insert, m.newline, m.keypad} {
		if on {
			flags |= 1 << i
		}
	}
	saved := "-"
	if s := m.saved; s.ok {
		origin := 0
		if s.origin {
			origin = 1
		}
		saved = fmt.Sprintf("%x.%x.%x.%s.%s", s.x, s.y, origin, s.sets.encode(), s.pen.encode())
	}
	return strings.Join([]string{
		modesTextVersion,
		fmt.Sprintf("%x.%x.%x.%x", uint32(m.set&^bitSync), flags, m.shape, m.otherKeys),
		m.sets.encode(), m.pen.encode(), m.main.pen.encode(), saved,
		m.kitty[0].encode(), m.kitty[1].encode(), link,
	}, ",")
}

func (s charsets) encode() string { return fmt.Sprintf("%c%c%d", s.g[0], s.g[1], s.shift) }

func (p pen) encode() string {
	return fmt.Sprintf("%x.%x.%x.%x.%x", p.attrs, p.underline, uint32(p.fg), uint32(p.bg), uint32(p.ul))
}

func (k kitty) encode() string {
	s := fmt.Sprintf("%x", k.flags)
	for _, f := range k.stack {
		s += fmt.Sprintf(".%x", f)
	}
	return s
}

// decode takes over what encode wrote. Programs in the pane can write the option too: what does not read is left out,
// and no value goes beyond what the stream itself could set.
func (m *modes) decode(text string) {
	f := strings.Split(text, ",")
	if len(f) != 9 || f[0] != modesTextVersion {
		return
	}
	if n := hexFields(f[1]); len(n) == 4 {
		m.set = modeSet(n[0]) & (1<<len(privateModes) - 1) &^ bitSync
		m.insert, m.newline, m.keypad = n[1]&1 != 0, n[1]&2 != 0, n[1]&4 != 0
		m.shape, m.otherKeys = uint8(min(n[2], 6)), uint8(min(n[3], 2))
	}
	m.sets.decode(f[2])
	m.pen.decode(f[3])
	m.main.pen.decode(f[4])
	if s := strings.SplitN(f[5], ".", 5); len(s) == 5 {
		if n := hexFields(strings.Join(s[:3], ".")); len(n) == 3 {
			c := savedCursor{ok: true, x: int(min(n[0], maxCols)), y: int(min(n[1], maxRows)), origin: n[2] == 1}
			c.sets = charsets{g: [2]byte{'B', 'B'}}
			c.sets.decode(s[3])
			c.pen.decode(s[4])
			m.saved = c
		}
	}
	for i := range m.kitty {
		k := kitty{}
		for j, n := range hexFields(f[6+i]) {
			switch {
			case j == 0:
				k.flags = uint8(n & 31)
			case j <= maxKittyStack:
				k.stack = append(k.stack, uint8(n&31))
			}
		}
		m.kitty[i] = k
	}
	if b, err := base64.RawURLEncoding.DecodeString(f[8]); err == nil && len(b) <= maxLinkBytes && printable(b) {
		m.link = b
	}
}

func (s *charsets) decode(text string) {
	if len(text) != 3 {
		return
	}
	for i := range s.g {
		if text[i] == '0' || text[i] == 'B' {
			s.g[i] = text[i]
		}
	}
	s.shift = text[2] & 1
}

func (p *pen) decode(text string) {
	n := hexFields(text)
	if len(n) != 5 {
		return
	}
	color := func(n uint64) color {
		switch c := color(n); c &^ 0xffffff {
		case colorPalette:
			return c & (colorPalette | 0xff)
		case colorRGB:
			return c
		}
		return 0
	}
	*p = pen{uint8(n[0]), uint8(min(n[1], 5)), color(n[2]), color(n[3]), color(n[4])}
}

// hexFields reads numbers separated by dots; nil when one does not read.
func hexFields(text string) []uint64 {
	var ns []uint64
	for f := range strings.SplitSeq(text, ".") {
		n, err := strconv.ParseUint(f, 16, 32)
		if err != nil {
			return nil
		}
		ns = append(ns, n)
	}
	return ns
}

func printable(b []byte) bool {
	for _, c := range b {
		if c < 0x20 || c == 0x7f {
			return false
		}
	}
	return true
}
