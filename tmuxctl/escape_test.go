package tmuxctl

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// escapeLikeTmux is control_append_data of tmux.
func escapeLikeTmux(data []byte) []byte {
	var b []byte
	for _, c := range data {
		if c < ' ' || c == '\\' {
			b = fmt.Appendf(b, "\\%03o", c)
		} else {
			b = append(b, c)
		}
	}
	return b
}

func TestUnescape(t *testing.T) {
	tests := []struct{ escaped, want string }{
		{"", ""},
		{"plain text", "plain text"},
		{`\033[1m`, "\x1b[1m"},
		{`a\015\012`, "a\r\n"},
		{`\134134`, `\134`},
		{`\134\134`, `\\`},
		{"\xe6\xbc", "\xe6\xbc"},
		{`a long run of text between two escapes\011and another one`, "a long run of text between two escapes\tand another one"},
		{`0123456789abcde\000`, "0123456789abcde\x00"},
		{`0123456789abcdef\000`, "0123456789abcdef\x00"},
		{`\377`, "\xff"},
		// What tmux never writes stays as it is.
		{`\`, `\`},
		{`\0`, `\0`},
		{`\01`, `\01`},
		{`\018`, `\018`},
		{`\400`, `\400`},
		{`\\033`, `\` + "\x1b"},
		{`\n`, `\n`},
	}
	for _, test := range tests {
		if got := Unescape([]byte(test.escaped)); string(got) != test.want {
			t.Errorf("Unescape(%q) = %q, want %q", test.escaped, got, test.want)
		}
	}
}

func FuzzUnescape(f *testing.F) {
	f.Add([]byte("\x1b[31mred\\\r\n"))
	f.Add([]byte(`\033\\777`))
	f.Add(bytes.Repeat([]byte{0}, 40))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got := Unescape(escapeLikeTmux(data)); !bytes.Equal(got, data) {
			t.Errorf("%q came back as %q", data, got)
		}
		if got := Unescape(bytes.Clone(data)); len(got) > len(data) {
			t.Errorf("%q grew to %q", data, got)
		}
	})
}

func TestQuote(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", `""`},
		{"plain", `"plain"`},
		{`a "b" \ $c ~`, `"a \"b\" \\ \$c \~"`},
		{"tab\tline\nesc\x1b", `"tab\011line\012esc\033"`},
		{"nul\x00gone", `"nulgone"`},
		{"漢\xff\x7f", `"漢\377\177"`},
		{"; 'x' #{y}", `"; 'x' #{y}"`},
	}
	for _, test := range tests {
		if got := Quote(test.in); got != test.want {
			t.Errorf("Quote(%q) = %s, want %s", test.in, got, test.want)
		}
	}
}

func TestLiteral(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a": "a", "#": "##", "##": "####", "a#{b}": "a##{b}", "#[x": "#[x", "##[": "##[", "#a#": "##a##",
	} {
		if got := literal(in); got != want {
			t.Errorf("literal(%q) = %q, want %q", in, got, want)
		}
	}
}

// BenchmarkParseOutput is the whole way from a line to bytes; it must not allocate.
func BenchmarkParseOutput(b *testing.B) {
	for name, text := range map[string]string{
		"text":        strings.Repeat("the quick brown fox jumps over the lazy dog and goes on\r\n", 70),
		"colours":     strings.Repeat("\x1b[38;5;208mfile\x1b[0m\t\x1b[1;34mdir\x1b[0m\r\n", 100),
		"octal dense": strings.Repeat("\x1b\x01\r\n\x02\\", 700),
		"cjk":         strings.Repeat("漢字かな交じり文\r\n", 150),
	} {
		line := append([]byte("%output %3 "), escapeLikeTmux([]byte(text))...)
		b.Run(name, func(b *testing.B) {
			var p Parser
			work := make([]byte, len(line))
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				copy(work, line)
				if o, ok := p.Event(work).(*Output); !ok || len(o.Data) != len(text) {
					b.Fatal("wrong event")
				}
			}
		})
	}
}
