package terminal

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
)

// shown renders a capture of a pane of 10x3.
func shown(history int, extra map[string]string, c Capture, m *modes, inPlace bool) string {
	v := map[string]string{
		"pane_width": "10", "pane_height": "3", "history_size": strconv.Itoa(history), "wrap_flag": "1", "cursor_flag": "1",
		"scroll_region_lower": "2", "pane_tabs": "8",
	}
	for k, s := range extra {
		v[k] = s
	}
	vars := readVars(v)
	m.resize(Size{10, 3})
	m.captured(vars)
	r := renderer{v: vars, m: m, history: history, half: m.outer.partial}
	return string(r.render(c, inPlace))
}

func TestRender(t *testing.T) {
	alternate := map[string]string{"alternate_on": "1", "alternate_saved_x": "3", "alternate_saved_y": "1"}
	for _, c := range []struct {
		name    string
		history int
		vars    map[string]string
		capture Capture
		stream  string // seen before the capture
		want    []string
		not     []string
	}{
		{name: "cursor", vars: map[string]string{"cursor_x": "4", "cursor_y": "1"}, capture: Capture{Screen: []byte("a\nb\nc")},
			want: []string{"a\r\nb\r\nc", "\x1b[2;5H"}, not: []string{"1049", "\x1b[?7l"}},
		{name: "background is not spread", capture: Capture{Screen: []byte("\x1b[41ma\nb\x1b[0m\n")},
			want: []string{"\x1b[41ma\x1b[m\r\n\x1b[0;41mb"}},
		{name: "wrap pending", vars: map[string]string{"cursor_x": "10", "cursor_y": "1"},
			capture: Capture{Screen: []byte("\x1b[31mx\n0123456789\n")}, want: []string{"\x1b[2;1H\x1b[0;31m0123456789"}},
		{name: "wrap pending in the second row of a line", vars: map[string]string{"cursor_x": "10", "cursor_y": "1"},
			capture: Capture{Screen: []byte("0123456789abcdefghij\n")}, want: []string{"\x1b[2;1Habcdefghij"}},
		{name: "alternate", history: 1, vars: alternate, capture: Capture{Screen: []byte("old\nA\nB\nC"), Saved: []byte("a\nb\nc")},
			want: []string{"old\x1b[m\x0f\r\na\r\nb\r\nc", "\x1b[2;4H", "\x1b[?1049h\x1b[m\x1b[HA\r\nB\r\nC"}},
		{name: "wrapped history over a blank row", history: 2, vars: alternate,
			capture: Capture{Screen: []byte("old\n0123456789\nB\nC"), Saved: []byte("a\nb\nc")},
			want:    []string{"old\r\n0123456789\x1b[m\x0f\r\na\r\nb\r\nc", "\x1b[?1049h\x1b[m\x1b[H\r\nB\r\nC"}},
		{name: "wrapped history over a row", history: 1, vars: alternate,
			capture: Capture{Screen: []byte("\x1b[32m0123456789A\nB\nC"), Saved: []byte("a\nb\nc")},
			want:    []string{"\x1b[32m0123456789\x1b[m\x0f\r\na", "\x1b[?1049h\x1b[m\x1b[H\x1b[0;32mA"}},
		{name: "main screen of a taller pane", vars: alternate, capture: Capture{Screen: []byte("A\nB\nC"), Saved: []byte("a\nb\n\n\n")},
			want: []string{"\x1b)0a\r\nb\r\n\x1b[m", "\x1b[2;4H"}},
		{name: "main screen of a fuller pane", vars: alternate, capture: Capture{Screen: []byte("A\nB\nC"), Saved: []byte("a\nb\nc\nd\n")},
			want: []string{"\x1b)0a\r\nb\r\nc\r\nd\x1b[m", "\x1b[1;4H"}},
		{name: "modes", vars: map[string]string{"keypad_cursor_flag": "1", "mouse_button_flag": "1", "mouse_sgr_flag": "1", "cursor_flag": "0", "insert_flag": "1", "keypad_flag": "1"},
			stream: "\x1b[?2004h\x1b[?1004h\x1b[5 q\x1b[>4;2m",
			want:   []string{"\x1b[?1h", "\x1b[?1002h", "\x1b[?1006h", "\x1b[?25l", "\x1b[4h", "\x1b=", "\x1b[?2004h", "\x1b[?1004h", "\x1b[5 q", "\x1b[>4;2m"}},
		{name: "pen, charset and link", stream: "\x1b[1;38;2;1;2;3;4:3m\x1b(0\x1b]8;id=1;http://x/\x1b\\",
			want: []string{"\x1b[0;1;4:3;38;2;1;2;3m\x1b(0", "\x1b]8;id=1;http://x/\x1b\\"}},
		{name: "region and origin", vars: map[string]string{"scroll_region_upper": "1", "scroll_region_lower": "2", "origin_flag": "1", "cursor_y": "2"},
			want: []string{"\x1b[2;3r\x1b[?6h\x1b[2;1H"}},
		{name: "saved cursor", stream: "\x1b[2;5H\x1b[31m\x1b7\x1b[m", want: []string{"\x1b[2;5H\x1b[0;31m\x1b(B\x1b)B\x0f\x1b7"}},
		{name: "tab stops", vars: map[string]string{"pane_tabs": "3,6"}, want: []string{"\x1b[3g\x1b[4G\x1bH\x1b[7G\x1bH"}},
		{name: "kitty flags", stream: "\x1b[=1;1u\x1b[>5u", want: []string{"\x1b[=1;1u\x1b[>5u"}},
		{name: "pending sequence", capture: Capture{Pending: []byte("\x1b[3")}, want: []string{"\x1b[3"}},
		{name: "half a character", stream: "\xe4\xb8", want: []string{"\xe4\xb8"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := shown(c.history, c.vars, c.capture, track(c.stream), false)
			at := 0
			for _, w := range c.want {
				if !strings.Contains(got, w) {
					t.Errorf("%q lacks %q", got, w)
				}
			}
			for _, n := range c.not {
				if strings.Contains(got[at:], n) {
					t.Errorf("%q has %q", got, n)
				}
			}
		})
	}
	for _, end := range []string{"\x1b[3", "\xe4\xb8"} {
		if got := shown(0, nil, Capture{Pending: []byte(end)}, track(""), false); !strings.HasSuffix(got, end) {
			t.Errorf("%q does not end with %q", got, end)
		}
	}
	if got := shown(0, nil, Capture{Replay: []byte("as it was")}, track(""), false); got != "as it was" {
		t.Errorf("replay %q", got)
	}
}

func TestRenderInPlaceResetsNothingOfThePage(t *testing.T) {
	m := track("\x1b[>5u")
	got := shown(5, nil, Capture{Screen: []byte("a\nb\nc")}, m, true)
	for _, never := range []string{"\x1bc", "\x1b[3J", "\x1b[>5u"} {
		if strings.Contains(got, never) {
			t.Errorf("%q has %q", got, never)
		}
	}
	if !bytes.HasPrefix([]byte(got), []byte("\x18\x1b\\")) || !strings.Contains(got, "\x1b[H\x1b[2J") {
		t.Errorf("%q", got)
	}
}
