package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// TestSplitsTypedByHand runs tmux's own commands in a tab: the page, here and on another device, shows what they do.
func TestSplitsTypedByHand(t *testing.T) {
	s := newServer(t)
	p, other := s.newPage(), s.newPage()
	both := func(what string, want int) {
		t.Helper()
		for _, p := range []*page{p, other} {
			p.waitCount(what, want, func() int { return len(p.panes()) })
		}
	}
	p.run("echo left-$((40+2))")
	p.enter("tmux split-window -h")
	both("panes", 2)
	p.waitPrompt()
	p.quiet()
	p.run("echo right-$((40+3))")
	if screen := p.screen(); strings.Contains(screen, "left-42") || !strings.Contains(screen, "right-43") {
		t.Errorf("the active pane shows\n%s", screen)
	}
	left, right := p.panes()[0], p.panes()[1]
	if got := p.paneText(left); !strings.Contains(got, "left-42") {
		t.Errorf("the left pane shows\n%s", got)
	}
	p.agrees(s)

	p.run("tmux resize-pane -Z")
	both("panes while zoomed", 1)
	p.run("tmux resize-pane -Z")
	both("panes", 2)

	p.enter("tmux swap-pane -s 0 -t 1")
	pollFor(t, patience, "the panes swapped", func() (bool, any) {
		got := p.panes()
		return slices.Equal(got, []string{right, left}), got
	})
	p.agrees(s)

	p.enter("tmux new-window")
	both("panes in the new window", 1)
	p.waitPrompt()
	p.quiet()
	p.run("echo second-$((40+4))")
	other.waitText("second-44")
	p.enter("tmux next-window")
	both("panes back in the first", 2)

	p.waitText("$")
	p.enter("tmux kill-pane -t 0")
	both("panes after one was killed", 1)
	p.waitText("left-42")
	p.agrees(s)
}

// agrees compares sizes and places of the shown panes with what tmux says.
func (p *page) agrees(s *server) {
	p.t.Helper()
	id := p.active()
	for _, tab := range s.tabs() {
		if tab.ID != id {
			continue
		}
		var tmux, shown string
		pollFor(p.t, patience, "panes as tmux has them", func() (bool, any) {
			tmux = s.tmux(tab, "list-panes", "-F", "#{s/%//:pane_id} #{pane_width}x#{pane_height}")
			var b strings.Builder
			for _, pane := range p.panes() {
				v, _ := p.eval(`id => { const x = window.tabs.pane(isNaN(id) ? id : Number(id)); return [x.cols, x.rows] }`, pane).([]any)
				fmt.Fprintf(&b, "%s %dx%d\n", strings.TrimPrefix(pane, "%"), toInt(v[0]), toInt(v[1]))
			}
			shown = strings.TrimSpace(b.String())
			return tmux == shown, fmt.Sprintf("tmux:\n%s\npage:\n%s", tmux, shown)
		})
		return
	}
	p.t.Errorf("the shown tab %s is not in the API's list", id)
}

func (p *page) paneText(id string) string {
	p.t.Helper()
	return strings.Join(stringsOf(p.eval(`id => window.tabs.pane(isNaN(id) ? id : Number(id)).lines()`, id)), "\n")
}

// TestDividerDrag resizes panes with the mouse, which is tmux resize-pane.
func TestDividerDrag(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	p.enter("tmux split-window -h")
	p.waitCount("panes", 2, func() int { return len(p.panes()) })
	widths := func() string { return s.tmux(s.tabs()[0], "list-panes", "-F", "#{pane_width}") }
	before := widths()
	b := p.box("[role=separator]")
	x, y := b.X+b.Width/2, b.Y+b.Height/2
	p.drag(x, y, x-120, y)
	pollFor(t, patience, "tmux has other widths", func() (bool, any) { got := widths(); return got != before, got })
	p.agrees(s)
}

func TestSplitByButton(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	p.click("[data-testid=split]")
	p.waitCount("panes", 2, func() int { return len(p.panes()) })
	p.agrees(s)
	p.waitPrompt()
	p.enter("exit")
	p.waitCount("panes after exit", 1, func() int { return len(p.panes()) })
}

// split splits the active pane by the keyboard and waits for the new shell.
func (p *page) split(keys string) {
	p.t.Helper()
	before := len(p.panes())
	p.focus()
	p.press(keys)
	p.waitCount("panes", before+1, func() int { return len(p.panes()) })
	p.waitPrompt()
}

// activePane is the one that keys go to, as tmux and as the page have it.
func (p *page) activePane(s *server, want string) {
	p.t.Helper()
	pollFor(p.t, patience, "active pane "+want, func() (bool, any) {
		tmux := strings.TrimPrefix(s.tmux(s.tabs()[0], "display-message", "-p", "#{pane_id}"), "%")
		focused := fmt.Sprint(p.eval(`() => document.activeElement?.closest(".pane")?.dataset.pane ?? "none"`))
		return tmux == want && focused == want, "tmux " + tmux + ", page " + focused
	})
}

// places are the panes of the shown tab from left to right and top to bottom.
func (p *page) places() string {
	p.t.Helper()
	return strings.Join(p.panes(), " ")
}

func TestPanesByKeyboard(t *testing.T) {
	s := newServer(t)
	p, other := s.newPage(), s.newPage()
	p.split("Control+Shift+E") // 0 | 1
	p.activePane(s, "1")
	p.split("Control+Shift+O") // 0 | 1 over 2
	p.activePane(s, "2")
	for _, step := range []struct{ keys, want string }{
		{"Control+Alt+ArrowUp", "1"}, {"Control+Alt+ArrowLeft", "0"}, {"Control+Alt+ArrowRight", "1"}, {"Control+Alt+ArrowDown", "2"},
		{"Control+Alt+ArrowDown", "1"}, // past the edge: around
	} {
		p.press(step.keys)
		p.activePane(s, step.want)
	}
	p.enter("echo one-$((1+1))")
	p.waitText("one-2")
	swapped := func(p *page, want string) {
		t.Helper()
		pollFor(t, patience, "panes "+want, func() (bool, any) { got := p.places(); return got == want, got })
	}
	p.press("Control+Alt+Shift+ArrowLeft") // 1 | 0 over 2
	swapped(p, "1 0 2")
	swapped(other, "1 0 2")
	p.activePane(s, "1")
	p.agrees(s)
	p.press("Control+Shift+Z")
	p.waitCount("panes while zoomed", 1, func() int { return len(p.panes()) })
	other.waitVisible(".pane-handle.zoomed")
	p.press("Control+Alt+ArrowRight") // shows all again
	p.waitCount("panes", 3, func() int { return len(p.panes()) })

	// Closing a pane asks when a program runs in it, and only then.
	p.press("Control+Shift+Backspace")
	p.waitCount("panes", 2, func() int { return len(p.panes()) })
	p.activePane(s, "1") // where the keys were before
	p.enter("sleep 1000")
	pollFor(t, patience, "sleep runs", func() (bool, any) { tab := s.tabs()[0]; return tab.Foreground == "sleep", tab })
	p.press("Control+Shift+Backspace")
	p.waitVisible("[data-testid=dialog]")
	p.confirm()
	p.waitCount("panes", 1, func() int { return len(p.panes()) })
	other.waitCount("panes", 1, func() int { return len(other.panes()) })
	p.agrees(s)
	if n := p.count(".pane-handle"); n != 0 {
		t.Errorf("a pane that is alone has %d handles", n)
	}
}

// handleOf is the middle of a pane's handle.
func (p *page) handleOf(pane string) (x, y float64) {
	p.t.Helper()
	b := p.box(fmt.Sprintf(".pane-handle[data-pane=%q]", pane))
	return b.X + b.Width/2, b.Y + b.Height/2
}

func TestPanesByHandle(t *testing.T) {
	s := newServer(t)
	p, other := s.newPage(), s.newPage()
	p.run("echo first-$((40+2))")
	p.split("Control+Shift+E")
	p.run("echo second-$((40+3))")
	arranged := func(want string) {
		t.Helper()
		for _, p := range []*page{p, other} {
			pollFor(t, patience, "panes "+want, func() (bool, any) { got := p.places(); return got == want, got })
		}
		p.agrees(s)
	}
	arranged("0 1")

	// Into the place of the other, below it, and nowhere.
	x, y := p.handleOf("1")
	window := p.box("[data-testid=window]")
	p.drag(x, y, window.X+window.Width/4, window.Y+window.Height/2)
	arranged("1 0")
	x, y = p.handleOf("1")
	p.drag(x, y, window.X+window.Width*3/4, window.Y+window.Height-8)
	arranged("0 1")
	if top := s.tmux(s.tabs()[0], "display-message", "-p", "-t", "%1", "#{pane_top}"); top == "0" {
		t.Error("the pane was not put below the other")
	}
	x, y = p.handleOf("1")
	p.drag(x, y, x+20, y+40) // onto itself
	arranged("0 1")

	// Out to the strip: a terminal of its own, on every device, with its program as it was.
	if err := p.Mouse().Move(x, y); err != nil {
		t.Fatal(err)
	}
	strip := p.box("[data-testid=strip]")
	p.drag(x, y, strip.X+strip.Width/2, strip.Y+strip.Height/2)
	for _, p := range []*page{p, other} {
		p.waitCount("terminals", 2, func() int { return len(p.list()) })
	}
	p.waitLive()
	p.waitText("second-43")
	if list := p.list(); !list[1].active {
		t.Errorf("the terminal broken out is not shown: %+v", list)
	}
	p.run("echo still-$((40+4))")
	other.waitCount("panes left", 1, func() int { return len(other.panes()) })
	other.waitText("first-42")

	// And back, by the menu of the strip.
	first, second := p.list()[0].id, p.list()[1].id
	p.selectTab(first)
	if err := p.Locator(tabSelector(second)).Click(playwright.LocatorClickOptions{Button: playwright.MouseButtonRight}); err != nil {
		t.Fatal(err)
	}
	p.click("[role=menuitem]:has-text('Take in as a pane')")
	for _, p := range []*page{p, other} {
		p.waitCount("terminals", 1, func() int { return len(p.list()) })
		p.waitCount("panes", 2, func() int { return len(p.panes()) })
	}
	p.waitText("still-44")
	p.agrees(s)

	// A handle is a menu, for the mouse and the keyboard.
	x, y = p.handleOf(p.panes()[0])
	if err := p.Mouse().Click(x, y); err != nil {
		t.Fatal(err)
	}
	p.waitVisible("[data-testid=menu-open]")
	p.press("z")
	p.press("Enter")
	p.waitCount("panes while zoomed", 1, func() int { return len(p.panes()) })
	p.click(".pane-handle.zoomed")
	p.press("s") // from Split right to Split down
	p.press("s") // Show all panes
	p.press("Enter")
	p.waitCount("panes", 2, func() int { return len(p.panes()) })
}

// TestJoinAcrossServers: what cannot be done is said, with the reason.
func TestJoinAcrossServers(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	p.openTab()
	if err := p.Locator(tabSelector(p.list()[0].id)).Click(playwright.LocatorClickOptions{Button: playwright.MouseButtonRight}); err != nil {
		t.Fatal(err)
	}
	item := p.Locator("[role=menuitem]:has-text('Take in as a pane')")
	if disabled, err := item.GetAttribute("aria-disabled"); err != nil || disabled != "true" {
		t.Errorf("a terminal of another tmux can be taken in: %q, %v", disabled, err)
	}
	if title, _ := item.GetAttribute("title"); !strings.Contains(title, "a tmux of its own") {
		t.Errorf("the reason is %q", title)
	}
	p.press("Escape")
	p.waitHidden("[data-testid=menu-open]")
	p.press("Control+Shift+P")
	p.keys("take another")
	p.press("Enter")
	p.waitVisible("[data-testid=notice]:has-text('cannot move')")
	if n := len(p.list()); n != 2 {
		t.Errorf("%d terminals", n)
	}
}
