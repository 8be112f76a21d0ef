package tabs

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/browsertabs/tabs/terminal"
	"github.com/browsertabs/tabs/tmuxctl"
)

func TestDimmed(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	for in, want := range map[string]string{
		"":                                "",
		"plain":                           "\x1b[0;2mplain\x1b[0m\r\n",
		"\x1b[31mred\x1b[0m x":            "\x1b[0;2m\x1b[31m\x1b[2mred\x1b[0m\x1b[2m x\x1b[0m\r\n",
		"a\x1b[2Jb\x1b]52;;eA==\x07c\x9b": "\x1b[0;2ma[2Jb]52;;eA==c\x9b\x1b[0m\r\n",
		"cut\x1b[38;2;1":                  "\x1b[0;2mcut[38;2;1\x1b[0m\r\n",
		"a\r\nb":                          "\x1b[0;2ma\x1b[0m\r\n\x1b[0;2mb\x1b[0m\r\n",
	} {
		got := string(dimmed(Saved{Lines: []byte(in), SavedAt: at}))
		body, last, _ := strings.Cut(got, "\x1b[0;2m-- Saved ")
		if body != want || !strings.HasPrefix(last, "2026-01-02 03:04 UTC.") {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func FuzzDimmed(f *testing.F) {
	f.Add([]byte("\x1b[31mred\x1b[0m\n\x1b]0;x\x07"))
	f.Fuzz(func(t *testing.T, in []byte) {
		out := dimmed(Saved{Lines: in})
		for i, c := range out {
			if c == 0x1b && sgrLength(out[i:]) == 0 || c < ' ' && c != 0x1b && c != '\r' && c != '\n' {
				t.Fatalf("%q lets %q through", in, out[i:])
			}
		}
	})
}

func TestBoundLines(t *testing.T) {
	if got := boundLines([]byte("a\nb\n\n \n")); string(got) != "a\nb" {
		t.Errorf("%q", got)
	}
	long := bytes.Repeat([]byte("0123456789\n"), maxSavedBytes/5)
	got := boundLines(long)
	if len(got) > maxSavedBytes || !bytes.HasPrefix(got, []byte("0123456789\n")) {
		t.Errorf("%d bytes, begins with %q", len(got), got[:20])
	}
	if got := boundLines(bytes.Repeat([]byte("x"), 2*maxSavedBytes)); got != nil {
		t.Errorf("a line cut in the middle is kept: %d bytes", len(got))
	}
}

func TestValidTabID(t *testing.T) {
	for id, want := range map[string]bool{
		"tab_01ARZ3NDEKTSV4RRFFQ69G5FAV": true,
		"tab_01ARZ3NDEKTSV4RRFFQ69G5FA":  false,
		"tab_01ARZ3NDEKTSV4RRFFQ69G5FAI": false,
		"tab_../../../../../../etc/pass": false,
		"01ARZ3NDEKTSV4RRFFQ69G5FAV":     false,
		"":                               false,
	} {
		if got := validTabID(id); got != want {
			t.Errorf("%q: %v", id, got)
		}
	}
}

func TestCommand(t *testing.T) {
	known := targets{
		panes: map[terminal.PaneID]bool{3: true, 4: true}, windows: map[terminal.WindowID]bool{2: true},
	}
	for _, tt := range []struct {
		op   terminal.Op
		want string // "" for refused
	}{
		{terminal.Op{Name: "selectPane", Pane: 3}, "select-pane -t %3"},
		{terminal.Op{Name: "resizePane", Pane: 3, Cols: 40}, "resize-pane -t %3 -x 40"},
		{terminal.Op{Name: "resizePane", Pane: 3}, ""},
		{terminal.Op{Name: "resizePane", Pane: 3, Rows: -1}, ""},
		{terminal.Op{Name: "selectPane", Pane: 3, Direction: "left"}, "select-pane -L -t %3"},
		{terminal.Op{Name: "selectPane", Pane: 3, Direction: "back"}, ""},
		{terminal.Op{Name: "splitPane", Pane: 3, Direction: "around"}, ""},
		{terminal.Op{Name: "splitPane", Pane: 3}, ""},
		{terminal.Op{Name: "splitPane", Pane: 3, Direction: "up"},
			"split-window -v -b -P -F '#{pane_id}' -t %3 -c '#{pane_current_path}'"},
		{terminal.Op{Name: "swapPane", Pane: 3, With: 4}, "swap-pane -s %4 -t %3"}, // %3 stays the active one
		{terminal.Op{Name: "movePane", Pane: 3, With: 4, Direction: "left"}, "join-pane -h -b -s %3 -t %4"},
		{terminal.Op{Name: "movePane", Pane: 3, With: 4}, ""},
		{terminal.Op{Name: "movePane", Pane: 3, With: 3, Direction: "left"}, ""},
		{terminal.Op{Name: "movePane", Pane: 3, With: 5, Direction: "left"}, ""},
		{terminal.Op{Name: "selectWindow", Window: 2}, "select-window -t @2"},
		{terminal.Op{Name: "kill-server"}, ""},
		{terminal.Op{}, ""},
		{terminal.Op{Name: "closePane", Pane: 5}, ""},
		{terminal.Op{Name: "swapPane", Pane: 3, With: 5}, ""},
		{terminal.Op{Name: "selectWindow", Window: 3}, ""},
	} {
		c, err := command(0, known, tt.op)
		if c.Line != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%+v: %q, %v; want %q", tt.op, c.Line, err, tt.want)
		}
	}
}

// FuzzState: whatever tmux says, or a program makes it say, is an error at most.
func FuzzState(f *testing.F) {
	f.Add("1\tclient-1\tvm\tbash\t\tt\t0\t", "@0\t0\t1\t0\t0\t%0\tb25d,80x24,0,0,0\tbash", "%0\t@0\t0\t\t\t1\t0\t\t\tbash\tvm\t/\t")
	f.Fuzz(func(t *testing.T, session, windows, panes string) {
		reply := func(s string) tmuxctl.Reply { return tmuxctl.Reply{Lines: bytes.Split([]byte(s), []byte("\n"))} }
		var st sessionState
		if err := st.load([]tmuxctl.Reply{reply(session), reply(windows), reply(panes), reply("client-1")}); err != nil {
			return
		}
		a := st.attached()
		if len(a.Windows.List) == 0 {
			t.Error("no windows, and no error")
		}
		_ = fmt.Sprint(a, st.activePane())
	})
}
