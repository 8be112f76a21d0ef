package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// proxyHeaders is what docs tell people to put into their nginx.
const proxyHeaders = `proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade";
	proxy_set_header Host $http_host; proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header X-Forwarded-For $remote_addr;
	proxy_buffering off;`

// freeAddr returns an address on which nothing listens, for a program that must be told one.
func freeAddr(t testing.TB) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// nginx starts one on addr with the location in its only server.
func nginx(t testing.TB, s *server, addr, location string) {
	t.Helper()
	need(t, "nginx")
	dir := filepath.Join(s.dir, "nginx")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf(`daemon off; master_process off; pid %[1]s/pid; error_log stderr warn;
events {}
http {
	access_log off;
	client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
	server { listen %[2]s; %[3]s }
}
`, dir, addr, location)
	if err := os.WriteFile(dir+"/conf", []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(dir + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command("nginx", "-p", dir, "-e", "stderr", "-c", dir+"/conf")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			text, _ := os.ReadFile(dir + "/log")
			t.Logf("nginx: %s", text)
		}
	})
	pollFor(t, 10*time.Second, "nginx listens", func() (bool, any) {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			text, _ := os.ReadFile(dir + "/log")
			return false, string(text)
		}
		c.Close()
		return true, nil
	})
}

// TestBasePath puts the server below a path of a real proxy: page, assets, sockets and cookies.
func TestBasePath(t *testing.T) {
	addr := freeAddr(t)
	s := newServer(t, "--behind-proxy", "--base-path", "/term", "--host", addr, "--local")
	if want := "https://" + addr + "/term"; s.url != want {
		t.Errorf("printed address begins with %s, want %s", s.url, want)
	}
	// The proxy knows no other path, so that an address without it fails.
	nginx(t, s, addr, "location /term/ { "+proxyHeaders+" proxy_pass http://"+s.addr+"; }")
	front := "http://" + addr
	d := s.newDeviceAt(front + "/term")
	p := d.openTabs()
	p.run("echo through nginx")
	p.openTab()
	if _, err := p.Reload(); err != nil {
		t.Fatal(err)
	}
	p.waitLive()
	if got := len(p.list()); got != 2 {
		t.Errorf("%d tabs, want 2", got)
	}
	cookies, err := d.context.Cookies()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cookies {
		if c.Path != "/term" && c.Path != "/term/" {
			t.Errorf("cookie %s is for %s, so that a neighbour under the same name sees it", c.Name, c.Path)
		}
		if !c.HttpOnly {
			t.Errorf("scripts can read cookie %s", c.Name)
		}
	}
	if len(cookies) == 0 {
		t.Error("no cookie")
	}
	p.visit(front + "/term/devices")
	p.waitVisible("[data-testid=device]")
}
