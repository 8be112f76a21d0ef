package tmuxctl

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func withChecksum(s string) string { return fmt.Sprintf("%04x,%s", layoutChecksum(s), s) }

func TestParseLayout(t *testing.T) {
	pane := func(id PaneID, cols, rows, left, top int) Cell {
		return Cell{Box: Box{Left: left, Top: top, Cols: cols, Rows: rows}, Pane: id}
	}
	tests := []struct {
		layout string
		want   Cell
		panes  int
	}{
		{"b25d,80x24,0,0,0", pane(0, 80, 24, 0, 0), 1},
		{"bb62,159x48,0,0{79x48,0,0,79,79x48,80,0}", Cell{}, -1},
		{withChecksum("80x24,0,0{40x24,0,0,0,39x24,41,0,1}"), Cell{
			Box: Box{Cols: 80, Rows: 24}, Split: LeftRight,
			Children: []Cell{pane(0, 40, 24, 0, 0), pane(1, 39, 24, 41, 0)},
		}, 2},
		{withChecksum("80x24,0,0[80x12,0,0,7,80x11,0,13{40x11,0,13,8,39x11,41,13,4294967295}]"), Cell{
			Box: Box{Cols: 80, Rows: 24}, Split: TopBottom,
			Children: []Cell{pane(7, 80, 12, 0, 0), {
				Box: Box{Cols: 80, Rows: 11, Top: 13}, Split: LeftRight,
				Children: []Cell{pane(8, 40, 11, 0, 13), pane(1<<32-1, 39, 11, 41, 13)},
			}},
		}, 3},
	}
	for _, test := range tests {
		got, err := ParseLayout(test.layout)
		if test.panes < 0 {
			if err == nil {
				t.Errorf("%s was taken", test.layout)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.layout, err)
			continue
		}
		if !reflect.DeepEqual(got.Root, test.want) {
			t.Errorf("%s: %+v, want %+v", test.layout, got.Root, test.want)
		}
		if n := len(got.Panes()); n != test.panes {
			t.Errorf("%s: %d panes, want %d", test.layout, n, test.panes)
		}
	}
}

func TestParseLayoutRefuses(t *testing.T) {
	deep := strings.Repeat("9x9,0,0{", maxLayoutDepth+2) + "9x9,0,0,1" + strings.Repeat("}", maxLayoutDepth+2)
	for _, body := range []string{
		"", "80x24", "80x24,0,0", "80x24,0,0,", "80x24,0,0,x", "80x24,0,0,-1", "80x24,0,0{", "80x24,0,0{}", "80x24,0,0{40x24,0,0,0",
		"80x24,0,0{40x24,0,0,0]", "80x24,0,0,0}", "80x24,0,0,0,1x1,0,0,1", "999999x24,0,0,0", "80x24,0,0,4294967296", "80X24,0,0,0", deep,
	} {
		if l, err := ParseLayout(withChecksum(body)); err == nil {
			t.Errorf("%.60q was taken: %+v", body, l)
		}
	}
	for _, s := range []string{"0000,80x24,0,0,0", "b25d", "zzzz,80x24,0,0,0", "b25d,80x24,0,0,1", withChecksum(strings.Repeat("1", maxLayoutBytes))} {
		if _, err := ParseLayout(s); err == nil {
			t.Errorf("%.60q was taken", s)
		}
	}
}

// String is the inverse of ParseLayout, for the fuzz test.
func (c *Cell) appendString(b []byte) []byte {
	b = fmt.Appendf(b, "%dx%d,%d,%d", c.Cols, c.Rows, c.Left, c.Top)
	if c.Split == NoSplit {
		return fmt.Appendf(b, ",%d", c.Pane)
	}
	for i := range c.Children {
		b = append(b, "{[,,"[min(i, 1)*2+int(c.Split-1)])
		b = c.Children[i].appendString(b)
	}
	return append(b, "}]"[c.Split-1])
}

func FuzzParseLayout(f *testing.F) {
	f.Add("80x24,0,0,0")
	f.Add("80x24,0,0{40x24,0,0,0,39x24,41,0[39x12,41,0,1,39x11,41,13,2]}")
	f.Fuzz(func(t *testing.T, body string) {
		l, err := ParseLayout(withChecksum(body))
		if err != nil {
			return
		}
		again, err := ParseLayout(withChecksum(string(l.Root.appendString(nil))))
		if err != nil || !reflect.DeepEqual(l, again) {
			t.Errorf("%q: %+v came back as %+v, %v", body, l, again, err)
		}
	})
}
