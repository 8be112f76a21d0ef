package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/net/html"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/sandbox/sqlite"
	"github.com/browsertabs/tabs/terminal"
	"github.com/browsertabs/tabs/terminal/tabs"
)

const (
	tabID    = "tab_01K0000000000000000000000A"
	otherTab = "tab_01K0000000000000000000000B"
)

// fixture is a server on a real listener, with a real database and domain, and terminals that echo.
type fixture struct {
	t      *testing.T
	server *Server
	http   *httptest.Server
	url    string // base path included
	db     *sqlite.DB
	domain *sandbox.Service
	org    sandbox.Org
	key    string
	tabs   *echoTabs
	logs   *logBuffer
	clock  *clock
}

func newFixture(t *testing.T, change ...func(*Deps)) *fixture {
	t.Helper()
	f := &fixture{t: t, tabs: newEchoTabs(), logs: &logBuffer{}, clock: &clock{}}
	ctx := context.Background()
	var err error
	if f.db, err = sqlite.Open(ctx, filepath.Join(t.TempDir(), "tabs.db")); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewJSONHandler(f.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	f.domain = sandbox.New(sandbox.Config{Store: f.db, Log: log, Local: true})
	if f.org, err = f.domain.FirstOrg(ctx); err != nil {
		t.Fatal(err)
	}
	if _, f.key, err = f.domain.CreateKey(ctx, sandbox.Actor{OrgID: f.org.ID}, "test"); err != nil {
		t.Fatal(err)
	}
	d := Deps{Log: log, Sandboxes: f.domain, Tabs: f.tabs, Store: f.db, OrgID: f.org.ID,
		Hosts: []string{"localhost", "127.0.0.1", "::1"}, Version: "v1", Now: f.clock.now}
	for _, c := range change {
		c(&d)
	}
	if f.server, err = New(d); err != nil {
		t.Fatal(err)
	}
	f.http = httptest.NewServer(f.server.Handler())
	f.url = f.http.URL + d.BasePath
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		if err := f.server.Close(ctx); err != nil {
			t.Error(err)
		}
		f.http.Close()
		if err := f.db.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// clock is the time, moved on by tests.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// browser is a client with cookies that sends what browsers send.
type browser struct {
	f         *fixture
	http      http.Client
	agent     string
	pageToken string
}

func (f *fixture) newBrowser() *browser {
	f.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		f.t.Fatal(err)
	}
	tr := &http.Transport{}
	f.t.Cleanup(tr.CloseIdleConnections)
	return &browser{f: f, agent: "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36",
		http: http.Client{Jar: jar, Transport: tr,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

type answer struct {
	status int
	header http.Header
	body   string
}

// do sends a request as the page would. Headers with the value "-" are left out, a Host header is the host.
func (b *browser) do(method, path, body string, headers ...string) answer {
	b.f.t.Helper()
	req, err := http.NewRequest(method, b.f.http.URL+path, strings.NewReader(body))
	if err != nil {
		b.f.t.Fatal(err)
	}
	h := req.Header
	h.Set("User-Agent", b.agent)
	if method != http.MethodGet {
		h.Set("Origin", b.f.http.URL)
		h.Set("Sec-Fetch-Site", "same-origin")
	}
	if strings.HasPrefix(body, "{") {
		h.Set("Content-Type", "application/json")
		h.Set(tokenHeader, b.pageToken)
	} else if body != "" {
		h.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		switch {
		case headers[i] == "Host":
			req.Host = headers[i+1]
		case headers[i+1] == "-":
			h.Del(headers[i])
		default:
			h.Set(headers[i], headers[i+1])
		}
	}
	resp, err := b.http.Do(req)
	if err != nil {
		b.f.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.f.t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(text)}
}

func (b *browser) get(path string, headers ...string) answer {
	b.f.t.Helper()
	return b.do(http.MethodGet, path, "", headers...)
}

// login logs the browser in by a fresh address and learns the page token.
func (b *browser) login() *browser {
	b.f.t.Helper()
	path, _, err := b.f.server.NewLoginPath(context.Background())
	if err != nil {
		b.f.t.Fatal(err)
	}
	u, err := url.Parse(path)
	if err != nil {
		b.f.t.Fatal(err)
	}
	a := b.do(http.MethodPost, u.Path, "token="+u.Query().Get("token"))
	if a.status != http.StatusSeeOther {
		b.f.t.Fatalf("login: status %d: %s", a.status, a.body)
	}
	b.learnToken()
	return b
}

func (b *browser) learnToken() {
	b.f.t.Helper()
	b.pageToken = attr(b.f.t, b.get(b.f.server.url("/devices")).body, "body", "data-token")
	if b.pageToken == "" {
		b.f.t.Fatal("the page has no token")
	}
}

func (b *browser) cookie() *http.Cookie {
	b.f.t.Helper()
	u, err := url.Parse(b.f.url + "/")
	if err != nil {
		b.f.t.Fatal(err)
	}
	all := b.http.Jar.Cookies(u)
	if len(all) != 1 {
		b.f.t.Fatalf("browser has %d cookies, want 1", len(all))
	}
	return all[0]
}

// attr returns an attribute of the first element of that name.
func attr(t *testing.T, page, element, name string) string {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == element {
			for _, a := range n.Attr {
				if a.Key == name {
					return a.Val
				}
			}
		}
	}
	return ""
}

// byTestID returns the text of the element with a data-testid, "" when there is none.
func byTestID(t *testing.T, page, id string) string {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		for _, a := range n.Attr {
			if a.Key != "data-testid" || a.Val != id {
				continue
			}
			var text strings.Builder
			for c := range n.Descendants() {
				if c.Type == html.TextNode {
					text.WriteString(c.Data)
				}
			}
			return strings.Join(strings.Fields(text.String()), " ")
		}
	}
	return ""
}

// errorCode is the code in a JSON failure.
func errorCode(t *testing.T, a answer) string {
	t.Helper()
	var e struct{ Error, Code, RequestID string }
	if err := json.Unmarshal([]byte(a.body), &e); err != nil {
		t.Fatalf("body %q is not JSON: %v", a.body, err)
	}
	if e.Error == "" || e.RequestID != a.header.Get("X-Request-Id") {
		t.Errorf("body %q lacks a text, or the request's id %s", a.body, a.header.Get("X-Request-Id"))
	}
	return e.Code
}

// socket is a page's or a key holder's end of a websocket.
type clientSocket struct {
	t  *testing.T
	ws *websocket.Conn
}

func socketPath(tab string) string { return "/v1/sandboxes/local/tabs/" + tab + "/socket" }

const watchPath = "/v1/sandboxes/local/tabs/watch"

// dial opens a socket without saying hello.
func (f *fixture) dial(path string, h http.Header) (*clientSocket, *http.Response, error) {
	f.t.Helper()
	o := &websocket.DialOptions{HTTPHeader: h, CompressionMode: websocket.CompressionNoContextTakeover}
	if host := h.Get("Host"); host != "" {
		h.Del("Host")
		o.Host = host
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	ws, resp, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(f.url, "http")+path, o)
	if err != nil {
		return nil, resp, err
	}
	f.t.Cleanup(func() { ws.CloseNow() })
	ws.SetReadLimit(1 << 20)
	return &clientSocket{f.t, ws}, resp, nil
}

// open opens a socket as the page does.
func (b *browser) open(path string) *clientSocket {
	b.f.t.Helper()
	c := b.openSilent(path)
	c.hello(b.pageToken)
	return c
}

func (b *browser) openSilent(path string) *clientSocket {
	b.f.t.Helper()
	c, resp, err := b.f.dial(path, b.socketHeader())
	if err != nil {
		status := 0
		if resp != nil {
			status = resp.StatusCode
		}
		b.f.t.Fatalf("dial %s: status %d: %v", path, status, err)
	}
	return c
}

func (b *browser) socketHeader() http.Header {
	b.f.t.Helper()
	return http.Header{"Origin": {b.f.http.URL}, "Cookie": {b.cookie().String()}, "User-Agent": {b.agent}}
}

func (c *clientSocket) hello(token string) {
	c.t.Helper()
	c.send(`{"type":"hello","protocol":1,"token":"` + token + `","input":"abcdefgh"}`)
}

func (c *clientSocket) send(text string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := c.ws.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
		c.t.Fatalf("send %s: %v", text, err)
	}
}

func (c *clientSocket) read() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	_, b, err := c.ws.Read(ctx)
	return string(b), err
}

func (c *clientSocket) want(text string) {
	c.t.Helper()
	got, err := c.read()
	if err != nil || got != text {
		c.t.Fatalf("socket says %.200q (%v), want %.200q", got, err, text)
	}
}

// closeCode reads until the socket closes.
func (c *clientSocket) closeCode() int {
	c.t.Helper()
	for {
		if _, err := c.read(); err != nil {
			if code := websocket.CloseStatus(err); code != -1 {
				return int(code)
			}
			c.t.Fatalf("socket ended without a close code: %v", err)
		}
	}
}

// echoTabs are two tabs whose terminals answer every frame with itself, after a "welcome".
type echoTabs struct {
	mu      sync.Mutex
	viewers int
	watch   chan tabs.Event
	err     error // of List
	view    func(context.Context, terminal.Conn) error
}

func newEchoTabs() *echoTabs { return &echoTabs{watch: make(chan tabs.Event, 16)} }

func (e *echoTabs) List(context.Context, string) ([]tabs.Tab, error) {
	if e.err != nil {
		return nil, e.err
	}
	return []tabs.Tab{{ID: tabID, Sandbox: "local", Title: "bash", State: "live"},
		{ID: otherTab, Sandbox: "local", Title: "vim", State: "live", Order: 1}}, nil
}

func (e *echoTabs) Get(ctx context.Context, sandboxID, id string) (tabs.Tab, error) {
	all, err := e.List(ctx, sandboxID)
	for _, t := range all {
		if t.ID == id {
			return t, nil
		}
	}
	return tabs.Tab{}, errors.Join(err, &sandbox.Error{Code: sandbox.CodeNotFound, Message: "no such tab"})
}

func (e *echoTabs) Watch(ctx context.Context, sandboxID string) (<-chan tabs.Event, error) {
	all, err := e.List(ctx, sandboxID)
	if err != nil {
		return nil, err
	}
	out := make(chan tabs.Event)
	go func() {
		defer close(out)
		next := tabs.Event{Tabs: &tabs.Snapshot{Tabs: all}}
		for {
			select {
			case out <- next:
			case <-ctx.Done():
				return
			}
			select {
			case more, ok := <-e.watch:
				if !ok {
					return
				}
				next = more
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, nil
}

func (e *echoTabs) View(ctx context.Context, _, _ string, c terminal.Conn, h terminal.Hello, v terminal.ViewerConfig) error {
	e.mu.Lock()
	e.viewers++
	view := e.view
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		e.viewers--
		e.mu.Unlock()
	}()
	if err := c.Write(ctx, false, []byte("welcome "+v.Name)); err != nil {
		return err
	}
	if view != nil {
		return view(ctx, c)
	}
	for {
		binary, data, err := c.Read(ctx)
		if err != nil {
			return err
		}
		if err := c.Write(ctx, binary, data); err != nil {
			return err
		}
	}
}

func (e *echoTabs) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.viewers
}

// pollFor waits for a condition.
func pollFor(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}

// unixServer serves h on a unix socket and returns what connects to it.
func unixServer(t *testing.T, h http.Handler) *http.Transport {
	t.Helper()
	dir, err := os.MkdirTemp("", "tabs") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: h}}
	s.Start()
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		s.Close()
		os.RemoveAll(dir)
	})
	return tr
}

func decode(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("decode %s: %v", text, err)
	}
}
