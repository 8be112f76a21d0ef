package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/browsertabs/tabs/client"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts a server with one handler, and a client of it.
func serve(t *testing.T, h http.HandlerFunc) *client.Client {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	c, err := client.New(client.Config{BaseURL: srv.URL + "/", Key: "pt_live_k", UserAgent: "pt/test", HTTP: srv.Client()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNewRefuses(t *testing.T) {
	for _, tt := range []struct{ name, url, key, want string }{
		{"no scheme", "127.0.0.1:7780", "", "address"},
		{"other scheme", "ftp://example.org", "", "not of the form"},
		{"no host", "https://", "", "not of the form"},
		{"query", "https://example.org?a=b", "", "not of the form"},
		{"password", "https://u:p@example.org", "", "password"},
		{"line break in key", "https://example.org", "pt_live_a\nX-Evil: 1", "line break"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := client.New(client.Config{BaseURL: tt.url, Key: tt.key})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want an error with %q", err, tt.want)
			}
			if tt.key != "" && strings.Contains(err.Error(), "pt_live") {
				t.Fatalf("the error shows the key: %v", err)
			}
		})
	}
}

func TestRequest(t *testing.T) {
	var got *http.Request
	var body []byte
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, `{"id":"tab_1","sandboxId":"sbx","cols":80,"exitCode":3,"createdAt":"2026-01-02T03:04:05Z"}`)
	})
	tab, err := c.OpenTab(t.Context(), "my box/..", client.NewTab{Title: "a", Command: []string{"make", "-j2"}})
	if err != nil {
		t.Fatal(err)
	}
	if got.Method != http.MethodPost || got.URL.EscapedPath() != "/v1/sandboxes/my%20box%2F../tabs" {
		t.Errorf("asked %s %s", got.Method, got.URL.EscapedPath())
	}
	for name, want := range map[string]string{
		"Authorization": "Bearer pt_live_k", "Content-Type": "application/json", "User-Agent": "pt/test",
	} {
		if got.Header.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, got.Header.Get(name), want)
		}
	}
	if want := `{"title":"a","command":["make","-j2"]}`; string(body) != want {
		t.Errorf("sent %s, want %s", body, want)
	}
	if tab.ID != "tab_1" || tab.SandboxID != "sbx" || tab.Cols != 80 || tab.ExitCode == nil || *tab.ExitCode != 3 {
		t.Errorf("got %+v", tab)
	}
	if !tab.CreatedAt.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) {
		t.Errorf("createdAt is %v", tab.CreatedAt)
	}
}

// A sandbox that is named like a path must not lead to another route.
func TestPathSegments(t *testing.T) {
	var path string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		path = r.URL.EscapedPath()
		io.WriteString(w, "{}")
	})
	for in, want := range map[string]string{
		"..": "/v1/sandboxes/%2E.", ".": "/v1/sandboxes/%2E", "a/b": "/v1/sandboxes/a%2Fb", "a?b": "/v1/sandboxes/a%3Fb",
	} {
		if _, err := c.Sandbox(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if path != want {
			t.Errorf("%q asked %s, want %s", in, path, want)
		}
	}
}

func TestError(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		status     int
		want       client.Error
	}{
		{"ours", `{"error":"gone","code":"not_found","remedy":"pt tab list","field":"f","requestId":"req_1","children":[1]}`, 404,
			client.Error{Status: 404, Message: "gone", Code: "not_found", Remedy: "pt tab list", Field: "f", RequestID: "req_1"}},
		{"a proxy's", `<h1>Bad Gateway</h1>`, 502, client.Error{Status: 502, Message: "HOST answered 502 Bad Gateway", RequestID: "req_h"}},
		{"redirect", ``, 302, client.Error{Status: 302, Message: "HOST answered 302 Found to /login", RequestID: "req_h"}},
		{"other JSON", `{"message":"no"}`, 400, client.Error{Status: 400, Message: "HOST answered 400 Bad Request", RequestID: "req_h"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var host string
			c := serve(t, func(w http.ResponseWriter, r *http.Request) {
				host = r.Host
				w.Header().Set("X-Request-Id", "req_h")
				w.Header().Set("Location", "/login")
				w.WriteHeader(tt.status)
				io.WriteString(w, tt.body)
			})
			_, err := c.Whoami(t.Context())
			var got *client.Error
			if !errors.As(err, &got) {
				t.Fatalf("got %v, want a *client.Error", err)
			}
			if string(got.Body) != tt.body {
				t.Errorf("body is %s", got.Body)
			}
			got.Body = nil
			tt.want.Message = strings.ReplaceAll(tt.want.Message, "HOST", host)
			if got.Status != tt.want.Status || got.Message != tt.want.Message || got.Code != tt.want.Code ||
				got.Remedy != tt.want.Remedy || got.Field != tt.want.Field || got.RequestID != tt.want.RequestID {
				t.Errorf("got %+v, want %+v", *got, tt.want)
			}
		})
	}
}

// A redirect must not carry the key anywhere.
func TestRedirectIsNotFollowed(t *testing.T) {
	asked := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer other.Close()
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	if err := c.CloseTab(t.Context(), "local", "tab_1"); err == nil {
		t.Fatal("a redirect counts as success")
	}
	if asked {
		t.Fatal("the redirect was followed")
	}
}

func TestListWalksAllPages(t *testing.T) {
	pages := map[string]string{
		"":  `{"items":[{"id":"a"},{"id":"b"}],"nextCursor":"x"}`,
		"x": `{"items":[],"nextCursor":"y"}`,
		"y": `{"items":[{"id":"c"}],"nextCursor":null}`,
	}
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("limit") != "200" {
			t.Errorf("limit is %q", r.URL.Query().Get("limit"))
		}
		io.WriteString(w, pages[r.URL.Query().Get("cursor")])
	})
	tabs, err := c.Tabs(t.Context(), "local")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, tab := range tabs {
		ids = append(ids, tab.ID)
	}
	if strings.Join(ids, ",") != "a,b,c" {
		t.Fatalf("got %v", ids)
	}
}

func TestListOfNothingIsNotNil(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `{"items":null,"nextCursor":null}`) })
	all, err := c.Sandboxes(t.Context())
	if err != nil || all == nil || len(all) != 0 {
		t.Fatalf("got %#v, %v", all, err)
	}
}

func TestListEndsWhenTheCursorStands(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `{"items":[],"nextCursor":"x"}`) })
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := c.Sandboxes(ctx); err == nil || ctx.Err() != nil {
		t.Fatalf("got %v", err)
	}
}

// What the page and people's scripts read must not change its name or turn from null into absent.
func TestTabJSON(t *testing.T) {
	b, err := json.Marshal(client.Tab{})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"","sandboxId":"","title":"","named":false,"order":0,"state":"","createdAt":"0001-01-01T00:00:00Z",` +
		`"viewers":0,"cols":0,"rows":0,"user":"","cwd":"","foreground":"","foregroundSince":null,"exitCode":null,` +
		`"bell":false,"activityAt":null,"plain":false,"attachCommand":"","tmuxServer":""}`
	if string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
}
