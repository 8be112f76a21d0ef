package tmuxctl_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/browsertabs/tabs/tmuxctl"
	"github.com/browsertabs/tabs/tmuxctl/tmuxtest"
)

func TestProbe(t *testing.T) {
	s := tmuxtest.Start(t)
	if err := s.Probe(t.Context()); !errors.Is(err, tmuxctl.ErrNoServer) {
		t.Errorf("before the first session: %v, want ErrNoServer", err)
	}
	s.New("probe")
	if err := s.Probe(t.Context()); err != nil {
		t.Errorf("with a session: %v", err)
	}
	var pid int
	fmt.Sscan(s.Tmux("display-message", "-p", "#{pid}"), &pid)

	// A server that is merely stopped or busy must not be taken for a wedged one, which gets killed.
	signal(t, pid, syscall.SIGSTOP)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	err := s.Probe(ctx)
	cancel()
	signal(t, pid, syscall.SIGCONT)
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, tmuxctl.ErrWedged) || errors.Is(err, tmuxctl.ErrNoServer) {
		t.Errorf("with a stopped server: %v, want that it does not answer", err)
	}

	// The socket file stays.
	signal(t, pid, syscall.SIGKILL)
	tmuxtest.Until(t, "end of the server", func() bool { return errors.Is(s.Probe(t.Context()), tmuxctl.ErrNoServer) })
	s.New("again")
	if err := s.Probe(t.Context()); err != nil {
		t.Errorf("with a new server over the old socket: %v", err)
	}
}

func TestMissing(t *testing.T) {
	s := tmuxctl.Server{Socket: filepath.Join(t.TempDir(), "s"), Start: tmuxctl.LocalStart}
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if _, err := s.Version(t.Context()); !errors.Is(err, tmuxctl.ErrMissing) {
		t.Errorf("Version: %v, want ErrMissing", err)
	}
	if err := s.Probe(t.Context()); !errors.Is(err, tmuxctl.ErrMissing) {
		t.Errorf("Probe: %v, want ErrMissing", err)
	}
	if _, err := s.Attach(t.Context(), 0); !errors.Is(err, tmuxctl.ErrMissing) {
		t.Errorf("Attach: %v, want ErrMissing", err)
	}
	fake := func(script string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "tmux"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// A sandbox's exec says it by the exit code.
	fake("echo 'tmux: not found' >&2; exit 127")
	if _, err := s.Version(t.Context()); !errors.Is(err, tmuxctl.ErrMissing) {
		t.Errorf("exit code 127: %v, want ErrMissing", err)
	}
	fake("echo tmux 3.1c")
	if _, err := s.Version(t.Context()); !errors.Is(err, tmuxctl.ErrTooOld) || !strings.Contains(err.Error(), "3.1c") {
		t.Errorf("tmux 3.1c: %v, want ErrTooOld", err)
	}
}

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]tmuxctl.Version{
		"tmux 3.3a\n": {Major: 3, Minor: 3, Suffix: "a"}, "tmux 3.10": {Major: 3, Minor: 10}, "tmux next-3.7": {Major: 3, Minor: 7},
		"tmux master": {Major: 99}, "tmux openbsd-7.8": {Major: 99}, "tmux 3.6-rc2": {Major: 3, Minor: 6},
	} {
		if v, err := tmuxctl.ParseVersion(text); err != nil || v != want {
			t.Errorf("%q: %v, %v; want %v", text, v, err, want)
		}
	}
	for _, text := range []string{"", "screen 4.9", "tmux", "tmux 3", "tmux 99999999999.1"} {
		if v, err := tmuxctl.ParseVersion(text); err == nil {
			t.Errorf("%q: %v, want an error", text, v)
		}
	}
}

func TestAttachRefused(t *testing.T) {
	s := tmuxtest.Start(t)
	if _, err := s.Attach(t.Context(), 0); !errors.Is(err, tmuxctl.ErrNoServer) {
		t.Errorf("without a server: %v, want ErrNoServer", err)
	}
	s.New("refuse")
	if _, err := s.Attach(t.Context(), 99); err == nil || !strings.Contains(err.Error(), "can't find session") {
		t.Errorf("unknown session: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Attach(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestNewSessionRefuses(t *testing.T) {
	s := tmuxtest.Start(t)
	for _, n := range []tmuxctl.NewSession{
		{}, {Name: "a:b"}, {Name: "a b"}, {Name: "-t"}, {Name: strings.Repeat("a", 65)}, {Name: "ok", Options: map[string]string{"status": "on"}},
	} {
		if _, err := s.NewSession(t.Context(), n); err == nil {
			t.Errorf("%+v was taken", n)
		}
	}
	s.New("twice")
	if _, err := s.NewSession(t.Context(), tmuxctl.NewSession{Name: "twice"}); err == nil || !strings.Contains(err.Error(), "duplicate session") {
		t.Errorf("same name: %v", err)
	}
}

// TestArguments: programs get their arguments byte for byte.
func TestArguments(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a #{b} c;")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s := tmuxtest.Start(t)
	want := []string{"a;", `a\;`, ";", "#{pane_id}", "$HOME", "'\"", "a\nb", "~", "", "ü", "-d"}
	_, err := s.NewSession(t.Context(), tmuxctl.NewSession{
		Name: "args", Cwd: dir, Cols: 80, Rows: 24,
		Command: append([]string{"sh", "-c", `printf '%s\0' "$PWD" "$@" > out.tmp; mv out.tmp out; cat`, "sh"}, want...),
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "out")
	tmuxtest.Until(t, "arguments", func() bool { _, err := os.Stat(file); return err == nil })
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(append([]string{dir}, want...), "\x00") + "\x00"; string(got) != all {
		t.Errorf("program got %q, want %q", got, all)
	}

	// A single argument is a program, not a shell's command line.
	script := filepath.Join(dir, "one arg")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho ran; cat\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := s.NewSession(t.Context(), tmuxctl.NewSession{Name: "single", Command: []string{script}}); err != nil {
		t.Fatal(err)
	}
	tmuxtest.Until(t, "program", func() bool { return strings.Contains(s.Tmux("capture-pane", "-p", "-t", "=single:"), "ran") })
}

// undrained starts a control client that nobody reads from, over a program that never stops writing.
func undrained(t *testing.T, s *tmuxtest.Server) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("tmux", "-u", "-S", s.Socket, "-C", "attach-session", "-f", "ignore-size", "-t", "=flood")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		out.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	tmuxtest.Until(t, "client", func() bool {
		return strings.Contains(s.Tmux("list-clients", "-F", "#{client_pid}"), fmt.Sprint(cmd.Process.Pid))
	})
	return cmd
}

// flood is a session whose program writes its line number to file at each line, and how far it has come.
func flood(s *tmuxtest.Server, file string) (count func() int) {
	s.New("flood", "sh", "-c", `i=0; while :; do i=$((i+1)); printf '%01000d\n' $i; echo $i > "$0"; done`, file)
	return func() (n int) {
		b, _ := os.ReadFile(file)
		fmt.Sscan(string(b), &n)
		return n
	}
}

// pipeLines is how many lines of flood are more than a pipe and tmux's own buffers hold.
const pipeLines = 1000

// saturate waits until flood has written more than an undrained client takes, or stands still.
func saturate(t *testing.T, count func() int) {
	t.Helper()
	last, since := 0, time.Now()
	tmuxtest.Until(t, "flood", func() bool {
		if n := count(); n != last {
			last, since = n, time.Now()
		}
		return last > pipeLines || last > 0 && time.Since(since) > time.Second
	})
}

// TestStaleClient: a client that a killed server of ours left behind, which freezes the program or makes tmux grow, is
// found and killed.
func TestStaleClient(t *testing.T) {
	file := filepath.Join(t.TempDir(), "count")
	s := tmuxtest.Start(t)
	count := flood(s, file)
	stale := undrained(t, s)
	saturate(t, count)
	var killed []int
	n, err := s.KillStaleClients(t.Context(), func(pid int) error {
		killed = append(killed, pid)
		return killPID(pid)
	})
	if err != nil || n != 1 || len(killed) != 1 || killed[0] != stale.Process.Pid {
		t.Fatalf("killed %v (%d), %v; want %d", killed, n, err, stale.Process.Pid)
	}
	tmuxtest.Until(t, "end of the client", func() bool { return s.Tmux("list-clients") == "" })
	before := count()
	tmuxtest.Until(t, "program going on", func() bool { return count() > before })
	attach(t, s, 0)
}

// TestStaleClientsOnly: nobody else's clients are killed.
func TestStaleClientsOnly(t *testing.T) {
	s := tmuxtest.Start(t)
	s.New("theirs")
	st, err := tmuxctl.LocalStart(t.Context(), []string{"tmux", "-S", s.Socket, "-C", "attach-session"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { st.Kill(); st.Wait() }()
	tmuxtest.Until(t, "client", func() bool { return s.Tmux("list-clients") != "" })
	n, err := s.KillStaleClients(t.Context(), func(pid int) error { t.Errorf("killed %d", pid); return nil })
	if n != 0 || err != nil {
		t.Errorf("%d killed, %v", n, err)
	}
}

// TestWedged: kill-server with a client that does not read can leave a server that answers nobody. It is detected, and
// Replace makes room for a new one.
func TestWedged(t *testing.T) {
	for range 5 {
		if wedge(t) {
			return
		}
	}
	t.Skip("this tmux did not wedge")
}

func wedge(t *testing.T) bool {
	file := filepath.Join(t.TempDir(), "count")
	s := tmuxtest.Start(t)
	count := flood(s, file)
	undrained(t, s)
	saturate(t, count)
	var pid int
	fmt.Sscan(s.Tmux("display-message", "-p", "#{pid}"), &pid)
	s.Run(t.Context(), "kill-server")
	err := s.Probe(t.Context())
	if errors.Is(err, tmuxctl.ErrNoServer) {
		return false
	}
	if !errors.Is(err, tmuxctl.ErrWedged) {
		t.Fatalf("Probe: %v, want ErrWedged", err)
	}
	if _, err := s.NewSession(t.Context(), tmuxctl.NewSession{Name: "no"}); err == nil {
		t.Error("a wedged server took a session")
	}
	if err := s.Replace(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err == nil && !isZombie(pid) {
		t.Errorf("server %d lives", pid)
	}
	if _, err := os.Stat(s.Socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("socket: %v, want that it is gone", err)
	}
	s.New("new")
	if err := s.Probe(t.Context()); err != nil {
		t.Errorf("new server: %v", err)
	}
	return true
}

// TestReplaceWithoutServer: there may be nothing to replace.
func TestReplaceWithoutServer(t *testing.T) {
	s := tmuxtest.Start(t)
	if err := s.Replace(t.Context()); err != nil {
		t.Error(err)
	}
}

func isZombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(after, "Z")
}
