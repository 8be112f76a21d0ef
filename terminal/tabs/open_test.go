package tabs

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/terminal"
)

func wantCode(t *testing.T, err error, code, field string) {
	t.Helper()
	var e *sandbox.Error
	if !errors.As(err, &e) || e.Code != code || e.Field != field {
		t.Errorf("got %v, want code %s, field %q", err, code, field)
	}
}

func TestOpenTypeOutput(t *testing.T) {
	r := newMachine(t).boot()
	v := r.open(OpenOptions{})
	p := r.look(v.ID, "page0001")
	p.types(0, "printf '%s%s\\n' MAR KER\n")
	p.sees(0, "MARKER")
	r.shows(v.ID, "MARKER")
	if v.Size != defaultSize || v.State != StateLive || v.Order != 0 || v.Plain || !strings.HasPrefix(v.ID, "tab_") {
		t.Errorf("tab %+v", v)
	}
	until(t, "the viewer is counted", func() bool { return r.get(v.ID).Viewers == 1 })
}

func TestOpenOptions(t *testing.T) {
	m := newMachine(t)
	r := m.boot()
	dir := filepath.Join(m.home, "a b;#{pid}")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	v := r.open(OpenOptions{
		Title: "  build; $x ", Cwd: dir, Size: terminal.Size{Cols: 101, Rows: 31},
		Command: []string{"sh", "-c", `echo "[$1][$X][$PWD][$(stty size)]"; read -r x`, "sh", `a "b" $c;`},
		Env:     map[string]string{"X": "1;2 #{pid}"},
	})
	r.shows(v.ID, fmt.Sprintf(`[a "b" $c;][1;2 #{pid}][%s][31 101]`, dir))
	if v.Title != "build; $x" || !v.Named || v.Size != (terminal.Size{Cols: 101, Rows: 31}) || v.Cwd != dir {
		t.Errorf("tab %+v", v)
	}
	if v.Foreground == "" {
		t.Errorf("a command of its own is no idle shell: %+v", v)
	}
}

func TestOpenRefuses(t *testing.T) {
	m := newMachine(t)
	r := m.boot()
	for _, tt := range []struct {
		name  string
		o     OpenOptions
		code  string
		field string
	}{
		{"directory that is not there", OpenOptions{Cwd: "/no/such"}, sandbox.CodeInvalidRequest, "cwd"},
		{"relative directory", OpenOptions{Cwd: "x"}, sandbox.CodeInvalidRequest, "cwd"},
		{"file as directory", OpenOptions{Cwd: "/etc/passwd"}, sandbox.CodeInvalidRequest, "cwd"},
		{"newline in directory", OpenOptions{Cwd: "/tmp/\n"}, sandbox.CodeInvalidRequest, "cwd"},
		{"user", OpenOptions{User: "no-such-user"}, sandbox.CodeInvalidRequest, "user"},
		{"title", OpenOptions{Title: "a\x1bb"}, sandbox.CodeInvalidRequest, "title"},
		{"long title", OpenOptions{Title: strings.Repeat("x", 201)}, sandbox.CodeInvalidRequest, "title"},
		{"empty command", OpenOptions{Command: []string{""}}, sandbox.CodeInvalidRequest, "command"},
		{"NUL", OpenOptions{Command: []string{"a\x00"}}, sandbox.CodeInvalidRequest, "command"},
		{"long command", OpenOptions{Command: []string{strings.Repeat("x", 1<<20)}}, sandbox.CodeInvalidRequest, "command"},
		{"variable", OpenOptions{Env: map[string]string{"A=B": ""}}, sandbox.CodeInvalidRequest, "env"},
		{"size 0", OpenOptions{Size: terminal.Size{Cols: -1, Rows: 5}}, sandbox.CodeInvalidRequest, "cols"},
		{"size 100000", OpenOptions{Size: terminal.Size{Cols: 100_000, Rows: 5}}, sandbox.CodeInvalidRequest, "cols"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := r.Open(t.Context(), sandbox.LocalID, tt.o)
			wantCode(t, err, tt.code, tt.field)
		})
	}
	if left := m.processes(); len(left) > 0 || len(r.list()) > 0 || len(m.sockets()) > 0 {
		t.Errorf("refused tabs leave %q, %q, %+v", left, m.sockets(), r.list())
	}
	_, err := r.Get(t.Context(), sandbox.LocalID, "tab_nobody")
	wantCode(t, err, sandbox.CodeNotFound, "")
	wantCode(t, r.End(t.Context(), sandbox.LocalID, "tab_nobody"), sandbox.CodeNotFound, "")
	_, err = r.List(t.Context(), "sbx_nobody")
	wantCode(t, err, sandbox.CodeNotFound, "")
}

func TestTooManyTabs(t *testing.T) {
	r := newMachine(t).boot()
	b, err := r.box(t.Context(), sandbox.LocalID)
	if err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	b.opening = maxTabs
	b.mu.Unlock()
	_, err = r.Open(t.Context(), sandbox.LocalID, OpenOptions{})
	wantCode(t, err, sandbox.CodeQuotaExceeded, "")
	b.mu.Lock()
	b.opening = 0
	b.mu.Unlock()
	r.open(OpenOptions{})
}

// TestLoginShell is R070, R075 and R076: the passwd shell, as a login shell, at home, whatever our own environment.
func TestLoginShell(t *testing.T) {
	t.Setenv("SHELL", "/bin/false")
	t.Setenv("LANG", "")
	t.Setenv("LC_ALL", "")
	t.Setenv("TABS_SECRET", "leaked")
	m := newMachine(t)
	for name, text := range map[string]string{
		".bashrc":       "export FROM_BASHRC=yes\n",
		".bash_profile": "export FROM_PROFILE=yes\nPS1='> '\n",
	} {
		if err := os.WriteFile(filepath.Join(m.home, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := m.boot()
	v := r.open(OpenOptions{Size: terminal.Size{Cols: 200, Rows: 24}})
	p := r.look(v.ID, "page0001")
	p.types(0, `shopt -q login_shell; echo "login=$? rc=$FROM_BASHRC profile=$FROM_PROFILE at=$PWD shell=$SHELL secret=$TABS_SECRET lang=$LANG term=$TERM $COLORTERM"`+"\n")
	r.shows(v.ID, fmt.Sprintf("login=0 rc= profile=yes at=%s shell=/bin/bash secret= lang=C.UTF-8 term=xterm-256color truecolor", m.home))
	p.types(0, "printf '\\u2500\\u4e2d\\n'\n")
	r.shows(v.ID, "\n─中\n")
}

// TestFirstPrompt: a shell asks for bracketed paste at its prompt, which may be there before we are; the page must know,
// or it asks before it pastes.
func TestFirstPrompt(t *testing.T) {
	m := newMachine(t)
	os.WriteFile(filepath.Join(m.home, ".bash_profile"), []byte("PS1='ready> '\n"), 0o644)
	r := m.boot()
	v := r.open(OpenOptions{})
	r.tmux(v.ID, "new-session", "-d", "-s", "other", "-x", "80", "-y", "24")
	until(t, "the prompt is there", func() bool {
		return strings.Contains(r.tmux(v.ID, "capture-pane", "-p", "-t", "other:"), "ready>")
	})
	var other Tab
	until(t, "the session is a tab", func() bool {
		for _, x := range r.list() {
			if x.ID != v.ID {
				other = x
			}
		}
		return other.ID != ""
	})
	r.look(other.ID, "page0001").sees(1, "\x1b[?2004h")
}

func TestMissingTmux(t *testing.T) {
	m := newMachine(t)
	bin := t.TempDir()
	for _, program := range []string{"sh", "cat", "mv", "rm", "ls", "bash", "stty"} {
		for _, dir := range []string{"/bin", "/usr/bin"} {
			if _, err := os.Stat(filepath.Join(dir, program)); err == nil {
				os.Symlink(filepath.Join(dir, program), filepath.Join(bin, program))
				break
			}
		}
	}
	t.Setenv("PATH", bin)
	r := m.boot()
	_, err := r.Open(t.Context(), sandbox.LocalID, OpenOptions{})
	wantCode(t, err, sandbox.CodeTmuxMissing, "")
	// A tmux that is too old.
	os.WriteFile(filepath.Join(bin, "tmux"), []byte("#!/bin/sh\necho tmux 3.1c\n"), 0o755)
	_, err = r.Open(t.Context(), sandbox.LocalID, OpenOptions{})
	wantCode(t, err, sandbox.CodeTmuxTooOld, "")
	// A plain terminal needs none.
	v := r.open(OpenOptions{Plain: true})
	if !v.Plain || v.State != StateLive || v.Attach != "" {
		t.Errorf("plain tab %+v", v)
	}
	if err := r.End(t.Context(), sandbox.LocalID, v.ID); err != nil {
		t.Error(err)
	}
}

func TestPlain(t *testing.T) {
	m := newMachine(t)
	r := m.boot()
	v := r.open(OpenOptions{Plain: true, Command: []string{"sh", "-c", "while read -r x; do echo \"got $x $(stty size)\"; done; exit 4"}})
	p := r.look(v.ID, "page0001")
	p.types(0, "one\n")
	p.sees(0, "got one 24 80")
	// Who comes later sees what was before.
	q := r.look(v.ID, "page0002")
	q.sees(0, "got one 24 80")
	term, err := r.Terminal(t.Context(), sandbox.LocalID, v.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := term.Resize(t.Context(), terminal.Size{Cols: 99, Rows: 30}); err != nil {
		t.Fatal(err)
	}
	p.types(0, "two\n")
	q.sees(0, "got two 30 99")
	p.types(0, "\x04")
	until(t, "the program ended", func() bool { return r.get(v.ID).State == StateEnded })
	if got := r.get(v.ID); got.ExitCode == nil || *got.ExitCode != 4 {
		t.Errorf("tab %+v, want exit code 4", got)
	}
	if err := term.Do(t.Context(), terminal.Op{Name: "splitPane"}); err == nil {
		t.Error("a plain terminal was split")
	}
	if err := r.End(t.Context(), sandbox.LocalID, v.ID); err != nil || len(r.list()) != 0 {
		t.Errorf("end: %v, left %+v", err, r.list())
	}
	// A shell left in order ends its tab.
	v = r.open(OpenOptions{Plain: true})
	p = r.look(v.ID, "page0003")
	p.types(0, "exit 0\n")
	until(t, "the tab goes", func() bool { return len(r.list()) == 0 })
	if n := len(m.records.records); n != 0 {
		t.Errorf("%d records of plain terminals", n)
	}
}

func TestTitleAndForeground(t *testing.T) {
	m := newMachine(t)
	os.WriteFile(filepath.Join(m.home, ".bash_profile"), []byte("PS1='> '\n"), 0o644)
	r := m.boot()
	v := r.open(OpenOptions{})
	p := r.look(v.ID, "page0001")
	p.types(0, "printf '\\033]2;my program\\007'\n")
	until(t, "the program's title shows", func() bool { return r.get(v.ID).Title == "my program" })
	if r.get(v.ID).Named {
		t.Error("the program's title counts as given by a person")
	}
	title := "mine"
	if _, err := r.Update(t.Context(), sandbox.LocalID, v.ID, Update{Title: &title}); err != nil {
		t.Fatal(err)
	}
	if got := r.get(v.ID); got.Title != "mine" || !got.Named {
		t.Errorf("tab %+v", got)
	}
	title = ""
	if _, err := r.Update(t.Context(), sandbox.LocalID, v.ID, Update{Title: &title}); err != nil {
		t.Fatal(err)
	}
	if got := r.get(v.ID); got.Title != "my program" || got.Named {
		t.Errorf("tab %+v", got)
	}

	if fg := r.get(v.ID).Foreground; fg != "" {
		t.Errorf("an idle shell has %q in front", fg)
	}
	before := time.Now().Add(-time.Second)
	p.types(0, "sleep 600\n")
	until(t, "sleep is in front", func() bool { return r.get(v.ID).Foreground == "sleep" })
	if since := r.get(v.ID).Since; since.Before(before) || since.After(time.Now()) {
		t.Errorf("in front since %v", since)
	}
	p.types(0, "\x03")
	until(t, "the shell is idle", func() bool { return r.get(v.ID).Foreground == "" })
	// A script run by the same shell is no idle shell.
	script := filepath.Join(m.home, "build.sh")
	os.WriteFile(script, []byte("echo building; sleep 600; echo done\n"), 0o755)
	p.types(0, "bash "+script+"\n")
	r.shows(v.ID, "building")
	until(t, "something is in front", func() bool { return r.get(v.ID).Foreground != "" })
	p.types(0, "\x03")
	until(t, "the shell is idle again", func() bool { return r.get(v.ID).Foreground == "" })
	// A shell function's loop of builtins runs in the shell itself: it cannot be told from an idle one.
}

// TestHostileNames: a directory or title that looks like control mode, or like our fields, harms nothing.
func TestHostileNames(t *testing.T) {
	m := newMachine(t)
	r := m.boot()
	dir := filepath.Join(m.home, "x\n%exit\n%end 1 1 1\t$0\t@9")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	v := r.open(OpenOptions{Command: []string{"sh", "-c", `cd "$1"; printf '\033]2;a\tb%%exit\007'; exec sh`, "sh", dir}})
	until(t, "the directory shows", func() bool { return strings.Contains(r.get(v.ID).Cwd, "%exit") })
	p := r.look(v.ID, "page0001")
	p.types(0, "echo al''ive\n")
	r.shows(v.ID, "alive")
	r.tmux(v.ID, "set-option", titleOption, "x\n%exit\ty")
	until(t, "the title shows", func() bool { return r.get(v.ID).Title == "x %exit y" })
	if n := len(m.clients()); n != 1 {
		t.Errorf("%d clients", n)
	}
}

// TestHostileOptions: a program in a tab can set the options that make it a tab; it harms no list with them, now or
// after a restart.
func TestHostileOptions(t *testing.T) {
	m := newMachine(t)
	r := m.boot()
	v := r.open(OpenOptions{Title: "honest"})
	for _, order := range []string{"-5", "1000001", "9223372036854775807", "99999999999999999999", "first"} {
		r.tmux(v.ID, "set-option", orderOption, order, ";", "set-option", titleOption, order)
		until(t, "the title shows", func() bool { return r.get(v.ID).Title == order })
		if got := r.get(v.ID).Order; got != 0 {
			t.Errorf("order %s became %d", order, got)
		}
	}
	for _, title := range []string{"\u202egnp.exe", "a\u2066b", "a\u2028b", strings.Repeat("x", 201)} {
		r.tmux(v.ID, "set-option", titleOption, "known")
		until(t, "the title shows", func() bool { return r.get(v.ID).Title == "known" })
		r.tmux(v.ID, "set-option", titleOption, title)
		until(t, "the title is refused", func() bool { got := r.get(v.ID); return !got.Named && got.Title != title })
	}
	r.tmux(v.ID, "set-option", orderOption, "9223372036854775807", ";", "set-option", createdOption, "9000000000000000000",
		";", "set-option", titleOption, "\x1b[31m\u202ered")
	r.shutDown()
	r = m.boot()
	got := r.get(v.ID)
	if got.Named || strings.ContainsRune(got.Title, '\u202e') || got.Order < 0 || got.Order > maxOrder {
		t.Errorf("tab %+v", got)
	}
	if _, err := json.Marshal(got.CreatedAt); err != nil || time.Since(got.CreatedAt) > time.Hour {
		t.Errorf("created at %v: %v", got.CreatedAt, err)
	}
}

// TestShellIsNoShell: the account of a service has nologin for a shell, and its tabs open as quickly as others.
func TestShellIsNoShell(t *testing.T) {
	m := newMachine(t)
	m.shell = "/bin/false"
	r := m.boot()
	v := r.open(OpenOptions{Command: []string{"cat"}})
	if got := r.tmux(v.ID, "show-options", "-gv", "default-shell"); got != m.shell {
		t.Fatalf("default-shell is %s", got)
	}
	if found, _ := filepath.Glob(filepath.Join(m.dir, "probe-*")); len(found) != 1 {
		t.Errorf("found out about tmux: %q", found)
	}
}

func TestPlainRefuses(t *testing.T) {
	r := newMachine(t).boot()
	for _, command := range []string{"no-such-program", "/no/such/program", "/etc/passwd", "/"} {
		_, err := r.Open(t.Context(), sandbox.LocalID, OpenOptions{Plain: true, Command: []string{command}})
		wantCode(t, err, sandbox.CodeInvalidRequest, "command")
	}
	_, err := r.Open(t.Context(), sandbox.LocalID, OpenOptions{Plain: true, Cwd: "/etc/passwd", Command: []string{"cat"}})
	wantCode(t, err, sandbox.CodeInvalidRequest, "cwd")
	if got := r.list(); len(got) != 0 {
		t.Errorf("left %+v", got)
	}
}

// TestPlainLongPaste: a text that does not fit is refused whole, not pasted with a hole in it.
func TestPlainLongPaste(t *testing.T) {
	r := newMachine(t).boot()
	v := r.open(OpenOptions{Plain: true, Command: []string{"sh", "-c", "stty raw; echo ready; cat | wc -c"}})
	p := r.look(v.ID, "page0001")
	p.sees(0, "ready")
	const piece = 16 << 10
	text := strings.Repeat("x", piece)
	pieces := maxPlainInputBytes/piece + 1
	for i := range pieces {
		p.Paste(0, uint64(i*piece), i == pieces-1, text)
	}
	until(t, "the paste is refused", func() bool { return len(p.Texts("inputRefused")) > 0 })
	src := r.boxes[sandbox.LocalID].tabs[v.ID].src.(*plainSource)
	src.mu.Lock()
	defer src.mu.Unlock()
	if src.queued != 0 || len(src.pastes) != 0 {
		t.Errorf("%d bytes go to the program, %d pastes are kept", src.queued, len(src.pastes))
	}
}
