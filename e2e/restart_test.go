package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/browsertabs/tabs/client"
)

// soak chooses between what make test and what make soak does.
func soak[T any](short, long T) T {
	if os.Getenv("TABS_SOAK") != "" {
		return long
	}
	return short
}

// random returns a generator whose seed the test log has; TABS_SEED repeats a run.
func random(t testing.TB) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("TABS_SEED"); s != "" {
		if _, err := fmt.Sscan(s, &seed); err != nil {
			t.Fatalf("TABS_SEED: %v", err)
		}
	}
	t.Logf("TABS_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// TestServerRestart is R085: the page comes back by itself, with the same tabs, screens and history.
func TestServerRestart(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	first := p.active()
	p.run("seq 1 500")
	second := p.openTab()
	p.rename(second, "kept")
	p.run("echo second-$((3*7))")
	list, screen, history := p.list(), p.screen(), trimRows(p.scrollback())

	s.stop()
	if left := s.tmuxClients(); len(left) > 0 {
		t.Errorf("control clients outlive a stop: %v", left)
	}
	if got := len(s.tmuxServers()); got != 2 {
		t.Fatalf("%d tmux servers after a stop, want 2", got)
	}
	p.waitState("reconnecting", noticeTime)
	s.restart()
	p.waitLive()
	if got := p.list(); !slices.Equal(got, list) {
		t.Errorf("list %v, want %v", got, list)
	}
	if got := p.screen(); got != screen {
		t.Errorf("screen\n%s\nwant\n%s", got, screen)
	}
	pollFor(t, patience, "the same history", func() (bool, any) {
		got := trimRows(p.scrollback())
		return slices.Equal(got, history), strings.Join(got, "\n")
	})
	p.selectTab(first)
	p.waitLive()
	p.waitText("500")
	p.run("echo typing works")
}

// TestSoakKill kills the server at random moments while a program writes and a person types: every byte of both arrives
// once, and no control client is left over (Tuxie/tmux-web left 78). A few moments here, 50 in a soak.
func TestSoakKill(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	writer := p.active()
	p.enter(`i=0; while sleep 0.02; do i=$((i+1)); echo "line $i"; done`)
	p.waitText("line 9")
	p.openTab()
	file := filepath.Join(s.dir, "typed")
	p.enter("cat > " + file)
	p.waitText("typed")

	r := random(t)
	var want strings.Builder
	for round := range soak(4, 50) {
		line := fmt.Sprintf("%d:the quick brown fox jumps over the lazy dog", round)
		cut := 1 + r.IntN(len(line)-1)
		p.keys(line[:cut])
		s.kill()
		p.keys(line[cut:])
		p.press("Enter")
		want.WriteString(line + "\n")
		s.restart()
		p.waitLive()
		pollFor(t, patience, "one control client for each tab", func() (bool, any) {
			clients := s.tmuxClients()
			return len(clients) == 2, clients
		})
	}
	p.press("Control+D")
	p.waitPrompt()
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want.String() {
		t.Errorf("typed\n%s\narrived\n%s", want.String(), got)
	}

	p.selectTab(writer)
	p.waitLive()
	p.focus()
	p.press("Control+C")
	p.waitPrompt()
	number := 0
	for _, row := range p.scrollback() {
		var n int
		if _, err := fmt.Sscanf(row, "line %d", &n); err != nil {
			continue
		}
		if number != 0 && n != number+1 {
			t.Fatalf("line %d follows line %d", n, number)
		}
		number = n
	}
	if number < 9 {
		t.Errorf("only %d lines were written", number)
	}
}

// TestRevive loses the machine, as far as tmux can tell, and gets the tabs back without a claim that programs survived.
func TestRevive(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	dir := filepath.Join(s.dir, "project")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p.run("cd " + dir)
	p.run("echo remember-$((40+5))")
	second := p.openTab()
	p.rename(second, "second")
	pollFor(t, patience, "the server knows the directory", func() (bool, any) {
		tabs := s.tabs()
		return tabs[0].Cwd == dir, tabs
	})

	s.stop()
	for _, tmux := range s.tmuxServers() {
		syscall.Kill(tmux.pid, syscall.SIGKILL)
	}
	pollFor(t, patience, "tmux is gone", func() (bool, any) { left := s.tmuxServers(); return len(left) == 0, left })
	s.restart()
	p.visit(s.url + "/tabs?id=local")
	p.waitVisible("text=/2 terminals from before/")
	p.click("role=button[name='Revive all']")
	p.waitCount("tabs", 2, func() int { return len(p.list()) })
	list := p.list()
	if list[1].title != "second" {
		t.Errorf("titles after reviving: %v", list)
	}
	p.selectTab(list[0].id)
	p.waitLive()
	p.waitText("remember-45")
	p.waitText("this is a new shell")
	pollFor(t, patience, "the revived shell is in its directory", func() (bool, any) {
		tabs := s.tabs()
		return tabs[0].Cwd == dir, tabs
	})
}

// killTmux ends the tmux server of a tab without a chance to say goodbye.
func (s *server) killTmux(tab client.Tab) {
	s.t.Helper()
	text := s.tmux(tab, "display-message", "-p", "#{pid}")
	pid, err := strconv.Atoi(text)
	if err != nil {
		s.t.Fatalf("pid of tmux: %q", text)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		s.t.Fatal(err)
	}
}

// TestServerGone is R090: the tmux of one tab dies. The page says so, the other tab goes on, and Revive opens it again.
func TestServerGone(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	first := p.active()
	p.openTab()
	p.run("echo second")
	p.selectTab(first)
	p.waitLive()
	s.killTmux(s.tabs()[0])
	p.waitVisible("text=The terminal server of this tab ended")
	if got := len(s.tmuxServers()); got != 1 {
		t.Errorf("%d tmux servers, want the other tab's", got)
	}
	p.click("role=button[name='Revive']")
	p.waitLive()
	p.waitText("this is a new shell")
	p.waitCount("tmux servers", 2, func() int { return len(s.tmuxServers()) })
}

// TestNewerVersion leaves a page open while the server is replaced: it says so and goes on, and never reloads by itself.
func TestNewerVersion(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	p.eval(`() => { window.sameDocument = true }`)
	s.stop()
	s.exe = otherVersion(t)
	s.restart()
	p.waitLive()
	p.waitVisible("text=/newer version/")
	p.run("echo goes on")
	if p.eval(`() => window.sameDocument`) != true {
		t.Error("the page reloaded itself")
	}
}
