package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/browsertabs/tabs/client"
)

// TestCrossSiteSockets is awslabs/cli-agent-orchestrator PR#533: any page could open a terminal with the visitor's cookie.
func TestCrossSiteSockets(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	cookies, err := p.d.context.Cookies()
	if err != nil || len(cookies) == 0 {
		t.Fatalf("cookies %v, error %v", cookies, err)
	}
	cookie := cookies[0].Name + "=" + cookies[0].Value
	port := s.addr[strings.LastIndex(s.addr, ":"):]
	tests := []struct {
		name, origin, host string
		want               int
	}{
		{"our own page", s.url, "", http.StatusSwitchingProtocols},
		{"a stranger's page", "https://evil.example", "", http.StatusForbidden},
		{"no origin at all", "-", "", http.StatusUnauthorized}, // the cookie does not count
		{"a sandboxed frame", "null", "", http.StatusForbidden},
		{"another port", "http://127.0.0.1:1", "", http.StatusForbidden},
		{"another scheme", "https://" + s.addr, "", http.StatusForbidden},
		{"a name that begins like ours", s.url + ".evil.example", "", http.StatusForbidden},
		{"another loopback name", "http://localhost" + port, "", http.StatusForbidden},
		{"a rebound name", "http://evil.example" + port, "evil.example" + port, http.StatusForbidden},
	}
	for _, path := range []string{"/v1/sandboxes/local/tabs/watch", "/v1/sandboxes/local/tabs/" + p.active() + "/socket"} {
		for _, tt := range tests {
			header := http.Header{"Cookie": {cookie}}
			if tt.origin != "-" {
				header.Set("Origin", tt.origin)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			ws, resp, err := websocket.Dial(ctx, s.url+path, &websocket.DialOptions{HTTPHeader: header, Host: tt.host})
			cancel()
			if ws != nil {
				ws.CloseNow()
			}
			if resp == nil {
				t.Errorf("%s from %s: %v", path, tt.name, err)
			} else if resp.StatusCode != tt.want {
				t.Errorf("%s from %s: status %d, want %d", path, tt.name, resp.StatusCode, tt.want)
			}
		}
	}

	// Without the page's token the upgrade alone shows nothing.
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, s.url+"/v1/sandboxes/local/tabs/watch", &websocket.DialOptions{
		HTTPHeader: http.Header{"Cookie": {cookie}, "Origin": {s.url}}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	if err := ws.Write(ctx, websocket.MessageText, []byte(`{"type":"hello","protocol":1,"token":"guessed"}`)); err != nil {
		t.Fatal(err)
	}
	if _, text, err := ws.Read(ctx); err == nil {
		t.Errorf("a guessed token was answered with %s", text)
	}
}

// TestSlowViewerStallsNobody is jupyter/terminado#162 and tmux/tmux PR#5368: one client that did not read stalled or
// bloated all. A viewer that never reads looks at a flood; the page, beside it, echoes.
func TestSlowViewerStallsNobody(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	flood := p.active()
	p.openTab()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 5 {
		v, err := s.api().DialTab(ctx, "local", flood, client.Hello{})
		if err != nil {
			t.Fatal(err)
		}
		defer v.CloseNow() // and no Read in between
	}
	before := s.memory()
	p.selectTab(flood)
	p.waitLive()
	p.enter("yes")
	p.waitText("y\ny\ny")
	for i := range 10 {
		p.selectTab(p.list()[1].id)
		p.waitLive()
		p.run(fmt.Sprint("echo quick ", i))
		p.selectTab(flood)
		p.waitLive()
	}
	if grown := s.memory() - before; grown > 40<<20 && !raceEnabled {
		t.Errorf("the server grew by %d MB", grown>>20)
	}
	p.focus()
	p.press("Control+C")
	p.waitPrompt()
	p.run("echo stopped")
}

// TestInterruptFlood stops a flood over a slow network: Ctrl-C must not wait behind what is on its way.
func TestInterruptFlood(t *testing.T) {
	s := newServer(t)
	n := newProxy(t, s)
	p := s.newDeviceAt(n.url).openTabs()
	n.limit(5 << 20)
	p.enter("yes")
	p.waitText("y\ny\ny")
	start := time.Now()
	p.press("Control+C")
	p.waitTextFor("^C\n$", patience) // the benchmark says how long; this says that it is no queue
	t.Logf("prompt after %v", time.Since(start))
}

// memory is the resident size of the server.
func (s *server) memory() int {
	s.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	var kb int
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		s.t.Fatal(err)
	}
	return kb << 10
}

// TestSoakAttach is ssv445/claude-wormhole PR#16: 999 PTYs were gone after 14 hours of attaching and detaching.
func TestSoakAttach(t *testing.T) {
	s := newServer(t)
	tab, err := s.api().OpenTab(t.Context(), "local", client.NewTab{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	attach := func() {
		v, err := s.api().DialTab(ctx, "local", tab.ID, client.Hello{Size: &client.Size{Cols: 80, Rows: 24}})
		if err != nil {
			t.Fatal(err)
		}
		for {
			f, err := v.Read(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if f.Type == client.FrameSnapshot {
				break
			}
		}
		if err := v.CloseNow(); err != nil {
			t.Fatal(err)
		}
	}
	attach()
	type usage struct{ files, goroutines, processes int }
	look := func() usage { return usage{s.files(), s.metric("go_goroutines"), len(processesOf(s.dir))} }
	before := look()
	for range soak(200, 2000) {
		attach()
	}
	pollFor(t, patience, "files, goroutines and processes as before", func() (bool, any) {
		now := look()
		return now.files <= before.files+3 && now.goroutines <= before.goroutines+6 && now.processes <= before.processes,
			fmt.Sprintf("now %+v, before %+v", now, before)
	})
}

func (s *server) files() int {
	s.t.Helper()
	all, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	return len(all)
}

// metric reads a number from /metrics.
func (s *server) metric(name string) int {
	s.t.Helper()
	resp, err := s.api().Do(s.t.Context(), http.MethodGet, "/metrics", nil, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var v float64
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			if _, err := fmt.Sscan(rest, &v); err != nil {
				s.t.Fatal(err)
			}
			return int(v)
		}
	}
	s.t.Fatalf("no metric %s", name)
	return 0
}
