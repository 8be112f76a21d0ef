package web

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/browsertabs/tabs/client"
	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/terminal"
	"github.com/browsertabs/tabs/terminal/tabs"
)

func TestTabSocket(t *testing.T) {
	f := newFixture(t)
	c := f.newBrowser().login().open(socketPath(tabID))
	c.want("welcome Chrome on Linux")
	c.send("x")
	c.want("x")
	long := strings.Repeat("y", compressAboveBytes*4)
	c.send(long)
	c.want(long)
	if err := c.ws.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Error(err)
	}
	pollFor(t, time.Second, "the viewer leaves", func() bool { return f.tabs.count() == 0 })
}

// TestHijack is a page of another origin that opens our sockets in a visitor's browser, with the visitor's cookie.
func TestHijack(t *testing.T) {
	f := newFixture(t)
	b := f.newBrowser().login()
	own := f.http.URL
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(own, "http://"))
	for _, path := range []string{socketPath(tabID), watchPath} {
		for name, c := range map[string]struct {
			origin, host string
			status       int
		}{
			"foreign origin":      {"https://evil.example", "", http.StatusForbidden},
			"null":                {"null", "", http.StatusForbidden},
			"other port":          {"http://127.0.0.1:1", "", http.StatusForbidden},
			"no port":             {"http://127.0.0.1", "", http.StatusForbidden},
			"other scheme":        {"https://127.0.0.1:" + port, "", http.StatusForbidden},
			"other loopback":      {"http://localhost:" + port, "", http.StatusForbidden},
			"rebound host":        {"http://evil.example:" + port, "evil.example:" + port, http.StatusForbidden},
			"rebound, own origin": {own, "evil.example:" + port, http.StatusForbidden},
			"not an origin":       {own + "/page", "", http.StatusForbidden},
			"two origins":         {own + " https://evil.example", "", http.StatusForbidden},
			"missing":             {"", "", http.StatusUnauthorized},
		} {
			h := b.socketHeader()
			h.Del("Origin")
			if c.origin != "" {
				h.Set("Origin", c.origin)
			}
			if c.host != "" {
				h.Set("Host", c.host)
			}
			_, resp, err := f.dial(path, h)
			if err == nil || resp == nil || resp.StatusCode != c.status {
				t.Errorf("%s, %s: answer %v (%v), want status %d", path, name, resp, err, c.status)
			}
		}
		// Everything right but the page's token: what a page that could forge Origin would lack.
		for _, token := range []string{"", "x", f.newBrowser().login().pageToken} {
			c := b.openSilent(path)
			c.hello(token)
			if code := c.closeCode(); code != terminal.CloseLoggedOut {
				t.Errorf("%s, wrong token: close code %d, want %d", path, code, terminal.CloseLoggedOut)
			}
		}
	}
	if n := f.tabs.count(); n != 0 {
		t.Errorf("%d viewers got through", n)
	}
}

func TestSocketByKey(t *testing.T) {
	f := newFixture(t)
	key := http.Header{"Authorization": {"Bearer " + f.key}, "User-Agent": {"pt/1.2"}}
	c, _, err := f.dial(socketPath(tabID), key.Clone())
	if err != nil {
		t.Fatal(err)
	}
	c.hello("")
	c.want("welcome pt")
	for name, p := range map[string]struct {
		path   string
		header http.Header
		status int
	}{
		"unknown tab":     {socketPath("tab_nope"), key, http.StatusNotFound},
		"unknown sandbox": {"/v1/sandboxes/nope/tabs/watch", key, http.StatusNotFound},
		"wrong key":       {socketPath(tabID), http.Header{"Authorization": {"Bearer x"}}, http.StatusUnauthorized},
		"wrong key beside a cookie": {socketPath(tabID), http.Header{"Authorization": {"Bearer x"}, "Origin": {f.http.URL},
			"Cookie": {f.newBrowser().login().cookie().String()}}, http.StatusUnauthorized},
	} {
		_, resp, err := f.dial(p.path, p.header.Clone())
		if err == nil || resp == nil || resp.StatusCode != p.status {
			t.Errorf("%s: answer %v (%v), want status %d", name, resp, err, p.status)
		}
	}
	a := f.newBrowser().get(socketPath(tabID), "Authorization", "Bearer "+f.key)
	if a.status != http.StatusUpgradeRequired || errorCode(t, a) != codeUpgradeRequired {
		t.Errorf("plain GET: status %d", a.status)
	}
}

// TestSocketToPage answers a page by close codes, since it sees no status of a handshake.
func TestSocketToPage(t *testing.T) {
	f := newFixture(t)
	b := f.newBrowser().login()
	if code := b.open(socketPath("tab_nope")).closeCode(); code != terminal.CloseTabGone {
		t.Errorf("unknown tab: close code %d, want %d", code, terminal.CloseTabGone)
	}
	stale := http.Header{"Origin": {f.http.URL}, "Cookie": {b.cookie().Name + "=stale"}}
	c, _, err := f.dial(socketPath(tabID), stale)
	if err != nil {
		t.Fatal(err)
	}
	if code := c.closeCode(); code != terminal.CloseLoggedOut {
		t.Errorf("stale cookie: close code %d, want %d", code, terminal.CloseLoggedOut)
	}
}

func TestBadHello(t *testing.T) {
	f := newFixture(t)
	b := f.newBrowser().login()
	for hello, want := range map[string]int{
		"":                 terminal.CloseBadFrame,
		"{":                terminal.CloseBadFrame,
		`{"type":"ping"}`:  terminal.CloseBadFrame,
		`{"type":"hello"}`: terminal.CloseProtocol,
		`{"type":"hello","protocol":2,"token":"` + b.pageToken + `"}`: terminal.CloseProtocol,
		strings.Repeat("x", terminal.MaxFrameBytes+1):                 terminal.CloseTooBig,
	} {
		for _, path := range []string{socketPath(tabID), watchPath} {
			c := b.openSilent(path)
			c.send(hello)
			if code := c.closeCode(); code != want {
				t.Errorf("%s, hello %.40q: close code %d, want %d", path, hello, code, want)
			}
		}
	}
	c := b.openSilent(socketPath(tabID))
	if err := c.ws.Write(context.Background(), websocket.MessageBinary, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if code := c.closeCode(); code != terminal.CloseBadFrame {
		t.Errorf("binary hello: close code %d, want %d", code, terminal.CloseBadFrame)
	}
}

func TestHelloLate(t *testing.T) {
	f := newFixture(t)
	f.server.timing.hello = 50 * time.Millisecond
	b := f.newBrowser().login()
	if code := b.openSilent(socketPath(tabID)).closeCode(); code != terminal.CloseHelloLate {
		t.Errorf("close code %d, want %d", code, terminal.CloseHelloLate)
	}
}

func TestFrameTooBig(t *testing.T) {
	f := newFixture(t)
	c := f.newBrowser().login().open(socketPath(tabID))
	c.want("welcome Chrome on Linux")
	c.send(strings.Repeat("x", terminal.MaxFrameBytes+1))
	if code := c.closeCode(); code != terminal.CloseTooBig {
		t.Errorf("close code %d, want %d", code, terminal.CloseTooBig)
	}
}

func TestLogoutClosesSockets(t *testing.T) {
	f := newFixture(t)
	lost, kept := f.newBrowser().login(), f.newBrowser().login()
	open := func(b *browser) []*clientSocket { return []*clientSocket{b.open(socketPath(tabID)), b.open(watchPath)} }
	lostSockets, keptSockets := open(lost), open(kept)
	for _, c := range append(lostSockets, keptSockets...) {
		if _, err := c.read(); err != nil { // it is being served
			t.Fatal(err)
		}
	}
	rows, err := f.db.WebSessions(context.Background(), f.org.ID)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if a := kept.do(http.MethodDelete, "/v1/devices/"+rows[0].ID, "{}"); a.status != http.StatusNoContent {
		t.Fatalf("status %d: %s", a.status, a.body)
	}
	for _, c := range lostSockets {
		if code := c.closeCode(); code != terminal.CloseLoggedOut {
			t.Errorf("close code %d, want %d", code, terminal.CloseLoggedOut)
		}
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("sockets closed after %v", took)
	}
	keptSockets[0].send("still here")
	keptSockets[0].want("still here")

	third := f.newBrowser().login()
	c := third.open(socketPath(tabID))
	if a := kept.do(http.MethodDelete, "/v1/devices?others=true", "{}"); a.status != http.StatusNoContent {
		t.Fatalf("status %d", a.status)
	}
	if code := c.closeCode(); code != terminal.CloseLoggedOut {
		t.Errorf("logout of all others: close code %d", code)
	}
	keptSockets[0].send("still here")
	keptSockets[0].want("still here")
	if a := kept.do(http.MethodDelete, "/v1/devices", "{}"); a.status != http.StatusNoContent {
		t.Fatalf("status %d", a.status)
	}
	if code := keptSockets[0].closeCode(); code != terminal.CloseLoggedOut {
		t.Errorf("logout of all: close code %d", code)
	}
	if a := kept.get("/devices"); a.status != http.StatusSeeOther {
		t.Errorf("logged out of all, but the page answers %d", a.status)
	}
}

func TestSecondLoginClosesSockets(t *testing.T) {
	f := newFixture(t)
	b := f.newBrowser().login()
	c := b.open(socketPath(tabID))
	c.want("welcome Chrome on Linux")
	b.login()
	if code := c.closeCode(); code != terminal.CloseLoggedOut {
		t.Errorf("close code %d, want %d", code, terminal.CloseLoggedOut)
	}
}

func TestDrain(t *testing.T) {
	f := newFixture(t)
	b := f.newBrowser().login()
	open := []*clientSocket{b.open(socketPath(tabID)), b.open(socketPath(otherTab)), b.open(watchPath)}
	for _, c := range open {
		if _, err := c.read(); err != nil {
			t.Fatal(err)
		}
	}
	codes := make(chan int, len(open))
	for _, c := range open {
		go func() { codes <- c.closeCode() }()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := f.server.Close(ctx); err != nil {
		t.Error(err)
	}
	for range open {
		if code := <-codes; code != terminal.CloseRestart {
			t.Errorf("close code %d, want %d", code, terminal.CloseRestart)
		}
	}
	if code := b.open(socketPath(tabID)).closeCode(); code != terminal.CloseRestart {
		t.Errorf("socket after the drain: close code %d, want %d", code, terminal.CloseRestart)
	}
}

// TestDrainOfSilentPeer does not wait for a peer that never answers.
func TestDrainOfSilentPeer(t *testing.T) {
	f := newFixture(t)
	c := f.newBrowser().login().open(socketPath(tabID))
	pollFor(t, time.Second, "the viewer comes", func() bool { return f.tabs.count() == 1 })
	_ = c // it reads nothing from here on
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	start := time.Now()
	if err := f.server.Close(ctx); err == nil {
		t.Error("no error for a peer that said no goodbye")
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("drain took %v", took)
	}
}

func TestViewerLimit(t *testing.T) {
	f := newFixture(t)
	b := f.newBrowser().login()
	var first *clientSocket
	for range maxViewersPerTab {
		c := b.open(socketPath(tabID))
		c.want("welcome Chrome on Linux")
		if first == nil {
			first = c
		}
	}
	if code := b.open(socketPath(tabID)).closeCode(); code != terminal.CloseTooManyViewers {
		t.Errorf("close code %d, want %d", code, terminal.CloseTooManyViewers)
	}
	b.open(socketPath(otherTab)).want("welcome Chrome on Linux")
	first.ws.Close(websocket.StatusNormalClosure, "")
	pollFor(t, 2*time.Second, "a place is free", func() bool { return f.tabs.count() == maxViewersPerTab })
	b.open(socketPath(tabID)).want("welcome Chrome on Linux")
}

// TestDeadPeer is a peer behind a network that swallows everything: nobody says that it is gone.
func TestDeadPeer(t *testing.T) {
	f := newFixture(t)
	f.server.timing.quiet, f.server.timing.pong = 100*time.Millisecond, 100*time.Millisecond
	hole := newBlackHole(t, f.http.Listener.Addr().String())
	b := f.newBrowser().login()
	h := b.socketHeader()
	h.Set("Host", f.http.Listener.Addr().String())
	url := f.url
	f.url = "http://" + hole.addr
	dead, _, err := f.dial(socketPath(tabID), h)
	f.url = url
	if err != nil {
		t.Fatal(err)
	}
	dead.hello(b.pageToken)
	dead.want("welcome Chrome on Linux")
	alive := b.open(socketPath(tabID))
	alive.want("welcome Chrome on Linux")
	done := make(chan struct{})
	go func() {
		defer close(done)
		alive.read() // answers pings meanwhile
	}()

	hole.swallow()
	pollFor(t, 5*time.Second, "the dead viewer leaves", func() bool { return f.tabs.count() == 1 })
	alive.send("x")
	<-done
	if n := f.tabs.count(); n != 1 {
		t.Errorf("%d viewers, want the one that is alive", n)
	}
}

// TestSlowPeerIsAlive answers no ping in time but sends frames, as on a line that a snapshot fills.
func TestSlowPeerIsAlive(t *testing.T) {
	f := newFixture(t)
	f.server.timing.quiet, f.server.timing.pong = 60*time.Millisecond, 60*time.Millisecond
	f.tabs.view = func(ctx context.Context, c terminal.Conn) error {
		for {
			if _, _, err := c.Read(ctx); err != nil {
				return err
			}
		}
	}
	c := f.newBrowser().login().open(socketPath(tabID))
	// Nothing reads on this side, so no ping is answered.
	for start := time.Now(); time.Since(start) < time.Second; time.Sleep(20 * time.Millisecond) {
		c.send("ack")
	}
	if n := f.tabs.count(); n != 1 {
		t.Errorf("%d viewers, want 1", n)
	}
}

// blackHole is a TCP proxy that can stop passing anything on, without closing anything.
type blackHole struct {
	addr string
	mu   sync.Mutex
	dead bool
}

func newBlackHole(t *testing.T, target string) *blackHole {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &blackHole{addr: l.Addr().String()}
	var wg sync.WaitGroup
	var open []net.Conn
	wg.Go(func() {
		for {
			down, err := l.Accept()
			if err != nil {
				return
			}
			up, err := net.Dial("tcp", target)
			if err != nil {
				down.Close()
				return
			}
			h.mu.Lock()
			open = append(open, down, up)
			h.mu.Unlock()
			wg.Go(func() { io.Copy(h.writer(up), down) })
			wg.Go(func() { io.Copy(h.writer(down), up) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		h.mu.Lock()
		for _, c := range open {
			c.Close()
		}
		h.mu.Unlock()
		wg.Wait()
	})
	return h
}

func (h *blackHole) swallow() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dead = true
}

func (h *blackHole) writer(w io.Writer) io.Writer {
	return writerFunc(func(b []byte) (int, error) {
		h.mu.Lock()
		dead := h.dead
		h.mu.Unlock()
		if dead {
			return len(b), nil
		}
		return w.Write(b)
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func TestWatchSocket(t *testing.T) {
	f := newFixture(t)
	c := f.newBrowser().login().open(watchPath)
	c.want(`{"protocol":1,"type":"welcome","version":"v1"}`)
	c.want(`{"settings":{},"type":"settings"}`)
	text, err := c.read()
	if err != nil {
		t.Fatal(err)
	}
	var first struct {
		Type      string
		Items     []client.Tab
		Revivable []client.SavedTab
		State     string
		Sandbox   struct{ ID, Name string }
	}
	if err := json.Unmarshal([]byte(text), &first); err != nil {
		t.Fatal(err)
	}
	if first.Type != "tabs" || len(first.Items) != 2 || first.Items[0].ID != tabID || first.Revivable == nil ||
		first.State != "running" || first.Sandbox.ID != "local" {
		t.Errorf("first frame is %s", text)
	}
	code := 3
	f.tabs.watch <- tabs.Event{Tab: &tabs.Tab{ID: tabID, Title: "make", ExitCode: &code, Size: terminal.Size{Cols: 80, Rows: 24}}}
	f.tabs.watch <- tabs.Event{Gone: &tabs.Gone{ID: otherTab, Reason: "closed"}}
	f.tabs.watch <- tabs.Event{Revivable: []tabs.Saved{}}
	for _, want := range []string{`"item":{"id":"` + tabID, `{"id":"` + otherTab + `","reason":"closed","type":"tabGone"}`,
		`{"items":[],"type":"revivable"}`} {
		if got, err := c.read(); err != nil || !strings.Contains(got, want) {
			t.Errorf("frame %s (%v), want it to hold %s", got, err, want)
		}
	}
	c.send(`{"type":"ping","t":1234.5}`)
	c.want(`{"t":1234.5,"type":"pong"}`)
	c.send(`{"type":"pong","t":1}`)
	if code := c.closeCode(); code != terminal.CloseBadFrame {
		t.Errorf("close code %d after a frame that is not for it, want %d", code, terminal.CloseBadFrame)
	}
}

// TestWatchEnds: whoever ends a watch, the page is told why; a cut connection would look like a network that failed.
func TestWatchEnds(t *testing.T) {
	f := newFixture(t)
	b := f.newBrowser().login()
	for range 20 {
		c := b.open(watchPath)
		c.send(`{"type":"ping","t":1}`)
		c.send(`{"type":"nonsense"}`)
		if code := c.closeCode(); code != terminal.CloseBadFrame {
			t.Fatalf("close code %d after a frame that is not for it, want %d", code, terminal.CloseBadFrame)
		}
	}
	c := b.open(watchPath)
	if _, err := c.read(); err != nil {
		t.Fatal(err)
	}
	close(f.tabs.watch)
	if code := c.closeCode(); code != terminal.CloseRestart {
		t.Errorf("close code %d after the tabs ended, want %d", code, terminal.CloseRestart)
	}
}

func TestTabJSON(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("x", 3600))
	got, err := json.Marshal(TabJSON(tabs.Tab{ID: "tab_1", Sandbox: "local", Title: "t", State: "live", CreatedAt: at,
		Size: terminal.Size{Cols: 80, Rows: 24}, Attach: "tmux attach"}))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"tab_1","sandboxId":"local","title":"t","named":false,"order":0,"state":"live",` +
		`"createdAt":"2026-01-02T02:04:05Z","viewers":0,"cols":80,"rows":24,"user":"","cwd":"","foreground":"",` +
		`"foregroundSince":null,"exitCode":null,"bell":false,"activityAt":null,"plain":false,"attachCommand":"tmux attach","tmuxServer":""}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestCloseCodes is what each way for a terminal to end tells the page.
func TestCloseCodes(t *testing.T) {
	f := newFixture(t)
	b := f.newBrowser().login()
	for name, c := range map[string]struct {
		err  error
		code int
	}{
		"left":        {nil, terminal.CloseNormal},
		"bad frame":   {&terminal.FrameError{Code: terminal.CloseBadFrame, Text: "bad"}, terminal.CloseBadFrame},
		"server gone": {terminal.ErrServerGone, terminal.CloseServerGone},
		"tab gone":    {&sandbox.Error{Code: sandbox.CodeNotFound, Message: "x"}, terminal.CloseTabGone},
		"bug":         {io.ErrShortWrite, closeInternal},
		"long reason": {&terminal.FrameError{Code: terminal.CloseBadFrame, Text: strings.Repeat("long ", 100)}, terminal.CloseBadFrame},
	} {
		f.tabs.mu.Lock()
		f.tabs.view = func(context.Context, terminal.Conn) error { return c.err }
		f.tabs.mu.Unlock()
		if got := b.open(socketPath(tabID)).closeCode(); got != c.code {
			t.Errorf("%s: close code %d, want %d", name, got, c.code)
		}
	}
	if !strings.Contains(f.logs.String(), io.ErrShortWrite.Error()) {
		t.Error("the bug is not in the log")
	}
}

// TestGzipSkipsUpgrade shakes hands as a browser does, which accepts gzip on every request.
func TestCloseReason(t *testing.T) {
	for _, text := range []string{"", "short", strings.Repeat("a", 123), strings.Repeat("a", 200), "a" + strings.Repeat("中", 60), "\xff"} {
		if got := closeReason(text); len(got) > 123 || !utf8.ValidString(got) || text != "" && got == "" {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestGzipSkipsUpgrade(t *testing.T) {
	f := newFixture(t)
	b := f.newBrowser().login()
	h := b.socketHeader()
	h.Set("Accept-Encoding", "gzip, deflate, br")
	c, _, err := f.dial(socketPath(tabID), h)
	if err != nil {
		t.Fatal(err)
	}
	c.hello(b.pageToken)
	c.want("welcome Chrome on Linux")
	if a := b.get("/devices", "Accept-Encoding", "gzip"); a.header.Get("Content-Encoding") != "gzip" {
		t.Error("a page is not compressed")
	}
}

// TestViewerMemory measures what an idle viewer costs: the goal is 100 KB.
func TestViewerMemory(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector's own memory would be measured")
	}
	f := newFixture(t)
	b := f.newBrowser().login()
	big := bytes.Repeat([]byte("0123456789abcdef"), 1024) // compressed on its way
	f.tabs.view = func(ctx context.Context, c terminal.Conn) error {
		if err := c.Write(ctx, true, big); err != nil {
			return err
		}
		_, _, err := c.Read(ctx)
		return err
	}
	const viewers = 2 * maxViewersPerTab
	before := memoryInUse()
	for i := range viewers {
		c := b.open(socketPath([]string{tabID, otherTab}[i%2]))
		for range 2 {
			if _, err := c.read(); err != nil {
				t.Fatal(err)
			}
		}
	}
	each := (memoryInUse() - before) / viewers / 1000
	t.Logf("%d KB a viewer, both ends of its socket", each)
	if each > 100 { // the client's end is in it too
		t.Errorf("%d KB a viewer, want at most 100", each)
	}
}

func memoryInUse() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapInuse + m.StackInuse)
}
