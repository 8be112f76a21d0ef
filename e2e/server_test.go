package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/browsertabs/tabs/client"
)

// server is a running `tabs serve` with data, runtime and temporary directories of its own. Its tmux servers end with
// the test, and the test fails when a process outlives it.
type server struct {
	t    testing.TB
	dir  string // on tmpfs: everything that is written
	args []string
	exe  string
	cmd  *exec.Cmd
	addr string // host:port it listens on
	url  string // where the printed address says the page is: origin and base path, without a trailing slash
	log  string // path of what it printed
}

// newServer starts a server on a free port of the loopback address.
func newServer(t testing.TB, args ...string) *server {
	t.Helper()
	need(t, "tmux", "bash")
	if err := build(); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/dev/shm", "te2e")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, dir: dir, args: args, exe: binary, log: filepath.Join(dir, "log")}
	t.Cleanup(s.cleanup)
	for _, sub := range []string{"run", "tmp", "home"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	listen := "127.0.0.1:0"
	if i := slices.Index(args, "--listen"); i >= 0 {
		listen = args[i+1]
		s.args = slices.Delete(slices.Clone(args), i, i+2)
	}
	s.start(listen)
	return s
}

// environ is a machine with nobody's settings, and no LANG: terminals must draw everything all the same.
func (s *server) environ() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir + "/home", "TMPDIR=" + s.dir + "/tmp",
		"XDG_RUNTIME_DIR=" + s.dir + "/run", "GORACE=halt_on_error=0 exitcode=66"}
}

func (s *server) command(args ...string) *exec.Cmd {
	cmd := exec.Command(s.exe, args...)
	cmd.Env = s.environ()
	cmd.Dir = s.dir
	return cmd
}

var (
	printedAddress = regexp.MustCompile(`https?://[^\s"]+/login\?token=[^\s"]+`)
	loggedListen   = regexp.MustCompile(`msg=listening address=(\S+)`)
)

func (s *server) start(listen string) {
	s.t.Helper()
	// A file, not a pipe: nothing of ours need read it, and a child that inherits it keeps nobody waiting.
	log, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	before, err := log.Seek(0, 2)
	if err != nil {
		s.t.Fatal(err)
	}
	s.cmd = s.command(append([]string{"serve", "--listen", listen, "--data-dir", s.dir + "/data"}, s.args...)...)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	pollFor(s.t, 20*time.Second, "server prints its login address", func() (bool, any) {
		text, err := os.ReadFile(s.log)
		if err != nil {
			return false, err
		}
		address := printedAddress.Find(text[before:])
		if address == nil {
			return false, string(text[before:])
		}
		s.url = string(address[:bytes.Index(address, []byte("/login?"))])
		addr := loggedListen.FindSubmatch(text[before:])
		if addr == nil {
			return false, string(text[before:])
		}
		s.addr = string(addr[1])
		return true, nil
	})
}

// stop asks the server to go and waits until it has.
func (s *server) stop() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Errorf("stop server: %v", err)
		return
	}
	done := make(chan error, 1)
	go func() { done <- s.cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			s.t.Errorf("server stopped with %v", err)
		}
	case <-time.After(20 * time.Second):
		s.t.Error("server did not stop within 20 s")
		s.cmd.Process.Kill()
		<-done
	}
	s.cmd = nil
}

// kill ends the server as the out-of-memory killer would.
func (s *server) kill() {
	s.t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	s.cmd.Wait() // always an error: it was killed
	s.cmd = nil
}

// restart starts the server again, on the same port and data, after stop or kill.
func (s *server) restart() {
	s.t.Helper()
	s.start(s.addr)
}

// pause and resume are the machine's sleep, as far as the server can tell.
func (s *server) pause()  { s.signal(syscall.SIGSTOP) }
func (s *server) resume() { s.signal(syscall.SIGCONT) }

func (s *server) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// loginAddress asks for a fresh one, as a person would for a second device.
func (s *server) loginAddress() string {
	s.t.Helper()
	cmd := s.command("login", "--data-dir", s.dir+"/data")
	text, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("tabs login: %v\n%s", err, text)
	}
	address := printedAddress.Find(text)
	if address == nil {
		s.t.Fatalf("tabs login printed no address:\n%s", text)
	}
	return string(address)
}

// key is the full-access key of the first organisation.
func (s *server) key() string {
	s.t.Helper()
	key, err := os.ReadFile(s.dir + "/data/pt.key")
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(string(key))
}

func (s *server) api() *client.Client {
	s.t.Helper()
	direct := "http://" + s.addr // not through the proxy that may be in front
	if i := slices.Index(s.args, "--base-path"); i >= 0 {
		direct += s.args[i+1]
	}
	if strings.HasPrefix(s.url, "https:") && !slices.Contains(s.args, "--behind-proxy") {
		direct = s.url
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true} // its certificate is its own
	c, err := client.New(client.Config{BaseURL: direct, Key: s.key(), HTTP: &http.Client{Transport: transport}})
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// tabs lists the tabs of the machine as the API has them.
func (s *server) tabs() []client.Tab {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	tabs, err := s.api().Tabs(ctx, "local")
	if err != nil {
		s.t.Fatal(err)
	}
	return tabs
}

// tmuxServers are the tmux servers of this test's server.
func (s *server) tmuxServers() []process {
	return filter(processesOf(s.dir), process.isTmuxServer)
}

func (s *server) tmuxClients() []process {
	return filter(processesOf(s.dir), process.isTmuxClient)
}

// tmux runs a tmux command on the tmux server that has a tab's session.
func (s *server) tmux(tab client.Tab, args ...string) string {
	s.t.Helper()
	fields := strings.Fields(tab.AttachCommand)
	i := slices.Index(fields, "-S")
	if i < 0 || i+1 >= len(fields) {
		s.t.Fatalf("attach command %q names no socket", tab.AttachCommand)
	}
	cmd := exec.Command("tmux", append([]string{"-u", "-S", strings.Trim(fields[i+1], `'"`)}, args...)...)
	cmd.Env = s.environ()
	text, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %v: %v\n%s", args, err, text)
	}
	return strings.TrimRight(string(text), "\n")
}

func (s *server) cleanup() {
	if s.cmd != nil {
		syscall.Kill(s.cmd.Process.Pid, syscall.SIGCONT) // a stopped one would not hear
		s.stop()
		if clients := s.tmuxClients(); len(clients) > 0 {
			s.t.Errorf("control clients outlive the server: %v", clients)
		}
	}
	for _, p := range s.tmuxServers() {
		syscall.Kill(p.pid, syscall.SIGTERM)
	}
	left := waitGone(s.dir, 5*time.Second)
	for _, p := range left {
		s.t.Errorf("process outlives the test: %v", p)
		syscall.Kill(p.pid, syscall.SIGKILL)
	}
	log, err := os.ReadFile(s.log)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Error(err)
	}
	if bytes.Contains(log, []byte("WARNING: DATA RACE")) || bytes.Contains(log, []byte("panic:")) {
		s.t.Error("the server raced or panicked; see its log")
	}
	if s.t.Failed() {
		if err := os.WriteFile(artifact(s.t, "server-"+filepath.Base(s.dir)+".log"), log, 0o644); err != nil {
			s.t.Error(err)
		}
	}
	if err := os.RemoveAll(s.dir); err != nil {
		s.t.Error(err)
	}
}

// waitGone returns what still runs of a directory's processes after at most limit.
func waitGone(dir string, limit time.Duration) []process {
	for deadline := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		left := processesOf(dir)
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
	}
}
