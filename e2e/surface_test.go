package e2e

import (
	"slices"
	"strings"
	"testing"
)

// TestSurface is window.tabs as documented, for scripts of users.
func TestSurface(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	got := stringsOf(p.eval(`() => Object.keys(window.tabs).sort()`))
	want := []string{"active", "close", "focus", "list", "open", "pane", "panes", "select"}
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("window.tabs has no %s: %v", name, got)
		}
	}

	first := p.active()
	second, _ := p.eval(`async () => {
		const id = await window.tabs.open({title: "by script", cwd: "/usr", command: ["sh", "-i"], env: {PS1: "$ "}});
		return [id, window.tabs.active(), window.tabs.pane().state];
	}`).([]any)
	if len(second) != 3 || second[0] != second[1] || second[2] != "live" {
		t.Fatalf("open resolved with %v: want the id of the shown tab, live", second)
	}
	list := p.list()
	if len(list) != 2 || list[1].title != "by script" || !list[1].active || list[0].active {
		t.Errorf("list %v", list)
	}
	p.waitPrompt()
	if selected, _ := p.eval(`async id => [await window.tabs.select(id), window.tabs.active(), window.tabs.pane().state]`, first).([]any); len(selected) != 3 ||
		selected[0] != first || selected[1] != first || selected[2] != "live" {
		t.Errorf("select resolved with %v, want %s, live", selected, first)
	}

	p.run("clear")
	var pane map[string]any
	pollFor(t, patience, "the cursor behind the prompt", func() (bool, any) {
		pane, _ = p.eval(`() => { const x = window.tabs.pane(window.tabs.panes()[0]);
			return {state: x.state, cols: x.cols, rows: x.rows, x: x.cursor.x, y: x.cursor.y, lines: x.lines().length, all: x.scrollback().length} }`).(map[string]any)
		return toInt(pane["x"]) == 2 && toInt(pane["y"]) == 1, pane
	})
	if pane["state"] != "live" || toInt(pane["lines"]) != toInt(pane["rows"]) || toInt(pane["all"]) < toInt(pane["rows"]) {
		t.Errorf("pane %v", pane)
	}
	if v, err := p.tryEval(`() => window.tabs.select("tab_nope").then(() => "resolved", e => String(e.message))`); err != nil || v == "resolved" || v == "" {
		t.Errorf("selecting a tab that is not there: %v, %v", v, err)
	}

	p.eval(`() => document.activeElement.blur()`)
	p.eval(`() => window.tabs.focus()`)
	p.keys("echo foc")
	p.keys("used")
	pollFor(t, patience, "keys reach the terminal after focus()", func() (bool, any) {
		screen := p.screen()
		return strings.Contains(screen, "echo focused"), screen
	})
	p.press("Control+C")

	p.eval(`id => window.tabs.close(id)`, p.list()[1].id)
	p.waitCount("tabs", 1, func() int { return len(p.list()) })
}
