package terminal

import (
	"strings"
	"testing"
)

// BenchmarkFollow is what the reader does with output: keep it in the ring and follow its modes.
func BenchmarkFollow(b *testing.B) {
	for name, data := range map[string]string{
		"text":   strings.Repeat("drwxr-xr-x 2 user user 4096 Jan  1 12:00 some-directory\r\n", 287),
		"colour": strings.Repeat("\x1b[01;34mdirectory\x1b[0m  \x1b[38;5;208mx\x1b[m\r\n", 390),
		"cjk":    strings.Repeat("漢字かな交じり文\r\n", 630),
	} {
		b.Run(name, func(b *testing.B) {
			chunk := []byte(data)
			m := newModes(Size{80, 24}, Answers{})
			var r ring
			b.SetBytes(int64(len(chunk)))
			b.ReportAllocs()
			for b.Loop() {
				r.append(chunk, r.end)
				m.feed(chunk)
			}
		})
	}
}
