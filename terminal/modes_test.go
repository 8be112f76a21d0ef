package terminal

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"
)

func track(s string) *modes {
	m := newModes(Size{80, 24}, Answers{})
	m.feed([]byte(s))
	return m
}

// plain is what of modes two equal streams must agree on.
func (m *modes) plain() modes {
	c := *m.clone()
	c.changed, c.bell = false, false
	c.answers = Answers{}
	c.outer.long, c.outer.inter = false, 0
	if len(c.link) == 0 {
		c.link = nil
	}
	if len(c.outer.partial) == 0 {
		c.outer.partial = nil
	}
	return c
}

func TestModesFollowTheStream(t *testing.T) {
	on := func(modes ...int) modeSet {
		s := defaultModes
		for _, m := range modes {
			s |= modeBit(m)
		}
		return s
	}
	for _, c := range []struct {
		in   string
		want func(m *modes) bool
	}{
		{"\x1b[?2004h\x1b[?1004h", func(m *modes) bool { return m.set == on(2004, 1004) }},
		{"\x1b[?2004;1004h\x1b[?2004l", func(m *modes) bool { return m.set == on(1004) }},
		{"\x1b[?1000h\x1b[?1002h", func(m *modes) bool { return m.set == on(1002) }},
		{"\x1b[?25l", func(m *modes) bool { return m.set&bitCursor == 0 }},
		{"\x1b[?1049h", func(m *modes) bool { return m.set == on(47) }},
		{"\x1b[5 q", func(m *modes) bool { return m.shape == 5 }},
		{"\x1b[31;1;4:3;58:2::1:2:3m", func(m *modes) bool {
			return m.pen == pen{attrs: penBold, underline: 3, fg: colorPalette | 1, ul: colorRGB | 0x010203}
		}},
		{"\x1b[38;2;1;2;3;48;5;200m", func(m *modes) bool { return m.pen == pen{fg: colorRGB | 0x010203, bg: colorPalette | 200} }},
		{"\x1b[38:5:9;7m", func(m *modes) bool { return m.pen == pen{attrs: penInverse, fg: colorPalette | 9} }},
		{"\x1b[4m\x1b[4:0m", func(m *modes) bool { return m.pen == pen{} }},
		{"\x1b[1;mx", func(m *modes) bool { return m.pen == pen{} }},
		{"\x1b(0\x0e", func(m *modes) bool { return m.sets == charsets{[2]byte{'0', 'B'}, 1} }},
		{"\x1b[3;5H\x1b7", func(m *modes) bool { return m.saved.ok && m.saved.x == 4 && m.saved.y == 2 }},
		{"\x1b[3;5Hab\r\nc\x1b[sxx\x1b[u", func(m *modes) bool { return m.x == 1 && m.y == 3 }},
		{"\x1b[5;10r\x1b[10;1H\n\n", func(m *modes) bool { return m.top == 4 && m.bottom == 9 && m.y == 9 }},
		{"\x1b[5;10r\x1b[?6h\x1b[2;2H", func(m *modes) bool { return m.x == 1 && m.y == 5 }},
		{"\x1b[1;79Habc", func(m *modes) bool { return m.x == 1 && m.y == 1 }},
		{"\x1b[1;79Hab", func(m *modes) bool { return m.x == 80 && m.y == 0 }},
		{"\x1b[1;80H世", func(m *modes) bool { return m.x == 2 && m.y == 1 }},
		{"e\u0301", func(m *modes) bool { return m.x == 1 }},
		{"\x1b]8;id=1;http://a/\x1b\\", func(m *modes) bool { return string(m.link) == "id=1;http://a/" }},
		{"\x1b]8;;http://a/\a\x1b]8;;\a", func(m *modes) bool { return len(m.link) == 0 }},
		{"\x1b[>1u\x1b[>5u", func(m *modes) bool { return m.kitty[0].flags == 5 && len(m.kitty[0].stack) == 2 }},
		{"\x1b[>1u\x1b[>5u\x1b[<u", func(m *modes) bool { return m.kitty[0].flags == 1 }},
		{"\x1b[>1u\x1b[<9u", func(m *modes) bool { return m.kitty[0].flags == 0 }},
		{"\x1b[>4;2m", func(m *modes) bool { return m.otherKeys == 2 }},
		{"\x1b[?2004h\x1b[31m\x1b7\x1bc", func(m *modes) bool { return m.set == defaultModes && m.pen == pen{} && !m.saved.ok }},
		{"\x1bPtmux;\x1b\x1b[?2004h\x1b\\", func(m *modes) bool { return m.set == on(2004) && m.x == 0 }},
		{"\x1bPtmux;text\x1b\\", func(m *modes) bool { return m.x == 0 }},
		{"\x1bkname\x1b\\x", func(m *modes) bool { return m.x == 1 }},
		{"\x1b]0;a title\a", func(m *modes) bool { return string(m.title) == "a title" && m.x == 0 && !m.bell }},
		{"\a", func(m *modes) bool { return m.bell }},
		{"\x1b[?20", func(m *modes) bool { return m.outer.midSequence() }},
		{"\xe4\xb8", func(m *modes) bool { return bytes.Equal(m.outer.partial, []byte("\xe4\xb8")) }},
		{"\x1b[3\x18m", func(m *modes) bool { return m.x == 1 }},
		{"\x1b[3\r1m", func(m *modes) bool { return m.pen.fg == colorPalette|1 }},
	} {
		if m := track(c.in); !c.want(m) {
			t.Errorf("%q gives %+v", c.in, m.plain())
		}
	}
}

func TestModesDoNotDependOnHowTheStreamIsCut(t *testing.T) {
	in := []byte("a\x1b[31m世\x1b]8;;http://x/\x1b\\b\x1b[?2004h\x1bPtmux;\x1b\x1b[>5u\x1b\\\x1b(0\x1b[5;9r\x1b7é\x1b[38;2;1;2;3mZ")
	want := track(string(in)).plain()
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		m := newModes(Size{80, 24}, Answers{})
		for rest := in; len(rest) > 0; {
			n := 1 + rnd.IntN(min(len(rest), 4))
			m.feed(rest[:n])
			rest = rest[n:]
		}
		if got := m.plain(); !reflect.DeepEqual(got, want) {
			t.Fatalf("cut: %+v\nwhole: %+v", got, want)
		}
	}
}

func TestModesSurviveARestart(t *testing.T) {
	m := track("\x1b[?2004h\x1b[?1004h\x1b[5 q\x1b[>1u\x1b[>5u\x1b[>4;1m\x1b=\x1b[4h\x1b(0\x1b[31;4:3m\x1b]8;id=a;http://x/?q=1;2\x1b\\\x1b[4;7H\x1b7\x1b[?1049h\x1b[>3u")
	text := m.encode()
	for _, c := range []byte(text) {
		if !bytes.Contains([]byte("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_.,"), []byte{c}) {
			t.Errorf("%q needs quoting", c)
		}
	}
	n := newModes(Size{80, 24}, Answers{})
	n.decode(text)
	n.x, n.y = m.x, m.y
	n.main = m.main
	got, want := n.plain(), m.plain()
	got.outer, want.outer = vt{}, vt{}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("restored %+v\nwant %+v", got, want)
	}
	if n.encode() != text {
		t.Errorf("encoded again %q, want %q", n.encode(), text)
	}
}

func TestAnswers(t *testing.T) {
	a := Answers{Palette: Palette{Foreground: "#c0c1c2", Background: "#101112", Colors: [16]string{1: "#ff0000"}}}
	for in, want := range map[string]string{
		"\x1b[?2026$p":                 "\x1b[?2026;2$y",
		"\x1b[?2004h\x1b[?2004$p":      "\x1b[?2004;1$y",
		"\x1b[?7$p":                    "\x1b[?7;1$y",
		"\x1b[?9999$p":                 "\x1b[?9999;0$y",
		"\x1b[4$p\x1b[4h\x1b[4$p":      "\x1b[4;2$y\x1b[4;1$y",
		"\x1b[?u":                      "\x1b[?0u",
		"\x1b[>5u\x1b[?u":              "\x1b[?5u",
		"\x1bP+q544e;436f;5858\x1b\\":  "\x1bP1+r544e=787465726D2D323536636F6C6F72\x1b\\\x1bP1+r436f=323536\x1b\\\x1bP0+r5858\x1b\\",
		"\x1bP$qm\x1b\\":               "\x1bP1$r0m\x1b\\",
		"\x1b[1;31m\x1bP$qm\x1b\\":     "\x1bP1$r0;1;31m\x1b\\",
		"\x1b[2;5r\x1bP$qr\x1b\\":      "\x1bP1$r2;5r\x1b\\",
		"\x1b[4 q\x1bP$q q\x1b\\":      "\x1bP1$r4 q\x1b\\",
		"\x1bP$qz\x1b\\":               "\x1bP0$r\x1b\\",
		"\x1b[14t":                     "\x1b[4;432;720t",
		"\x1b[16t":                     "\x1b[6;18;9t",
		"\x1b]11;?\a":                  "\x1b]11;rgb:1010/1111/1212\x1b\\",
		"\x1b]10;?;?\x1b\\":            "\x1b]10;rgb:c0c0/c1c1/c2c2\x1b\\\x1b]11;rgb:1010/1111/1212\x1b\\",
		"\x1b]4;1;?;2;?\a":             "\x1b]4;1;rgb:ffff/0000/0000\x1b\\",
		"\x1b]11;#000000\a":            "",
		"\x1bPtmux;\x1b\x1b[?u\x1b\\":  "\x1b[?0u",
		"\x1b[c\x1b[>c\x1b[6n\x1b[18t": "", // tmux answers these
	} {
		m := newModes(Size{80, 24}, a)
		m.feed([]byte(in))
		if got := string(m.out); got != want {
			t.Errorf("%q is answered %q, want %q", in, got, want)
		}
		m = newModes(Size{80, 24}, Answers{true, true, true, true, true, true, a.Palette})
		m.feed([]byte(in))
		if len(m.out) > 0 {
			t.Errorf("%q is answered %q beside tmux", in, m.out)
		}
	}
}

func TestAnswersAreBounded(t *testing.T) {
	m := track("")
	m.feed(bytes.Repeat([]byte("\x1b[?u"), 100_000))
	if len(m.out) > maxAnswerBytes+16 {
		t.Errorf("%d bytes of answers", len(m.out))
	}
}

func FuzzModes(f *testing.F) {
	f.Add([]byte("\x1b[?2004h\x1b[38;2;1;2;3m世\x1b]8;;a\x1b\\"), uint(3))
	f.Add([]byte("\x1bPtmux;\x1b\x1b[?u\x1b\\\x1b[5;10r\x1b[?6h\x1b[99;99H"), uint(1))
	f.Add([]byte("\x1b[9999999999999999999C\x1b[;;;;m\x1b[4:m\x1b[38:m\x1b[38;2m"), uint(2))
	f.Fuzz(func(t *testing.T, data []byte, cut uint) {
		whole := newModes(Size{7, 3}, Answers{})
		whole.feed(data)
		parts := newModes(Size{7, 3}, Answers{})
		n := int(cut % uint(len(data)+1))
		parts.feed(data[:n])
		parts.feed(data[n:])
		a, b := whole.plain(), parts.plain()
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("cut at %d of %q: %+v\nwhole: %+v", n, data, b, a)
		}
		if whole.x < 0 || whole.x > 7 || whole.y < 0 || whole.y > 2 || whole.top >= whole.bottom {
			t.Fatalf("%q puts the cursor at %d,%d of 7x3, region %d-%d", data, whole.x, whole.y, whole.top, whole.bottom)
		}
		text := whole.encode()
		m := newModes(Size{7, 3}, Answers{})
		m.decode(text)
		if m.encode() != text {
			t.Fatalf("%q becomes %q", text, m.encode())
		}
	})
}

func FuzzModesText(f *testing.F) {
	f.Add(track("\x1b7\x1b[31m\x1b[>5u").encode())
	f.Add("1,ffffffff.f.ff.ff,xx9,1.2.3,,,,,!")
	f.Fuzz(func(t *testing.T, text string) {
		m := newModes(Size{80, 24}, Answers{})
		m.decode(text)
		again := newModes(Size{80, 24}, Answers{})
		again.decode(m.encode())
		if again.encode() != m.encode() {
			t.Fatalf("%q: %q, then %q", text, m.encode(), again.encode())
		}
		r := renderer{v: readVars(map[string]string{"pane_width": "80", "pane_height": "24"}), m: m}
		r.render(Capture{}, false)
	})
}

func FuzzDecodeFrame(f *testing.F) {
	f.Add([]byte{frameInput, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 'x'})
	f.Add([]byte{framePaste, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 'x'})
	f.Add([]byte{frameAck, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := decodeFrame(b)
		if err != nil {
			if CloseCode(err) != CloseBadFrame {
				t.Fatalf("%v has no close code", err)
			}
			return
		}
		if len(v.data) > maxInputBytes || v.kind == frameAck && len(v.data) > 0 {
			t.Fatalf("took %d bytes in frame 0x%02x", len(v.data), v.kind)
		}
	})
}

func FuzzDecodeHello(f *testing.F) {
	f.Add([]byte(`{"type":"hello","protocol":1,"size":{"cols":80,"rows":24},"panes":{"3":5},"input":"abcdefgh"}`))
	f.Add([]byte(`{"type":"hello","protocol":1,"size":{"cols":-1,"rows":100000},"scrollback":-5}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := DecodeHello(b)
		if err != nil {
			return
		}
		if h.Size != nil && *h.Size != h.Size.Clamp() || h.Scrollback < 0 || h.Scrollback > maxScrollback {
			t.Fatalf("took %s", b)
		}
	})
}

func FuzzSnapshot(f *testing.F) {
	f.Add([]byte("a\x1b[31mb\nc\x0eq\x0f"), []byte("saved"), 0)
	f.Fuzz(func(t *testing.T, screen, saved []byte, x int) {
		v := readVars(map[string]string{"pane_width": "5", "pane_height": "3", "wrap_flag": "1", "alternate_on": "1"})
		v.x = min(max(x, 0), 5)
		r := renderer{v: v, m: track("")}
		r.render(Capture{Screen: screen, Saved: saved}, false)
		for _, l := range splitLines(screen) {
			n := lineRows(l, 5)
			head, tail := cutRows(l, 5, 1)
			if n > 1 && lineRows(tail, 5) != n-1 || !bytes.Equal(append(bytes.Clone(head), tail...), l) {
				t.Fatalf("%q of %d rows cut into %q and %q", l, n, head, tail)
			}
		}
	})
}
