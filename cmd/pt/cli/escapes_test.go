package cli

import "testing"

func TestEscapes(t *testing.T) {
	for _, tt := range []struct {
		name  string
		typed []string
		sent  string
		leave bool
	}{
		{"plain keys", []string{"ls\r"}, "ls\r", false},
		{"tilde dot at the start", []string{"~."}, "", true},
		{"tilde dot, key by key", []string{"~", "."}, "", true},
		{"tilde dot after return", []string{"ls\r~."}, "ls\r", true},
		{"tilde dot after line feed", []string{"ls\n", "~", "."}, "ls\n", true},
		{"tilde dot within a line", []string{"ls ~."}, "ls ~.", false},
		{"tilde and something else", []string{"~/x\r"}, "~/x\r", false},
		{"two tildes are one", []string{"~~.\r"}, "~.\r", false},
		{"Ctrl-backslash twice", []string{"a\x1c\x1c"}, "a", true},
		{"Ctrl-backslash, key by key", []string{"a", "\x1c", "\x1c"}, "a", true},
		{"Ctrl-backslash once", []string{"\x1c", "a"}, "\x1ca", false},
		{"Ctrl-backslash apart", []string{"\x1ca\x1cb"}, "\x1ca\x1cb", false},
		{"tilde then Ctrl-backslash twice", []string{"~\x1c\x1c"}, "~", true},
		{"Ctrl-backslash then tilde dot", []string{"\x1c~."}, "\x1c~.", false},
		{"pasted escape", []string{"\x1b[200~a\n~.\n\x1c\x1c\x1b[201~"}, "\x1b[200~a\n~.\n\x1c\x1c\x1b[201~", false},
		{"pasted escape in pieces", []string{"\x1b[20", "0~\n~", ".", "\x1b[2", "01~"}, "\x1b[200~\n~.\x1b[201~", false},
		{"after a paste", []string{"\x1b[200~a\n\x1b[201~", "~.", "\r~."}, "\x1b[200~a\n\x1b[201~~.\r", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var e escapes
			var sent []byte
			left := false
			for _, s := range tt.typed {
				b, leave := e.filter([]byte(s))
				sent = append(sent, b...)
				left = left || leave
			}
			if string(sent) != tt.sent || left != tt.leave {
				t.Fatalf("sent %q, left %v; want %q, %v", sent, left, tt.sent, tt.leave)
			}
		})
	}
}

// Whatever is typed, no key is lost, doubled or reordered, but for the tilde that quotes one.
func FuzzEscapes(f *testing.F) {
	f.Add([]byte("ls\r~x\x1ca\x1b[200~~.\x1b[201~\r~"), 3)
	f.Fuzz(func(t *testing.T, typed []byte, cut int) {
		cut = min(max(cut, 0), len(typed))
		var whole, split escapes
		a, leaveA := whole.filter(typed)
		b1, leaveB := split.filter(typed[:cut])
		b := b1
		if !leaveB {
			var b2 []byte
			b2, leaveB = split.filter(typed[cut:])
			b = append(b, b2...)
		}
		if string(a) != string(b) || leaveA != leaveB {
			t.Fatalf("at once %q, %v; cut at %d %q, %v", a, leaveA, cut, b, leaveB)
		}
		if leaveA {
			return
		}
		got := append(a, held(whole)...)
		i := 0
		for _, c := range typed { // got is typed without some tildes
			if i < len(got) && got[i] == c {
				i++
			} else if c != '~' {
				t.Fatalf("typed %q, sent %q", typed, got)
			}
		}
		if i != len(got) {
			t.Fatalf("typed %q, sent %q", typed, got)
		}
	})
}

func held(e escapes) []byte {
	if e.held == 0 {
		return nil
	}
	return []byte{e.held}
}
