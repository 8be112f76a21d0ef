package sandboxtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/browsertabs/tabs/sandbox"
)

const (
	mib = 1 << 20
	gib = 1 << 30
)

// Life runs the suite of everything but running programs in a sandbox that is there: what a provider cannot do must
// say why, and what it can do must be true. The sandboxes are made from template, which has sh, coreutils and tar.
func Life(t *testing.T, p sandbox.Provider, template string) {
	if p.Capabilities().Need(sandbox.CanLive) != nil {
		noLife(t, p)
		return
	}
	l := life{p: p, spec: sandbox.Spec{
		From: sandbox.Source{Template: template}, Hostname: "box",
		Env:    []string{"FROM_SPEC=1 2"},
		Limits: sandbox.Limits{CPU: 1, RAMBytes: 256 * mib}, DiskBytes: 1 * gib,
	}}
	t.Run("life", func(t *testing.T) {
		for name, f := range map[string]func(*testing.T){
			"a stop ends processes and keeps files":  l.stopKeepsFiles,
			"refusals leave nothing":                 l.refusals,
			"limits are kept and seen inside":        l.limits,
			"the disk grows":                         l.grow,
			"operations on one sandbox take turns":   l.concurrent,
			"a copy is a disk of its own":            l.copy,
			"a template lives while a disk needs it": func(t *testing.T) { l.templateInUse(t, template) },
			"what is running and what is not":        l.inspect,
			"files come out as tar":                  l.export,
			"a port inside is reached":               l.dial,
		} {
			t.Run(name, f)
		}
	})
}

func noLife(t *testing.T, p sandbox.Provider) {
	ctx := t.Context()
	why := p.Capabilities().Missing[sandbox.CanLive]
	_, dialErr := p.Dial(ctx, "sbx_x", 80)
	for what, err := range map[string]error{
		"build":           p.BuildTemplate(ctx, "tpl_x", sandbox.Build{}, io.Discard),
		"delete template": p.DeleteTemplate(ctx, "tpl_x"),
		"create":          p.Create(ctx, "sbx_x", sandbox.Spec{}),
		"start":           p.Start(ctx, "sbx_x"),
		"stop":            p.Stop(ctx, "sbx_x", 0),
		"grow":            p.GrowDisk(ctx, "sbx_x", gib),
		"limits":          p.SetLimits(ctx, "sbx_x", sandbox.Limits{}),
		"delete":          p.Delete(ctx, "sbx_x"),
		"export":          p.Export(ctx, "sbx_x", io.Discard),
		"dial":            dialErr,
	} {
		wantCode(t, err, sandbox.CodeNotSupported, "")
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want the reason %q", what, err, why)
		}
	}
	all, err := p.List(ctx)
	if err != nil || len(all) != 1 || !all[0].Running || all[0].DiskBytes <= 0 || all[0].FreeBytes <= 0 {
		t.Errorf("list: %+v, %v", all, err)
	}
	_, err = p.Inspect(ctx, "sbx_nobody")
	wantCode(t, err, sandbox.CodeNotFound, "")
}

type life struct {
	p    sandbox.Provider
	spec sandbox.Spec
}

// create makes a sandbox that is gone at the end of the test.
func (l life) create(t *testing.T, change func(*sandbox.Spec)) string {
	t.Helper()
	id, spec := sandbox.NewID("sbx"), l.spec
	if change != nil {
		change(&spec)
	}
	t.Cleanup(func() {
		if err := l.p.Delete(context.WithoutCancel(t.Context()), id); err != nil {
			t.Errorf("delete %s: %v", id, err)
		}
	})
	if err := l.p.Create(t.Context(), id, spec); err != nil {
		t.Fatalf("create: %v", err)
	}
	return id
}

func (l life) start(t *testing.T, id string) {
	t.Helper()
	if err := l.p.Start(t.Context(), id); err != nil {
		t.Fatalf("start: %v", err)
	}
}

func (l life) stop(t *testing.T, id string) {
	t.Helper()
	if err := l.p.Stop(t.Context(), id, 5*time.Second); err != nil {
		t.Fatalf("stop: %v", err)
	}
}

// sh runs a script and returns what it wrote to both its outputs.
func (l life) sh(t *testing.T, id, script string) string {
	t.Helper()
	out, code := l.shCode(t, id, script)
	if code != 0 {
		t.Fatalf("%s: exit %d\n%s", script, code, out)
	}
	return out
}

func (l life) shCode(t *testing.T, id, script string) (string, int) {
	t.Helper()
	proc, err := l.p.Exec(t.Context(), id, sandbox.Exec{Argv: []string{"/bin/sh", "-c", "exec 2>&1; " + script}})
	if err != nil {
		t.Fatalf("exec %q: %v", script, err)
	}
	defer proc.Close()
	proc.Stdin().Close()
	out, err := io.ReadAll(proc.Stdout())
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	code, err := proc.Wait()
	if err != nil {
		t.Fatalf("wait: %v", err)
	}
	return string(out), code
}

func (l life) status(t *testing.T, id string) sandbox.Status {
	t.Helper()
	s, err := l.p.Inspect(t.Context(), id)
	if err != nil {
		t.Fatalf("inspect: %v", err)
	}
	return s
}

// treeScript prints a line for everything below /root/tree that must survive: content, mode, owners, links, holes.
const treeScript = `cd /root/tree && find . -printf '%p %y %m %U:%G %n %l %s\n' | sort && ` +
	`find . -type f | sort | xargs sha256sum && stat -c %b sparse`

func (l life) makeTree(t *testing.T, id string) string {
	l.sh(t, id, `mkdir /root/tree && cd /root/tree && for i in 1 2 3 4 5 6 7 8; do head -c ${i}0000 /dev/urandom >f$i; done &&
		ln -s f1 link && ln f2 hard && truncate -s 300M sparse && chmod 4711 f3 && chown 1234:4321 f4 && mkdir -m 1777 dir &&
		mkfifo fifo && touch -h -d 2001-02-03 link f5`)
	return l.sh(t, id, treeScript)
}

func (l life) stopKeepsFiles(t *testing.T) {
	id := l.create(t, nil)
	l.start(t, id)
	l.start(t, id) // of a running one: nothing
	before := l.makeTree(t, id)
	proc, err := l.p.Exec(t.Context(), id, sandbox.Exec{Argv: []string{"sleep", "600"}})
	if err != nil {
		t.Fatal(err)
	}
	defer proc.Close()
	l.sh(t, id, `echo $FROM_SPEC >/root/spec; (setsid sh -c 'trap "" TERM HUP; exec sleep 601' >/dev/null 2>&1 &)`)
	run := l.status(t, id).RunID
	for round := range 5 {
		l.sh(t, id, fmt.Sprintf("echo %d >/root/late", round)) // plain write, right before the stop
		if err := l.p.Stop(t.Context(), id, 200*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		l.stop(t, id) // of a stopped one: nothing
		if s := l.status(t, id); s.Running || s.RunID != "" {
			t.Errorf("after the stop: %+v", s)
		}
		_, err := l.p.Exec(t.Context(), id, sandbox.Exec{Argv: []string{"true"}})
		wantCode(t, err, sandbox.CodeSandboxNotRunning, "")
		l.start(t, id)
		if again := l.status(t, id); !again.Running || again.RunID == run || again.RunID == "" {
			t.Errorf("after the start: %+v, before it run %q", again, run)
		}
		run = l.status(t, id).RunID
		if got := l.sh(t, id, treeScript); got != before {
			t.Fatalf("round %d: files changed:\n%s\nwere\n%s", round, got, before)
		}
		if got := l.sh(t, id, "cat /root/late /root/spec"); got != fmt.Sprintf("%d\n1 2\n", round) {
			t.Errorf("late file: %q", got)
		}
	}
	if code, err := proc.Wait(); err != nil || code != 137 && code != 143 && code != 129 {
		t.Errorf("a process of the first run: exit %d, %v", code, err)
	}
	if out := l.sh(t, id, `for p in /proc/[0-9]*; do tr '\0' ' ' <$p/cmdline; echo; done`); strings.Contains(out, "sleep") {
		t.Errorf("processes of the first run are left:\n%s", out)
	}
}

func (l life) refusals(t *testing.T) {
	ctx, id := t.Context(), sandbox.NewID("sbx")
	with := func(f func(*sandbox.Spec)) sandbox.Spec { s := l.spec; f(&s); return s }
	for _, c := range []struct {
		spec        sandbox.Spec
		code, field string
	}{
		{with(func(s *sandbox.Spec) { s.From.Template = "tpl_nobody" }), sandbox.CodeTemplateNotFound, ""},
		{with(func(s *sandbox.Spec) { s.From = sandbox.Source{Sandbox: "sbx_nobody"} }), sandbox.CodeNotFound, ""},
		{with(func(s *sandbox.Spec) { s.From = sandbox.Source{} }), sandbox.CodeInvalidRequest, "from"},
		{with(func(s *sandbox.Spec) { s.Limits.CPU = 0 }), sandbox.CodeInvalidRequest, "cpu"},
		{with(func(s *sandbox.Spec) { s.Limits.CPU = 100000 }), sandbox.CodeInvalidRequest, "cpu"},
		{with(func(s *sandbox.Spec) { s.Limits.RAMBytes = 1 }), sandbox.CodeInvalidRequest, "ramMb"},
		{with(func(s *sandbox.Spec) { s.DiskBytes = 1 }), sandbox.CodeInvalidRequest, "diskGb"},
		{with(func(s *sandbox.Spec) { s.DiskBytes = 1 << 50 }), sandbox.CodeNoStorage, ""},
	} {
		wantCode(t, l.p.Create(ctx, id, c.spec), c.code, c.field)
		_, err := l.p.Inspect(ctx, id)
		wantCode(t, err, sandbox.CodeNotFound, "")
	}
	for _, bad := range []string{"", ".", "..", "../x", "a/b", "a b", "a\x00", strings.Repeat("a", 200)} {
		if err := l.p.Create(ctx, bad, l.spec); err == nil {
			t.Errorf("id %q is accepted", bad)
		}
	}
	made := l.create(t, nil)
	if err := l.p.Create(ctx, made, l.spec); err == nil {
		t.Error("an id was given twice")
	}
	for what, err := range map[string]error{
		"start": l.p.Start(ctx, id), "stop": l.p.Stop(ctx, id, 0), "grow": l.p.GrowDisk(ctx, id, gib),
		"limits": l.p.SetLimits(ctx, id, l.spec.Limits), "export": l.p.Export(ctx, id, io.Discard),
	} {
		t.Run(what+" of nobody", func(t *testing.T) { wantCode(t, err, sandbox.CodeNotFound, "") })
	}
	if err := l.p.Delete(ctx, id); err != nil {
		t.Errorf("delete of nobody: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := l.p.Create(cancelled, id, l.spec); !errors.Is(err, context.Canceled) {
		t.Errorf("create when cancelled: %v", err)
	}
	_, err := l.p.Inspect(ctx, id)
	wantCode(t, err, sandbox.CodeNotFound, "")
}

func (l life) limits(t *testing.T) {
	if err := l.p.Capabilities().Need(sandbox.CanShowLimits); err != nil {
		t.Skip(err)
	}
	id := l.create(t, nil)
	wantCode(t, l.p.SetLimits(t.Context(), id, sandbox.Limits{CPU: -1, RAMBytes: gib}), sandbox.CodeInvalidRequest, "cpu")
	seen := func(cores, mb int) {
		t.Helper()
		out := l.sh(t, id, `nproc; awk '/^MemTotal/ {print $2}' /proc/meminfo; hostname`)
		if want := fmt.Sprintf("%d\n%d\nbox\n", cores, mb*1024); out != want {
			t.Errorf("inside: %q, want %q", out, want)
		}
	}
	l.start(t, id)
	seen(1, 256)
	wantCode(t, l.p.SetLimits(t.Context(), id, l.spec.Limits), sandbox.CodeSandboxNotStopped, "")
	// Memory is a wall: what grows beyond it is killed inside, and the sandbox lives on.
	if out, code := l.shCode(t, id, `x=$(head -c 600000000 /dev/zero | tr '\0' x); echo survived`); code == 0 || strings.Contains(out, "survived") {
		t.Errorf("600 MB in 256: exit %d, %q", code, out)
	}
	l.sh(t, id, "true")
	l.stop(t, id)
	if err := l.p.SetLimits(t.Context(), id, sandbox.Limits{CPU: 2, RAMBytes: 512 * mib}); err != nil {
		t.Fatal(err)
	}
	l.start(t, id)
	seen(2, 512)
	// So is the disk, for root too.
	if out, code := l.shCode(t, id, `head -c 2000000000 /dev/zero >/root/full`); code == 0 || !strings.Contains(out, "No space") {
		t.Errorf("2 GB on a disk of 1: exit %d, %q", code, out)
	}
	if s := l.status(t, id); s.FreeBytes > 20*mib || s.UsedBytes < 900*mib {
		t.Errorf("a full disk: %+v", s)
	}
	l.sh(t, id, "rm /root/full")
	if s := l.status(t, id); s.FreeBytes < 800*mib || s.FreeInodes < 1000 {
		t.Errorf("an empty disk: %+v", s)
	}
}

func (l life) grow(t *testing.T) {
	if err := l.p.Capabilities().Need(sandbox.CanGrowDisk); err != nil {
		t.Skip(err)
	}
	ctx, id := t.Context(), l.create(t, nil)
	l.start(t, id)
	before := l.makeTree(t, id)
	wantCode(t, l.p.GrowDisk(ctx, id, 2*gib), sandbox.CodeSandboxNotStopped, "")
	l.stop(t, id)
	wantCode(t, l.p.GrowDisk(ctx, id, gib/2), sandbox.CodeDiskShrink, "")
	wantCode(t, l.p.GrowDisk(ctx, id, 1<<50), sandbox.CodeNoStorage, "")
	if s := l.status(t, id); s.DiskBytes != gib {
		t.Errorf("after refusals: %+v", s)
	}
	for _, size := range []int64{gib, 2 * gib, 5 * gib} {
		if err := l.p.GrowDisk(ctx, id, size); err != nil {
			t.Fatalf("grow to %d: %v", size, err)
		}
		l.start(t, id)
		s := l.status(t, id)
		if inside := s.UsedBytes + s.FreeBytes; s.DiskBytes != size || inside < size*9/10 || inside > size {
			t.Errorf("grown to %d: %+v", size, s)
		}
		if got := l.sh(t, id, treeScript); got != before {
			t.Errorf("files changed:\n%s\nwere\n%s", got, before)
		}
		l.stop(t, id)
	}
}

func (l life) concurrent(t *testing.T) {
	ids := []string{l.create(t, nil), l.create(t, nil)}
	var wg sync.WaitGroup
	for _, id := range ids {
		for range 3 {
			wg.Go(func() {
				if err := l.p.Start(t.Context(), id); err != nil {
					t.Errorf("start: %v", err)
				}
			})
			wg.Go(func() {
				if err := l.p.Stop(t.Context(), id, time.Second); err != nil {
					t.Errorf("stop: %v", err)
				}
			})
		}
	}
	wg.Wait()
	for _, id := range ids {
		l.start(t, id)
		l.sh(t, id, "true")
	}
}

func (l life) copy(t *testing.T) {
	from := l.create(t, nil)
	l.start(t, from)
	before := l.makeTree(t, from)
	l.stop(t, from)
	id := l.create(t, func(s *sandbox.Spec) { s.From = sandbox.Source{Sandbox: from} })
	l.start(t, id)
	if got := l.sh(t, id, treeScript); got != before {
		t.Errorf("copy:\n%s\nwant\n%s", got, before)
	}
	l.sh(t, id, "rm -r /root/tree")
	if err := l.p.Delete(t.Context(), id); err != nil { // while it runs
		t.Fatal(err)
	}
	l.start(t, from)
	if got := l.sh(t, from, treeScript); got != before {
		t.Errorf("the original has changed:\n%s\nwas\n%s", got, before)
	}
}

func (l life) templateInUse(t *testing.T, template string) {
	l.create(t, nil)
	wantCode(t, l.p.DeleteTemplate(t.Context(), template), sandbox.CodeTemplateInUse, "")
	if err := l.p.DeleteTemplate(t.Context(), "tpl_nobody"); err != nil {
		t.Errorf("template of nobody: %v", err)
	}
}

func (l life) inspect(t *testing.T) {
	a, b := l.create(t, nil), l.create(t, nil)
	l.start(t, b)
	all, err := l.p.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(all, func(x, y sandbox.Status) int { return strings.Compare(x.ID, y.ID) }) {
		t.Errorf("not in order: %+v", all)
	}
	for _, id := range []string{a, b} {
		i := slices.IndexFunc(all, func(s sandbox.Status) bool { return s.ID == id })
		if i < 0 {
			t.Fatalf("%s is missing in %+v", id, all)
		}
		s := all[i]
		if s.Running != (id == b) || s.Limits != l.spec.Limits || s.DiskBytes != gib || s.StartedAt.IsZero() == s.Running {
			t.Errorf("%+v", s)
		}
	}
}

func (l life) export(t *testing.T) {
	if err := l.p.Capabilities().Need(sandbox.CanExport); err != nil {
		t.Skip(err)
	}
	id := l.create(t, nil)
	l.start(t, id)
	l.sh(t, id, "echo precious >/root/file; rm /etc/hostname; true")
	wantCode(t, l.p.Export(t.Context(), id, io.Discard), sandbox.CodeSandboxNotStopped, "")
	l.stop(t, id)
	var b bytes.Buffer
	if err := l.p.Export(t.Context(), id, &b); err != nil {
		t.Fatal(err)
	}
	names := tarNames(t, &b)
	if names["root/file"] != "precious\n" {
		t.Errorf("root/file is %q among %d files", names["root/file"], len(names))
	}
	if _, ok := names["bin/sh"]; !ok {
		if _, ok := names["usr/bin/sh"]; !ok {
			t.Error("the template's files are missing")
		}
	}
	for name := range names {
		if filepath.IsAbs(name) || !filepath.IsLocal(name) {
			t.Errorf("%s is in the archive", name)
		}
	}
}

func (l life) dial(t *testing.T) {
	if err := l.p.Capabilities().Need(sandbox.CanDial); err != nil {
		t.Skip(err)
	}
	id := l.create(t, nil)
	l.start(t, id)
	if c, err := l.p.Dial(t.Context(), id, 9); err == nil {
		c.Close()
		t.Error("a port that nobody listens on is connected")
	}
	if _, code := l.shCode(t, id, "command -v perl"); code != 0 {
		t.Skip("no perl in the template to listen with")
	}
	proc, err := l.p.Exec(t.Context(), id, sandbox.Exec{Argv: []string{"perl", "-MSocket", "-e", `
		socket(S, PF_INET, SOCK_STREAM, 0); setsockopt(S, SOL_SOCKET, SO_REUSEADDR, 1);
		bind(S, sockaddr_in(7777, INADDR_LOOPBACK)) or die; listen(S, 5); $| = 1; print "ready\n";
		accept(C, S); $_ = <C>; syswrite(C, "got $_"); close C;`}})
	if err != nil {
		t.Fatal(err)
	}
	defer proc.Close()
	b := make([]byte, 6)
	if _, err := io.ReadFull(proc.Stdout(), b); err != nil {
		rest, _ := io.ReadAll(proc.Stderr())
		t.Fatalf("listener: %v\n%s", err, rest)
	}
	c, err := l.p.Dial(t.Context(), id, 7777)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintln(c, "hello")
	if out, err := io.ReadAll(c); string(out) != "got hello\n" || err != nil {
		t.Errorf("answer %q, %v", out, err)
	}
}
