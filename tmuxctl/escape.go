package tmuxctl

import (
	"bytes"
	"strings"
)

// Unescape undoes the escaping of %output in place and returns the shortened slice: \ooo is a byte, everything else
// is itself. A backslash that does not begin three octal digits stays, so no input is an error.
func Unescape(b []byte) []byte {
	w := bytes.IndexByte(b, '\\')
	if w < 0 {
		return b
	}
	for r := w; r < len(b); {
		if b[r] == '\\' && r+3 < len(b) {
			d0, d1, d2 := b[r+1]-'0', b[r+2]-'0', b[r+3]-'0'
			if d0 < 4 && d1 < 8 && d2 < 8 {
				b[w] = d0<<6 | d1<<3 | d2
				w++
				r += 4
				continue
			}
		}
		// Runs between escapes are short in coloured output and long in text: look for the next escape only
		// once the run has proved to be long.
		end := min(r+16, len(b))
		b[w] = b[r]
		w++
		r++
		for r < end && b[r] != '\\' {
			b[w] = b[r]
			w++
			r++
		}
		if r == end && r < len(b) {
			n := bytes.IndexByte(b[r:], '\\')
			if n < 0 {
				n = len(b) - r
			}
			w += copy(b[w:], b[r:r+n])
			r += n
		}
	}
	return b[:w]
}

// Quote returns s as one argument of a tmux command line, whatever bytes it holds; the result has no newline. A NUL
// is left out: no tmux argument can hold one.
func Quote(s string) string { return string(AppendQuoted(make([]byte, 0, len(s)+2), s)) }

// AppendQuoted appends Quote(s) to dst.
func AppendQuoted[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == 0:
		case c == '"' || c == '\\' || c == '$' || c == '~':
			dst = append(dst, '\\', c)
		case c < ' ' || c == 0x7f || c == 0xff:
			// 0xff is the end of the input to tmux's lexer, which reads signed chars.
			dst = append(dst, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// literal returns s so that tmux's format expansion gives s back; names and directories are expanded. What cannot be
// said is a # before a [, which tmux leaves alone anyway.
func literal(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		n := 0
		for i+n < len(s) && s[i+n] == '#' {
			n++
		}
		if n == 0 {
			b.WriteByte(s[i])
			i++
			continue
		}
		b.WriteString(s[i : i+n])
		i += n
		if i == len(s) || s[i] != '[' {
			b.WriteString(s[i-n : i])
		}
	}
	return b.String()
}

// argument protects a trailing semicolon of an argument given to a tmux process, which would end the command there.
func argument(s string) string {
	if strings.HasSuffix(s, ";") {
		return s[:len(s)-1] + `\;`
	}
	return s
}
