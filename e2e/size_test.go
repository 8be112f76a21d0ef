package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"

	"github.com/browsertabs/tabs/client"
)

// phone is a browser with the screen and the fingers of one.
func phone() playwright.BrowserNewContextOptions {
	return playwright.BrowserNewContextOptions{
		Viewport: &playwright.Size{Width: 390, Height: 844}, DeviceScaleFactor: playwright.Float(3),
		IsMobile: playwright.Bool(true), HasTouch: playwright.Bool(true), IgnoreHttpsErrors: playwright.Bool(true),
		UserAgent: playwright.String("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 " +
			"(KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1"),
	}
}

func (p *page) sttySize() (cols, rows int) {
	p.t.Helper()
	out := p.run("stty size")
	if len(out) != 1 {
		p.t.Fatalf("stty size says %q", out)
	}
	if _, err := fmt.Sscan(out[0], &rows, &cols); err != nil {
		p.t.Fatalf("stty size says %q", out)
	}
	return cols, rows
}

func (p *page) resize(width, height int) {
	p.t.Helper()
	if err := p.SetViewportSize(width, height); err != nil {
		p.t.Fatal(err)
	}
}

func (p *page) waitOtherSize(cols, rows int) {
	p.t.Helper()
	pollFor(p.t, patience, "another size", func() (bool, any) {
		c, r := p.size()
		return c != cols || r != rows, fmt.Sprintf("%dx%d", c, r)
	})
}

// TestPhoneComesAndGoes is amantus-ai/vibetunnel#72: a phone shrank the desktop for good.
func TestPhoneComesAndGoes(t *testing.T) {
	s := newServer(t)
	desktop := s.newPage()
	cols, rows := desktop.size()
	small := s.newDevice(phone()).login()
	small.visit(s.url + "/tabs?id=local")
	small.waitLive()
	if c, r := desktop.size(); c != cols || r != rows {
		t.Errorf("a phone that only looks made the desktop %dx%d, it was %dx%d", c, r, cols, rows)
	}
	small.waitVisible("text=Use this size")
	small.click("text=Use this size")
	pollFor(t, patience, "the phone's size on the desktop", func() (bool, any) {
		c, r := desktop.size()
		pc, pr := small.size()
		return c < cols && c == pc && r == pr, fmt.Sprintf("desktop %dx%d, phone %dx%d", c, r, pc, pr)
	})
	if err := small.Close(); err != nil {
		t.Fatal(err)
	}
	took := pollFor(t, patience, "the desktop's own size", func() (bool, any) {
		c, r := desktop.size()
		return c == cols && r == rows, fmt.Sprintf("%dx%d, it was %dx%d", c, r, cols, rows)
	})
	t.Logf("back after %v", took)
	if c, r := desktop.sttySize(); c != cols || r != rows {
		t.Errorf("the shell has %dx%d, the page %dx%d", c, r, cols, rows)
	}
}

// TestReadOnlyNeverResizes is yudai/gotty#243 and owenthereal/upterm#138.
func TestReadOnlyNeverResizes(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	cols, rows := p.size()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	v, err := s.api().DialTab(ctx, "local", p.active(), client.Hello{Size: &client.Size{Cols: 33, Rows: 11}, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer v.CloseNow()
	for range 5 {
		if _, err := v.Read(ctx); err != nil {
			t.Fatal(err)
		}
		if err := v.Send(ctx, map[string]any{"type": "resize", "cols": 40, "rows": 12}); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Send(ctx, map[string]any{"type": "takeSize"}); err != nil {
		t.Fatal(err)
	}
	p.run("echo settled")
	if c, r := p.sttySize(); c != cols || r != rows {
		t.Errorf("a read-only viewer made the terminal %dx%d, it was %dx%d", c, r, cols, rows)
	}
}

// TestResizedWhileOffline is GOODBOY008/r-shell PR#121: after a resize without a connection the shown command differed
// from the one that ran.
func TestResizedWhileOffline(t *testing.T) {
	s := newServer(t)
	n := newProxy(t, s)
	p := s.newDeviceAt(n.url).openTabs()
	before, _ := p.size()
	n.refuse()
	p.waitState("reconnecting", noticeTime)
	p.resize(700, 500)
	p.focus()
	p.keys("stty size")
	p.press("Enter")
	n.accept(t)
	p.waitLive()
	pollFor(t, patience, "the command saw the page's new size", func() (bool, any) {
		cols, rows := p.size()
		screen := p.screen()
		return cols < before && strings.Contains(screen, fmt.Sprintf("\n%d %d\n", rows, cols)), fmt.Sprintf("%dx%d\n%s", cols, rows, screen)
	})
}

// TestSoakResizeStorm is tmux/tmux#4849, #4562, #1049 and #5268: storms and odd sizes crashed tmux.
func TestSoakResizeStorm(t *testing.T) {
	duration := soak(5*time.Second, time.Minute)
	s := newServer(t)
	p, other := s.newPage(), s.newPage()
	tmux := s.tmuxServers()
	ctx, cancel := context.WithTimeout(t.Context(), duration)
	defer cancel()
	var wg sync.WaitGroup
	r := random(t)
	for i := range 3 {
		v, err := s.api().DialTab(t.Context(), "local", p.active(), client.Hello{Size: &client.Size{Cols: 80, Rows: 24}, Input: "storm000" + fmt.Sprint(i)})
		if err != nil {
			t.Fatal(err)
		}
		seed := r.Uint64()
		wg.Go(func() {
			for ctx.Err() == nil {
				if _, err := v.Read(ctx); err != nil {
					return
				}
			}
		})
		wg.Go(func() {
			defer v.CloseNow()
			tick := time.NewTicker(15 * time.Millisecond) // three of them: 200 a second
			defer tick.Stop()
			for x := seed; ; x = x*6364136223846793005 + 1442695040888963407 {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
				if v.Send(ctx, map[string]any{"type": "takeSize"}) != nil ||
					v.Send(ctx, map[string]any{"type": "resize", "cols": 1 + x>>33%300, "rows": 1 + x>>45%300}) != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	if got := s.tmuxServers(); len(got) != len(tmux) || got[0].pid != tmux[0].pid {
		t.Fatalf("tmux servers %v, before the storm %v", got, tmux)
	}
	p.waitLive()
	p.run("clear; echo after")
	pollFor(t, patience, "both pages agree", func() (bool, any) {
		a, b := p.lines(), other.lines()
		return slices.Equal(a, b), strings.Join(a, "\n") + "\n---\n" + strings.Join(b, "\n")
	})
	p.sameAsTmux(s)
}

// sameAsTmux compares the shown screen with capture-pane, which is the truth.
func (p *page) sameAsTmux(s *server) {
	p.t.Helper()
	id := p.active()
	i := slices.IndexFunc(s.tabs(), func(tab client.Tab) bool { return tab.ID == id })
	if i < 0 {
		p.t.Fatalf("the shown tab %s is not in the API's list", id)
	}
	tab := s.tabs()[i]
	pollFor(p.t, patience, "the screen that tmux has", func() (bool, any) {
		want := trimRows(strings.Split(s.tmux(tab, "capture-pane", "-p"), "\n"))
		for i := range want {
			want[i] = strings.TrimRight(want[i], " ")
		}
		got := trimRows(p.lines())
		return slices.Equal(got, trimRows(want)), "page:\n" + strings.Join(got, "\n") + "\ntmux:\n" + strings.Join(want, "\n")
	})
}
