package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"rsc.io/qr"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/static"
)

func TestRoot(t *testing.T) {
	f := newFixture(t)
	b := f.newBrowser().login()
	if a := b.get("/"); a.header.Get("Location") != "/tabs" {
		t.Errorf("/ leads to %q", a.header.Get("Location"))
	}
	if a := b.get("/tabs"); a.header.Get("Location") != "/tabs?id=local" {
		t.Errorf("/tabs leads to %q", a.header.Get("Location"))
	}
}

func TestTabPage(t *testing.T) {
	f := newFixture(t)
	b := f.newBrowser().login()
	a := b.get("/tabs?id=local&tab=" + otherTab)
	if !static.Built() {
		if a.status != http.StatusServiceUnavailable || !strings.Contains(byTestID(t, a.body, "message"), "make build") {
			t.Errorf("without assets: status %d, %q; want 503 and what to do", a.status, byTestID(t, a.body, "message"))
		}
		return
	}
	if a.status != http.StatusOK {
		t.Fatalf("status %d", a.status)
	}
	for attribute, want := range map[string]string{"data-sandbox": "local", "data-active": otherTab, "data-state": "running",
		"data-device": "Chrome on Linux", "data-tmux-missing": "false"} {
		if !strings.Contains(a.body, attribute+`="`+want+`"`) {
			t.Errorf("page lacks %s=%q", attribute, want)
		}
	}
	if a := b.get("/tabs?id=local&tab=closed"); !strings.Contains(a.body, `data-active="`+tabID+`"`) {
		t.Error("a link to a closed tab does not open the first one")
	}
	f.tabs.err = &sandbox.Error{Code: sandbox.CodeTmuxMissing, Message: "no tmux"}
	if a := b.get("/tabs?id=local"); a.status != http.StatusOK || !strings.Contains(a.body, `data-tmux-missing="true"`) {
		t.Errorf("without tmux: status %d", a.status)
	}
}

func TestInternalError(t *testing.T) {
	if !static.Built() {
		t.Skip("assets not built: make build")
	}
	f := newFixture(t)
	b := f.newBrowser().login()
	f.tabs.err = errors.New("secret detail")
	a := b.get("/tabs?id=local")
	if a.status != http.StatusInternalServerError || strings.Contains(a.body, "secret detail") {
		t.Errorf("status %d; page: %s", a.status, byTestID(t, a.body, "message"))
	}
	id := byTestID(t, a.body, "request-id")
	if id == "" || id != a.header.Get("X-Request-Id") {
		t.Errorf("page shows request %q, header says %q", id, a.header.Get("X-Request-Id"))
	}
	if log := f.logs.String(); !strings.Contains(log, "secret detail") || !strings.Contains(log, id) {
		t.Error("the log lacks the cause, or the request's id")
	}
}

func TestPanic(t *testing.T) {
	f := newFixture(t, func(d *Deps) {
		d.API = []Route{{http.MethodGet, "/v1/panic", KeyOrPage, nil}}
		d.API[0].Handler = func(echo.Context) error { panic("boom") }
	})
	a := f.newBrowser().get("/v1/panic", "Authorization", "Bearer "+f.key)
	if a.status != http.StatusInternalServerError || errorCode(t, a) != codeInternal || strings.Contains(a.body, "boom") {
		t.Errorf("status %d: %s", a.status, a.body)
	}
	if !strings.Contains(f.logs.String(), "boom") || !strings.Contains(f.logs.String(), "pages_test.go") {
		t.Error("the log lacks the panic, or where it was")
	}
}

func TestFailures(t *testing.T) {
	f := newFixture(t)
	b := f.newBrowser()
	key := []string{"Authorization", "Bearer " + f.key}
	for _, c := range []struct {
		method, path, body string
		headers            []string
		status             int
		code               string
	}{
		{"GET", "/v1/nope", "", nil, 404, "not_found"},
		{"GET", "/v1/devices", "", nil, 401, "unauthorized"},
		{"PUT", "/v1/devices", "{}", key, 405, "method_not_allowed"},
		{"PATCH", "/v1/devices/nope", `{"name":"x"}`, key, 404, "not_found"},
		{"PATCH", "/v1/devices/nope", `{"nam":"x"}`, key, 400, "invalid_request"},
		{"PATCH", "/v1/devices/nope", `{"name":""}`, key, 400, "invalid_request"},
		{"PATCH", "/v1/devices/nope", `{"name":"` + strings.Repeat("x", maxDeviceBytes+1) + `"}`, key, 400, "invalid_request"},
		{"PATCH", "/v1/devices/nope", `{"name":"a\u001b[2Jb"}`, key, 400, "invalid_request"},
	} {
		a := b.do(c.method, c.path, c.body, c.headers...)
		if a.status != c.status || errorCode(t, a) != c.code {
			t.Errorf("%s %s %.40s: status %d, body %s; want %d %s", c.method, c.path, c.body, a.status, a.body, c.status, c.code)
		}
	}
	if a := b.get("/nope"); a.status != 404 || byTestID(t, a.body, "message") == "" {
		t.Errorf("GET /nope: status %d, body %.80s; want a page", a.status, a.body)
	}
	long := b.do("POST", "/login", "key="+strings.Repeat("x", maxBodyBytes))
	if long.status != http.StatusRequestEntityTooLarge {
		t.Errorf("long body: status %d, want 413", long.status)
	}
}

// TestStatuses gives every code of the domain a status.
func TestStatuses(t *testing.T) {
	for code, status := range statuses {
		e, got, internal := describe(fmt.Errorf("list tabs: %w", &sandbox.Error{Code: code, Message: "m", Err: errors.New("cause")}))
		if got != status || internal || e.Message != "m" {
			t.Errorf("%s: status %d, message %q", code, got, e.Message)
		}
	}
	for _, err := range []error{errors.New("x"), &sandbox.Error{Code: "unheard_of", Message: "x"}} {
		if e, status, internal := describe(err); status != 500 || !internal || e.Message != "Internal error" {
			t.Errorf("%v: status %d, message %q", err, status, e.Message)
		}
	}
}

func TestHeaders(t *testing.T) {
	f := newFixture(t)
	b := f.newBrowser().login()
	for _, path := range []string{"/", "/login", "/tabs?id=local", "/nope", "/v1/devices", "/static/nope.js"} {
		h := b.get(path).header
		csp := h.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: policy lacks %s", path, want)
			}
		}
		if regexp.MustCompile(`script-src[^;]*('unsafe-inline'|'unsafe-eval'|\*|https?:)`).MatchString(csp) {
			t.Errorf("%s: policy lets foreign or inline scripts in: %s", path, csp)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin", "X-Frame-Options": "DENY"} {
			if h.Get(name) != want {
				t.Errorf("%s: %s is %q, want %q", path, name, h.Get(name), want)
			}
		}
		if h.Get("Permissions-Policy") == "" || h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: headers %v", path, h)
		}
	}
	if strings.Contains(b.get("/devices").body, "<script>") {
		t.Error("a page has an inline script")
	}
}

func TestRequestID(t *testing.T) {
	f := newFixture(t)
	b := f.newBrowser()
	if a := b.get("/healthz", "X-Request-Id", "abc-1.2_3"); a.header.Get("X-Request-Id") != "abc-1.2_3" {
		t.Errorf("our caller's id became %q", a.header.Get("X-Request-Id"))
	}
	for _, bad := range []string{`x","evil":"`, strings.Repeat("x", 65), "a b"} {
		if a := b.get("/healthz", "X-Request-Id", bad); !strings.HasPrefix(a.header.Get("X-Request-Id"), "req_") {
			t.Errorf("id %q was taken as it came", bad)
		}
	}
}

// TestHead: link checkers and probes ask with HEAD, and get what GET would say of itself.
func TestHead(t *testing.T) {
	f := newFixture(t)
	b := f.newBrowser().login()
	for _, path := range []string{"/", "/login?token=x", "/tabs?id=local", "/tabs?id=unknown", "/devices", "/healthz", "/metrics",
		"/v1/devices", "/static/none.js"} {
		get, head := b.get(path), b.do(http.MethodHead, path, "")
		if head.status != get.status || head.body != "" || head.header.Get("Content-Type") != get.header.Get("Content-Type") {
			t.Errorf("HEAD %s: %d %q, GET: %d", path, head.status, head.body, get.status)
		}
	}
	if a := b.do(http.MethodHead, "/v1/sandboxes/local/tabs/watch", ""); a.status != http.StatusMethodNotAllowed {
		t.Errorf("HEAD of a socket: %d", a.status)
	}
}

// TestSlowBody: a body that comes a byte a minute is given up, also that of a stranger whose request was refused.
func TestSlowBody(t *testing.T) {
	f := newFixture(t)
	f.server.timing.body = 100 * time.Millisecond
	host := strings.TrimPrefix(f.http.URL, "http://")
	for _, line := range []string{"POST /login", "POST /nothing", "POST /v1/devices/address", "GET /healthz", "DELETE /healthz"} {
		conn, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: %s\r\nOrigin: %s\r\nContent-Length: 100\r\n"+
			"Content-Type: application/x-www-form-urlencoded\r\n\r\nk", line, host, f.http.URL)
		conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: the connection is still open", line)
		}
	}
	// What comes in time leaves the connection as it was.
	b := f.newBrowser()
	for range 3 {
		if a := b.do(http.MethodPost, "/login", "key=wrong"); a.status != http.StatusUnauthorized {
			t.Errorf("status %d", a.status)
		}
		time.Sleep(150 * time.Millisecond) // past the deadline of that body
	}
}

func TestHealthAndMetrics(t *testing.T) {
	f := newFixture(t)
	b := f.newBrowser()
	if a := b.get("/healthz"); a.status != http.StatusOK || a.body != "ok\n" {
		t.Errorf("health: status %d, body %q", a.status, a.body)
	}
	b.get("/v1/sandboxes/x/tabs/watch")
	a := b.get("/metrics")
	if a.status != http.StatusOK || !strings.Contains(a.body, `tabs_http_requests_total{route="/healthz",status="200"} 1`) ||
		!strings.Contains(a.body, "tabs_sockets_open 0") {
		t.Errorf("metrics: status %d, body %.300s", a.status, a.body)
	}
	if strings.Contains(a.body, "/x/") {
		t.Error("metrics has a series of a path, which callers choose")
	}
	proxied := newFixture(t, func(d *Deps) { d.BehindProxy = true })
	if a := proxied.newBrowser().get("/metrics"); a.status != http.StatusUnauthorized {
		t.Errorf("metrics through a proxy: status %d, want 401", a.status)
	}
	if a := proxied.newBrowser().get("/metrics", "Authorization", "Bearer "+proxied.key); a.status != http.StatusOK {
		t.Errorf("metrics with a key: status %d", a.status)
	}
}

func TestBehindProxy(t *testing.T) {
	f := newFixture(t, func(d *Deps) { d.BehindProxy, d.BasePath, d.Hosts = true, "/term", []string{"term.example.org"} })
	public := []string{"X-Forwarded-Proto", "https", "X-Forwarded-Host", "term.example.org", "X-Forwarded-For", "203.0.113.9, 198.51.100.7",
		"Origin", "https://term.example.org"}
	b := f.newBrowser()
	a := b.do(http.MethodPost, "/term/login", "key="+f.key, public...)
	cookie := a.header.Get("Set-Cookie")
	if a.status != http.StatusSeeOther || a.header.Get("Location") != "/term/" ||
		!strings.Contains(cookie, "; Secure") || !strings.Contains(cookie, "; Path=/term/;") {
		t.Fatalf("login: status %d to %q, cookie %q: %s", a.status, a.header.Get("Location"), cookie, a.body)
	}
	cookie, _, _ = strings.Cut(cookie, ";")
	if a := b.get("/term/devices", append(public, "Cookie", cookie)...); !strings.Contains(byTestID(t, a.body, "device"), "198.51.100.7") {
		t.Errorf("device %q; want the address that the proxy saw", byTestID(t, a.body, "device"))
	}
	wrong := b.do(http.MethodPost, "/term/login", "key="+f.key, "X-Forwarded-Host", "term.example.org", "Origin", "https://term.example.org")
	if wrong.status != http.StatusForbidden || !strings.Contains(wrong.body, "X-Forwarded-Proto") {
		t.Errorf("proxy that hides TLS: status %d; want 403 and what to set", wrong.status)
	}
	if a := b.get("/devices", public...); a.status != http.StatusNotFound {
		t.Errorf("outside the base path: status %d, want 404", a.status)
	}
	plain := newFixture(t)
	if a := plain.newBrowser().get("/healthz", "Host", "evil.example", "X-Forwarded-Host", "localhost"); a.status != http.StatusForbidden {
		t.Errorf("X-Forwarded-Host is believed without a proxy: status %d", a.status)
	}
}

func TestAddDevice(t *testing.T) {
	f := newFixture(t, func(d *Deps) { d.DeviceHost = "192.0.2.7:7780" })
	b := f.newBrowser().login()
	a := b.do(http.MethodPost, "/v1/devices/address", "{}")
	if a.status != http.StatusCreated {
		t.Fatalf("status %d: %s", a.status, a.body)
	}
	var got loginAddress
	decode(t, a.body, &got)
	token, ok := strings.CutPrefix(got.Address, "http://192.0.2.7:7780/login?token=")
	if !ok || got.LocalOnly {
		t.Fatalf("address %q, local only %v", got.Address, got.LocalOnly)
	}
	if a := f.newBrowser().do(http.MethodPost, "/login", "token="+token); a.status != http.StatusSeeOther {
		t.Errorf("the address does not work: status %d", a.status)
	}
	local := newFixture(t)
	b = local.newBrowser().login()
	if a := b.do(http.MethodPost, "/v1/devices/address", "{}", tokenHeader, "-"); a.status != http.StatusForbidden {
		t.Errorf("without a token: status %d", a.status)
	}
	decode(t, b.do(http.MethodPost, "/v1/devices/address", "{}").body, &got)
	if !got.LocalOnly {
		t.Error("a loopback address is not said to be for this machine only")
	}
}

// TestQR reads the drawing back and compares it with the code.
func TestQR(t *testing.T) {
	const text = "https://192.0.2.7:7780/login?token=Pz4GKX9xM01_Aw5i_vZAZSUX4FSphJfIWWverhJBFig"
	svg, err := qrSVG(text)
	if err != nil {
		t.Fatal(err)
	}
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		t.Fatal(err)
	}
	drawn := make(map[[2]int]bool)
	for _, run := range regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1h-(\d+)z`).FindAllStringSubmatch(svg, -1) {
		var x, y, w int
		fmt.Sscan(run[1]+" "+run[2]+" "+run[3], &x, &y, &w)
		if run[3] != run[4] {
			t.Fatalf("run %s does not close", run[0])
		}
		for i := range w {
			drawn[[2]int{x + i - 4, y - 4}] = true
		}
	}
	for y := range code.Size {
		for x := range code.Size {
			if drawn[[2]int{x, y}] != code.Black(x, y) {
				t.Fatalf("module %d,%d is wrong", x, y)
			}
			delete(drawn, [2]int{x, y})
		}
	}
	if len(drawn) > 0 {
		t.Errorf("%d modules drawn outside the code", len(drawn))
	}
}

func TestGuessDevice(t *testing.T) {
	for agent, want := range map[string]string{
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1": "Safari on iPhone",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0 Mobile/15E148 Safari/604.1":  "Chrome on iPhone",
		"Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Mobile Safari/537.36":                       "Chrome on Android",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0":                   "Edge on Windows",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15":                   "Safari on Mac",
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0":                                                                  "Firefox on Linux",
		"pt/1.0 (linux)": "pt",
		"":               "Unknown device",
		"\x1b[2J/1":      "Unknown device",
	} {
		if got := guessDevice(agent); got != want {
			t.Errorf("%q is %q, want %q", agent, got, want)
		}
	}
}

// TestLogIsClean looks for secrets and keystrokes in what a day's work leaves in the log at its most talkative.
func TestLogIsClean(t *testing.T) {
	f := newFixture(t)
	path, _, err := f.server.NewLoginPath(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	token := strings.TrimPrefix(path, "/login?token=")
	b := f.newBrowser()
	b.get(path)
	b.do(http.MethodPost, "/login", "token="+token)
	b.do(http.MethodPost, "/login", "token="+token)
	b.do(http.MethodPost, "/login", "key="+f.key)
	b.learnToken()
	b.get("/v1/devices", "Authorization", "Bearer "+f.key)
	c := b.open(socketPath(tabID))
	c.send("typed-password")
	c.send("\x00")
	b.do(http.MethodPost, "/logout", "page_token="+b.pageToken)
	c.closeCode()
	log := f.logs.String()
	if !strings.Contains(log, `"msg":"logged in"`) || !strings.Contains(log, `"msg":"request"`) {
		t.Fatal("the log lacks what was done")
	}
	for name, secret := range map[string]string{"login token": token, "key": f.key, "cookie": b.pageToken, "keystrokes": "typed-password"} {
		if strings.Contains(log, secret) {
			t.Errorf("%s in the log", name)
		}
	}
}

func TestRouteWithoutClass(t *testing.T) {
	_, err := New(Deps{Hosts: []string{"localhost"}, API: []Route{{Method: "GET", Path: "/v1/x"}}})
	if err == nil || !strings.Contains(err.Error(), "/v1/x") {
		t.Errorf("error %v, want one that names the route", err)
	}
}
