package e2e

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestWidths is lacion/fleet-deck#27 and daintreehq/daintree#7205: widths that differ from tmux's shift everything after.
func TestWidths(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	file := filepath.Join(s.dir, "rows")
	rows := []string{"ascii", "漢字かな", "👩‍👩‍👧", "👍🏽👍🏿", "🇩🇪🇯🇵", "❤️☎️", "é̂ñ", "┌─┬─┐│█▓", "한국어", "ﾊﾝｶｸ", "𝒜𝔅", "👨🏻‍💻ok", "1️⃣#️⃣", "\u200b.\u200d."}
	var text strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&text, "|%s|%s|\n", row, row)
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	p.run("clear; cat " + file)
	p.sameAsTmux(s)
	// The cursor tells columns even where two texts look alike, and where tmux keeps less text than it counts: it drops
	// what goes beyond 21 bytes in a cell.
	for _, row := range append(rows, "👩‍👩‍👧‍👦") {
		if err := os.WriteFile(file, []byte("|"+row+"|"), 0o644); err != nil {
			t.Fatal(err)
		}
		p.enter("clear; cat " + file + " -")
		p.waitText("|" + row[:1])
		tab := s.tabs()[0]
		pollFor(t, patience, fmt.Sprintf("the cursor where tmux has it after %q", row), func() (bool, any) {
			want := s.tmux(tab, "display-message", "-p", "#{cursor_x}")
			got := fmt.Sprint(toInt(p.eval(`() => window.tabs.pane().cursor.x`)))
			return got == want && want != "0", fmt.Sprintf("page %s, tmux %s", got, want)
		})
		p.press("Control+C")
		p.waitText("^C\n$") // a shell that is still being interrupted forgets what comes before its prompt
	}
}

// TestNoLocale is coder/coder#9343: without a UTF-8 locale glyphs were lost. The servers of this suite have none.
func TestNoLocale(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	if got := p.run(`printf '\u2500\u250c\u4f60\u597d\n'`); len(got) != 1 || got[0] != "─┌你好" {
		t.Errorf("box drawing and CJK show as %q", got)
	}
}

// TestNoHalfFrames is anthropics/claude-code#37283 and #9935: flicker under tmux. A program fills the screen with one
// colour after the other, each frame in synchronized output; no picture may show two.
func TestNoHalfFrames(t *testing.T) {
	need(t, "python3")
	s := newServer(t)
	p := s.newPage()
	script := filepath.Join(s.dir, "frames.py")
	// 25 KB a frame, with a pause in its middle, ten a second.
	if err := os.WriteFile(script, []byte(`
import os, sys, time
cols, rows = os.get_terminal_size()
out = sys.stdout
out.write("\x1b[?25l")
for n in range(1, 80):
    colour = 41 if n % 2 else 44
    out.write("\x1b[?2026h\x1b[H")
    for row in range(rows):
        out.write(f"\x1b[{row + 1};1H\x1b[0;{colour}m" + "".join(f"\x1b[{colour}m " for _ in range(cols)))
        if row == rows // 2:
            out.flush(); time.sleep(0.03)
    out.write("\x1b[?2026l"); out.flush()
    time.sleep(0.07)
`), 0o644); err != nil {
		t.Fatal(err)
	}
	p.enter("clear; python3 " + script)
	pollFor(t, patience, "the first frame", func() (bool, any) {
		colours := p.backgrounds()
		return len(colours) == 1 && isStrong(colours[0]), colours
	})
	seen := make(map[string]bool)
	for start := time.Now(); len(seen) < 2 && time.Since(start) < patience || time.Since(start) < 5*time.Second; {
		colours := p.backgrounds()
		if len(colours) != 1 {
			t.Fatalf("a picture shows the colours %v: half a frame", colours)
		}
		seen[colours[0]] = true
	}
	if len(seen) < 2 {
		t.Errorf("all pictures show only %v", seen)
	}
}

// backgrounds takes a picture and returns the colours in the middle of the terminal's rows.
func (p *page) backgrounds() []string {
	p.t.Helper()
	shot, err := p.Locator("[data-testid=stage]").Screenshot()
	if err != nil {
		p.t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		p.t.Fatal(err)
	}
	b := img.Bounds()
	seen := make(map[string]bool)
	var colours []string
	for y := b.Min.Y + b.Dy()/10; y < b.Max.Y-b.Dy()/10; y++ {
		c := colourAt(img, b.Min.X+b.Dx()/3, y)
		if !seen[c] {
			seen[c] = true
			colours = append(colours, c)
		}
	}
	return colours
}

func colourAt(img image.Image, x, y int) string {
	r, g, b, _ := img.At(x, y).RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// isStrong tells red and blue from backgrounds.
func isStrong(colour string) bool {
	var r, g, b int
	fmt.Sscanf(colour, "#%02x%02x%02x", &r, &g, &b)
	return max(r, g, b)-min(r, g, b) > 80
}

// TestVimAfterMuchOutput is cluesmith/codev#205: after a long history a replay garbled the screen and lost modes.
func TestVimAfterMuchOutput(t *testing.T) {
	need(t, "vim")
	s := newServer(t)
	p := s.newPage()
	file := filepath.Join(s.dir, "text")
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "%3d func name%d(漢字 string) error { return nil }\n", i+1, i)
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	p.run("seq 1 700000 | tail -n 100000 | head -c 5000000")
	p.enter("vim -u NONE -i NONE --cmd 'set nocp mouse=a ttymouse=sgr' " + file)
	p.waitText("200L")
	p.keys("80Gzt")
	p.waitText(" 80 func")
	p.sameAsTmux(s)
	screen := p.screen()
	if _, err := p.Reload(); err != nil {
		t.Fatal(err)
	}
	p.waitLive()
	pollFor(t, patience, "the same vim", func() (bool, any) { got := p.screen(); return got == screen, got })

	// The mouse puts the cursor where it clicks, so the program's mouse mode came back too.
	b := p.box("[data-testid=stage]")
	_, rows := p.size()
	if err := p.Mouse().Click(b.X+b.Width/2, b.Y+b.Height*5.5/float64(rows)); err != nil {
		t.Fatal(err)
	}
	pollFor(t, patience, "the cursor in the clicked row", func() (bool, any) {
		y := toInt(p.eval(`() => window.tabs.pane().cursor.y`))
		return y == 5, y
	})
	p.keys(":q!")
	p.press("Enter")
	p.waitPrompt()
}

// TestModesSurviveReload is juspay/kolu PR#73: a restored screen lost modes. What keys send tells which are on.
func TestModesSurviveReload(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	p.enter(`printf '\e[?1h\e[?2004h\e[?1000h\e[?1006h\e[?25l\e[5 q'; stty -icanon -echo; clear; printf '%8s%s\n' '' ready; cat -v`)
	p.waitText("        ready")
	for round := range 2 {
		if round == 1 {
			if _, err := p.Reload(); err != nil {
				t.Fatal(err)
			}
			p.waitLive()
		}
		p.focus()
		p.press("ArrowUp")
		p.paste("pasted")
		b := p.box("[data-testid=stage]")
		if err := p.Mouse().Click(b.X+b.Width/2, b.Y+b.Height/2); err != nil {
			t.Fatal(err)
		}
		p.press("Enter")
		p.waitText("^[OA")
		p.waitText("^[[200~pasted^[[201~")
		p.waitText("^[[<0;")
		p.press("Control+L")
	}
}

// TestResizedProgram is csheaff/tmux-control PR#37: rows joined at one width wrapped wrongly at another.
func TestResizedProgram(t *testing.T) {
	need(t, "less")
	s := newServer(t)
	p := s.newPage()
	p.resize(1500, 640)
	file := filepath.Join(s.dir, "text")
	if err := os.WriteFile(file, []byte(strings.Repeat(strings.Repeat("wide row 漢字 ", 15)+"\n", 100)), 0o644); err != nil {
		t.Fatal(err)
	}
	p.run("cat " + file)
	p.enter("less " + file)
	p.waitText(filepath.Base(file))
	p.sameAsTmux(s)
	p.resize(760, 640)
	p.sameAsTmux(s)
	if _, err := p.Reload(); err != nil {
		t.Fatal(err)
	}
	p.waitLive()
	p.sameAsTmux(s)
	p.focus()
	p.keys("q")
	p.waitPrompt()
	p.sameAsTmux(s)
}
