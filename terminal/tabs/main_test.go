package tabs

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/sandbox/local"
	"github.com/browsertabs/tabs/terminal"
	"github.com/browsertabs/tabs/terminal/terminaltest"
)

// TestMain is also the server that TestKilledServer kills.
func TestMain(m *testing.M) {
	if instance := os.Getenv("TABS_TEST_INSTANCE"); instance != "" {
		serveUntilKilled(instance)
	}
	goleak.VerifyTestMain(m)
}

// memory is a RecordStore.
type memory struct {
	mu      sync.Mutex
	records map[string]Saved
	puts    int
}

func newMemory() *memory { return &memory{records: make(map[string]Saved)} }

func (m *memory) PutTab(_ context.Context, s Saved) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records[s.ID] = s
	m.puts++
	return nil
}

func (m *memory) DeleteTabs(_ context.Context, sandboxID string, ids []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range ids {
		delete(m.records, id)
	}
	return nil
}

func (m *memory) SavedTabs(_ context.Context, sandboxID string) ([]Saved, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []Saved
	for _, r := range m.records {
		list = append(list, r)
	}
	return list, nil
}

func (m *memory) get(id string) (Saved, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.records[id]
	return r, ok
}

// machine is this machine as the sandbox of one test, with tmux servers that nobody else sees.
type machine struct {
	t        *testing.T
	instance string
	records  *memory
	dir      string
	home     string
	shell    string // "": the user's own
	config   Config
}

// atHome is a provider whose user has a home of the test's: the profile of whoever runs it may do anything.
type atHome struct {
	sandbox.Provider
	home, shell string
}

func (p atHome) Exec(ctx context.Context, sandboxID string, e sandbox.Exec) (sandbox.Process, error) {
	e.Env = append([]string{"HOME=" + p.home}, e.Env...)
	if p.shell != "" {
		e.Env = append(e.Env, "SHELL="+p.shell)
	}
	if e.Dir == "" {
		e.Dir = p.home
	}
	return p.Provider.Exec(ctx, sandboxID, e)
}

var instances atomic.Int64

func newMachine(t *testing.T) *machine {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	m := &machine{t: t, instance: fmt.Sprintf("t%dx%d", os.Getpid(), instances.Add(1)), records: newMemory(), home: t.TempDir()}
	dir, err := m.provider().RuntimeDir(t.Context(), sandbox.LocalID, "")
	if err != nil {
		t.Fatal(err)
	}
	m.dir = dir
	t.Cleanup(func() {
		m.killServers()
		if left := m.processes(); len(left) > 0 {
			t.Errorf("processes left: %q", left)
		}
		os.RemoveAll(dir)
	})
	return m
}

func (m *machine) provider() sandbox.Provider {
	p, err := local.New(local.Config{Instance: m.instance})
	if err != nil {
		m.t.Fatal(err)
	}
	return atHome{p, m.home, m.shell}
}

// processes are those that name the runtime directory in their command line: tmux servers and clients.
func (m *machine) processes() []string {
	var list []string
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(m.dir)) {
			pid := filepath.Base(filepath.Dir(f))
			list = append(list, pid+" "+strings.ReplaceAll(string(b), "\x00", " "))
		}
	}
	return list
}

// clients are the control clients of this machine.
func (m *machine) clients() []string {
	return slices.DeleteFunc(m.processes(), func(p string) bool { return !strings.Contains(p, " -C attach-session") })
}

func (m *machine) sockets() []string {
	list, _ := filepath.Glob(filepath.Join(m.dir, "tab_*"))
	return slices.DeleteFunc(list, func(s string) bool { return strings.Contains(filepath.Base(s), ".") })
}

// killServers does to tmux what a restart of the machine does.
func (m *machine) killServers() {
	for _, line := range m.processes() {
		pid, _, _ := strings.Cut(line, " ")
		exec.Command("kill", "-9", pid).Run()
	}
	until(m.t, "tmux servers end", func() bool { return len(m.processes()) == 0 })
}

// boot starts a server of ours on the machine.
func (m *machine) boot() *running {
	m.t.Helper()
	c := m.config
	c.Provider, c.Records, c.Version = m.provider(), m.records, "test"
	c.Log = slog.New(slog.NewTextHandler(testWriter{m.t}, &slog.HandlerOptions{Level: slog.LevelInfo}))
	r := &running{Service: New(c), m: m, t: m.t}
	m.t.Cleanup(r.shutDown)
	if err := r.Start(m.t.Context(), sandbox.LocalID); err != nil {
		m.t.Fatal(err)
	}
	return r
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(b []byte) (int, error) {
	w.t.Logf("%s", bytes.TrimSpace(b))
	return len(b), nil
}

// running is a server of ours.
type running struct {
	*Service
	m    *machine
	t    *testing.T
	once sync.Once
}

func (r *running) shutDown() {
	r.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := r.Close(ctx); err != nil {
			r.t.Error(err)
		}
	})
}

func (r *running) open(o OpenOptions) Tab {
	r.t.Helper()
	v, err := r.Open(r.t.Context(), sandbox.LocalID, o)
	if err != nil {
		r.t.Fatal(err)
	}
	return v
}

func (r *running) list() []Tab {
	r.t.Helper()
	list, err := r.List(r.t.Context(), sandbox.LocalID)
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

func (r *running) get(id string) Tab {
	r.t.Helper()
	v, err := r.Get(r.t.Context(), sandbox.LocalID, id)
	if err != nil {
		r.t.Fatal(err)
	}
	return v
}

func (r *running) socket(id string) string { return filepath.Join(r.m.dir, id) }

// tmux runs a tmux command on a tab's server, as a person in it would.
func (r *running) tmux(id string, args ...string) string {
	r.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-u", "-S", r.socket(id)}, args...)...).CombinedOutput()
	if err != nil {
		r.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

func (r *running) screen(id string) string { return r.tmux(id, "capture-pane", "-p", "-S", "-") }

// shows waits until a tab's pane shows a text.
func (r *running) shows(id, text string) {
	r.t.Helper()
	last := ""
	defer func() {
		if r.t.Failed() {
			r.t.Logf("screen of %s: %q", id, last)
		}
	}()
	until(r.t, fmt.Sprintf("%q shows", text), func() bool {
		last = r.screen(id)
		return strings.Contains(last, text)
	})
}

// page is a browser that looks at a tab.
type page struct {
	*terminaltest.Page
	t      *testing.T
	offset uint64
	left   chan error
}

func (r *running) look(id string, input string) *page {
	r.t.Helper()
	term, err := r.Terminal(r.t.Context(), sandbox.LocalID, id)
	if err != nil {
		r.t.Fatal(err)
	}
	p := &page{Page: terminaltest.NewPage(), t: r.t, left: make(chan error, 1)}
	h := terminal.Hello{Type: "hello", Protocol: 1, Scrollback: 1000, Input: input}
	go func() { p.left <- term.Serve(context.Background(), p.Page, h, terminal.ViewerConfig{Name: "test"}) }()
	r.t.Cleanup(func() {
		p.Vanish()
		<-p.left
	})
	return p
}

func (p *page) sees(pane terminal.PaneID, text string) {
	p.t.Helper()
	defer func() {
		if p.t.Failed() {
			code, reason := p.Closed()
			p.t.Logf("page has %q of %v; frames %v; closed %d %s; %v", p.View(pane).Bytes, pane, p.Types(), code, reason, p.Err())
		}
	}()
	until(p.t, fmt.Sprintf("the page sees %q", text), func() bool { return strings.Contains(string(p.View(pane).Bytes), text) })
}

func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

func serveUntilKilled(instance string) {
	p, err := local.New(local.Config{Instance: instance})
	if err != nil {
		panic(err)
	}
	s := New(Config{Provider: p, Records: newMemory(), Version: "test"})
	if err := s.Start(context.Background(), sandbox.LocalID); err != nil {
		panic(err)
	}
	fmt.Println("ready")
	select {}
}

// types sends keys as a person types them.
func (p *page) types(pane terminal.PaneID, keys string) {
	p.Type(pane, p.offset, keys)
	p.offset += uint64(len(keys))
}
