package cli

import (
	"net"
	"path/filepath"
	"testing"

	"github.com/browsertabs/tabs/client"
)

func TestParseAttach(t *testing.T) {
	for _, tt := range []struct {
		line string
		want attachLine
		ok   bool
	}{
		{"tmux -S /run/tabs/tab_1 attach", attachLine{"/run/tabs/tab_1", ""}, true},
		{"tmux -u -S '/run/my tabs/1' attach-session -t '=tab'", attachLine{"/run/my tabs/1", "=tab"}, true},
		{`tmux -S /run/my\ tabs attach -t '$0'`, attachLine{"/run/my tabs", "$0"}, true},
		{"", attachLine{}, false},
		{"tmux attach", attachLine{}, false},
		{"tmux -S run attach", attachLine{}, false},
		{"tmux -S /run/x", attachLine{}, false},
		{"sh -c x", attachLine{}, false},
		{"tmux -S /run/x -f /tmp/evil attach", attachLine{}, false},
		{"tmux -S /run/x attach ; rm -rf /", attachLine{}, false},
		{"tmux -S /run/x attach $(id)", attachLine{}, false},
		{"tmux -S /run/x attach `id`", attachLine{}, false},
		{"tmux -S /run/x attach ; run-shell id", attachLine{}, false},
		{`tmux -S /run/x attach \; run-shell id`, attachLine{}, false},
		{"tmux -S /run/x run-shell id", attachLine{}, false},
		{"tmux -S /run/x attach 'open", attachLine{}, false},
		{"tmux -S /run/x attach\ntmux", attachLine{}, false},
	} {
		got, ok := parseAttach(tt.line)
		if ok != tt.ok || ok && got != tt.want {
			t.Errorf("%q: got %+v, %v; want %+v, %v", tt.line, got, ok, tt.want, tt.ok)
		}
	}
}

func TestOnThisMachine(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	file := filepath.Join(dir, "f")
	write(t, file, "")
	for _, tt := range []struct {
		name, url, sandbox, socket string
		want                       bool
	}{
		{"here", "http://127.0.0.1:7780", "local", socket, true},
		{"by name", "https://localhost/term", "local", socket, true},
		{"version 6", "http://[::1]:1", "local", socket, true},
		{"elsewhere", "https://example.org", "local", socket, false},
		{"another sandbox", "http://127.0.0.1:7780", "sbx_1", socket, false},
		{"no socket", "http://127.0.0.1:7780", "local", file, false},
		{"nothing there", "http://127.0.0.1:7780", "local", filepath.Join(dir, "x"), false},
	} {
		if got := onThisMachine(tt.url, client.Tab{SandboxID: tt.sandbox}, tt.socket); got != tt.want {
			t.Errorf("%s: got %v", tt.name, got)
		}
	}
}

func TestInsideOf(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write(t, a, "")
	write(t, b, "")
	for env, want := range map[string]bool{"": false, a + ",12,0": true, b + ",12,0": false, dir + "/../" + filepath.Base(dir) + "/a,1,2": true} {
		t.Setenv("TMUX", env)
		if got := insideOf(a); got != want {
			t.Errorf("TMUX=%s: got %v", env, got)
		}
	}
}
