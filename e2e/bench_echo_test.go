package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/browsertabs/tabs/client"
)

// benchEcho is a key's way through server and tmux to a program and back, beside that of a message through a bare echo
// server. They take turns, so that both see the same machine.
func benchEcho(b *testing.B) {
	s := newServer(b)
	v := s.view(b, s.echoTab(b))
	bare := bareEcho(b)
	v.echoes(100)
	bare(100)
	var ours, theirs []time.Duration
	for range 10 {
		ours = append(ours, v.echoes(count(400, 20))...)
		theirs = append(theirs, bare(count(400, 20))...)
	}
	for _, p := range []struct {
		of    float64
		limit time.Duration
	}{{50, 300 * time.Microsecond}, {99, time.Millisecond}} {
		got, base := percentile(ours, p.of), percentile(theirs, p.of)
		record(b, measure{fmt.Sprintf("echo, p%.0f of %d", p.of, len(ours)), "bare websocket echo " + ms(base), ms(got),
			signed(ms(got - base)), "at most +" + ms(p.limit), got-base <= p.limit})
	}
}

// benchFloodElsewhere is the echo in one tab while another prints as fast as it can, and a page looks at it.
func benchFloodElsewhere(b *testing.B) {
	s := newServer(b)
	v := s.view(b, s.echoTab(b))
	v.echoes(100)
	quiet := v.echoes(count(2000, 100))
	s.view(b, s.commandTab(b, "exec yes")).background()
	v.echoes(count(500, 20))
	loud := v.echoes(count(2000, 100))
	got, base := percentile(loud, 99), percentile(quiet, 99)
	record(b, measure{fmt.Sprintf("echo while another tab floods, p99 of %d", len(loud)), "no flood " + ms(base), ms(got),
		signed(ms(got - base)), "at most 10 ms", got <= 10*time.Millisecond})
}

// benchStall stops a real browser, as a debugger or a frozen computer does, while it looks at a flood. In the same tab
// another viewer types into another pane.
func benchStall(b *testing.B) {
	long := span(60*time.Second, 4*time.Second)
	s := newServer(b)
	tab := s.openTab()
	s.tmux(tab, "split-window", "stty raw -echo; exec cat")
	p := s.benchPage(b)
	v := s.view(b, tab)
	s.tmux(tab, "send-keys", "-t", "{top}", "yes", "Enter")
	tmux := s.tmuxServers()[0]

	measure1 := func(limit time.Duration) (echo []time.Duration, server, tmuxSize int) {
		var servers, tmuxes []int
		for start := time.Now(); time.Since(start) < limit; {
			echo = append(echo, v.echoes(50)...)
			servers = append(servers, pss(b, s.cmd.Process.Pid))
			tmuxes = append(tmuxes, pss(b, tmux.pid))
		}
		return echo, median(servers), median(tmuxes)
	}
	measure1(span(8*time.Second, 2*time.Second)) // the history fills
	before, serverBefore, tmuxBefore := measure1(long / 3)

	cdp, err := p.Context().NewCDPSession(p.Page)
	if err != nil {
		b.Fatal(err)
	}
	for _, command := range []string{"Debugger.enable", "Debugger.pause"} {
		if _, err := cdp.Send(command, nil); err != nil {
			b.Fatal(err)
		}
	}
	echo, _, _ := measure1(long - 10*time.Second/time.Duration(count(1, 10)))
	_, serverAfter, tmuxAfter := measure1(10 * time.Second / time.Duration(count(1, 10)))
	if _, err := cdp.Send("Debugger.disable", nil); err != nil {
		b.Fatal(err)
	}
	s.tmux(tab, "send-keys", "-t", "{top}", "C-c")
	p.waitLive()
	pollFor(b, patience, "the page comes back", func() (bool, any) {
		rows := stringsOf(p.eval(`() => window.tabs.pane(window.tabs.panes()[0]).lines()`))
		screen := strings.TrimSpace(strings.Join(rows, "\n"))
		return strings.HasSuffix(screen, "$"), screen
	})

	what := fmt.Sprintf("browser stopped for %.0f s under yes: ", long.Seconds())
	record(b, measure{what + "our server", "the same flood, browser awake " + kb(serverBefore), kb(serverAfter),
		signed(kb(serverAfter - serverBefore)), "at most +2 MB", serverAfter-serverBefore <= 2e6})
	record(b, measure{what + "tmux", "browser awake " + kb(tmuxBefore), kb(tmuxAfter),
		signed(kb(tmuxAfter - tmuxBefore)), "flat: at most +0.5 MB", tmuxAfter-tmuxBefore <= 500e3})
	got, base := percentile(echo, 99), percentile(before, 99)
	record(b, measure{what + fmt.Sprintf("another viewer's echo in the same tab, p99 of %d", len(echo)), "browser awake " + ms(base), ms(got),
		signed(ms(got - base)), "at most +1 ms", got-base <= time.Millisecond})
}

// benchInterrupt is the time from Ctrl-C under yes until the page, which parses 5 MB a second, has parsed the prompt. What
// people know is a tmux client on a terminal of that speed.
func benchInterrupt(b *testing.B) {
	const rate = 5 << 20
	rounds := count(15, 3)
	const script = `exec env PS1='ready> ' bash --noprofile --norc`

	// A prompt that an earlier round left is far above.
	theirs := interruptAttached(b, script, rate, rounds)
	s := newServer(b)
	v := s.view(b, s.commandTab(b, script))
	v.rate = rate
	var ours []time.Duration
	for range rounds {
		v.typed("yes\r")
		v.read(700 * time.Millisecond)
		start := time.Now()
		v.typed("\x03")
		v.until("a prompt", func(f viewerFrame) bool { return strings.Contains(string(f.data), "ready> ") })
		ours = append(ours, time.Since(start))
		v.read(1500 * time.Millisecond) // the history comes
	}
	record(b, measure{fmt.Sprintf("Ctrl-C to prompt under yes, a viewer of 5 MB/s, worst of %d", rounds), "tmux attach on a terminal of 5 MB/s, median " + ms(median(theirs)),
		ms(percentile(ours, 100)), fmt.Sprintf("%.2fx", ratio(percentile(ours, 100), median(theirs))), "at most 60 ms", percentile(ours, 100) <= 60*time.Millisecond})

	v.ws.CloseNow()

	// A browser whose network carries as much.
	n := newProxy(b, s)
	n.limit(rate)
	d := s.benchDevice(b, n.url)
	p := d.login()
	p.visit(d.base + "/tabs?id=local")
	p.waitLive()
	var page []time.Duration
	for range rounds {
		p.focus()
		p.keys("yes")
		p.press("Enter")
		time.Sleep(700 * time.Millisecond)
		p.eval(`() => bench.next(rows => rows.filter(row => row).at(-1) === "ready>")`)
		p.press("Control+C")
		p.waitPainted()
		time.Sleep(1500 * time.Millisecond)
		page = append(page, p.times()...)
	}
	record(b, measure{fmt.Sprintf("Ctrl-C to painted prompt under yes, Chromium behind 5 MB/s, worst of %d", rounds), "a viewer of 5 MB/s, worst " + ms(percentile(ours, 100)),
		ms(percentile(page, 100)), signed(ms(percentile(page, 100) - percentile(ours, 100))), "at most 60 ms", percentile(page, 100) <= 60*time.Millisecond})
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

// interruptAttached presses Ctrl-C under yes in a tmux client whose terminal takes rate bytes a second.
func interruptAttached(b *testing.B, script string, rate, rounds int) (took []time.Duration) {
	b.Helper()
	dir := b.TempDir()
	tmux := func(args ...string) *exec.Cmd {
		cmd := exec.Command("tmux", append([]string{"-u", "-f", "/dev/null", "-S", filepath.Join(dir, "tmux")}, args...)...)
		cmd.Env = append(os.Environ(), "TERM=xterm-256color")
		return cmd
	}
	if out, err := tmux("new-session", "-d", "-x", "80", "-y", "24", script).CombinedOutput(); err != nil {
		b.Fatalf("start tmux: %v\n%s", err, out)
	}
	defer tmux("kill-server").Run()
	attach := tmux("attach")
	tty, err := pty.StartWithSize(attach, &pty.Winsize{Cols: 80, Rows: 25})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		tty.Close()
		attach.Wait()
	}()
	seen := make(chan time.Time, 1)
	armed := make(chan bool, 1)
	go func() {
		buf := make([]byte, 4096)
		due, watching := time.Now(), false
		var tail string
		for {
			n, err := tty.Read(buf)
			if err != nil {
				return
			}
			now := time.Now()
			if due.Before(now) {
				due = now
			}
			due = due.Add(time.Duration(n) * time.Second / time.Duration(rate))
			time.Sleep(due.Sub(now))
			select {
			case watching = <-armed:
				tail = ""
			default:
			}
			tail += string(buf[:n])
			if watching && strings.Contains(tail, "ready>") {
				watching = false
				seen <- time.Now()
			}
			tail = tail[max(0, len(tail)-16):]
		}
	}()
	for range rounds {
		fmt.Fprint(tty, "yes\r")
		time.Sleep(700 * time.Millisecond)
		armed <- true
		start := time.Now()
		fmt.Fprint(tty, "\x03")
		select {
		case at := <-seen:
			took = append(took, at.Sub(start))
		case <-time.After(patience):
			b.Fatal("no prompt after Ctrl-C in tmux attach")
		}
		time.Sleep(300 * time.Millisecond)
	}
	return took
}

// benchCat is the time that 50 MB take in the pane, with a browser looking, beside the same tmux with nobody, with a
// drained tmux client, with a drained control client.
func benchCat(b *testing.B) {
	size := count(50_000_000, 5_000_000)
	s := newServer(b)
	tab := s.openTab()
	file := filepath.Join(s.dir, "text")
	line := strings.Repeat("The quick brown fox jumps over the lazy dog, 0123456789 times. ", 2)[:79] + "\n"
	writeFile(b, file, strings.Repeat(line, size/len(line)))
	done := filepath.Join(s.dir, "took")

	cat := func() time.Duration {
		s.tmux(tab, "clear-history")
		s.tmux(tab, "send-keys", fmt.Sprintf("clear; s=$EPOCHREALTIME; cat %s; e=$EPOCHREALTIME; echo $((${e/./} - ${s/./})) > %s.new; mv %s.new %s", file, done, done, done), "Enter")
		var us int64
		pollFor(b, patience, "the end of cat", func() (bool, any) {
			text, err := os.ReadFile(done)
			if err != nil {
				return false, err
			}
			_, err = fmt.Sscan(string(text), &us)
			return err == nil, err
		})
		if err := os.Remove(done); err != nil {
			b.Fatal(err)
		}
		return time.Duration(us) * time.Microsecond
	}
	socket := strings.Fields(s.tmux(tab, "display-message", "-p", "#{socket_path}"))[0]
	session := s.tmux(tab, "list-sessions", "-F", "#{session_id}")
	client := func(args ...string) *exec.Cmd {
		cmd := exec.Command("tmux", append([]string{"-u", "-S", socket}, args...)...)
		cmd.Env = append(os.Environ(), "TERM=xterm-256color")
		return cmd
	}
	cats := map[string][]time.Duration{}
	p := s.benchPage(b)
	for range count(5, 1) {
		s.stop()
		cats["nobody"] = append(cats["nobody"], cat())

		attach := client("attach", "-t", session)
		tty, err := pty.StartWithSize(attach, &pty.Winsize{Cols: 80, Rows: 25})
		if err != nil {
			b.Fatal(err)
		}
		go tty.WriteTo(discard{})
		s.waitClients(tab, 1)
		cats["attach"] = append(cats["attach"], cat())
		s.tmux(tab, "detach-client", "-s", session)
		attach.Wait()
		tty.Close()

		control := client("-C", "attach", "-t", session)
		in, err := control.StdinPipe()
		if err != nil {
			b.Fatal(err)
		}
		control.Stdout = discard{}
		if err := control.Start(); err != nil {
			b.Fatal(err)
		}
		s.waitClients(tab, 1)
		cats["control"] = append(cats["control"], cat())
		in.Close()
		control.Wait()

		s.restart()
		p.eval(`() => window.dispatchEvent(new Event("online"))`)
		p.waitLive()
		cats["browser"] = append(cats["browser"], cat())
		p.waitText("$")
	}
	ours := median(cats["browser"])
	for _, base := range []struct {
		key, name string
		goal      float64
	}{{"nobody", "nobody looking", 1.3}, {"attach", "drained tmux attach", 1}, {"control", "drained control client", 0}} {
		m := measure{what: fmt.Sprintf("cat of %d MB with a browser looking, median of %d", size/1e6, len(cats["browser"])),
			baseline: base.name + " " + ms(median(cats[base.key])), ours: ms(ours)}
		of := ratio(ours, median(cats[base.key]))
		m.against = fmt.Sprintf("%.2fx", of)
		if base.goal > 0 {
			m.goal, m.ok = fmt.Sprintf("at most %gx", base.goal), of <= base.goal
		}
		record(b, m)
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func (s *server) waitClients(tab client.Tab, want int) {
	s.t.Helper()
	pollFor(s.t, patience, fmt.Sprintf("%d tmux clients", want), func() (bool, any) {
		list := s.tmux(tab, "list-clients")
		return len(strings.Fields(list)) > 0 == (want > 0), list
	})
}
