package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"

	"github.com/browsertabs/tabs/client"
)

// TestReloadKeepsEverything is R083, and jupyterlab/jupyterlab#10633: blank, and no history after a reload.
func TestReloadKeepsEverything(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	first := p.active()
	p.run("seq 1 5000")
	second := p.openTab()
	p.rename(second, "build")
	p.run("echo in the second")
	p.selectTab(first)

	list, screen, history := p.list(), p.screen(), p.scrollback()
	if len(list) != 2 || list[0].id != first || list[1].title != "build" {
		t.Fatalf("list %v", list)
	}
	if _, err := p.Reload(); err != nil {
		t.Fatal(err)
	}
	p.waitLive()
	if got := p.list(); !slices.Equal(got, list) {
		t.Errorf("list after reload %v, want %v", got, list)
	}
	pollFor(t, patience, "the same screen", func() (bool, any) { got := p.screen(); return got == screen, got })
	pollFor(t, patience, "the same history", func() (bool, any) {
		got := p.scrollback()
		return slices.Equal(trimRows(got), trimRows(history)), fmt.Sprintf("%d rows, want %d", len(got), len(history))
	})
	if !slices.Contains(p.scrollback(), "1") {
		t.Error("line 1 is not in the history")
	}
	p.run("echo typing works")
}

// trimRows drops the blank rows at the end.
func trimRows(rows []string) []string {
	for len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	return rows
}

func TestTwoDevicesStayInStep(t *testing.T) {
	s := newServer(t)
	a, b := s.newPage(), s.newPage()
	if a.active() != b.active() {
		t.Fatalf("devices show tabs %s and %s, want the same", a.active(), b.active())
	}
	a.run("echo from-$((20+1))")
	b.waitText("from-21")
	b.run("echo from-$((20+2))")
	a.waitText("from-22")

	second := a.openTab()
	b.waitCount("tabs on the other device", 2, func() int { return len(b.list()) })
	b.selectTab(second)
	b.waitLive()
	a.rename(second, "shared")
	for _, p := range []*page{a, b} {
		pollFor(t, patience, "the new title", func() (bool, any) {
			got := p.list()
			return len(got) == 2 && got[1].title == "shared", got
		})
	}
	a.press("Control+Shift+PageUp") // move left
	for _, p := range []*page{a, b} {
		pollFor(t, patience, "the new order", func() (bool, any) {
			got := p.list()
			return len(got) == 2 && got[0].id == second, got
		})
	}
	b.eval(`id => window.tabs.close(id)`, second)
	for _, p := range []*page{a, b} {
		p.waitCount("tabs", 1, func() int { return len(p.list()) })
	}
}

func TestReorderByDrag(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	ids := []string{p.active(), p.openTab(), p.openTab()}
	from, to := p.box(tabSelector(ids[0])), p.box(tabSelector(ids[2]))
	p.drag(from.X+from.Width/3, from.Y+from.Height/2, to.X+to.Width*0.8, to.Y+to.Height/2)
	want := []string{ids[1], ids[2], ids[0]}
	order := func(list []tabInfo) (got []string) {
		for _, tab := range list {
			got = append(got, tab.id)
		}
		return got
	}
	pollFor(t, patience, "the dragged order", func() (bool, any) {
		got := order(p.list())
		return slices.Equal(got, want), got
	})
	other := s.newPage()
	if got := order(other.list()); !slices.Equal(got, want) {
		t.Errorf("another device has order %v, want %v", got, want)
	}
}

func TestTitleFollowsProgram(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	p.enter(`printf '\033]2;compiling\007'; sleep 1000`)
	pollFor(t, patience, "the program's title", func() (bool, any) {
		got := p.list()
		return got[0].title == "compiling", got
	})
}

// TestCloseAsks closes a tab with a program in it: it asks, Enter keeps, and ending it ends that session alone.
func TestCloseAsks(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	idle := p.active()
	busy := p.openTab()
	p.enter("sleep 4321")
	pollFor(t, patience, "the server knows the program", func() (bool, any) {
		tabs := s.tabs()
		return len(tabs) == 2 && strings.Contains(tabs[1].Foreground, "sleep"), tabs
	})
	sleeping := func() int {
		return len(filter(processesOf(s.dir), func(p process) bool { return slices.Equal(p.argv, []string{"sleep", "4321"}) }))
	}
	if sleeping() != 1 {
		t.Fatal("the program does not run")
	}

	p.closeButton(busy)
	p.waitVisible("role=dialog >> text=sleep")
	p.press("Enter")
	p.waitHidden("role=dialog")
	if len(p.list()) != 2 || sleeping() != 1 {
		t.Fatal("Enter ended the program")
	}
	p.closeButton(busy)
	p.click("role=dialog >> role=button[name='End it']")
	p.waitCount("tabs", 1, func() int { return len(p.list()) })
	p.waitCount("sleeping programs", 0, sleeping)

	p.closeButton(idle) // to tmux and us it is a program that was asked for: it may be somebody's, so it asks
	p.click("role=dialog >> role=button[name='End it']")
	p.waitCount("tabs", 0, func() int { return len(p.list()) })
	p.waitCount("tmux servers", 0, func() int { return len(s.tmuxServers()) })
	p.waitVisible("text=No terminals") // and closing the last one opens no other
}

// TestIdleShellAsksNothing closes a login shell that does nothing.
func TestIdleShellAsksNothing(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	id := fmt.Sprint(p.eval(`() => window.tabs.open()`))
	p.waitPromptFor(loginPatience)
	pollFor(t, patience, "the server sees an idle shell", func() (bool, any) {
		tabs := s.tabs()
		return tabs[1].Foreground == "", tabs
	})
	p.closeButton(id)
	p.waitCount("tabs", 1, func() int { return len(p.list()) })
}

// TestExit ends a shell, which closes its tab, and a program with a status, whose last screen stays and which can be
// started again.
func TestExit(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	other := p.active()
	shell := fmt.Sprint(p.eval(`() => window.tabs.open()`))
	id := fmt.Sprint(p.eval(`() => window.tabs.open({command: ["sh", "-c", "echo run $$; exit 3"]})`))
	p.waitText("run ")
	p.waitVisible("text=Exited 3")
	before := p.lines()[0]
	p.click("role=button[name='Restart']")
	pollFor(t, patience, "another run's output", func() (bool, any) {
		screen := p.screen()
		return strings.Contains(screen, "run ") && !strings.Contains(screen, before), screen
	})
	p.waitVisible("text=Exited 3")

	p.selectTab(shell)
	p.waitPromptFor(loginPatience)
	p.enter("exit")
	pollFor(t, patience, "the shell's tab closes", func() (bool, any) {
		list := p.list()
		return len(list) == 2 && list[0].id == other && list[1].id == id, list
	})
}

// TestHandMadeSession shows a session made inside a tab's tmux within a second, on every device.
func TestHandMadeSession(t *testing.T) {
	s := newServer(t)
	p, other := s.newPage(), s.newPage()
	p.run("tmux new-session -d -s byhand")
	for _, p := range []*page{p, other} {
		pollFor(t, 2*time.Second, "the session's tab", func() (bool, any) {
			list := p.list()
			return len(list) == 2, list
		})
	}
	id := other.list()[1].id
	other.selectTab(id)
	other.waitLive()
	other.quiet()
	if got := other.run("tmux display-message -p '#S'"); !slices.Equal(got, []string{"byhand"}) {
		t.Errorf("the tab shows session %q", got)
	}
}

func TestDeepLink(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	first, second := p.active(), p.openTab()
	for _, id := range []string{first, second} {
		p.visit(s.url + "/tabs?id=local&tab=" + id)
		p.waitLive()
		if got := p.active(); got != id {
			t.Errorf("a link to %s shows %s", id, got)
		}
	}
	p.selectTab(first)
	pollFor(t, 2*time.Second, "the address names the shown tab", func() (bool, any) {
		return strings.Contains(p.URL(), "tab="+first), p.URL()
	})
}

// TestLoginShell is R075 and R076: a login shell of the user, in the user's home.
func TestLoginShell(t *testing.T) {
	s := newServer(t)
	p := s.newDevice().login()
	p.visit(s.url + "/tabs?id=local")
	p.waitLive()
	p.waitPromptFor(loginPatience)
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	if got := p.run("pwd; shopt -q login_shell && echo login"); os.Getuid() == 0 && !slices.Equal(got, []string{"/root", "login"}) ||
		!slices.Contains(got, "login") {
		t.Errorf("first tab says %q, want a login shell in %s", got, home)
	}
}

// TestClosedTabsLeaveNothing is receptron/mulmoterminal#366: closing a tab left its session.
func TestClosedTabsLeaveNothing(t *testing.T) {
	s := newServer(t)
	c := s.api()
	var ids []string
	for i := range 20 {
		tab, err := c.OpenTab(t.Context(), "local", client.NewTab{Title: fmt.Sprint(i)})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, tab.ID)
	}
	if got := len(s.tmuxServers()); got != len(ids) {
		t.Fatalf("%d tmux servers for %d tabs", got, len(ids))
	}
	for i, id := range ids {
		if i%2 == 0 {
			if err := c.CloseTab(t.Context(), "local", id); err != nil {
				t.Fatal(err)
			}
		}
	}
	var left []string
	for _, tab := range s.tabs() {
		left = append(left, tab.Title)
	}
	if want := []string{"1", "3", "5", "7", "9", "11", "13", "15", "17", "19"}; !slices.Equal(left, want) {
		t.Errorf("tabs left %v, want %v", left, want)
	}
	pollFor(t, patience, "one tmux server for each tab left", func() (bool, any) {
		servers := s.tmuxServers()
		return len(servers) == 10, servers
	})
}

// TestTypeAhead presses keys before the page has a terminal: they reach it, once.
func TestTypeAhead(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	p.quiet()
	// The page's own script has run by then, its socket has not.
	early := `document.addEventListener("DOMContentLoaded", () => {
		for (const key of [..."echo $((6*7))ly", "Enter"]) {
			document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
		}
	})`
	if err := p.AddInitScript(playwright.Script{Content: &early}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Reload(); err != nil {
		t.Fatal(err)
	}
	p.waitText("42ly")
	if got := strings.Count(p.screen(), "42ly"); got != 1 {
		t.Errorf("%d answers, want 1:\n%s", got, p.screen())
	}
}
