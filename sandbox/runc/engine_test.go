package runc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/sandbox/sandboxtest"
)

// TestEngine runs what needs an engine with a template, on one.
func TestEngine(t *testing.T) {
	e := newDebian(t)
	for what, why := range e.Capabilities().Missing {
		if what != sandbox.CanForkLive {
			need(t, fmt.Sprintf("%s: %s", what, why))
		}
	}
	t.Run("provider", func(t *testing.T) {
		sandboxtest.Provider(t, e, started(t, e, "tpl_bare"))
		sandboxtest.Life(t, e, "tpl_bare")
	})
	for name, f := range map[string]func(*testing.T, *Engine){
		"inside": testInside, "network": testNetwork, "templates": testTemplates, "stubborn init": testStubbornInit,
	} {
		t.Run(name, func(t *testing.T) { f(t, e) })
	}
}

// testInside is what root of a sandbox may and may not do.
func testInside(t *testing.T, e *Engine) {
	id := started(t, e, "tpl_bare")
	for script, want := range map[string]string{
		"id -u; pwd; echo $HOME":                       "0\n/root\n/root\n",
		"useradd -m -s /bin/bash dev && id -un dev":    "dev\n",
		"readlink /proc/1/exe":                         initInside + "\n",
		"cat /proc/1/cgroup | grep -c tabs":            "0\n",
		"stat -f -c %T /run /root":                     "tmpfs\noverlayfs\n",
		"ls -A /run/tabs-init* /run/tabs":              "/run/tabs-init\n\n/run/tabs:\n",
		"(sleep 0 &) ; sleep 0.1; grep -c Z /dev/null": "0\n", // the orphan is reaped below
	} {
		if out, _ := sh(t, e, id, script); out != want {
			t.Errorf("%s: %q, want %q", script, out, want)
		}
	}
	for _, script := range []string{
		"mount -t tmpfs none /mnt", "echo 1 >/proc/sys/kernel/panic", "echo b >/proc/sysrq-trigger", "mknod /root/sda b 8 0 && cat /root/sda",
		"cat /dev/vda", "dd if=/dev/zero of=/run/tabs-init bs=1 count=1 conv=notrunc", "hostname other && mount -o remount,rw /sys",
	} {
		if out, code := sh(t, e, id, script); code == 0 {
			t.Errorf("%s is allowed: %q", script, out)
		}
	}
	out, _ := sh(t, e, id, "i=0; while [ $i -lt 50 ]; do (sleep 0.01 &); i=$((i+1)); done; sleep 1; cat /proc/[0-9]*/stat | grep -c ' Z '")
	if out != "0\n" {
		t.Errorf("%s zombies", out)
	}
}

// testNetwork lets a sandbox out, and to neither the host nor its neighbour.
func testNetwork(t *testing.T, e *Engine) {
	if e.net == nil {
		need(t, e.Capabilities().Missing[sandbox.CanNetwork])
	}
	listen := func(addr string) string {
		l, err := net.Listen("tcp4", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				c.Close()
			}
		}()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		return port
	}
	port := listen("0.0.0.0:0")
	a, b := started(t, e, "tpl_bare"), started(t, e, "tpl_bare")
	connect := func(id, host, port string) string {
		out, _ := sh(t, e, id, fmt.Sprintf(`perl -MSocket -e 'socket(S, PF_INET, SOCK_STREAM, 0); alarm 2;
			connect(S, sockaddr_in(%s, inet_aton("%s"))) and print "connected" or print "refused: $!"'`, port, host))
		return out
	}
	addresses := make(map[string]string)
	for _, id := range []string{a, b} {
		all, err := slots(ownedBy(e.runPath(id)))
		if err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		addresses[id] = all[0].address()
	}
	// The neighbour listens, as a connection from itself shows.
	p, err := e.Exec(t.Context(), b, sandbox.Exec{Argv: []string{"perl", "-MSocket", "-e", `socket(S, PF_INET, SOCK_STREAM, 0);
		bind(S, sockaddr_in(7777, INADDR_ANY)) or die; listen(S, 5); $| = 1; print "ready"; while (accept(C, S)) { close C }`}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := p.Stdout().Read(make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	if out := connect(b, addresses[b], "7777"); out != "connected" {
		t.Fatalf("to itself: %q", out)
	}
	host := hostAddress(t)
	for _, c := range []struct{ host, port string }{{addresses[b], "7777"}, {gateway, port}, {host, port}, {"169.254.169.254", "80"}} {
		if out := connect(a, c.host, c.port); strings.Contains(out, "connected") {
			t.Errorf("a sandbox reaches %s:%s", c.host, c.port)
		}
	}
	mirror := packageHost(t)
	if out, _ := sh(t, e, a, "getent hosts "+mirror+" >/dev/null && echo known; cat /etc/resolv.conf"); !strings.HasPrefix(out, "known") {
		_, err := net.LookupHost(mirror)
		t.Logf("no names from inside: %q; the host: %v", out, err)
		if err == nil {
			t.Error("the host resolves names, the sandbox does not")
		}
	}
}

// packageHost is a name that this machine can look up: where its packages come from.
func packageHost(t *testing.T) string {
	out, err := exec.Command("apt-get", "indextargets", "--format", "$(SITE)").Output()
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(out), "\n")
	site, err := url.Parse(first)
	if err != nil || site.Hostname() == "" {
		t.Fatalf("apt-get names the site %q", first)
	}
	return site.Hostname()
}

// hostAddress is one of the host's own, on no cable of ours.
func hostAddress(t *testing.T) string {
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() && !n.IP.IsLinkLocalUnicast() {
			return n.IP.String()
		}
	}
	need(t, "this machine has no IPv4 address")
	return ""
}

func testTemplates(t *testing.T, e *Engine) {
	ctx := t.Context()
	step := func(script string) sandbox.Step {
		return sandbox.Step{Argv: []string{"/bin/sh", "-c", script}, Key: script}
	}
	var log strings.Builder
	write := step("echo built >/root/built; rm /etc/motd; mkdir /root/d; (sleep 600 &) ; echo said")
	if err := e.BuildTemplate(ctx, "tpl_dev", build(write, step("cat /root/built; date +%N >/root/stamp")), &log); err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	if !strings.Contains(log.String(), "said\n") || !strings.Contains(log.String(), "built\n") {
		t.Errorf("log: %s", &log)
	}
	id := started(t, e, "tpl_dev")
	out, _ := sh(t, e, id, "cat /root/built; ls /etc/motd 2>/dev/null; ls -d /root/d; cat /proc/[0-9]*/comm | grep sleep")
	if out != "built\n/root/d\n" {
		t.Errorf("the sandbox: %q", out)
	}
	log.Reset()
	if err := e.BuildTemplate(ctx, "tpl_again", build(write, step("cat /root/built; date +%N >/root/stamp"), step("echo third")), &log); err != nil {
		t.Fatal(err)
	}
	if strings.Count(log.String(), "cached") != 2 || !strings.Contains(log.String(), "third\n") {
		t.Errorf("second log: %s", &log)
	}
	code := func(err error) string {
		var se *sandbox.Error
		errors.As(err, &se)
		if se == nil {
			return fmt.Sprint(err)
		}
		return se.Code + " " + se.Field
	}
	small := build(step("head -c 900000000 /dev/zero >/root/big"))
	small.MaxBytes = 256 << 20
	for want, b := range map[string]sandbox.Build{
		"invalid_request steps":      build(step("exit 3")),
		"template_too_big ":          small,
		"invalid_request base_image": {Image: "no/such:image", MaxBytes: 1 << 30, Limits: build().Limits},
	} {
		if got := code(e.BuildTemplate(ctx, "tpl_bad", b, &log)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if _, err := e.template("tpl_bad"); err == nil {
			t.Error("a template that failed is there")
		}
	}
}

// testStubbornInit stops a sandbox whose root keeps PID 1 from answering.
func testStubbornInit(t *testing.T, e *Engine) {
	id := started(t, e, "tpl_bare")
	for _, pid := range processes(e.cgroup(id)) {
		stopProcess(t, pid)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := e.Stop(ctx, id, 0); err != nil {
		t.Fatal(err)
	}
	if pids := processes(e.cgroup(id)); len(pids) > 0 {
		t.Errorf("processes are left: %v", pids)
	}
}
