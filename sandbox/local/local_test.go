package local

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/sandbox/login"
	"github.com/browsertabs/tabs/sandbox/sandboxtest"
)

// TestMain is also the server that TestServerKilled kills.
func TestMain(m *testing.M) {
	if os.Getenv("TABS_TEST_SERVER") != "" {
		serveForKill()
	}
	goleak.VerifyTestMain(m)
}

func provider(t *testing.T) *Provider {
	t.Helper()
	p, err := New(Config{Instance: "t" + strconv.Itoa(os.Getpid())})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, u := range []string{"", "daemon"} {
			if dir, err := p.RuntimeDir(t.Context(), sandbox.LocalID, u); err == nil {
				os.RemoveAll(dir)
			}
		}
	})
	return p
}

func TestProvider(t *testing.T) {
	sandboxtest.Provider(t, provider(t), sandbox.LocalID)
	sandboxtest.Life(t, provider(t), "")
}

func TestInstance(t *testing.T) {
	for _, id := range []string{"", "../x", "A", "has space", strings.Repeat("a", 17)} {
		if _, err := New(Config{Instance: id}); err == nil {
			t.Errorf("instance %q is accepted", id)
		}
	}
	a, _ := New(Config{Instance: "a"})
	b, _ := New(Config{Instance: "b"})
	dirA, err1 := a.RuntimeDir(t.Context(), sandbox.LocalID, "")
	dirB, err2 := b.RuntimeDir(t.Context(), sandbox.LocalID, "")
	defer os.Remove(dirA)
	defer os.Remove(dirB)
	if err1 != nil || err2 != nil || dirA == dirB {
		t.Errorf("two instances: %q %v, %q %v", dirA, err1, dirB, err2)
	}
}

func output(t *testing.T, p *Provider, e sandbox.Exec) string {
	t.Helper()
	proc, err := p.Exec(t.Context(), sandbox.LocalID, e)
	if err != nil {
		t.Fatal(err)
	}
	defer proc.Close()
	out, err := io.ReadAll(proc.Stdout())
	if err != nil {
		t.Fatal(err)
	}
	proc.Wait()
	return string(out)
}

func TestShellIsThatOfPasswd(t *testing.T) {
	t.Setenv("SHELL", "/bin/false")
	t.Setenv("HOME", "/nowhere")
	t.Setenv("USER", "nobody")
	a, err := lookup(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	got := output(t, provider(t), sandbox.Exec{Argv: []string{"sh", "-c", `echo "$SHELL:$HOME:$USER:$LOGNAME"`}})
	if want := fmt.Sprintf("%s:%s:%s:%s\n", a.Shell, a.Home, a.Name, a.Name); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLocale(t *testing.T) {
	for _, tt := range []struct{ lang, lcAll, lcCtype, want string }{
		{want: "C.UTF-8//"},
		{lang: "de_DE.UTF-8", want: "de_DE.UTF-8//"},
		{lcAll: "C", want: "/C/"},
		{lcCtype: "en_US.UTF-8", want: "//en_US.UTF-8"},
	} {
		t.Setenv("LANG", tt.lang)
		t.Setenv("LC_ALL", tt.lcAll)
		t.Setenv("LC_CTYPE", tt.lcCtype)
		got := output(t, provider(t), sandbox.Exec{Argv: []string{"sh", "-c", `echo "$LANG/$LC_ALL/$LC_CTYPE"`}})
		if got != tt.want+"\n" {
			t.Errorf("LANG=%s LC_ALL=%s LC_CTYPE=%s: got %q, want %q", tt.lang, tt.lcAll, tt.lcCtype, got, tt.want)
		}
	}
}

func TestOtherUser(t *testing.T) {
	p := provider(t)
	e := sandbox.Exec{Argv: []string{"sh", "-c", `id -un; echo "$HOME:$USER"; cat </dev/tty`}, User: "daemon", Dir: "/", TTY: true}
	if os.Getuid() != 0 {
		_, err := p.Exec(t.Context(), sandbox.LocalID, e)
		if se, ok := err.(*sandbox.Error); !ok || se.Code != sandbox.CodeNotSupported {
			t.Errorf("got %v, want not_supported", err)
		}
		return
	}
	proc, err := p.Exec(t.Context(), sandbox.LocalID, e)
	if err != nil {
		t.Fatal(err)
	}
	defer proc.Close()
	proc.Stdin().Write([]byte("\x04"))
	out, _ := io.ReadAll(proc.Stdout())
	if !strings.Contains(string(out), "daemon\r\n/usr/sbin:daemon") {
		t.Errorf("screen %q", out)
	}
	dir, err := p.RuntimeDir(t.Context(), sandbox.LocalID, "daemon")
	if err != nil {
		t.Fatal(err)
	}
	own, _ := p.RuntimeDir(t.Context(), sandbox.LocalID, "")
	fi, err := os.Lstat(dir)
	if err != nil || dir == own || fi.Sys().(*syscall.Stat_t).Uid == 0 || fi.Mode().Perm() != 0o700 {
		t.Errorf("%s: %v %v", dir, fi, err)
	}
}

func TestPrivateDir(t *testing.T) {
	self := account{login.Account{UID: os.Getuid(), GID: os.Getgid()}}
	base := t.TempDir()
	t.Run("made", func(t *testing.T) {
		dir := filepath.Join(base, "made")
		if err := privateDir(dir, self); err != nil {
			t.Fatal(err)
		}
		if fi, err := os.Stat(dir); err != nil || fi.Mode().Perm() != 0o700 {
			t.Errorf("%v %v", fi, err)
		}
	})
	t.Run("closed to others", func(t *testing.T) {
		dir := filepath.Join(base, "open")
		os.Mkdir(dir, 0o755)
		if err := privateDir(dir, self); err != nil {
			t.Fatal(err)
		}
		if fi, _ := os.Stat(dir); fi.Mode().Perm() != 0o700 {
			t.Errorf("mode %v", fi.Mode())
		}
	})
	t.Run("not through a link", func(t *testing.T) {
		target := filepath.Join(base, "target")
		os.Mkdir(target, 0o755)
		link := filepath.Join(base, "link")
		os.Symlink(target, link)
		if err := privateDir(link, self); err == nil {
			t.Error("a symbolic link is accepted")
		}
		if fi, _ := os.Stat(target); fi.Mode().Perm() != 0o755 {
			t.Errorf("the link's target was changed: %v", fi.Mode())
		}
	})
	t.Run("not another's", func(t *testing.T) {
		if os.Getuid() != 0 {
			t.Skip("needs root to make a directory of another user")
		}
		dir := filepath.Join(base, "foreign")
		os.Mkdir(dir, 0o700)
		os.Chown(dir, 1, 1)
		if err := privateDir(dir, self); err == nil {
			t.Error("another user's directory is accepted")
		}
	})
	t.Run("not a file", func(t *testing.T) {
		file := filepath.Join(base, "file")
		os.WriteFile(file, nil, 0o600)
		if err := privateDir(file, self); err == nil {
			t.Error("a file is accepted")
		}
	})
}

func TestRuntimeDirIgnoresBadBase(t *testing.T) {
	p := provider(t)
	link := filepath.Join(t.TempDir(), "link")
	os.Symlink("/dev/shm", link)
	for _, base := range []string{"relative", link, "/tmp", "/nowhere"} {
		t.Setenv("XDG_RUNTIME_DIR", base)
		dir, err := p.RuntimeDir(t.Context(), sandbox.LocalID, "")
		if err != nil || strings.HasPrefix(dir, base) {
			t.Errorf("XDG_RUNTIME_DIR=%s: %q, %v", base, dir, err)
		}
	}
	// One that is ours, on tmpfs, and short is taken.
	own, err := os.MkdirTemp("/dev/shm", "xdg")
	if err != nil {
		t.Skip("no /dev/shm")
	}
	defer os.RemoveAll(own)
	t.Setenv("XDG_RUNTIME_DIR", own)
	if dir, err := p.RuntimeDir(t.Context(), sandbox.LocalID, ""); err != nil || filepath.Dir(dir) != own {
		t.Errorf("%q, %v; want one in %s", dir, err, own)
	}
	long := filepath.Join(own, strings.Repeat("x", 80))
	os.Mkdir(long, 0o700)
	t.Setenv("XDG_RUNTIME_DIR", long)
	if dir, err := p.RuntimeDir(t.Context(), sandbox.LocalID, ""); err != nil || len(dir) > maxDirBytes {
		t.Errorf("%q, %v", dir, err)
	}
}

// serveForKill is a server that is killed while its child writes.
func serveForKill() {
	p, err := New(Config{Instance: "kill"})
	if err != nil {
		panic(err)
	}
	proc, err := p.Exec(context.Background(), sandbox.LocalID, sandbox.Exec{Argv: []string{"sh", "-c", "echo $$; exec yes"}})
	if err != nil {
		panic(err)
	}
	line, _ := bufio.NewReader(proc.Stdout()).ReadString('\n')
	fmt.Print(line)
	select {}
}

func TestServerKilled(t *testing.T) {
	self := exec.Command(os.Args[0])
	self.Env = append(os.Environ(), "TABS_TEST_SERVER=1")
	out, err := self.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	pid, convErr := strconv.Atoi(strings.TrimSpace(line))
	self.Process.Kill()
	self.Wait()
	if err != nil || convErr != nil {
		t.Fatalf("read pid %q: %v %v", line, err, convErr)
	}
	deadline := time.Now().Add(5 * time.Second)
	for syscall.Kill(pid, 0) == nil && !zombie(pid) {
		if time.Now().After(deadline) {
			syscall.Kill(pid, syscall.SIGKILL)
			t.Fatalf("process %d outlives its server", pid)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func zombie(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(b), ") Z ")
}

func TestNoZombies(t *testing.T) {
	p := provider(t)
	var pids []int
	for range 20 {
		proc, err := p.Exec(t.Context(), sandbox.LocalID, sandbox.Exec{Argv: []string{"true"}})
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, proc.(*process).cmd.Process.Pid) // nobody calls Wait
		defer proc.Close()
	}
	deadline := time.Now().Add(5 * time.Second)
	for _, pid := range pids {
		for {
			if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("process %d is left", pid)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}
