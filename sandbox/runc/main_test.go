package runc

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/sandbox/image"
)

var initBinary string // cmd/init, built once

// bareRoot is a tarball of a Debian root, which make test makes.
const bareRoot = "../../.cache/debian.tar"

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "runc-test")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	initBinary = filepath.Join(dir, "init")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", initBinary, "../../cmd/init")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build init: %v\n%s", err, out)
		return 1
	}
	code := m.Run()
	for _, e := range engines {
		for _, what := range traces(e) {
			fmt.Fprintln(os.Stderr, "the tests leave behind:", what)
			code = 1
		}
	}
	return code
}

// engines are all that tests have made. Those of other processes may be at work meanwhile.
var engines []*Engine

// traces are what an engine has of this machine outside of its directory.
func traces(e *Engine) (found []string) {
	glob := func(pattern string) {
		names, _ := filepath.Glob(pattern)
		found = append(found, names...)
	}
	found = append(found, cgroupDirs(e.cgroup(""))...)
	glob(e.c.RunDir)
	files, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && strings.HasPrefix(string(b), e.c.Dir) {
			found = append(found, "loop device of "+string(b))
		}
	}
	own, _ := slots(ownedBy(e.c.RunDir))
	for _, s := range own {
		found = append(found, s.file())
	}
	// A cable is laid after its slot is taken and goes before it.
	cables, _ := filepath.Glob("/sys/class/net/" + vethPrefix + "*")
	for _, path := range cables {
		n, _ := strconv.Atoi(strings.TrimPrefix(filepath.Base(path), vethPrefix))
		if _, err := os.Lstat(slot(n).file()); err != nil {
			found = append(found, path)
		}
	}
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, e.c.RunDir) {
			found = append(found, "mount "+strings.TrimSpace(line))
		}
	}
	cmdlines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range cmdlines {
		if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), e.c.RunDir) {
			found = append(found, filepath.Dir(f)+" "+strings.ReplaceAll(string(b), "\x00", " "))
		}
	}
	if e.net != nil {
		if out, err := run(context.Background(), "", "nft", "list", "tables"); err != nil || strings.Contains(string(out), e.net.table) {
			found = append(found, fmt.Sprintf("nft table %s (%v)", e.net.table, err))
		}
	}
	return found
}

// need skips a test of what this machine lacks; where everything must run, the lack is the failure.
func need(t *testing.T, missing ...string) {
	t.Helper()
	if len(missing) == 0 {
		return
	}
	why := strings.Join(missing, "; ")
	if os.Getenv("TABS_TEST_ALL") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// newEngine returns an engine with a data directory of its own, gone at the end.
func newEngine(t *testing.T) *Engine {
	t.Helper()
	need(t, Missing("runc")...)
	e, err := New(t.Context(), Config{Dir: t.TempDir(), Init: initBinary, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	engines = append(engines, e)
	t.Cleanup(func() {
		if err := e.Remove(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("remove engine: %v", err)
		}
	})
	return e
}

const debian = "docker.io/library/debian:12"

// newDebian returns an engine with the template tpl_bare, a Debian with nothing in it.
func newDebian(t *testing.T) *Engine {
	t.Helper()
	if _, err := os.Stat(bareRoot); err != nil {
		need(t, "there is no Debian root: make "+strings.TrimPrefix(bareRoot, "../../"))
	}
	e := newEngine(t)
	err := e.ImportImage(t.Context(), debian, bareRoot, func(dir string) error { return image.Unpack(bareRoot, dir, 1<<30) })
	if err != nil {
		t.Fatal(err)
	}
	if err := e.BuildTemplate(t.Context(), "tpl_bare", build(), t.Output()); err != nil {
		t.Fatal(err)
	}
	return e
}

func build(steps ...sandbox.Step) sandbox.Build {
	return sandbox.Build{Image: debian, Steps: steps, MaxBytes: 1 << 30, Limits: sandbox.Limits{CPU: 1, RAMBytes: 512 << 20}}
}

func spec(template string) sandbox.Spec {
	return sandbox.Spec{From: sandbox.Source{Template: template}, Hostname: "box",
		Limits: sandbox.Limits{CPU: 1, RAMBytes: 256 << 20}, DiskBytes: 1 << 30}
}

// started returns a sandbox that runs until the test ends.
func started(t *testing.T, e *Engine, template string) string {
	t.Helper()
	id := sandbox.NewID("sbx")
	t.Cleanup(func() {
		if err := e.Delete(context.WithoutCancel(t.Context()), id); err != nil {
			t.Errorf("delete: %v", err)
		}
	})
	if err := e.Create(t.Context(), id, spec(template)); err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	return id
}

// sh runs a script as root and returns its output and exit code.
func sh(t *testing.T, e *Engine, id, script string) (string, int) {
	t.Helper()
	p, err := e.Exec(t.Context(), id, sandbox.Exec{Argv: []string{"/bin/sh", "-c", "exec 2>&1; " + script}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.Stdin().Close()
	out, err := io.ReadAll(p.Stdout())
	if err != nil {
		t.Fatal(err)
	}
	code, err := p.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return string(out), code
}
