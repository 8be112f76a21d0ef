package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// noticeTime is how long a dead connection may go unnoticed: 10 s, to which connection.test.ts holds it, and as much again
// for a busy machine.
const noticeTime = 20 * time.Second

// TestDrop is tsl0922/ttyd#1397 (a reconnect killed the running compile) and zellij-org/zellij#5341 (one drop, endless
// reloads): the socket is cut, and page and program go on.
func TestDrop(t *testing.T) {
	s := newServer(t)
	n := newProxy(t, s)
	p := s.newDeviceAt(n.url).openTabs()
	p.eval(`() => { window.sameDocument = true }`)
	ok := filepath.Join(s.dir, "ok")
	p.enter("sleep 3; touch " + ok)
	for range 3 {
		n.drop()
		pollFor(t, patience, "the page notices", func() (bool, any) { state := p.state(); return state != "live", state })
		p.waitLive()
	}
	if p.eval(`() => window.sameDocument`) != true {
		t.Error("the page reloaded itself")
	}
	if _, err := p.Reload(); err != nil {
		t.Fatal(err)
	}
	p.waitLive()
	pollFor(t, patience, "the program ends as if nothing had happened", func() (bool, any) {
		_, err := os.Stat(ok)
		return err == nil, err
	})
	p.run("echo and typing works")
}

// TestStall is wireapp/wire-webapp PR#21477: a socket that is open, but dead after a wake.
func TestStall(t *testing.T) {
	s := newServer(t)
	n := newProxy(t, s)
	p := s.newDeviceAt(n.url).openTabs()
	n.stall()
	took := pollFor(t, noticeTime, "the page notices the dead socket", func() (bool, any) { state := p.state(); return state != "live", state })
	t.Logf("noticed after %v", took)
	p.waitVisible("text=/Reconnecting/")
	if screen := p.screen(); !strings.Contains(screen, "$") {
		t.Errorf("the last screen is gone:\n%s", screen)
	}
	n.flow()
	p.waitLive()
	p.run("echo back")
}

// TestSleep is tsl0922/ttyd PR#1536: after a sleep it was stuck. The server stops for a while, as its machine does.
func TestSleep(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	p.run("echo before")
	s.pause()
	pollFor(t, noticeTime, "the page notices", func() (bool, any) { state := p.state(); return state != "live", state })
	s.resume()
	p.waitLive()
	p.run("echo after")
}

// TestRefused cuts the network for longer than the first tries, and lets it back: the page comes back by itself, and at
// once when it is looked at.
func TestRefused(t *testing.T) {
	s := newServer(t)
	n := newProxy(t, s)
	p := s.newDeviceAt(n.url).openTabs()
	n.refuse()
	p.waitState("reconnecting", noticeTime)
	p.waitVisible("text=/Reconnecting/")
	// Long enough for the backoff to have grown.
	pollFor(t, patience, "the tries get rarer", func() (bool, any) {
		text, err := p.Locator("body").InnerText()
		return err == nil && (strings.Contains(text, "in 3 s") || strings.Contains(text, "in 4 s") || strings.Contains(text, "in 5 s") ||
			strings.Contains(text, "in 6 s")), text
	})
	n.accept(t)
	p.eval(`() => document.dispatchEvent(new Event("visibilitychange"))`)
	if took := p.waitState("live", patience); took > 0 {
		t.Logf("live %v after it was looked at", took)
	}
	p.run("echo back")
}

// TestKeysWhileAway types during a short outage: it arrives once, in order.
func TestKeysWhileAway(t *testing.T) {
	s := newServer(t)
	n := newProxy(t, s)
	p := s.newDeviceAt(n.url).openTabs()
	file := filepath.Join(s.dir, "typed")
	p.enter("cat > " + file)
	var want strings.Builder
	for round := range 4 {
		line := fmt.Sprintf("round %d: abcdefghijklmnopqrstuvwxyz", round)
		p.keys(line[:12])
		if round%2 == 0 {
			n.drop()
		} else {
			n.refuse()
		}
		p.keys(line[12:])
		p.press("Enter")
		if round%2 == 1 {
			n.accept(t)
		}
		p.waitLive()
		want.WriteString(line + "\n")
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
}

// TestBackForwardCache is zellij-org/zellij#5571: away and back, the socket was closed and keys were lost.
func TestBackForwardCache(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	p.run("echo here-$((1+1))")
	p.visit(s.url + "/devices")
	if _, err := p.GoBack(); err != nil {
		t.Fatal(err)
	}
	p.waitLive()
	p.waitText("here-2")
	p.run("echo again")
}

// TestSoakOutputWhileAway is amantus-ai/vibetunnel#302: after a long absence minutes of text scrolled by.
func TestSoakOutputWhileAway(t *testing.T) {
	s := newServer(t)
	n := newProxy(t, s)
	p := s.newDeviceAt(n.url).openTabs()
	done := filepath.Join(s.dir, "done")
	p.enter(fmt.Sprintf("clear; yes $(seq -s. 30) | head -c %d; printf '%%8s%%s\\n' '' the-end; touch %s", soak(50_000_000, 200_000_000), done))
	n.refuse()
	pollFor(t, 3*time.Minute, "much output", func() (bool, any) { _, err := os.Stat(done); return err == nil, err })
	before := n.bytesToBrowser()
	n.accept(t)
	p.eval(`() => window.dispatchEvent(new Event("online"))`)
	took := p.waitTextFor("        the-end", patience)
	t.Logf("current screen after %v and %d KB", took, (n.bytesToBrowser()-before)/1024)
	if sent := n.bytesToBrowser() - before; sent > 4<<20 {
		t.Errorf("%d bytes were sent for one screen and its history", sent)
	}
}

// TestIdleProxy is tsl0922/ttyd#445 and #663: proxies cut sockets on which nothing happens. Theirs wait 60 s; ours must
// hear something at least every 20 s.
func TestIdleProxy(t *testing.T) {
	s := newServer(t)
	front := freeAddr(t)
	nginx(t, s, front, "location / { "+proxyHeaders+" proxy_pass http://"+s.addr+"; proxy_read_timeout 20s; proxy_send_timeout 20s; }")
	p := s.newDeviceAt("http://" + front).openTabs()
	p.eval(`() => { window.left = 0; setInterval(() => { if (window.tabs.pane().state !== "live") window.left++ }, 50) }`)
	idle := time.Now()
	pollFor(t, 40*time.Second, "idle for longer than the proxy waits", func() (bool, any) { return time.Since(idle) > 24*time.Second, nil })
	if left := toInt(p.eval(`() => window.left`)); left != 0 {
		t.Errorf("the terminal was away at %d looks, 50 ms apart", left)
	}
	p.run("echo still here")
}

// TestReplayedQueries is coder/coder#3666: what a program once asked was asked again by the replay, and the browser's
// answers were typed into the shell.
func TestReplayedQueries(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	p.run(`for i in $(seq 100); do printf '\e[c\e[6n\e]11;?\a\e[?2026$p'; done; sleep 0.5; stty -echo; while read -t 0.2 -n 1000 -d '' x; do :; done; stty echo; clear`)
	p.run("echo one")
	screen := p.screen()
	for range 3 {
		if _, err := p.Reload(); err != nil {
			t.Fatal(err)
		}
		p.waitLive()
		pollFor(t, patience, "the same screen", func() (bool, any) { got := p.screen(); return got == screen, got })
	}
	p.run("echo two")
	if got := p.run("echo three"); len(got) != 1 || got[0] != "three" {
		t.Errorf("the shell says %q: something was typed into it", got)
	}
}
