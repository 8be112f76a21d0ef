package tabs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/browsertabs/tabs/sandbox"
)

// TestEndExactly: closing tabs ends those sessions and no other, with nobody looking, and leaves nothing behind.
func TestEndExactly(t *testing.T) {
	m := newMachine(t)
	r := m.boot()
	var kept, closed []Tab
	for i := range 20 {
		v := r.open(OpenOptions{Command: []string{"sh", "-c", "while :; do sleep 600; done"}, Title: fmt.Sprint(i)})
		if i%4 == 0 {
			kept = append(kept, v)
		} else {
			closed = append(closed, v)
		}
	}
	if n := len(m.clients()); n != 20 {
		t.Errorf("%d control clients for 20 tabs", n)
	}
	for _, v := range closed {
		if err := r.End(t.Context(), sandbox.LocalID, v.ID); err != nil {
			t.Errorf("end %s: %v", v.ID, err)
		}
		if _, ok := m.records.get(v.ID); ok {
			t.Errorf("record of %s is left", v.ID)
		}
	}
	var ids []string
	for _, v := range r.list() {
		ids = append(ids, v.ID)
	}
	var want []string
	for _, v := range kept {
		want = append(want, v.ID)
	}
	if !slices.Equal(ids, want) {
		t.Errorf("left %q, want %q", ids, want)
	}
	if n := len(m.sockets()); n != len(kept) {
		t.Errorf("%d sockets, want %d", n, len(kept))
	}
	until(t, "processes of closed tabs go", func() bool { return len(m.clients()) == len(kept) })
	for _, v := range kept {
		if r.tmux(v.ID, "list-panes", "-F", "#{pane_dead}") != "0" {
			t.Errorf("program of %s ended", v.ID)
		}
	}
}

// TestEndStubborn: SIGHUP, then SIGKILL to what stays.
func TestEndStubborn(t *testing.T) {
	m := newMachine(t)
	r := m.boot()
	file := filepath.Join(m.home, "pids")
	v := r.open(OpenOptions{Command: []string{"sh", "-c",
		`trap '' HUP TERM; echo $$ > "$1"; sleep 601 & echo $! >> "$1"; while :; do sleep 1; done`, "sh", file}})
	polite := r.open(OpenOptions{Command: []string{"sh", "-c", `trap 'echo bye > "$1"; exit' HUP; while :; do sleep 0.05; done`, "sh", file + ".hup"}})
	other := r.open(OpenOptions{Command: []string{"sh", "-c", "trap '' HUP; sleep 602"}})
	until(t, "the pids are written", func() bool {
		b, _ := os.ReadFile(file)
		return strings.Count(string(b), "\n") == 2
	})
	for _, id := range []string{v.ID, polite.ID} {
		if err := r.End(t.Context(), sandbox.LocalID, id); err != nil {
			t.Fatal(err)
		}
	}
	b, _ := os.ReadFile(file)
	for _, pid := range strings.Fields(string(b)) {
		until(t, "process "+pid+" ends", func() bool {
			_, err := os.Stat("/proc/" + pid)
			return err != nil
		})
	}
	until(t, "the other was hung up first", func() bool {
		b, _ := os.ReadFile(file + ".hup")
		return string(b) == "bye\n"
	})
	if r.get(other.ID).State != StateLive || r.tmux(other.ID, "list-panes", "-F", "#{pane_dead}") != "0" {
		t.Error("the other tab's program ended")
	}
	if err := r.End(t.Context(), sandbox.LocalID, other.ID); err != nil {
		t.Fatal(err)
	}
}

func TestProgramEnds(t *testing.T) {
	m := newMachine(t)
	r := m.boot()
	watch := r.watch()
	t.Run("screen and exit code are kept", func(t *testing.T) {
		v := r.open(OpenOptions{Command: []string{"sh", "-c", "echo last words; exit 3"}})
		began := time.Now()
		until(t, "the tab has ended", func() bool { return r.get(v.ID).State == StateEnded })
		t.Logf("seen after %v", time.Since(began))
		if got := r.get(v.ID); got.ExitCode == nil || *got.ExitCode != 3 {
			t.Errorf("tab %+v", got)
		}
		p := r.look(v.ID, "page0001")
		p.sees(0, "last words")
		// Restart, and close.
		if r.screen(v.ID); !strings.HasPrefix(r.screen(v.ID), "last words") {
			t.Errorf("screen %q", r.screen(v.ID))
		}
		p.Send(false, `{"type":"do","id":1,"op":"respawnPane","pane":0}`)
		until(t, "it ran again", func() bool { return len(p.Texts("done")) == 1 })
		if err := r.End(t.Context(), sandbox.LocalID, v.ID); err != nil {
			t.Fatal(err)
		}
		watch.gone(v.ID, GoneClosed)
	})
	t.Run("by a signal", func(t *testing.T) {
		v := r.open(OpenOptions{Command: []string{"sh", "-c", "kill -9 $$"}})
		until(t, "the tab has ended", func() bool { return r.get(v.ID).State == StateEnded })
		if got := r.get(v.ID); *got.ExitCode != 137 {
			t.Errorf("exit code %d, want 137", *got.ExitCode)
		}
	})
	t.Run("a login shell left in order closes its tab", func(t *testing.T) {
		v := r.open(OpenOptions{})
		p := r.look(v.ID, "page0002")
		p.types(0, "exit 0\n")
		watch.gone(v.ID, GoneExited)
		if _, ok := m.records.get(v.ID); ok {
			t.Error("its record is left")
		}
	})
	t.Run("a login shell that failed does not", func(t *testing.T) {
		v := r.open(OpenOptions{})
		p := r.look(v.ID, "page0003")
		p.types(0, "exit 5\n")
		until(t, "the tab has ended", func() bool { return r.get(v.ID).State == StateEnded })
		if got := r.get(v.ID); *got.ExitCode != 5 {
			t.Errorf("exit code %d, want 5", *got.ExitCode)
		}
	})
	t.Run("one pane of two", func(t *testing.T) {
		v := r.open(OpenOptions{})
		r.tmux(v.ID, "split-window", "-t", "tab:")
		until(t, "two panes", func() bool { return r.tmux(v.ID, "list-panes", "-F", "x") == "x\nx" })
		r.tmux(v.ID, "send-keys", "-t", "tab:", "exit 0", "Enter")
		until(t, "one pane", func() bool { return r.tmux(v.ID, "list-panes", "-F", "x") == "x" })
		if r.get(v.ID).State != StateLive {
			t.Errorf("tab %+v", r.get(v.ID))
		}
	})
	t.Run("its last pane closed by the page", func(t *testing.T) {
		v := r.open(OpenOptions{})
		p := r.look(v.ID, "page0004")
		p.Send(false, `{"type":"do","id":1,"op":"closePane","pane":0}`)
		watch.gone(v.ID, GoneClosed)
		if _, ok := m.records.get(v.ID); ok {
			t.Error("its record is left")
		}
	})
}

func TestKeepExited(t *testing.T) {
	m := newMachine(t)
	m.config.KeepExited = true
	r := m.boot()
	v := r.open(OpenOptions{})
	p := r.look(v.ID, "page0001")
	p.types(0, "exit 0\n")
	until(t, "the tab has ended", func() bool { return r.get(v.ID).State == StateEnded })
	if got := r.get(v.ID); *got.ExitCode != 0 {
		t.Errorf("exit code %d", *got.ExitCode)
	}
}

func TestServerGoneAndRevive(t *testing.T) {
	m := newMachine(t)
	os.WriteFile(filepath.Join(m.home, ".bash_profile"), []byte("PS1='> '\n"), 0o644)
	work := filepath.Join(m.home, "work")
	os.Mkdir(work, 0o755)
	gone := filepath.Join(m.home, "gone")
	os.Mkdir(gone, 0o755)
	r := m.boot()
	watch := r.watch()
	a := r.open(OpenOptions{Title: "first", Cwd: work})
	b := r.open(OpenOptions{Title: "second", Cwd: gone})
	c := r.open(OpenOptions{})
	p := r.look(a.ID, "page0001")
	p.types(0, "printf '\\033[31mred\\033[0m wo''rds\\n'\n")
	r.shows(a.ID, "red words")
	// Quiet for a few seconds, it is saved.
	until(t, "the words are saved", func() bool {
		rec, _ := m.records.get(a.ID)
		return strings.Contains(string(rec.Lines), "\x1b[31mred\x1b[")
	})
	first := 0
	if _, err := r.Update(t.Context(), sandbox.LocalID, c.ID, Update{Order: &first}); err != nil {
		t.Fatal(err)
	}
	os.Remove(gone)
	m.killServers() // as when the machine restarts, but for our server
	for _, v := range []Tab{a, b, c} {
		watch.gone(v.ID, GoneServer)
	}
	until(t, "viewers are told", func() bool { code, _ := p.Closed(); return code == 4009 })
	watch.revivable(c.ID, a.ID, b.ID)
	until(t, "dead sockets are removed", func() bool { return len(m.sockets()) == 0 })

	// After the restart of our server too they are only offered.
	r.shutDown()
	r = m.boot()
	watch = r.watch()
	if len(r.list()) != 0 {
		t.Fatalf("tabs %+v, want none", r.list())
	}
	watch.revivable(c.ID, a.ID, b.ID)
	got, err := r.Revive(t.Context(), sandbox.LocalID, []string{a.ID, b.ID})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].ID != a.ID || got[0].Title != "first" || got[1].ID != b.ID {
		t.Errorf("revived %+v", got)
	}
	until(t, "each is where it was, or at home", func() bool { return r.get(a.ID).Cwd == work && r.get(b.ID).Cwd == m.home })
	watch.revivable(c.ID)
	q := r.look(a.ID, "page0002")
	q.sees(0, "red")
	r.shows(a.ID, "this is a new shell")
	raw := r.tmux(a.ID, "capture-pane", "-pe", "-S", "-")
	old, _, _ := strings.Cut(raw, "new shell")
	if !strings.HasPrefix(old, "\x1b[2m") || strings.Contains(old, "\x1b[0") || !strings.Contains(old, "\x1b[31mred") {
		t.Errorf("the saved lines are not dimmed: %q", raw)
	}
	q.types(0, "shopt -q login_shell; echo \"login=$? $PWD\"\n")
	r.shows(a.ID, "login=0 "+work)
	until(t, "the files of lines are removed", func() bool {
		files, _ := filepath.Glob(m.dir + "/*.lines")
		return len(files) == 0
	})
	until(t, "the revived shell is idle", func() bool { return r.get(a.ID).Foreground == "" })
	// The last in order, though it was the first: its place is kept for it.
	if _, err := r.Revive(t.Context(), sandbox.LocalID, nil); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, v := range r.list() {
		ids = append(ids, v.ID)
	}
	if want := []string{c.ID, a.ID, b.ID}; !slices.Equal(ids, want) {
		t.Errorf("order %q, want %q", ids, want)
	}
	watch.revivable()
	_, err = r.Revive(t.Context(), sandbox.LocalID, []string{a.ID})
	wantCode(t, err, sandbox.CodeNotFound, "")
	// A revived shell left in order closes its tab like any other.
	q.types(0, "exit 0\n")
	watch.gone(a.ID, GoneExited)
}

func TestForget(t *testing.T) {
	m := newMachine(t)
	r := m.boot()
	a, b := r.open(OpenOptions{}), r.open(OpenOptions{})
	watch := r.watch()
	m.killServers()
	watch.revivable(a.ID, b.ID)
	if err := r.Forget(t.Context(), sandbox.LocalID, []string{a.ID, "tab_nobody"}); err != nil {
		t.Fatal(err)
	}
	watch.revivable(b.ID)
	if err := r.Forget(t.Context(), sandbox.LocalID, nil); err != nil {
		t.Fatal(err)
	}
	watch.revivable()
	if len(m.records.records) != 0 {
		t.Errorf("records %+v", m.records.records)
	}
}

// TestShutdownKeepsRecord: a machine that shuts down in order ends its tmux servers in order, which looks as if their
// sessions were closed by hand.
func TestShutdownKeepsRecord(t *testing.T) {
	m := newMachine(t)
	r := m.boot()
	watch := r.watch()
	for _, how := range []string{"kill -TERM $(%s display-message -p '#{pid}')", "%s kill-server", "%s kill-session"} {
		v := r.open(OpenOptions{})
		out, err := exec.Command("sh", "-c", fmt.Sprintf(how, "tmux -S "+r.socket(v.ID))).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %s", how, out)
		}
		watch.gone(v.ID, GoneServer)
		watch.revivable(v.ID)
		if err := r.Forget(t.Context(), sandbox.LocalID, nil); err != nil {
			t.Fatal(err)
		}
		watch.revivable()
	}
}
