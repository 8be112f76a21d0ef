package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/browsertabs/tabs/client"
)

// server is a `tabs serve` with its default data directory in a home of its own.
type server struct {
	dir string // home, run and everything else
	cmd *exec.Cmd
	url string
}

func (s *server) environ() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir + "/home", "XDG_RUNTIME_DIR=" + s.dir + "/run",
		"TMPDIR=" + s.dir + "/tmp"}
}

func (s *server) makeDirs() error {
	for _, sub := range []string{"home", "run", "tmp"} {
		if err := os.MkdirAll(filepath.Join(s.dir, sub), 0o700); err != nil {
			return err
		}
	}
	return nil
}

var loginAddress = regexp.MustCompile(`(https?://[^\s/]+)/login\?token=`)

// start starts the server and waits until it listens: on a free port, or the one it had before.
func (s *server) start() error {
	listen := "127.0.0.1:0"
	if s.url != "" {
		listen = strings.TrimPrefix(s.url, "http://")
	}
	log, err := os.Create(filepath.Join(s.dir, "server.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(tabs, "serve", "--listen", listen)
	cmd.Env, cmd.Dir = s.environ(), s.dir
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	s.cmd = cmd
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(log.Name())
		if err != nil {
			return err
		}
		if m := loginAddress.FindSubmatch(text); m != nil {
			s.url = string(m[1])
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("server prints no login address:\n%s", text)
		}
	}
}

// stop asks the server to go and waits for it.
func (s *server) stop() error {
	if s.cmd == nil {
		return nil
	}
	cmd := s.cmd
	s.cmd = nil
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	late := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
	defer late.Stop()
	return cmd.Wait()
}

func (s *server) client() (*client.Client, error) {
	key, err := os.ReadFile(filepath.Join(s.dir, "home/.local/state/tabs/pt.key"))
	if err != nil {
		return nil, err
	}
	return client.New(client.Config{BaseURL: s.url, Key: strings.TrimSpace(string(key))})
}

// end ends every tab and the server, and tells of each process that stays: it ends those by their ids.
func (s *server) end(t testing.TB) {
	t.Helper()
	if s.cmd != nil {
		if err := s.endTabs(); err != nil {
			t.Errorf("end tabs: %v", err)
		}
	}
	if err := s.stop(); err != nil {
		t.Errorf("stop server: %v", err)
	}
	if t.Failed() {
		if text, err := os.ReadFile(filepath.Join(s.dir, "server.log")); err == nil {
			t.Logf("server log:\n%s", text)
		}
	}
	deadline := time.Now().Add(10 * time.Second)
	for left := processes(s.dir); len(left) > 0; left = processes(s.dir) {
		if time.Now().After(deadline) {
			for pid, argv := range left {
				t.Errorf("left running: %d %s", pid, argv)
				syscall.Kill(pid, syscall.SIGKILL)
			}
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (s *server) endTabs() error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	c, err := s.client()
	if err != nil {
		return err
	}
	all, err := c.Tabs(ctx, "local")
	if err != nil {
		return err
	}
	for _, t := range all {
		if err := c.CloseTab(ctx, t.SandboxID, t.ID); err != nil {
			return err
		}
	}
	return nil
}

// processes are those that were started with dir in their arguments or environment, by pid.
func processes(dir string) map[int]string {
	found := make(map[int]string)
	paths, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for _, path := range paths {
		pid, err := strconv.Atoi(filepath.Base(path))
		if err != nil || pid == os.Getpid() {
			continue
		}
		argv, err := os.ReadFile(path + "/cmdline") // empty for a zombie
		if err != nil || len(argv) == 0 {
			continue
		}
		env, _ := os.ReadFile(path + "/environ") // of another user: the arguments must do
		if bytes.Contains(argv, []byte(dir)) || bytes.Contains(env, []byte(dir)) {
			found[pid] = string(bytes.ReplaceAll(argv, []byte{0}, []byte{' '}))
		}
	}
	return found
}
