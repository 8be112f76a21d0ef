package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/browsertabs/tabs/client"
)

// pss is a process's part of the memory it uses, in bytes: what it shares with others is divided among them.
func pss(b *testing.B, pid int) int { return memoryOf(b, pid, "Pss") }

// rss is all memory a process uses, in bytes.
func rss(b *testing.B, pid int) int { return memoryOf(b, pid, "Rss") }

func memoryOf(b *testing.B, pid int, field string) int {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		b.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^` + field + `:\s+(\d+) kB`).FindSubmatch(text)
	if m == nil {
		b.Fatalf("no %s in %s", field, text)
	}
	kb, _ := strconv.Atoi(string(m[1]))
	return kb << 10
}

// settled is the server's resident memory once it has had time to give back what it does not need.
func (s *server) settled(b *testing.B) int {
	b.Helper()
	time.Sleep(span(6*time.Second, time.Second))
	var sizes []int
	for range 10 {
		sizes = append(sizes, rss(b, s.cmd.Process.Pid))
		time.Sleep(200 * time.Millisecond)
	}
	return median(sizes)
}

// benchIdle is what a server costs that does nothing, what each tab adds, and what each viewer adds.
func benchIdle(b *testing.B) {
	s := newServer(b)
	empty := s.settled(b)
	record(b, measure{"idle server, resident", "none", kb(empty), signed(kb(empty)), "at most 20 MB", empty <= 20e6})

	tabs := count(50, 5)
	var opened []client.Tab
	for range tabs {
		opened = append(opened, s.openTab())
	}
	withTabs := s.settled(b)
	each := (withTabs - empty) / tabs
	record(b, measure{fmt.Sprintf("each of %d idle tabs, in our server", tabs), "no tab " + kb(empty), kb(withTabs), signed(kb(each)) + " each",
		"at most +300 KB each", each <= 300e3})
	tmux := 0
	for _, p := range append(s.tmuxServers(), s.tmuxClients()...) {
		tmux += pss(b, p.pid)
	}
	record(b, measure{fmt.Sprintf("each of %d idle tabs, in tmux and its control client, PSS", tabs), "no tab 0 KB", kb(tmux), kb(tmux/tabs) + " each",
		"at most 3 MB each", tmux/tabs <= 3e6})

	viewers := count(200, 10)
	for i := range viewers {
		s.view(b, opened[i%tabs]).background()
	}
	withViewers := s.settled(b)
	each = (withViewers - withTabs) / viewers
	record(b, measure{fmt.Sprintf("each of %d viewers of idle tabs", viewers), "no viewer " + kb(withTabs), kb(withViewers), signed(kb(each)) + " each",
		"at most +100 KB each", each <= 100e3})
}

// benchMany is a hundred tabs that have printed 300 KB each before two viewers each, and are then typed into.
func benchMany(b *testing.B) {
	tabs := count(100, 5)
	s := newServer(b)
	empty := s.settled(b)
	file := filepath.Join(s.dir, "text")
	const lines = 300_000 / 105
	coloured(b, file, lines)
	var opened []client.Tab
	var viewers []*viewer
	for range tabs {
		tab := s.commandTab(b, "stty raw -echo; head -c 1 >/dev/null; cat "+file+"; exec cat")
		opened = append(opened, tab)
	}
	var stops []func()
	for _, tab := range opened {
		v := s.view(b, tab)
		viewers = append(viewers, v)
		stops = append(stops, v.background())
		s.view(b, tab).background()
	}
	var wg sync.WaitGroup
	for i, v := range viewers {
		stops[i]()
		wg.Go(func() {
			v.typed("x")
			last, text := fmt.Sprintf("line %05d", lines-1), ""
			if err := v.seek(func(f viewerFrame) bool {
				text = text[max(0, len(text)-len(last)):] + string(f.data)
				return strings.Contains(text, last)
			}); err != nil {
				b.Errorf("wait for the last line: %v", err)
			}
			stops[i] = v.background()
		})
	}
	peak := 0
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-time.After(50 * time.Millisecond):
			peak = max(peak, rss(b, s.cmd.Process.Pid))
		}
	}
	time.Sleep(span(3*time.Second, time.Second))
	for _, stop := range stops {
		stop()
	}
	after := rss(b, s.cmd.Process.Pid)
	var echo []time.Duration
	for range count(20, 5) {
		for _, v := range viewers {
			echo = append(echo, v.echoes(1)...)
		}
	}
	what := fmt.Sprintf("%d tabs that printed 300 KB each, %d viewers: ", tabs, 2*tabs)
	worst := max(after, rss(b, s.cmd.Process.Pid))
	record(b, measure{what + "server, resident", "no tab " + kb(empty), kb(worst) + ", peak " + kb(peak), signed(kb(worst - empty)), "at most 80 MB",
		worst <= 80e6})
	alone := s.view(b, s.echoTab(b))
	base := percentile(alone.echoes(count(2000, 50)), 99)
	got := percentile(echo, 99)
	record(b, measure{what + fmt.Sprintf("echo in all in turn, p99 of %d", len(echo)), "in one of them, all the time, p99 " + ms(base), ms(got),
		signed(ms(got - base)), "at most 10 ms", got <= 10*time.Millisecond})
}
