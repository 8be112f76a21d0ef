package tabs

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/browsertabs/tabs/sandbox"
)

func TestRestartKeepsTabs(t *testing.T) {
	m := newMachine(t)
	os.WriteFile(filepath.Join(m.home, ".bash_profile"), []byte("PS1='> '\n"), 0o644)
	r := m.boot()
	a := r.open(OpenOptions{Title: "named"})
	b := r.open(OpenOptions{})
	p := r.look(a.ID, "page0001")
	p.types(0, "seq 1 500\n")
	r.shows(a.ID, "\n500\n")
	zero := 0
	if _, err := r.Update(t.Context(), sandbox.LocalID, b.ID, Update{Order: &zero}); err != nil {
		t.Fatal(err)
	}
	before := r.list()
	screen := r.screen(a.ID)
	r.shutDown()
	if n := len(m.clients()); n != 0 {
		t.Errorf("%d control clients outlive Close", n)
	}
	if code, _ := p.Closed(); code != 1012 {
		t.Errorf("the viewer was closed with %d", code)
	}
	r = m.boot()
	until(t, "both are attached", func() bool { return len(m.clients()) == 2 })
	after := r.list()
	if len(after) != 2 {
		t.Fatalf("tabs %+v", after)
	}
	for i := range after {
		x, y := before[i], after[i]
		until(t, "its state is known", func() bool { y = r.get(y.ID); return y.Size == x.Size })
		if x.ID != y.ID || x.Title != y.Title || x.Named != y.Named || x.Order != y.Order || !x.CreatedAt.Equal(y.CreatedAt) {
			t.Errorf("tab was %+v, is %+v", x, y)
		}
	}
	if got := r.screen(a.ID); got != screen {
		t.Errorf("screen %q, was %q", got, screen)
	}
	// Input goes on where it ended, exactly once.
	q := r.look(a.ID, "page0001")
	q.offset = p.offset
	q.types(0, "echo on''ce\n")
	r.shows(a.ID, "\nonce\n")
	q.sees(0, "500")
}

// TestKilledServer: a server of ours that is killed, even while programs write, leaves programs running and the next
// server exactly one client for each tab.
func TestKilledServer(t *testing.T) {
	m := newMachine(t)
	r := m.boot()
	count := filepath.Join(m.home, "count")
	busy := r.open(OpenOptions{Command: []string{"sh", "-c", `n=0; while :; do n=$((n+1)); echo "line $n xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"; echo $n > "$1"; done`, "sh", count}})
	r.open(OpenOptions{})
	r.open(OpenOptions{Title: "third"})
	r.shutDown()
	read := func() int {
		b, _ := os.ReadFile(count)
		n, _ := strconv.Atoi(strings.TrimSpace(string(b)))
		return n
	}
	for i := range 20 {
		server := exec.Command(os.Args[0])
		server.Env = append(os.Environ(), "TABS_TEST_INSTANCE="+m.instance)
		server.Stderr = os.Stderr
		out, err := server.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil || line != "ready\n" {
			t.Fatalf("start %d: %q %v", i, line, err)
		}
		until(t, "there is one client for each tab", func() bool {
			for _, s := range m.sockets() {
				if r.tmux(filepath.Base(s), "list-clients", "-F", "x") != "x" {
					return false
				}
			}
			return len(m.clients()) == 3
		})
		server.Process.Kill()
		server.Wait()
	}
	n := read()
	until(t, "the program runs", func() bool { return read() > n })
	r = m.boot()
	until(t, "there is one client for each tab", func() bool { return len(m.clients()) == 3 })
	if got := r.list(); len(got) != 3 || got[0].ID != busy.ID || got[2].Title != "third" {
		t.Errorf("tabs %+v", got)
	}
	if err := r.End(t.Context(), sandbox.LocalID, busy.ID); err != nil {
		t.Error(err)
	}
}

// TestStaleClient: where the kernel ends no orphans, the next start does.
func TestStaleClient(t *testing.T) {
	m := newMachine(t)
	r := m.boot()
	v := r.open(OpenOptions{Command: []string{"cat"}})
	r.shutDown()
	stale := exec.Command("sleep", "600")
	in, err := stale.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := stale.Start(); err != nil {
		t.Fatal(err)
	}
	orphan := exec.Command("tmux", "-u", "-C", "-S", r.socket(v.ID), "attach-session", "-f", "ignore-size")
	orphan.Stdin = in.(*os.File)
	if err := orphan.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the orphan is attached", func() bool { return r.tmux(v.ID, "list-clients", "-F", "x") == "x" })
	r = m.boot()
	orphan.Wait()
	stale.Process.Kill()
	stale.Wait()
	until(t, "ours alone is attached", func() bool {
		return r.tmux(v.ID, "list-clients", "-F", "#{client_pid}") != strconv.Itoa(orphan.Process.Pid) && len(m.clients()) == 1
	})
}

func TestDeadSocketsAreRemoved(t *testing.T) {
	m := newMachine(t)
	r := m.boot()
	v := r.open(OpenOptions{})
	r.shutDown()
	m.killServers()
	if len(m.sockets()) != 1 {
		t.Fatalf("sockets %q", m.sockets())
	}
	other := filepath.Join(m.dir, "tab_not a socket")
	os.WriteFile(other, nil, 0o600)
	r = m.boot()
	if n := m.sockets(); len(n) != 1 || n[0] != other {
		t.Errorf("sockets %q", n)
	}
	if got := r.list(); len(got) != 0 {
		t.Errorf("tabs %+v", got)
	}
	w := r.watch()
	w.revivable(v.ID)
}

// TestTwoServers: two servers of ours with different data directories do not see each other's tabs.
func TestTwoServers(t *testing.T) {
	a, b := newMachine(t), newMachine(t)
	ra, rb := a.boot(), b.boot()
	v := ra.open(OpenOptions{})
	if got := rb.list(); len(got) != 0 {
		t.Errorf("the other server has %+v", got)
	}
	wantCode(t, rb.End(t.Context(), sandbox.LocalID, v.ID), sandbox.CodeNotFound, "")
}

// TestHandMade: sessions and windows made by hand inside a tab's tmux server show within a second.
func TestHandMade(t *testing.T) {
	m := newMachine(t)
	r := m.boot()
	v := r.open(OpenOptions{})
	w := r.watch()
	p := r.look(v.ID, "page0001")
	began := time.Now()
	r.tmux(v.ID, "new-session", "-d", "-s", "build", "cat")
	w.is("the session is a tab", func() bool { return len(w.tabs) == 2 })
	if d := time.Since(began); d > time.Second {
		t.Errorf("it took %v", d)
	}
	var made Tab
	for _, x := range r.list() {
		if x.ID != v.ID {
			made = x
		}
	}
	if made.Title != "build" || made.Order != 1 || !strings.Contains(made.Attach, r.socket(v.ID)) {
		t.Errorf("tab %+v", made)
	}
	q := r.look(made.ID, "page0002")
	until(t, "it can be looked at", func() bool { return len(q.Texts("layout")) > 0 })
	pane := r.tmux(v.ID, "list-panes", "-t", "build:", "-F", "#{pane_id}")
	if pane != "%1" {
		t.Fatalf("pane %s", pane)
	}
	q.types(1, "hello\r")
	q.sees(1, "hello\r\nhello")

	windows := func() int {
		last := p.Texts("layout")
		if len(last) == 0 {
			return 0
		}
		return len(last[len(last)-1]["windows"].([]any))
	}
	began = time.Now()
	r.tmux(v.ID, "new-window", "-t", "tab:", "cat")
	until(t, "the window shows", func() bool { return windows() == 2 })
	if d := time.Since(began); d > time.Second {
		t.Errorf("the window took %v", d)
	}
	if got := r.tmux(v.ID, "list-windows", "-t", "tab:", "-F", "#{window-size} #{window_width}x#{window_height}"); got != "manual 80x24\nmanual 80x24" {
		t.Errorf("windows %q", got)
	}
	r.tmux(v.ID, "kill-window", "-t", "tab:1")
	until(t, "the window is gone", func() bool { return windows() == 1 })
	r.tmux(v.ID, "rename-window", "-t", "tab:0", "editor")
	until(t, "its name shows", func() bool {
		last := p.Texts("layout")
		return last[len(last)-1]["windows"].([]any)[0].(map[string]any)["name"] == "editor"
	})

	// Three restarts later both are still themselves.
	for range 3 {
		r.shutDown()
		r = m.boot()
	}
	var ids []string
	for _, x := range r.list() {
		ids = append(ids, x.ID)
	}
	if want := []string{v.ID, made.ID}; !slices.Equal(ids, want) {
		t.Errorf("tabs %q, want %q", ids, want)
	}
	w = r.watch()
	if err := r.End(t.Context(), sandbox.LocalID, v.ID); err != nil {
		t.Fatal(err)
	}
	w.gone(v.ID, GoneClosed)
	if got := r.get(made.ID); got.State != StateLive {
		t.Errorf("the other session's tab %+v", got)
	}
	if err := r.End(t.Context(), sandbox.LocalID, made.ID); err != nil {
		t.Fatal(err)
	}
	until(t, "the socket is gone", func() bool { return len(m.sockets()) == 0 })
}

// TestSessionEndsBesideAnother: a session made by hand ends while its client is too busy to leave; tmux goes on, and the
// other session with it.
func TestSessionEndsBesideAnother(t *testing.T) {
	m := newMachine(t)
	r := m.boot()
	v := r.open(OpenOptions{Command: []string{"cat"}})
	r.tmux(v.ID, "new-session", "-d", "-s", "other", "cat")
	until(t, "both are attached", func() bool { return len(m.clients()) == 2 })
	p := r.look(v.ID, "page0001")
	server := r.tmux(v.ID, "display-message", "-p", "#{pid}")
	pid, err := strconv.Atoi(r.tmux(v.ID, "list-clients", "-t", "other", "-F", "#{client_pid}"))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(pid, syscall.SIGCONT) })
	r.tmux(v.ID, "kill-session", "-t", "other")
	// tmux looks at subscriptions every second: this session's are heard of again after the other's were looked at.
	for range 2 {
		title := r.tmux(v.ID, "display-message", "-p", "#{pane_title}") + "x"
		r.tmux(v.ID, "select-pane", "-T", title)
		until(t, "tmux says the new title", func() bool { return r.get(v.ID).Title == title })
	}
	if now := r.tmux(v.ID, "display-message", "-p", "#{pid}"); now != server {
		t.Fatalf("tmux server %s was replaced by %s", server, now)
	}
	syscall.Kill(pid, syscall.SIGCONT)
	until(t, "the other tab is gone", func() bool { return len(r.list()) == 1 })
	p.types(0, "still here\r")
	p.sees(0, "still here\r\nstill here")
}

// TestClientLeaves: our client is detached, moved or killed by hand; the tab goes on.
func TestClientLeaves(t *testing.T) {
	m := newMachine(t)
	r := m.boot()
	v := r.open(OpenOptions{Command: []string{"cat"}})
	r.tmux(v.ID, "new-session", "-d", "-s", "other", "cat")
	until(t, "both are attached", func() bool { return len(m.clients()) == 2 })
	client := func() string {
		return r.tmux(v.ID, "list-clients", "-t", "tab", "-F", "#{client_name}")
	}
	for i, how := range [][]string{
		{"detach-client", "-s", "tab"},
		{"switch-client", "-c", "CLIENT", "-t", "other"},
		{"run-shell", "kill -9 #{client_pid}"},
	} {
		old := client()
		how = slices.Clone(how)
		for j := range how {
			how[j] = strings.ReplaceAll(how[j], "CLIENT", old)
			how[j] = strings.ReplaceAll(how[j], "#{client_pid}", strings.TrimPrefix(old, "client-"))
		}
		r.tmux(v.ID, how...)
		until(t, "another client of ours is attached", func() bool { c := client(); return c != "" && c != old && !strings.Contains(c, "\n") })
		text := fmt.Sprintf("after%d", i)
		r.tmux(v.ID, "send-keys", "-t", "tab:", text, "Enter")
		p := r.look(v.ID, fmt.Sprintf("page000%d", i))
		p.sees(0, text)
	}
	if got := r.get(v.ID); got.State != StateLive {
		t.Errorf("tab %+v", got)
	}
}

// TestSecondClient: while somebody else is attached too, tmux tells how old output is, and old output is cut.
func TestSecondClient(t *testing.T) {
	m := newMachine(t)
	r := m.boot()
	v := r.open(OpenOptions{Command: []string{"sh", "-c", "trap 'exec cat' INT; yes"}})
	flags := func() string {
		return r.tmux(v.ID, "list-clients", "-F", "#{?#{m:*ignore-size*,#{client_flags}},#{client_flags},}")
	}
	until(t, "one client is attached", func() bool { return flags() != "" })
	if strings.Contains(flags(), "pause-after") {
		t.Errorf("alone, our client has %s", flags())
	}
	other := exec.Command("tmux", "-C", "-S", r.socket(v.ID), "attach")
	in, _ := other.StdinPipe()
	out, _ := other.StdoutPipe()
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for b := make([]byte, 1<<16); ; {
			if _, err := out.Read(b); err != nil {
				return
			}
		}
	}()
	until(t, "our client is told ages", func() bool { return strings.Contains(flags(), "pause-after") })
	p := r.look(v.ID, "page0001")
	p.sees(0, "y")
	in.Close()
	other.Wait()
	until(t, "it is told none any more", func() bool { return !strings.Contains(flags(), "pause-after") })
	if err := r.End(t.Context(), sandbox.LocalID, v.ID); err != nil {
		t.Error(err)
	}
}

// TestCopied: what tmux's own copy mode copies reaches the page, though tmux tells nobody.
func TestCopied(t *testing.T) {
	r := newMachine(t).boot()
	v := r.open(OpenOptions{Command: []string{"sh", "-c", "printf 'h\\303\\244llo w\\tx\\n'; exec cat"}})
	r.shows(v.ID, "hällo")
	r.tmux(v.ID, "set-buffer", "of before")
	p := r.look(v.ID, "page0001")
	until(t, "the page is live", func() bool { return p.View(0).Snapshots > 0 })
	r.tmux(v.ID, "copy-mode")
	until(t, "the mode shows", func() bool { return strings.Contains(fmt.Sprint(p.Texts("pane")), "copy-mode") })
	for _, c := range []string{"history-top", "start-of-line", "begin-selection", "end-of-line", "copy-selection-and-cancel"} {
		r.tmux(v.ID, "send-keys", "-X", c)
	}
	until(t, "the text comes", func() bool { return len(p.Texts("clipboard")) > 0 })
	if got := p.Texts("clipboard")[0]["text"]; !strings.HasPrefix(got.(string), "hällo w") {
		t.Errorf("copied %q", got)
	}
}

// TestWedged: a tmux server that answers nobody is replaced, and its tab can be revived.
func TestWedged(t *testing.T) {
	m := newMachine(t)
	r := m.boot()
	v := r.open(OpenOptions{Title: "stuck"})
	other := r.open(OpenOptions{})
	r.shutDown()
	// What a wedged tmux does: takes connections and closes them.
	pid := r.tmux(v.ID, "display-message", "-p", "#{pid}")
	exec.Command("kill", "-9", pid).Run()
	until(t, "its server is gone", func() bool { return exec.Command("tmux", "-S", r.socket(v.ID), "list-sessions").Run() != nil })
	holder := exec.Command("python3", "-c", `
import socket, sys, os
os.unlink(sys.argv[1])
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen(10)
print("ready", flush=True)
while True:
    s.accept()[0].close()
`, r.socket(v.ID))
	out, _ := holder.StdoutPipe()
	if err := holder.Start(); err != nil {
		t.Skip("no python3 to play a wedged tmux")
	}
	bufio.NewReader(out).ReadString('\n')
	defer holder.Wait()
	defer holder.Process.Kill()
	r = m.boot()
	if got := r.list(); len(got) != 1 || got[0].ID != other.ID {
		t.Errorf("tabs %+v", got)
	}
	r.watch().revivable(v.ID)
	got, err := r.Revive(t.Context(), sandbox.LocalID, nil)
	if err != nil || len(got) != 1 || got[0].Title != "stuck" {
		t.Errorf("revived %+v, %v", got, err)
	}
}
