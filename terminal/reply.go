package terminal

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
)

// Answers says which queries of programs this tmux answers itself, as a probe found; the terminal answers the others.
// DA1, DA2, DSR, XTVERSION and CSI 18 t every tmux answers.
type Answers struct {
	Colors   bool // OSC 4, 10, 11, 12
	Modes    bool // DECRQM
	Kitty    bool // CSI ? u
	Termcap  bool // XTGETTCAP
	Settings bool // DECRQSS
	Pixels   bool // CSI 14 t and 16 t

	Palette Palette // what OSC 4, 10, 11, 12 are answered with; empty colours stay unanswered
}

// Palette is what colours look like to the user, as "#rrggbb".
type Palette struct {
	Foreground, Background, Cursor string
	Colors                         [16]string
}

// A cell in pixels, for programs that ask: browsers differ, so this is a common size, and only ratios matter.
const cellWidth, cellHeight = 9, 18

// maxAnswerBytes bounds answers that nobody has taken yet; a program that asks on and on loses the rest.
const maxAnswerBytes = 8 << 10

func (m *modes) answer(format string, args ...any) {
	if len(m.out) < maxAnswerBytes {
		m.out = fmt.Appendf(m.out, format, args...)
	}
}

// answerMode answers DECRQM: 1 set, 2 reset, 0 not known here.
func (m *modes) answerMode(prefix byte, n int) {
	if m.answers.Modes || n < 0 {
		return
	}
	state := 0
	truth := func(on bool) {
		state = 2
		if on {
			state = 1
		}
	}
	if prefix == '?' {
		if bit := modeBit(n); bit != 0 {
			truth(m.set&bit != 0)
		}
		m.answer("\x1b[?%d;%d$y", n, state)
		return
	}
	switch n {
	case 4:
		truth(m.insert)
	case 20:
		truth(m.newline)
	}
	m.answer("\x1b[%d;%d$y", n, state)
}

func (m *modes) answerKitty() {
	if !m.answers.Kitty {
		m.answer("\x1b[?%du", m.screen().flags)
	}
}

// answerSize answers CSI t: 14 the text area and 16 a cell, in pixels.
func (m *modes) answerSize(what int) {
	if m.answers.Pixels {
		return
	}
	switch what {
	case 14:
		m.answer("\x1b[4;%d;%dt", m.size.Rows*cellHeight, m.size.Cols*cellWidth)
	case 16:
		m.answer("\x1b[6;%d;%dt", cellHeight, cellWidth)
	}
}

// answerColor answers the ? among the colours of an OSC 4, 10, 11 or 12.
func (m *modes) answerColor(cmd string, rest []byte) {
	if m.answers.Colors {
		return
	}
	p := &m.answers.Palette
	fields := bytes.Split(rest, []byte(";"))
	if cmd == "4" {
		for i := 0; i+1 < len(fields); i += 2 {
			n, err := strconv.Atoi(string(fields[i]))
			if err == nil && n >= 0 && n < len(p.Colors) && string(fields[i+1]) == "?" && p.Colors[n] != "" {
				m.answer("\x1b]4;%d;%s\x1b\\", n, xColor(p.Colors[n]))
			}
		}
		return
	}
	// OSC 10;?;? asks for 10 and 11.
	n, _ := strconv.Atoi(cmd)
	for _, f := range fields {
		c := ""
		switch n {
		case 10:
			c = p.Foreground
		case 11:
			c = p.Background
		case 12:
			c = p.Cursor
		}
		if c != "" && string(f) == "?" {
			m.answer("\x1b]%d;%s\x1b\\", n, xColor(c))
		}
		n++
	}
}

// xColor turns #rrggbb into the rgb:rrrr/gggg/bbbb that programs expect.
func xColor(c string) string {
	if len(c) != 7 {
		return c
	}
	return fmt.Sprintf("rgb:%[1]s%[1]s/%[2]s%[2]s/%[3]s%[3]s", c[1:3], c[3:5], c[5:7])
}

// answerDCS answers DECRQSS and XTGETTCAP.
func (m *modes) answerDCS(s []byte) {
	if what, ok := bytes.CutPrefix(s, []byte("$q")); ok {
		m.answerSetting(string(what))
		return
	}
	names, ok := bytes.CutPrefix(s, []byte("+q"))
	if !ok || m.answers.Termcap {
		return
	}
	for name := range bytes.SplitSeq(names, []byte(";")) {
		key, err := hex.DecodeString(string(name))
		if err != nil || len(key) == 0 {
			m.answer("\x1bP0+r\x1b\\")
			continue
		}
		if v, ok := termcap[string(key)]; ok {
			m.answer("\x1bP1+r%s=%X\x1b\\", name, v)
		} else {
			m.answer("\x1bP0+r%s\x1b\\", name)
		}
	}
}

// termcap is what XTGETTCAP tells of xterm.js.
var termcap = map[string]string{
	"TN": "xterm-256color", "name": "xterm-256color",
	"Co": "256", "colors": "256",
	"RGB": "8/8/8", "Tc": "",
	"Ms":     "\x1b]52;%p1%s;%p2%s\x07",
	"Smulx":  "\x1b[4:%p1%dm",
	"Setulc": "\x1b[58:2:%p1%{65536}%/%d:%p1%{256}%/%{255}%&%d:%p1%{255}%&%dm",
	"Ss":     "\x1b[%p1%d q", "Se": "\x1b[2 q",
	"Sync": "\x1b[?2026%?%p1%{1}%-%tl%eh%;",
}

func (m *modes) answerSetting(what string) {
	if m.answers.Settings {
		return
	}
	switch what {
	case "m":
		m.answer("\x1bP1$r%sm\x1b\\", m.pen.appendParams(nil))
	case "r":
		m.answer("\x1bP1$r%d;%dr\x1b\\", m.top+1, m.bottom+1)
	case " q":
		m.answer("\x1bP1$r%d q\x1b\\", m.shape)
	case `"p`:
		m.answer("\x1bP1$r61;1\"p\x1b\\")
	case `"q`:
		m.answer("\x1bP1$r0\"q\x1b\\")
	default:
		m.answer("\x1bP0$r\x1b\\")
	}
}
