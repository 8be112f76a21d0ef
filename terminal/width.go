package terminal

import (
	"unicode"

	"golang.org/x/text/width"
)

// runeWidth is how many cells r takes, as the C library's wcwidth that tmux asks.
func runeWidth(r rune) int {
	switch {
	case r < 0x300, unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return 1
	case r >= 0x3248 && r <= 0x324f, r >= 0x4dc0 && r <= 0x4dff: // circled numbers, hexagrams
		return 2
	case r >= 0x1160 && r <= 0x11ff, r >= 0xd7b0 && r <= 0xd7ff, unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
