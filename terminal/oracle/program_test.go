package oracle

import (
	"fmt"
	"strings"
)

// A program is something a person runs in a shell. It leaves the shell at its prompt.
type program struct {
	name string
	run  func(*shell)
}

var programs = []program{
	{"ls", func(s *shell) {
		s.line(s.pick("ls --color=always -l /usr/bin | head -120", "ls --color=always names", "ls --color=always -la names /", "ls --color=always -C /usr/lib"))
	}},
	{"long lines", func(s *shell) {
		var b strings.Builder
		for range s.between(3, 30) {
			sgr(s, &b)
			for range s.between(1, 90) {
				b.WriteString(s.pick("word ", "a", "longer words here ", "x\t", "1234567890"))
			}
			b.WriteString("\x1b[m\n")
		}
		s.cat(b.String())
	}},
	{"CJK", func(s *shell) {
		var b strings.Builder
		for range s.between(3, 30) {
			for range s.between(1, 70) {
				b.WriteString(s.pick("漢字", "かな", "カ", "한국어", "x", "，", " "))
			}
			b.WriteString("\n")
		}
		s.cat(b.String())
	}},
	{"emoji", func(s *shell) {
		var b strings.Builder
		for range s.between(3, 30) {
			for range s.between(1, 25) { // a shell writes at most 1,024 bytes in one go
				b.WriteString(s.pick("👩‍🔬", "👨‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "👩🏽‍🚀", "🇩🇪", "❤️", "☺", "1️⃣", "e\u0301", "\u1112\u1161\u11ab", "क्ष", "ന്\u200d ക", "ශ්\u200dරී",
					"─┐", "🧑‍🤝‍🧑", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "x", " ", "漢", "\ue0b0", "\U0001fae9"))
			}
			// Not column 2: tmux 3.3a keeps a wide character in column 1 when its right half is written over.
			fmt.Fprintf(&b, "\x1b[%dG|\n", s.between(3, 60))
		}
		s.lines(b.String())
	}},
	{"margin", func(s *shell) {
		width := s.between(20, 100)
		var b strings.Builder
		for range s.between(3, 12) {
			b.WriteString(strings.Repeat("x", max(width-s.between(0, 3), 0)))
			b.WriteString(s.pick("漢漢", "👩‍🔬y", "e\u0301e\u0301e\u0301", "abc", "abc\b\bd", "ab\rcd", "a\tb"))
			b.WriteString("\n")
		}
		s.cat(b.String())
	}},
	{"backgrounds", func(s *shell) {
		var b strings.Builder
		for range s.between(3, 40) {
			fmt.Fprintf(&b, "\x1b[%sm", s.pick("44", "48;5;200", "48;2;10;20;30", "7", "", "1;31;42"))
			b.WriteString(s.pick("abc", "", "hello world ")) // half a wide character that is left takes its colours elsewhere
			b.WriteString(s.pick("\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[5X", "\x1b[3@", "\x1b[2P", "\x1b[L", "\x1b[M", "\x1b[J", "\r"))
			b.WriteString(s.pick("\n", "", "xyz\n", "\x1b[3C"))
		}
		s.cat(b.String() + "\x1b[m\n")
	}},
	{"progress", func(s *shell) {
		s.line(fmt.Sprintf(`for i in $(seq 1 %d); do printf '\r[%%-20s] %%d%%%%' "$(printf '%%*s' $((i %% 20)) '' | tr ' ' '#')" $i; done; echo`, s.between(20, 80)))
	}},
	{"spinner", func(s *shell) {
		s.line(fmt.Sprintf(`for i in $(seq 1 %d); do for c in '⠋' '⠙' '⠹' '⠸' '⠼' '⠴'; do printf '\r\033[K\033[36m%%s\033[m working %%s' $c $i; done; done; printf '\r\033[K'`, s.between(5, 40)))
	}},
	{"vim", func(s *shell) {
		s.start("vim -u NONE -N -n --cmd 'set hlsearch ruler showcmd shortmess=aoOtTWAFI' words")
		s.wait(`(?m)^word 1|Top`)
		s.keys(strings.Repeat("j", s.between(0, 40)) + s.pick("", "/5\r", "G", "dd", "\x06", "n"))
		s.keys("Ohello 漢字 🚀 \x1b")
		s.settle("vim")
		s.keys("/line\rn" + s.pick("", "\x06", "zz", "dG", ":split\r", "yyp"))
		s.settle("vim search")
		s.keys("\x1b:qa!\r")
		s.ended()
	}},
	{"nvim", func(s *shell) {
		s.start("nvim -u NONE -i NONE -n --cmd 'set shortmess=aoOtTWAFI' words")
		s.wait(`word 1`)
		s.keys(strings.Repeat("j", s.between(0, 20)) + "Ohello\x1b/line\r" + s.pick("", "\x06", "zz"))
		s.settle("nvim")
		s.keys("\x1b:qa!\r")
		s.ended()
	}},
	{"less", func(s *shell) {
		s.start("less words")
		s.wait(`word 1`)
		s.keys(s.pick(" ", "d", "G", "jjj"))
		s.settle("less")
		s.keys("g/line 7\r" + s.pick("", "n", "\x02"))
		s.settle("less search")
		s.keys("\rq") // a pager may first want to be told that it found nothing
		s.ended()
	}},
	{"git log", func(s *shell) {
		s.start("git -C repo --no-pager log --oneline --color=always | head -5; git -C repo -c core.pager='less -R' log --stat --color=always")
		s.wait(`(?m):\s*$|END`)
		s.keys(s.pick(" ", "jj", "/commit\r", "G"))
		s.settle("git log")
		s.keys("\rq")
		s.ended()
	}},
	{"man", func(s *shell) {
		s.start("man -P less ls")
		s.wait(`(?m)LS\(1\)|^NAME|:\s*$`)
		s.keys(s.pick(" ", "d", "/color\r", "G"))
		s.settle("man")
		s.keys("\rq")
		s.ended()
	}},
	{"top", func(s *shell) {
		s.start("top -d 0.1 -n 3")
		s.ended()
	}},
	{"htop", func(s *shell) {
		s.start("htop -d 3 -p 1")
		s.wait(`F1`)
		s.keys(s.pick("", "t", "H", "\x1bOB"))
		s.keys("q")
		s.ended()
	}},
	{"python", func(s *shell) {
		s.start("python3 -q")
		s.wait(`(?m)>>> ?$`)
		s.keys("print('hé漢' * " + fmt.Sprint(s.between(1, 60)) + ")\r")
		s.keys("for i in range(3): print('\\x1b[3%dm' % i, i)\r\r")
		s.keys("1+1\r")
		s.wait(`(?m)2\n>>> ?$`)
		s.keys("exit()\r")
		s.ended()
	}},
	{"scroll region", func(s *shell) {
		var b strings.Builder
		top, bottom := 1, s.between(4, 10)
		if s.rnd.IntN(2) == 0 {
			top = s.between(2, 3)
		}
		fmt.Fprintf(&b, cleared+"\x1b[%d;%dr\x1b[%d;1H", top, bottom, bottom)
		for i := range s.between(1, 20) {
			fmt.Fprintf(&b, "\nregion %d %s", i, s.pick("", "\x1bM", "\x1b[T", "\x1b[L", "\x1b[M", "\x1bD", "漢"))
		}
		b.WriteString(s.pick("\x1b[r\x1b[99;1H\n", "\x1b[r\n"))
		s.cat(b.String())
	}},
	{"region kept", func(s *shell) {
		s.line(fmt.Sprintf(`clear; printf '\033[2;%dr'; seq 1 %d; printf '\033[r\033[99H'`, s.between(5, 9), s.between(1, 30)))
	}},
	{"past the history", func(s *shell) {
		s.overflow = true
		s.line(fmt.Sprintf("for i in $(seq 1 %d); do echo line $i; done", s.between(1000, 4000)))
	}},
	{"flood", func(s *shell) {
		s.overflow = true
		s.line("seq 1 200000")
	}},
	{"wide flood", func(s *shell) {
		s.overflow = true
		s.line("yes '漢字 the quick brown fox' | head -" + fmt.Sprint(s.between(20000, 80000)))
	}},
	{"alternate", func(s *shell) {
		s.start(`printf '\033[?1049h\033[2J\033[5;5Hhello \033[44mblue\033[m\033[7;1H'; seq 1 ` + fmt.Sprint(s.between(1, 40)) + `; printf 'ready%s' -now; read -n1 key; printf '\033[?1049l'`)
		s.wait("ready-now")
		s.settle("alternate screen")
		s.keys("x")
		s.ended()
	}},
	{"charset", func(s *shell) {
		s.cat("\x1b(0lqqqk\x1b(B\n\x1b)0\x0elqk\x0f abc\n\x1b(0x\x1b(B漢\x1b(0x~`afgjtuvwn\x1b(B\n" + s.pick("", "\x1b[31m\x0exx\x0f\x1b[m\n"))
	}},
	{"links", func(s *shell) {
		s.cat("\x1b]8;;https://example.com/a\x1b\\link one\x1b]8;;\x1b\\ and \x1b]8;id=x;https://example.com/b\x07link two that is so long that it wraps around the margin of the screen, it does\x1b]8;;\x07\n\x1b]2;a title\x07\x1b]133;A\x07\x1b]7;file:///tmp\x07")
	}},
	{"styles", func(s *shell) {
		var b strings.Builder
		for range s.between(5, 60) {
			sgr(s, &b)
			b.WriteString(s.pick("text ", "漢字", "\n", "   ", "\x1b[K"))
		}
		s.cat(b.String() + "\x1b[m\n")
	}},
	{"cursor", func(s *shell) {
		var b strings.Builder
		b.WriteString(cleared)
		for range s.between(10, 120) {
			b.WriteString(s.pick(fmt.Sprintf("\x1b[%d;%dH", s.between(1, 20), s.between(1, 60)), fmt.Sprintf("\x1b[%d%s", s.between(1, 9), s.pick("A", "B", "C", "D", "G", "X", "@", "P", "L", "M", "d")),
				"text", "some more text", "\r", "\n", "\x1b[K", "\x1b[1K", "\x1b7", "\x1b8", "\x1bM", "\b", "\t"))
		}
		s.cat(b.String() + "\x1b[m\x1b[99;1H\n")
	}},
	{"clear", func(s *shell) {
		s.line(s.pick("clear", `printf '\033[H\033[2J'`, `printf '\033[H\033[J'`, "clear; ls"))
	}},
	{"completion", func(s *shell) {
		s.keys("ls /usr/li\t\t")
		s.keys("\x15")
		s.keys("echo some words that are typed\x1b[D\x1b[D\x1b[D\x17\x01\x0b\x19 more\x15")
		s.line("true")
	}},
}

// cleared begins what writes over old rows. A row that once wrapped keeps tmux's mark of it when the row after is written
// over, and capture-pane -J, which alone tells wrapped rows, then joins two rows that are not one line. Where the first
// ends with a wide character that did not fit, nothing shows where it ended.
const cleared = "\x1b[H\x1b[2J"

// sgr adds a random style.
func sgr(s *shell, b *strings.Builder) {
	fmt.Fprintf(b, "\x1b[%sm", s.pick("", "0", "1", "2", "3", "4", "7", "9", "31", "42", "93", "104", "38;5;123", "48;5;17", "38;2;1;2;3", "48;2;200;100;50", "1;4;35", "22;24", "39;49", "53", "4:3", "27"))
}
