package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
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
