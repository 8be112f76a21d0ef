package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// searchFor opens the search over the active pane and types a text into it.
func (p *page) searchFor(text string) {
	p.t.Helper()
	p.focus()
	p.press("Control+Shift+F")
	p.waitVisible("[data-testid=search]")
	pollFor(p.t, patience, "the cursor in the search", func() (bool, any) {
		got := p.eval(`() => document.activeElement?.dataset.testid ?? ""`)
		return got == "search-input", got
	})
	p.press("Control+A")
	p.keys(text)
}

func (p *page) waitFound(want string) {
	p.t.Helper()
	pollFor(p.t, patience, "count "+want, func() (bool, any) {
		got, err := p.Locator("[data-testid=search-count]").TextContent()
		return got == want, fmt.Sprint(got, err)
	})
}

// waitOnScreen waits for a row of the history to be scrolled to.
func (p *page) waitRow(want string) {
	p.t.Helper()
	pollFor(p.t, patience, "row "+want, func() (bool, any) {
		lines := p.lines()
		for _, line := range lines {
			if line == want {
				return true, nil
			}
		}
		return false, strings.Join(lines, "\n")
	})
}

// TestSearch finds text in the whole history of a pane, and goes back to the terminal.
func TestSearch(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	p.run("seq -f 'row %g of many' 1 3000; echo Word wordy; printf '漢字 mark\\n'")
	p.searchFor("row 12")
	p.waitFound("1 of 111") // 12, 120-129, 1200-1299: the newest first
	p.waitRow("row 1299 of many")
	p.press("Enter")
	p.waitFound("2 of 111")
	p.press("F3")
	p.waitFound("3 of 111")
	p.press("Shift+F3")
	p.press("Shift+Enter")
	p.waitFound("1 of 111")
	p.press("Shift+Enter") // and round
	p.waitFound("111 of 111")
	p.waitRow("row 12 of many")
	if n := p.count(".search-box"); n == 0 || p.count(".search-box.current") != 1 {
		t.Errorf("%d matches are marked on the screen, %d as the one it is at", n, p.count(".search-box.current"))
	}
	if marked := p.eval(`() => { const c = document.querySelector("[data-testid=search-ruler]");
		return c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some(v => v > 0) }`); marked != true {
		t.Error("nothing is marked beside the scrollbar")
	}

	// Live: more comes while the search is open.
	tab := s.tabs()[0]
	s.tmux(tab, "send-keys", "echo row 12 again", "Enter")
	p.waitFound("113 of 113") // the command and what it prints

	p.searchFor("word")
	p.waitFound("3 of 4") // up from where one looks
	p.click("[data-testid=search-wholeWord]")
	p.waitFound("2 of 2")
	p.click("[data-testid=search-matchCase]")
	p.waitFound("None")
	p.click("[data-testid=search-matchCase]")
	p.click("[data-testid=search-wholeWord]")
	p.click("[data-testid=search-regex]")
	p.searchFor(`^row \d{4} of`)
	p.waitFound("2001 of 2001")
	p.searchFor("(")
	p.waitFound("Not an expression")
	p.searchFor("漢.")
	p.waitFound("2 of 2")

	p.press("Escape")
	p.waitHidden("[data-testid=search]")
	p.keys("echo ba")
	p.keys("ck")
	p.waitText("echo back")
}

// TestSearchOlder finds what the page has dropped and tmux still holds.
func TestSearchOlder(t *testing.T) {
	s := newServer(t, "--scrollback", "40000")
	s.openTab()
	p := s.newPage()
	p.run("seq -f 'row %g of many' 1 30000")
	if rows := p.scrollback(); strings.HasPrefix(rows[0], "$ seq") || len(rows) > 11_000 {
		t.Fatalf("the page holds %d rows, beginning with %q: nothing is left to fetch", len(rows), rows[0])
	}
	p.searchFor("row 17 of")
	p.waitFound("1 of 1")
	p.waitRow("row 17 of many")
	p.press("Escape")
	p.waitRow("row 17 of many") // where it was found

	// What is not looked at is given back.
	first := p.active()
	p.openTab()
	p.selectTab(first)
	if rows := len(p.scrollback()); rows > 11_000 {
		t.Errorf("a pane that was hidden still holds %d rows", rows)
	}
}
