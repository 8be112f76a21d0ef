package api_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/browsertabs/tabs/client"
	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/sandbox/local"
	"github.com/browsertabs/tabs/terminal/tabs"
)

// counting counts the processes that live.
type counting struct {
	*local.Provider
	started chan sandbox.Process
}

func (c counting) Exec(ctx context.Context, id string, e sandbox.Exec) (sandbox.Process, error) {
	p, err := c.Provider.Exec(ctx, id, e)
	if err == nil {
		c.started <- p
	}
	return p, err
}

// attachServer serves one tab whose attach line is a shell command that stands for tmux.
func attachServer(t *testing.T, line string) (*server, chan sandbox.Process) {
	t.Helper()
	p, err := local.New(local.Config{Instance: "apitest", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	started := make(chan sandbox.Process, 1)
	s := newServer(t, counting{p, started})
	s.tabs.tabs = []tabs.Tab{{ID: "tab_1", Sandbox: "local", State: "live", Attach: line}}
	return s, started
}

func attach(t *testing.T, s *server, term string) *client.Attachment {
	t.Helper()
	a, err := s.client().AttachTab(t.Context(), "local", "tab_1", client.Size{Cols: 90, Rows: 30}, term)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// readUntil reads until want has come.
func readUntil(t *testing.T, a *client.Attachment, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var got strings.Builder
	for !strings.Contains(got.String(), want) {
		b, err := a.Read(ctx)
		if err != nil {
			t.Fatalf("got %q, then %v; want %q", got.String(), err, want)
		}
		got.Write(b)
	}
}

func ended(t *testing.T, started chan sandbox.Process) {
	t.Helper()
	p := <-started
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Wait()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("the client was left running")
	}
}

func TestAttach(t *testing.T) {
	s, started := attachServer(t, `sh -c 'stty size; echo "[$TERM]"; stty -echo; read a; stty size; echo "got $a"; exit 3'`)
	a := attach(t, s, "xterm-256color")
	readUntil(t, a, "[xterm-256color]")
	ctx := t.Context()
	if err := errors.Join(a.Resize(ctx, client.Size{Cols: 77, Rows: 11}), a.Write(ctx, []byte("keys\r"))); err != nil {
		t.Fatal(err)
	}
	readUntil(t, a, "11 77")
	var all strings.Builder
	for {
		b, err := a.Read(ctx)
		all.Write(b)
		var exited *client.Exited
		if errors.As(err, &exited) {
			if exited.Code != 3 {
				t.Errorf("exit code %d", exited.Code)
			}
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(all.String(), "got keys") {
		t.Errorf("last output %q", all.String())
	}
	ended(t, started)
}

func TestAttachUnknownTerm(t *testing.T) {
	s, started := attachServer(t, `sh -c 'echo "[$TERM]"; sleep 60'`)
	a := attach(t, s, "no-such-terminal")
	readUntil(t, a, "[xterm-256color]")
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	ended(t, started)
}

// A client of ours must be told to leave before its terminal hangs up, and must not stay when the peer goes.
func TestAttachPeerLeaves(t *testing.T) {
	s, started := attachServer(t, `sh -c 'trap "exit 0" TERM; echo ready; while :; do sleep 0.1; done'`)
	a := attach(t, s, "xterm")
	readUntil(t, a, "ready")
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	ended(t, started)
}

func TestServerStops(t *testing.T) {
	s, started := attachServer(t, `sh -c 'echo ready; sleep 60'`)
	a := attach(t, s, "xterm")
	readUntil(t, a, "ready")
	closed := make(chan error, 1)
	go func() { closed <- s.api.Close(context.Background()) }()
	_, err := a.Read(t.Context())
	if code, _, ok := client.IsClosed(err); !ok || code != 1012 {
		t.Fatalf("the end is %v", err)
	}
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	ended(t, started)
	if _, err := s.client().AttachTab(t.Context(), "local", "tab_1", client.Size{Cols: 80, Rows: 24}, "xterm"); err == nil {
		t.Fatal("a stopping server takes attachments")
	}
}

func TestAttachRefused(t *testing.T) {
	s, started := attachServer(t, "echo no")
	plain := tabs.Tab{ID: "tab_2", Sandbox: "local", Plain: true}
	s.tabs.tabs = append(s.tabs.tabs, plain)
	for _, tt := range []struct {
		path   string
		status int
		code   string
	}{
		{"/tab_2/attach?cols=80&rows=24&term=xterm", 409, "not_supported"},
		{"/tab_3/attach?cols=80&rows=24&term=xterm", 404, "not_found"},
		{"/tab_1/attach", 400, "invalid_request"},
		{"/tab_1/attach?cols=0&rows=24&term=xterm", 400, "invalid_request"},
		{"/tab_1/attach?cols=80&rows=24&term=a%20b", 400, "invalid_request"},
		{"/tab_1/attach?cols=80&rows=24&term=xterm", 400, "invalid_request"}, // no handshake
	} {
		status, _, answer := s.do(s.key, http.MethodGet, "/v1/sandboxes/local/tabs"+tt.path, "")
		if status != tt.status || answer["code"] != tt.code {
			t.Errorf("%s: %d %v", tt.path, status, answer)
		}
	}
	select {
	case <-started:
		t.Error("a refused attachment started something")
	default:
	}
}

func TestAttachBadFrame(t *testing.T) {
	s, started := attachServer(t, `sh -c 'echo ready; sleep 60'`)
	a := attach(t, s, "xterm")
	readUntil(t, a, "ready")
	if err := a.Resize(t.Context(), client.Size{Cols: 100000, Rows: -1}); err != nil {
		t.Fatal(err)
	}
	_, err := a.Read(t.Context())
	if code, _, ok := client.IsClosed(err); !ok || code != 4000 {
		t.Fatalf("the end is %v", err)
	}
	ended(t, started)
}
