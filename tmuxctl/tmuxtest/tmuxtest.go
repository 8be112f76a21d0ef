// Package tmuxtest gives tests a tmux server of their own. Its main function is Start; it must not be used outside
// tests, and never touches the user's own tmux server.
package tmuxtest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/browsertabs/tabs/tmuxctl"
)

// Server is a private tmux server: nothing runs until the first NewSession or New.
type Server struct {
	*tmuxctl.Server
	t testing.TB
}

// Start returns a server with its socket in a directory of its own, and with our configuration. All its processes are
// killed when the test ends. The test is skipped where there is no tmux.
func Start(t testing.TB) *Server {
	t.Helper()
	return StartWith(t, tmuxctl.ConfigText(2000))
}

// StartWith is Start with another configuration.
func StartWith(t testing.TB, config string) *Server {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	// Not t.TempDir: its names can be longer than a socket's path may be.
	dir, err := os.MkdirTemp(tmpfs(), "tmuxtest")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	file := filepath.Join(dir, "tmux.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &Server{Server: &tmuxctl.Server{Socket: filepath.Join(dir, "s"), Config: file, Start: tmuxctl.LocalStart}, t: t}
	t.Cleanup(s.kill)
	return s
}

func tmpfs() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return ""
}

// kill ends the server, its clients and its programs, whatever state they are in.
func (s *Server) kill() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	// Clients first: kill-server with one attached can wedge the server.
	s.KillStaleClients(ctx, func(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) })
	_, err := s.Run(ctx, "kill-server")
	if err == nil || errors.Is(err, tmuxctl.ErrNoServer) {
		err = s.Probe(ctx)
	}
	if errors.Is(err, tmuxctl.ErrNoServer) {
		return
	}
	if err := s.Replace(ctx); err != nil {
		s.t.Errorf("end tmux server: %v", err)
	}
}

// Tmux runs a tmux command and returns its stdout; the test fails if it fails.
func (s *Server) Tmux(args ...string) string {
	s.t.Helper()
	out, err := s.Run(s.t.Context(), args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(out)
}

// New starts a session of 80x24 that runs command, or `cat` that echoes nothing of its own if there is none.
func (s *Server) New(name string, command ...string) tmuxctl.SessionID {
	s.t.Helper()
	if len(command) == 0 {
		command = []string{"cat"}
	}
	id, err := s.NewSession(s.t.Context(), tmuxctl.NewSession{Name: name, Cols: 80, Rows: 24, Command: command})
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

// Until polls until ok returns true; the test fails after a minute.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}
