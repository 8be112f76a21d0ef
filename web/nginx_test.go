package web

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/browsertabs/tabs/static"
)

// nginxLocation is what docs tell people to write.
const nginxLocation = `location %s/ {
	proxy_pass http://%s;
	proxy_http_version 1.1;
	proxy_set_header Host $http_host;
	proxy_set_header X-Forwarded-Proto $scheme;
	proxy_set_header X-Forwarded-For $remote_addr;
	proxy_set_header Upgrade $http_upgrade;
	proxy_set_header Connection "upgrade";
	proxy_buffering off;
}`

// startNginx ends TLS on addr and passes basePath on to upstream.
func startNginx(t *testing.T, addr, basePath, upstream string) *x509.CertPool {
	t.Helper()
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		if nginx, err = exec.LookPath("/usr/sbin/nginx"); err != nil {
			if os.Getenv("TABS_TEST_ALL") != "" {
				t.Fatal("nginx is not installed")
			}
			t.Skip("nginx is not installed; make test installs it")
		}
	}
	dir := t.TempDir()
	certPEM, keyPEM := testCertificate(t)
	write := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("cert.pem", certPEM)
	write("key.pem", keyPEM)
	write("nginx.conf", fmt.Appendf(nil, `
daemon off; master_process off; pid nginx.pid; error_log stderr warn;
events {}
http {
	access_log off;
	client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
	server {
		listen %s ssl; ssl_certificate cert.pem; ssl_certificate_key key.pem;
		%s
	}
}`, addr, fmt.Sprintf(nginxLocation, basePath, upstream)))
	var log bytes.Buffer
	cmd := exec.Command(nginx, "-p", dir, "-e", "stderr", "-c", filepath.Join(dir, "nginx.conf"))
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Logf("nginx: %s", &log)
		}
	})
	pollFor(t, 10*time.Second, "nginx listens", func() bool {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certPEM)
	return pool
}

func testCertificate(t *testing.T) (certPEM, keyPEM []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, BasicConstraintsValid: true, IsCA: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestNginx is the server below a path of a real proxy that ends TLS: login, page, assets, sockets, cookies.
func TestNginx(t *testing.T) {
	addr := freeAddr(t)
	f := newFixture(t, func(d *Deps) { d.BehindProxy, d.BasePath, d.Hosts = true, "/term", []string{addr} })
	pool := startNginx(t, addr, "/term", f.http.Listener.Addr().String())
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	t.Cleanup(tr.CloseIdleConnections)
	front := "https://" + addr
	f.http.URL = front // what the browser asks and where it comes from
	b := &browser{f: f, agent: "Firefox/1 Linux", http: http.Client{Jar: jar, Transport: tr,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}

	page := b.get("/term/login")
	if action := attr(t, page.body, "form", "action"); action != "/term/login" {
		t.Errorf("the form goes to %q", action)
	}
	if a := b.get("/term/"); a.header.Get("Location") != "/term/tabs" {
		t.Errorf("/term/ leads to %q", a.header.Get("Location"))
	}
	a := b.do(http.MethodPost, "/term/login", "key="+f.key, "Sec-Fetch-Site", "-")
	if a.status != http.StatusSeeOther || !strings.Contains(a.header.Get("Set-Cookie"), "; Path=/term/;") ||
		!strings.Contains(a.header.Get("Set-Cookie"), "; Secure") {
		t.Fatalf("login: status %d, cookie %q: %.300s", a.status, a.header.Get("Set-Cookie"), a.body)
	}
	b.learnToken()
	if u, _ := url.Parse(front + "/other/"); len(jar.Cookies(u)) > 0 {
		t.Error("the cookie is sent to other paths of the host")
	}
	css := attr(t, page.body, "link", "href")
	if a := b.get(css); !strings.HasPrefix(css, "/term/static/") || static.Built() && a.status != http.StatusOK {
		t.Errorf("asset %s: status %d", css, a.status)
	}
	if a := b.get("/term/v1/devices"); a.status != http.StatusOK {
		t.Errorf("API: status %d", a.status)
	}

	u, err := url.Parse(front + "/term/")
	if err != nil {
		t.Fatal(err)
	}
	cookie := jar.Cookies(u)[0].String()
	for origin, want := range map[string]int{front: 0, "http://" + addr: http.StatusForbidden, "https://127.0.0.1": http.StatusForbidden} {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		ws, resp, err := websocket.Dial(ctx, front+"/term"+socketPath(tabID), &websocket.DialOptions{
			HTTPClient: &http.Client{Transport: tr}, HTTPHeader: http.Header{"Origin": {origin}, "Cookie": {cookie}},
			CompressionMode: websocket.CompressionNoContextTakeover,
		})
		if want != 0 {
			if err == nil || resp == nil || resp.StatusCode != want {
				t.Errorf("socket from %s: %v, %v; want status %d", origin, resp, err, want)
			}
			continue
		}
		if err != nil {
			t.Fatalf("socket: %v", err)
		}
		defer ws.CloseNow()
		c := &clientSocket{t, ws}
		c.hello(b.pageToken)
		c.want("welcome Firefox on Linux")
		c.send("through nginx")
		c.want("through nginx")
		go func() { // the drain reaches through the proxy
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			f.server.Close(ctx)
		}()
		if code := c.closeCode(); code != 1012 {
			t.Errorf("close code %d, want 1012", code)
		}
	}
}
