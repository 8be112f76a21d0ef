package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/browsertabs/tabs/client"
)

// TestMain is the program itself when a test starts it.
func TestMain(m *testing.M) {
	if os.Getenv("RUN_MAIN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// machine is a home, a runtime directory on tmpfs and an environment of their own.
type machine struct {
	t    *testing.T
	dir  string
	data string
	env  []string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "tabscmd")
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	m := &machine{t: t, dir: dir, data: filepath.Join(dir, "data")}
	for _, sub := range []string{"home", "run", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	m.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir + "/home", "XDG_RUNTIME_DIR=" + dir + "/run", "TMPDIR=" + dir + "/tmp"}
	return m
}

// run is one command, in this process.
func (m *machine) run(args ...string) (code int, stdout, stderr string) {
	m.t.Helper()
	var out, errs bytes.Buffer
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	code = run(ctx, args, m.env, &out, &errs)
	return code, out.String(), errs.String()
}

// process is a server.
type process struct {
	m              *machine
	cmd            *exec.Cmd
	stdout, stderr *output
}

type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

var loginLine = regexp.MustCompile(`^Log in at ((https?)://([^/\s]+)(\S*)/login\?token=(\S+))\n$`)

// serve starts a server and waits for its line.
func (m *machine) serve(args ...string) *process {
	m.t.Helper()
	p := &process{m: m, stdout: &output{}, stderr: &output{}}
	p.cmd = exec.Command(os.Args[0], append([]string{"serve", "--data-dir", m.data}, args...)...)
	p.cmd.Env = append(m.env, "RUN_MAIN=1")
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.stderr
	if err := p.cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() {
		if p.cmd != nil {
			p.stop()
		}
		if m.t.Failed() {
			m.t.Logf("server said:\n%s%s", p.stdout, p.stderr)
		}
	})
	deadline := time.Now().Add(20 * time.Second)
	for !loginLine.MatchString(p.stdout.String()) {
		if time.Now().After(deadline) {
			m.t.Fatalf("no login address within 20 s")
		}
		time.Sleep(5 * time.Millisecond)
	}
	return p
}

func (m *machine) serveLoopback(args ...string) *process {
	m.t.Helper()
	return m.serve(append([]string{"--listen", "127.0.0.1:0"}, args...)...)
}

// address is the printed login address in parts: scheme://host, and the token.
func (p *process) address() (origin, token string) {
	p.m.t.Helper()
	parts := loginLine.FindStringSubmatch(p.stdout.String())
	return parts[2] + "://" + parts[3], parts[5]
}

// stop asks the server to go, which must succeed.
func (p *process) stop() {
	p.m.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.m.t.Error(err)
	}
	if err := p.cmd.Wait(); err != nil {
		p.m.t.Errorf("server ended with %v", err)
	}
	p.cmd = nil
}

func (p *process) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait() // always an error: it was killed
	p.cmd = nil
}

func (m *machine) key() string {
	m.t.Helper()
	b, err := os.ReadFile(filepath.Join(m.data, keyFile))
	if err != nil {
		m.t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

func whoami(t *testing.T, origin, key string) (client.Whoami, error) {
	t.Helper()
	c, err := client.New(client.Config{BaseURL: origin, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return c.Whoami(ctx)
}

func TestServe(t *testing.T) {
	m := newMachine(t)
	p := m.serveLoopback()
	origin, _ := p.address()
	if !strings.HasPrefix(origin, "http://127.0.0.1:") {
		t.Errorf("address %s", origin)
	}
	fi, err := os.Stat(filepath.Join(m.data, keyFile))
	if err != nil || fi.Mode().Perm() != 0o600 {
		t.Fatalf("key file: %v, %v; want mode 0600", fi, err)
	}
	first, err := whoami(t, origin, m.key())
	if err != nil || first.OrgName != "default" {
		t.Fatalf("whoami by the key file: %+v, %v", first, err)
	}
	key := m.key()
	p.stop()
	if m.key() != key {
		t.Error("the key changed")
	}
	p = m.serveLoopback()
	origin, _ = p.address()
	if again, err := whoami(t, origin, key); err != nil || again.OrgID != first.OrgID {
		t.Errorf("after a restart: %+v, %v", again, err)
	}
}

func TestLogin(t *testing.T) {
	m := newMachine(t)
	code, stdout, stderr := m.run("login", "--data-dir", m.data)
	if code != 1 || stdout != "" || !strings.Contains(stderr, "tabs serve") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("no server: code %d, stdout %q, stderr %q; want one line that says what to do", code, stdout, stderr)
	}
	p := m.serveLoopback()
	origin, token := p.address()
	code, stdout, stderr = m.run("login", "--data-dir", m.data)
	if code != 0 || !strings.HasPrefix(stdout, origin+"/login?token=") || strings.Contains(stdout, token) {
		t.Fatalf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	u, err := url.Parse(strings.TrimSpace(stdout))
	if err != nil {
		t.Fatal(err)
	}
	resp := postLogin(t, http.DefaultClient, origin, u.Query().Get("token"))
	if resp.StatusCode != http.StatusSeeOther {
		t.Errorf("the address does not work: %s", resp.Status)
	}
	fi, err := os.Stat(filepath.Join(m.data, controlSocket))
	if err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("control socket: %v, %v; want mode 0600", fi.Mode(), err)
	}
	p.kill() // leaves its socket behind
	if code, _, stderr := m.run("login", "--data-dir", m.data); code != 1 || !strings.Contains(stderr, "no server runs") {
		t.Errorf("killed server: code %d, %q", code, stderr)
	}
	m.serveLoopback()
	if code, _, stderr := m.run("login", "--data-dir", m.data); code != 0 {
		t.Errorf("after a restart over an old socket: code %d, %q", code, stderr)
	}
}

// postLogin presses the button of the login page.
func postLogin(t *testing.T, c *http.Client, origin, token string) *http.Response {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, origin+"/login", strings.NewReader("token="+token))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", origin)
	stay := *c
	stay.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := stay.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp
}

// TestLongDataDir has a path that does not fit into the address of a unix socket.
func TestLongDataDir(t *testing.T) {
	m := newMachine(t)
	m.data = filepath.Join(m.dir, strings.Repeat("long/", 30))
	p := m.serveLoopback()
	if code, stdout, stderr := m.run("login", "--data-dir", m.data); code != 0 || stdout == "" {
		t.Errorf("code %d, %q", code, stderr)
	}
	p.stop()
	if _, err := os.Lstat(filepath.Join(m.data, controlSocket)); err == nil {
		t.Error("the socket is left behind")
	}
}

// TestRefusals are the starts that cannot work. Each says what to do in one line.
func TestRefusals(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	m := newMachine(t)
	file := filepath.Join(m.dir, "file")
	if err := os.WriteFile(file, []byte("not a certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	used := newMachine(t)
	used.serveLoopback()
	broken := newMachine(t)
	if err := errors.Join(
		os.MkdirAll(broken.data, 0o700),
		os.WriteFile(filepath.Join(broken.data, "tabs.db"), bytes.Repeat([]byte("not a database\n"), 1000), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"port taken":             {[]string{"--listen", taken.Addr().String(), "--data-dir", m.data}, []string{taken.Addr().String(), "--listen"}},
		"not this machine's":     {[]string{"--listen", "192.0.2.1:1", "--behind-proxy", "--host", "x", "--data-dir", m.data}, []string{"192.0.2.1", "--listen"}},
		"data directory a file":  {[]string{"--data-dir", file}, []string{file, "--data-dir"}},
		"data directory in proc": {[]string{"--data-dir", "/proc/tabs"}, []string{"/proc/tabs", "--data-dir"}},
		"data directory in use":  {[]string{"--listen", "127.0.0.1:0", "--data-dir", used.data}, []string{used.data, "in use", "--data-dir"}},
		"all interfaces":         {[]string{"--listen", ":7780"}, []string{"listen:", "--tls-self-signed", "--behind-proxy"}},
		"another interface":      {[]string{"--listen", "192.0.2.1:80"}, []string{"listen:", "--tls-self-signed"}},
		"not an address":         {[]string{"--listen", "7780"}, []string{"listen:", "HOST:PORT"}},
		"no port":                {[]string{"--listen", "127.0.0.1:99999"}, []string{"listen:", "99999", "65535"}},
		"broken database":        {[]string{"--listen", "127.0.0.1:0", "--data-dir", broken.data}, []string{filepath.Join(broken.data, "tabs.db"), "move it away"}},
		"a name":                 {[]string{"--listen", "example.org:80"}, []string{"listen:", "--tls-self-signed"}},
		"half a certificate":     {[]string{"--tls-cert", file}, []string{"tls-cert:", "tls-key"}},
		"not a certificate":      {[]string{"--tls-cert", file, "--tls-key", file}, []string{"tls-cert:"}},
		"proxy without a name":   {[]string{"--behind-proxy"}, []string{"host:"}},
		"a URL as host":          {[]string{"--host", "https://x/"}, []string{"host:"}},
		"header from anybody":    {[]string{"--trusted-header", "Remote-User"}, []string{"trusted-header:", "trusted-secret"}},
		"unix socket with TLS":   {[]string{"--listen", "unix:/tmp/x", "--tls-self-signed"}, []string{"listen:"}},
		"file where a socket is": {[]string{"--listen", "unix:" + file, "--data-dir", m.data}, []string{file}},
		"relative base path":     {[]string{"--base-path", "term"}, []string{"base-path:"}},
		"log format":             {[]string{"--log-format", "xml"}, []string{"log-format:"}},
		"scrollback":             {[]string{"--scrollback", "1000000"}, []string{"scrollback:"}},
		"no such flag":           {[]string{"--port", "1"}, []string{"--port", "--help"}},
		"a word too many":        {[]string{"now"}, []string{"now"}},
		"no such config":         {[]string{"--config", "/nowhere/tabs.toml"}, []string{"config:", "/nowhere/tabs.toml"}},
	} {
		code, stdout, stderr := m.run(append([]string{"serve"}, c.args...)...)
		if code == 0 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "tabs: ") {
			t.Errorf("%s: code %d, stdout %q, stderr %q; want one line of why", name, code, stdout, stderr)
		}
		for _, w := range c.want {
			if !strings.Contains(stderr, w) {
				t.Errorf("%s: %q does not mention %s", name, stderr, w)
			}
		}
	}
}

func TestEveryProblemAtOnce(t *testing.T) {
	m := newMachine(t)
	file := filepath.Join(m.dir, "tabs.toml")
	if err := os.WriteFile(file, []byte("log-level = \"loud\"\nfrobnicate = 1\nscrollback = \"many\"\nhost = [1]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.env = append(m.env, "TABS_BASE_PATH=x y", "TABS_TLS_SELF_SIGNED=perhaps")
	code, _, stderr := m.run("config", "--config", file, "--listen", "0.0.0.0:1")
	if code != 2 {
		t.Errorf("code %d, want 2", code)
	}
	for _, key := range []string{"log-level", "frobnicate", "scrollback", "host", "base-path", "tls-self-signed", "listen"} {
		if !regexp.MustCompile(`(?m)^tabs: ` + key + `\b`).MatchString(stderr) {
			t.Errorf("problems do not name %s:\n%s", key, stderr)
		}
	}
}

func TestConfig(t *testing.T) {
	m := newMachine(t)
	file := filepath.Join(m.dir, "tabs.toml")
	text := "listen = \"127.0.0.1:1\"\nlog-format = \"json\"\nbase-path = \"/file\"\nhost = [\"a.example\", \"b.example:8443\"]\nlocal = false\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m.env = append(m.env, "TABS_CONFIG="+file, "TABS_LISTEN=127.0.0.1:2", "TABS_BASE_PATH=/env", "TABS_TRUSTED_SECRET=0123456789abcdef",
		"TABS_TRUSTED_HEADER=Remote-User")
	code, stdout, stderr := m.run("config", "--listen", "127.0.0.1:3")
	if code != 0 {
		t.Fatal(stderr)
	}
	for _, want := range []string{`listen = "127.0.0.1:3" +# --listen`, `base-path = "/env" +# TABS_BASE_PATH`,
		`log-format = "json" +# ` + file, `host = \["a.example", "b.example:8443"\] +# ` + file, `local = false +# `,
		`log-level = "info" +# default`, `data-dir = "` + m.dir + `/home/.local/state/tabs" +# default`} {
		if !regexp.MustCompile(`(?m)^` + want).MatchString(stdout) {
			t.Errorf("no %s in\n%s", want, stdout)
		}
	}
	if strings.Contains(stdout, "0123456789abcdef") {
		t.Error("the secret is printed")
	}
	// What it prints is a file that means the same.
	second := filepath.Join(m.dir, "second.toml")
	if err := os.WriteFile(second, []byte(stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	m.env = append(m.env[:4], "TABS_TRUSTED_SECRET=0123456789abcdef")
	_, again, stderr := m.run("config", "--config", second)
	values := func(text string) string {
		return regexp.MustCompile(` *#.*`).ReplaceAllString(text, "")
	}
	if values(again) != values(stdout) {
		t.Errorf("read back as\n%s\nwant\n%s\n%s", again, stdout, stderr)
	}
}

func TestOffersLocal(t *testing.T) {
	for args, want := range map[string]string{
		"": "true", "--local=false": "false", "--listen 0.0.0.0:1 --tls-self-signed": "false",
		"--listen 0.0.0.0:1 --tls-self-signed --local": "true", "--behind-proxy --host x": "false",
		"--listen localhost:1": "true", "--listen [::1]:1": "true", "--listen unix:/x": "true",
	} {
		m := newMachine(t)
		_, stdout, stderr := m.run(append([]string{"config"}, strings.Fields(args)...)...)
		if !strings.Contains(stdout, "local = "+want) {
			t.Errorf("%q: want local = %s; got %s%s", args, want, stdout, stderr)
		}
	}
}

// TestSelfSigned compares the printed fingerprint with the certificate that is served, as a careful person does.
func TestSelfSigned(t *testing.T) {
	m := newMachine(t)
	args := []string{"--listen", "127.0.0.1:0", "--tls-self-signed"}
	p := m.serve(args...)
	origin, token := p.address()
	cert := served(t, origin)
	if !strings.Contains(p.stderr.String(), fingerprint(cert)) {
		t.Errorf("served certificate %s is not the one in the log", fingerprint(cert))
	}
	for _, name := range []string{"localhost", "127.0.0.1", "::1"} {
		if err := cert.Leaf.VerifyHostname(name); err != nil {
			t.Error(err)
		}
	}
	c := trusting(cert)
	defer c.CloseIdleConnections()
	resp := postLogin(t, c, origin, token)
	if cookie := resp.Header.Get("Set-Cookie"); resp.StatusCode != http.StatusSeeOther || !strings.Contains(cookie, "; Secure") {
		t.Errorf("login: %s, cookie %q", resp.Status, cookie)
	}
	fi, err := os.Stat(filepath.Join(m.data, selfSignedFile))
	if err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("certificate file: %v, %v", fi, err)
	}
	p.stop()
	p = m.serve(args...)
	origin, _ = p.address()
	if again := served(t, origin); fingerprint(again) != fingerprint(cert) {
		t.Error("a restart made a new certificate, which every device would have to accept again")
	}
	p.stop()
	p = m.serve(append(args, "--host", "box.example")...)
	origin, _ = p.address()
	if !strings.HasPrefix(origin, "https://box.example:") {
		t.Errorf("address %s; want the name that was given", origin)
	}
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(origin, "https://"))
	if cert := served(t, "https://127.0.0.1:"+port); cert.Leaf.VerifyHostname("box.example") != nil {
		t.Error("the certificate lacks a host that was given later")
	}
}

func served(t *testing.T, origin string) tls.Certificate {
	t.Helper()
	c, err := tls.Dial("tcp", strings.TrimPrefix(origin, "https://"), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	leaf := c.ConnectionState().PeerCertificates[0]
	return tls.Certificate{Certificate: [][]byte{leaf.Raw}, Leaf: leaf}
}

func fingerprint(c tls.Certificate) string {
	sum := sha256.Sum256(c.Certificate[0])
	return strings.ReplaceAll(fmt.Sprintf("% X", sum[:]), " ", ":")
}

// trusting is a client that trusts this one certificate, as a person does who has compared the fingerprint.
func trusting(cert tls.Certificate) *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		InsecureSkipVerify: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			if !bytes.Equal(s.PeerCertificates[0].Raw, cert.Certificate[0]) {
				return fmt.Errorf("another certificate")
			}
			return nil
		},
	}}}
}

func TestUnixListener(t *testing.T) {
	m := newMachine(t)
	path := filepath.Join(m.dir, "web.sock")
	get := func() string {
		c := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
			return net.Dial("unix", path)
		}}}
		resp, err := c.Get("http://localhost/healthz")
		if err != nil {
			return err.Error()
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		return string(b)
	}
	p := m.serve("--listen", "unix:"+path)
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o660 {
		t.Errorf("socket: %v, %v; want mode 0660", fi, err)
	}
	if got := get(); got != "ok\n" {
		t.Error(got)
	}
	other := newMachine(t)
	code, _, stderr := other.run("serve", "--listen", "unix:"+path, "--data-dir", other.data)
	if code != 1 || !strings.Contains(stderr, "another program") {
		t.Errorf("second server on the socket: code %d, %q", code, stderr)
	}
	p.kill()
	p = m.serve("--listen", "unix:"+path)
	if got := get(); got != "ok\n" {
		t.Errorf("after a kill: %s", got)
	}
	p.stop()
	if _, err := os.Lstat(path); err == nil {
		t.Error("the socket is left behind")
	}
}

// TestHosts asks a server that listens everywhere by names that are its own, and by one that is not.
func TestHosts(t *testing.T) {
	m := newMachine(t)
	p := m.serve("--listen", "0.0.0.0:0", "--tls-self-signed", "--host", "box.example")
	origin, _ := p.address()
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(origin, "https://"))
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer c.CloseIdleConnections()
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]int{"localhost": 200, "127.0.0.1:" + port: 200, "box.example": 200, name: 200, "evil.example": 403} {
		req, err := http.NewRequest(http.MethodGet, "https://127.0.0.1:"+port+"/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("host %s: %s, want %d", host, resp.Status, want)
		}
	}
}

func TestOrgCreate(t *testing.T) {
	m := newMachine(t)
	code, offline, stderr := m.run("org", "create", "offline", "--data-dir", m.data)
	if code != 0 {
		t.Fatal(stderr)
	}
	p := m.serveLoopback()
	origin, _ := p.address()
	code, online, stderr := m.run("org", "create", "online", "--data-dir", m.data)
	if code != 0 {
		t.Fatal(stderr)
	}
	for name, key := range map[string]string{"offline": offline, "online": online, "default": m.key()} {
		who, err := whoami(t, origin, strings.TrimSpace(key))
		if err != nil || who.OrgName != name {
			t.Errorf("key of %s: %+v, %v", name, who, err)
		}
	}
	for _, args := range [][]string{{"org", "create", "online"}, {"org", "create"}, {"org", "create", ""}, {"org", "create", "a", "b"}} {
		code, stdout, stderr := m.run(append(args, "--data-dir", m.data)...)
		if code == 0 || stdout != "" || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: code %d, stdout %q, stderr %q", args, code, stdout, stderr)
		}
	}
}

// TestTerminate asks a server to go while a page looks on. The page must hear that it will be back.
func TestTerminate(t *testing.T) {
	m := newMachine(t)
	p := m.serveLoopback()
	origin, token := p.address()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	resp := postLogin(t, &http.Client{Jar: jar}, origin, token)
	u, err := url.Parse(origin)
	if err != nil {
		t.Fatal(err)
	}
	if len(jar.Cookies(u)) != 1 {
		t.Fatalf("login: %s", resp.Status)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, origin+"/v1/sandboxes/local/tabs/watch", &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + m.key()}}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	if err := ws.Write(ctx, websocket.MessageText, []byte(`{"type":"hello","protocol":1}`)); err != nil {
		t.Fatal(err)
	}
	if _, text, err := ws.Read(ctx); err != nil || !bytes.Contains(text, []byte(`"welcome"`)) {
		t.Fatalf("first frame %s, %v", text, err)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for {
		if _, _, err = ws.Read(ctx); err != nil {
			break
		}
	}
	if code := websocket.CloseStatus(err); code != websocket.StatusServiceRestart {
		t.Errorf("socket ended with %v, want close code 1012", err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("server ended with %v, want code 0", err)
	}
	p.cmd = nil
	if out := p.stdout.String(); strings.Count(out, "\n") != 1 {
		t.Errorf("stdout holds more than one line:\n%s", out)
	}
}

func TestTmuxMissing(t *testing.T) {
	m := newMachine(t)
	programs, err := filepath.Glob("/bin/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range programs {
		if name := filepath.Base(path); name != "tmux" {
			if err := os.Symlink(path, filepath.Join(m.dir, "tmp", name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	m.env[0] = "PATH=" + m.dir + "/tmp"
	p := m.serveLoopback()
	deadline := time.Now().Add(10 * time.Second)
	for !strings.Contains(p.stderr.String(), "install tmux") {
		if time.Now().After(deadline) {
			t.Fatal("the log does not say that tmux is missing")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestVersion(t *testing.T) {
	m := newMachine(t)
	if code, stdout, _ := m.run("version"); code != 0 || !strings.HasPrefix(stdout, "tabs "+version+" ") {
		t.Errorf("code %d, %q", code, stdout)
	}
	if code, stdout, _ := m.run("licenses"); code != 0 || stdout == "" {
		t.Errorf("licenses: code %d, %q", code, stdout)
	}
	if code, _, stderr := m.run("frobnicate"); code == 0 || !strings.Contains(stderr, "frobnicate") {
		t.Errorf("unknown command: code %d, %q", code, stderr)
	}
}
