package terminal

import "testing"

func TestRepairLine(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"joined", "a\U0001F469\u200D\U0001F680b", "a\U0001F469\u200D\U0001F680b"},
		{"last of a full cell", "\U0001F468\u200D\U0001F469\u200D\U0001F467\u200D漢", "\U0001F468\u200D\U0001F469\u200D\U0001F467漢"},
		{"before a style", "\U0001F468\u200D\x1b[31m\U0001F469", "\U0001F468\x1b[31m\U0001F469"},
		{"before ASCII", "न\u200D x", "न x"},
		{"last of a line", "न\u200D", "न"},
		{"overline", "\x1b[5:3ma\x1b[0;1;5:3;31mb", "\x1b[53ma\x1b[0;1;53;31mb"},
		{"blink", "\x1b[0;5ma\x1b[4:3m 5:3m", "\x1b[0;5ma\x1b[4:3m 5:3m"},
	} {
		if got := string(repairLine([]byte(c.line))); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestRowsOfJoinedCharacters(t *testing.T) {
	family := "\U0001F469\u200D\U0001F680"
	if n := lineRows([]byte(family+family+"x"), 4); n != 2 {
		t.Errorf("two joined pairs and a letter take %d rows of 4 columns, want 2", n)
	}
}

func TestRuneWidth(t *testing.T) {
	for r, want := range map[rune]int{
		'a': 1, '漢': 2, '🚀': 2, '\u0301': 0, '\u200d': 0, '\ufe0f': 0, '❤': 1, '\U0001F1E9': 1, '\u1161': 0, '\uac00': 2,
		'\u0600': 1, '\u4dc0': 2, '\u3248': 2, '\ud7b0': 0, '\u00ad': 1, '\ue0b0': 1,
	} {
		if got := runeWidth(r); got != want {
			t.Errorf("%U is %d wide, want %d", r, got, want)
		}
	}
}
