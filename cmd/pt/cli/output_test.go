package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
)

type thing struct {
	Name  string  `json:"name"`
	Size  int64   `json:"size"`
	Note  *string `json:"note"`
	Deep  any     `json:"deep,omitempty"`
	Truth bool    `json:"yes"`
}

var thingColumns = []column[thing]{
	{"NAME", func(t thing) string { return t.Name }},
	{"NOTE", func(t thing) string { return orDash(t.Note) }},
}

func print1(t *testing.T, format string, quiet bool, items []thing) string {
	t.Helper()
	var out bytes.Buffer
	a := &app{Stdio: Stdio{Out: &out}, output: format, quiet: quiet}
	if err := printList(a, items, func(t thing) string { return t.Name }, thingColumns); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestPrintList(t *testing.T) {
	note := `a "quoted" <b>`
	items := []thing{{Name: "no", Size: 1 << 60, Note: &note, Deep: []any{map[string]any{"a": 1, "b": []int{}}, []any{}}}, {Name: "x"}}
	for _, tt := range []struct {
		format string
		quiet  bool
		want   string
	}{
		{"table", false, "NAME  NOTE\nno    a \"quoted\" <b>\nx     -\n"},
		{"ids", false, "no\nx\n"},
		{"table", true, "no\nx\n"},
		{"json", true, `[
  {
    "name": "no",
    "size": 1152921504606846976,
    "note": "a \"quoted\" <b>",
    "deep": [
      {
        "a": 1,
        "b": []
      },
      []
    ],
    "yes": false
  },
  {
    "name": "x",
    "size": 0,
    "note": null,
    "yes": false
  }
]
`},
		{"yaml", false, `- name: "no"
  size: 1152921504606846976
  note: "a \"quoted\" <b>"
  deep:
    - a: 1
      b: []
    - []
  "yes": false
- name: "x"
  size: 0
  note: null
  "yes": false
`},
	} {
		if got := print1(t, tt.format, tt.quiet, items); got != tt.want {
			t.Errorf("-o %s:\n%s\nwant:\n%s", tt.format, got, tt.want)
		}
	}
	for format, want := range map[string]string{"json": "[]\n", "yaml": "[]\n", "ids": "", "table": "NAME  NOTE\n"} {
		if got := print1(t, format, false, []thing{}); got != want {
			t.Errorf("-o %s of nothing: %q, want %q", format, got, want)
		}
	}
}

func TestTableAlignsWideCharacters(t *testing.T) {
	n := "note"
	out := print1(t, "table", false, []thing{{Name: "构建", Note: &n}, {Name: "build", Note: &n}, {Name: "👩‍🚀 é", Note: &n}})
	for line := range strings.Lines(out) {
		i := max(strings.Index(line, "note"), strings.Index(line, "NOTE"))
		if w := uniseg.StringWidth(line[:i]); w != 7 {
			t.Errorf("column begins at cell %d in %q", w, line)
		}
	}
}

// A title is chosen by programs: it must not move the cursor of whoever lists tabs.
func TestTableIsInert(t *testing.T) {
	n := "\x1b]0;evil\a\x9b31m"
	out := print1(t, "table", false, []thing{{Name: "a\r\x1b[2J\nb\tc", Note: &n}})
	if strings.ContainsAny(strings.ReplaceAll(out, "\n", ""), "\x1b\r\a\t\u009b") || strings.Count(out, "\n") != 2 {
		t.Fatalf("got %q", out)
	}
}
