package web

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/browsertabs/tabs/sandbox"
)

func TestHosts(t *testing.T) {
	l := newHostList([]string{"localhost", "127.0.0.1", "::1", "term.example.org:8443", "*.example.net"})
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST:7780": true, "127.0.0.1:1": true, "[::1]:7780": true, "[::1]": true,
		"term.example.org:8443": true, "a.example.net": true,
		"": false, "evil.example": false, "localhost.": false, "localhost.evil.example": false, "evil.localhost": false,
		"term.example.org": false, "term.example.org:443": false, "example.net": false, "a.b.example.net": false,
		"127.0.0.1.nip.io": false, "127.0.0.2": false, "0.0.0.0": false, "localhost@evil": false,
	} {
		if got := l.allows(host); got != want {
			t.Errorf("host %q allowed: %v, want %v", host, got, want)
		}
	}
}

// TestRebinding asks by a name that an attacker has pointed at us, with the cookie that a browser would not even send.
func TestRebinding(t *testing.T) {
	f := newFixture(t)
	b := f.newBrowser().login()
	for _, path := range []string{"/", "/login", "/tabs?id=local", "/healthz", "/metrics", "/static/main.js", "/v1/devices", "/nope"} {
		a := b.get(path, "Host", "evil.example:7780", "Origin", "http://evil.example:7780")
		if a.status != http.StatusForbidden {
			t.Errorf("GET %s for another host: status %d, want 403", path, a.status)
		}
	}
}

func TestLoginAddress(t *testing.T) {
	f := newFixture(t)
	path, _, err := f.server.NewLoginPath(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	token := strings.TrimPrefix(path, "/login?token=")
	b := f.newBrowser()
	for range 3 { // a preview, a prefetch and the person
		a := b.get(path)
		if a.status != http.StatusOK || len(a.header["Set-Cookie"]) > 0 {
			t.Fatalf("GET: status %d, cookies %v", a.status, a.header["Set-Cookie"])
		}
		if byTestID(t, a.body, "login-button") == "" || strings.Count(a.body, "<button") != 1 {
			t.Fatal("the page of a login address is not one button")
		}
	}
	a := b.do(http.MethodPost, "/login", "token="+token+"&device=Kitchen+phone&next=/tabs?id=local")
	if a.status != http.StatusSeeOther || a.header.Get("Location") != "/tabs?id=local" {
		t.Fatalf("login: status %d to %q", a.status, a.header.Get("Location"))
	}
	cookie := a.header.Get("Set-Cookie")
	for _, want := range []string{"; Path=/;", "; HttpOnly", "; SameSite=Lax", "Max-Age="} {
		if !strings.Contains(cookie, want) {
			t.Errorf("cookie %q lacks %q", cookie, want)
		}
	}
	if strings.Contains(cookie, "Secure") {
		t.Error("cookie over plain HTTP is Secure, so that the browser would drop it")
	}
	if page := b.get("/devices").body; !strings.Contains(byTestID(t, page, "device"), "Kitchen phone") {
		t.Errorf("device is not listed: %s", byTestID(t, page, "device-list"))
	}
	again := f.newBrowser().do(http.MethodPost, "/login", "token="+token)
	if again.status != http.StatusUnauthorized || len(again.header["Set-Cookie"]) > 0 {
		t.Errorf("second use: status %d, cookies %v", again.status, again.header["Set-Cookie"])
	}
}

func TestLoginAddressExpires(t *testing.T) {
	f := newFixture(t)
	path, _, err := f.server.NewLoginPath(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	f.clock.advance(loginTokenLife)
	a := f.newBrowser().do(http.MethodPost, "/login", strings.TrimPrefix(path, "/login?"))
	if a.status != http.StatusUnauthorized || !strings.Contains(byTestID(t, a.body, "error"), "tabs login") {
		t.Errorf("status %d, error %q; want 401 and what to do", a.status, byTestID(t, a.body, "error"))
	}
}

func TestLoginByKey(t *testing.T) {
	f := newFixture(t)
	b := f.newBrowser()
	for _, key := range []string{"", "nonsense", f.key[:len(f.key)-1] + "0", f.key + "x"} {
		if a := b.do(http.MethodPost, "/login", "key="+key); a.status != http.StatusUnauthorized {
			t.Errorf("key %q: status %d, want 401", key, a.status)
		}
	}
	if a := b.do(http.MethodPost, "/login", "key=+"+f.key+"%0A"); a.status != http.StatusSeeOther {
		t.Errorf("right key, pasted with white space: status %d", a.status)
	}
}

// TestLoginFromElsewhere is another site that submits our login form in a visitor's browser.
func TestLoginFromElsewhere(t *testing.T) {
	f := newFixture(t)
	for name, h := range map[string][]string{
		"cross-site":               {"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"},
		"other port":               {"Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:1"},
		"typed":                    {"Sec-Fetch-Site", "none", "Origin", "-"},
		"old browser, foreign":     {"Sec-Fetch-Site", "-", "Origin", "https://evil.example"},
		"old browser, null":        {"Sec-Fetch-Site", "-", "Origin", "null"},
		"no headers":               {"Sec-Fetch-Site", "-", "Origin", "-"},
		"headers that contradict":  {"Sec-Fetch-Site", "same-origin", "Origin", "https://evil.example"},
		"other scheme":             {"Sec-Fetch-Site", "-", "Origin", strings.Replace(f.http.URL, "http:", "https:", 1)},
		"user in origin":           {"Sec-Fetch-Site", "-", "Origin", strings.Replace(f.http.URL, "//", "//x@", 1) + "/x"},
		"own host with other port": {"Sec-Fetch-Site", "-", "Origin", "http://127.0.0.1"},
	} {
		a := f.newBrowser().do(http.MethodPost, "/login", "key="+f.key, h...)
		if a.status != http.StatusForbidden || len(a.header["Set-Cookie"]) > 0 {
			t.Errorf("%s: status %d, cookies %v; want 403 and none", name, a.status, a.header["Set-Cookie"])
		}
	}
	a := f.newBrowser().do(http.MethodPost, "/login", "key="+f.key, "Sec-Fetch-Site", "-")
	if a.status != http.StatusSeeOther {
		t.Errorf("own origin without Sec-Fetch-Site: status %d", a.status)
	}
}

func TestLoginRotates(t *testing.T) {
	f := newFixture(t)
	b := f.newBrowser().login()
	old := b.cookie()
	b.login()
	if b.cookie().Value == old.Value {
		t.Fatal("the second login kept the cookie")
	}
	a := f.newBrowser().get("/devices", "Cookie", old.String())
	if a.status != http.StatusSeeOther {
		t.Errorf("the cookie from before the second login still works: status %d", a.status)
	}
	rows, err := f.db.WebSessions(context.Background(), f.org.ID)
	if err != nil || len(rows) != 1 {
		t.Errorf("%d rows (%v), want 1", len(rows), err)
	}
}

func TestPlantedCookie(t *testing.T) {
	f := newFixture(t)
	b := f.newBrowser().login()
	c := b.cookie()
	// A neighbouring port or path may have planted one of the same name; the right one must still count.
	a := f.newBrowser().get("/devices", "Cookie", c.Name+"=planted; "+c.String())
	if a.status != http.StatusOK {
		t.Errorf("status %d", a.status)
	}
	if a := f.newBrowser().get("/devices", "Cookie", c.Name+"=planted"); a.status != http.StatusSeeOther {
		t.Errorf("planted cookie alone: status %d", a.status)
	}
}

func TestWebSessionExpires(t *testing.T) {
	f := newFixture(t)
	b := f.newBrowser().login()
	f.clock.advance(webSessionIdle - time.Hour)
	if a := b.get("/devices"); a.status != http.StatusOK {
		t.Fatalf("after %v: status %d", webSessionIdle-time.Hour, a.status)
	}
	f.clock.advance(webSessionIdle - time.Hour) // counts from the last visit
	if a := b.get("/devices"); a.status != http.StatusOK {
		t.Fatalf("after a visit: status %d", a.status)
	}
	f.clock.advance(webSessionIdle + time.Hour)
	if a := b.get("/devices"); a.status != http.StatusSeeOther {
		t.Errorf("after %v away: status %d, want a redirect to the login", webSessionIdle+time.Hour, a.status)
	}
}

func TestNext(t *testing.T) {
	for base, want := range map[string]map[string]string{
		"": {"/tabs?id=local&tab=x": "/tabs?id=local&tab=x", "": "/", "https://evil.example/": "/", "//evil.example": "/",
			`/\evil.example`: "/", "/\t/evil.example": "/", "javascript:alert(1)": "/", "tabs": "/", "/%2f/evil": "/%2f/evil"},
		"/term": {"/term/tabs?id=a": "/term/tabs?id=a", "/": "/term/", "/other": "/term/", "/terminal": "/term/"},
	} {
		s := &Server{d: Deps{BasePath: base}}
		for next, path := range want {
			if got := s.localPath(next); got != path {
				t.Errorf("next %q under %q leads to %q, want %q", next, base, got, path)
			}
		}
	}
}

func TestSendToLogin(t *testing.T) {
	f := newFixture(t)
	a := f.newBrowser().get("/tabs?id=local&tab=x")
	if want := "/login?next=%2Ftabs%3Fid%3Dlocal%26tab%3Dx"; a.status != http.StatusSeeOther || a.header.Get("Location") != want {
		t.Errorf("status %d to %q, want 303 to %q", a.status, a.header.Get("Location"), want)
	}
}

func TestKeyInAddress(t *testing.T) {
	f := newFixture(t)
	for _, path := range []string{"/v1/devices?key=" + f.key, "/login?key=" + f.key, "/tabs?id=local&access_token=" + f.key} {
		if a := f.newBrowser().get(path); a.status != http.StatusBadRequest {
			t.Errorf("status %d, want 400", a.status)
		}
	}
	if strings.Contains(f.logs.String(), f.key) {
		t.Error("the key is in the log")
	}
}

// TestUnsafeRequests is every way in which a request with the cookie may lack proof that our page sent it.
func TestUnsafeRequests(t *testing.T) {
	f := newFixture(t)
	b := f.newBrowser().login()
	rows, err := f.db.WebSessions(context.Background(), f.org.ID)
	if err != nil {
		t.Fatal(err)
	}
	path := "/v1/devices/" + rows[0].ID
	other := f.newBrowser().login()
	for _, c := range []struct {
		name    string
		headers []string
		status  int
	}{
		{"page", nil, http.StatusNoContent},
		{"page of an old browser", []string{"Sec-Fetch-Site", "-"}, http.StatusNoContent},
		{"no token", []string{tokenHeader, "-"}, http.StatusForbidden},
		{"wrong token", []string{tokenHeader, "x"}, http.StatusForbidden},
		{"another device's token", []string{tokenHeader, other.pageToken}, http.StatusForbidden},
		{"cross-site", []string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		{"other port", []string{"Sec-Fetch-Site", "same-site"}, http.StatusForbidden},
		{"foreign origin", []string{"Origin", "https://evil.example"}, http.StatusForbidden},
		{"null origin, no fetch metadata", []string{"Origin", "null", "Sec-Fetch-Site", "-"}, http.StatusForbidden},
		{"neither header", []string{"Origin", "-", "Sec-Fetch-Site", "-"}, http.StatusForbidden},
		{"no cookie", []string{"Cookie", "x=y"}, http.StatusUnauthorized},
	} {
		sender := b
		if c.status == http.StatusUnauthorized {
			sender = f.newBrowser()
		}
		if a := sender.do(http.MethodPatch, path, `{"name":"x"}`, c.headers...); a.status != c.status {
			t.Errorf("%s: status %d, want %d: %s", c.name, a.status, c.status, a.body)
		}
	}
	for _, h := range []string{"Bearer " + f.key, "bearer " + f.key} {
		a := f.newBrowser().do(http.MethodPatch, path, `{"name":"y"}`, "Authorization", h, "Origin", "-", "Sec-Fetch-Site", "-", tokenHeader, "-")
		if a.status != http.StatusNoContent {
			t.Errorf("key: status %d, want 204", a.status)
		}
	}
	// A wrong key is not saved by the cookie that comes with it.
	for _, h := range []string{"Bearer nonsense", "Basic eDp5", "Bearer"} {
		if a := b.do(http.MethodPatch, path, `{"name":"z"}`, "Authorization", h); a.status != http.StatusUnauthorized {
			t.Errorf("Authorization %q beside a cookie: status %d, want 401", h, a.status)
		}
	}
	if a := b.get("/v1/devices", "Sec-Fetch-Site", "cross-site"); a.status != http.StatusForbidden {
		t.Errorf("cross-site read: status %d, want 403", a.status)
	}
}

func TestLogout(t *testing.T) {
	f := newFixture(t)
	for _, by := range []string{"form", "script"} {
		b := f.newBrowser().login()
		send := func(token string) answer {
			if by == "form" {
				return b.do(http.MethodPost, "/logout", "page_token="+token)
			}
			return b.do(http.MethodPost, "/logout", "", tokenHeader, token)
		}
		for _, token := range []string{"", "x"} {
			if a := send(token); a.status != http.StatusForbidden {
				t.Errorf("%s, token %q: status %d", by, token, a.status)
			}
		}
		if a := send(b.pageToken); a.status != http.StatusSeeOther || a.header.Get("Location") != "/login" {
			t.Errorf("%s: status %d", by, a.status)
		}
		if a := b.get("/devices"); a.status != http.StatusSeeOther {
			t.Errorf("%s: still logged in: status %d", by, a.status)
		}
	}
}

// TestOtherOrganisation sees and changes nothing of the first one's.
func TestOtherOrganisation(t *testing.T) {
	f := newFixture(t)
	ctx := context.Background()
	f.newBrowser().login()
	rows, err := f.db.WebSessions(ctx, f.org.ID)
	if err != nil {
		t.Fatal(err)
	}
	org, err := f.domain.CreateOrg(ctx, "other")
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := f.domain.CreateKey(ctx, sandbox.Actor{OrgID: org.ID}, "k")
	if err != nil {
		t.Fatal(err)
	}
	b := f.newBrowser()
	if a := b.do(http.MethodPost, "/login", "key="+key); a.status != http.StatusSeeOther {
		t.Fatal(a.status)
	}
	b.learnToken()
	if a := b.do(http.MethodDelete, "/v1/devices/"+rows[0].ID, "{}"); a.status != http.StatusNotFound {
		t.Errorf("logout of a foreign device: status %d, want 404", a.status)
	}
	if a := b.get("/v1/devices"); strings.Contains(a.body, rows[0].ID) {
		t.Error("a foreign device is listed")
	}
	foreign, unknown := b.get("/tabs?id=local"), b.get("/tabs?id=sbx_nope")
	if foreign.status != http.StatusNotFound || unknown.status != http.StatusNotFound {
		t.Errorf("status of a foreign sandbox %d, of an unknown one %d", foreign.status, unknown.status)
	}
	same := func(a answer) string { return strings.ReplaceAll(a.body, a.header.Get("X-Request-Id"), "") }
	if same(foreign) != same(unknown) {
		t.Error("the page of a foreign sandbox differs from that of an unknown one")
	}
}

func TestTrustedHeader(t *testing.T) {
	const secret = "0123456789abcdef"
	f := newFixture(t, func(d *Deps) { d.TrustedHeader, d.TrustedSecret = "Remote-User", secret })
	b := f.newBrowser()
	for name, h := range map[string][]string{
		"no secret":    {"Remote-User", "ada"},
		"wrong secret": {"Remote-User", "ada", proxySecretHeader, "fedcba9876543210"},
		"no user":      {proxySecretHeader, secret},
	} {
		if a := b.get("/devices", h...); a.status != http.StatusSeeOther || len(a.header["Set-Cookie"]) > 0 {
			t.Errorf("%s: status %d, cookies %v", name, a.status, a.header["Set-Cookie"])
		}
	}
	ada := []string{"Remote-User", "ada", proxySecretHeader, secret}
	a := b.get("/devices", ada...)
	if a.status != http.StatusOK || !strings.Contains(byTestID(t, a.body, "device"), "ada, Chrome on Linux") {
		t.Fatalf("status %d, device %q", a.status, byTestID(t, a.body, "device"))
	}
	first := b.cookie().Value
	if b.get("/devices", ada...); b.cookie().Value != first {
		t.Error("every request makes a new web session")
	}
	if a := b.get("/devices"); a.status != http.StatusSeeOther {
		t.Errorf("the cookie works without the proxy: status %d", a.status)
	}
	if a := b.get("/v1/devices", "Remote-User", "bob", proxySecretHeader, secret); a.status != http.StatusUnauthorized {
		t.Errorf("bob with ada's cookie: status %d, want 401", a.status)
	}
	b.get("/devices", "Remote-User", "bob", proxySecretHeader, secret)
	if b.cookie().Value == first {
		t.Error("bob uses ada's web session")
	}
}

// TestTrustedHeaderOnUnixSocket needs no secret there, and believes nobody on TCP.
func TestTrustedHeaderOnUnixSocket(t *testing.T) {
	f := newFixture(t, func(d *Deps) { d.TrustedHeader = "Remote-User" })
	if a := f.newBrowser().get("/devices", "Remote-User", "ada"); a.status != http.StatusSeeOther {
		t.Errorf("over TCP: status %d, want the login", a.status)
	}
	b := f.newBrowser()
	b.http.Transport = unixServer(t, f.server.Handler())
	if a := b.get("/devices", "Remote-User", "ada"); a.status != http.StatusOK {
		t.Errorf("over a unix socket: status %d", a.status)
	}
}
