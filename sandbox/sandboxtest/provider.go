// Package sandboxtest is the suite that every sandbox.Provider and sandbox.Store must pass. It knows of each only what
// the interfaces promise.
package sandboxtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/browsertabs/tabs/sandbox"
)

// Provider runs the suite against a running sandbox.
func Provider(t *testing.T, p sandbox.Provider, sandboxID string) {
	start := func(t *testing.T, e sandbox.Exec) sandbox.Process {
		t.Helper()
		proc, err := p.Exec(t.Context(), sandboxID, e)
		if err != nil {
			t.Fatalf("exec %q: %v", e.Argv, err)
		}
		t.Cleanup(func() { proc.Close(); proc.Wait() })
		return proc
	}
	run := func(t *testing.T, e sandbox.Exec) (string, string, int) {
		t.Helper()
		proc := start(t, e)
		proc.Stdin().Close()
		errc := make(chan []byte)
		go func() {
			b, _ := io.ReadAll(proc.Stderr())
			errc <- b
		}()
		out, err := io.ReadAll(proc.Stdout())
		if err != nil {
			t.Fatalf("read stdout: %v", err)
		}
		code, err := proc.Wait()
		if err != nil {
			t.Fatalf("wait: %v", err)
		}
		return string(out), string(<-errc), code
	}
	sh := func(script string) sandbox.Exec { return sandbox.Exec{Argv: []string{"/bin/sh", "-c", script}} }

	t.Run("arguments arrive as given", func(t *testing.T) {
		args := []string{"a b", `"q" 'q'`, "new\nline", "$HOME", "*", "", "\xff\x01"}
		out, _, code := run(t, sandbox.Exec{Argv: append([]string{"printf", `%s\0`}, args...)})
		if want := strings.Join(args, "\x00") + "\x00"; out != want || code != 0 {
			t.Errorf("got %q, exit %d; want %q, 0", out, code, want)
		}
	})
	t.Run("stdout, stderr and exit code are told apart", func(t *testing.T) {
		out, errOut, code := run(t, sh("echo out; echo err >&2; exit 7"))
		if out != "out\n" || errOut != "err\n" || code != 7 {
			t.Errorf("got %q, %q, %d", out, errOut, code)
		}
	})
	t.Run("stdin is binary and can be ended", func(t *testing.T) {
		proc := start(t, sandbox.Exec{Argv: []string{"cat"}})
		in := make([]byte, 300<<10)
		for i := range in {
			in[i] = byte(i * 7)
		}
		go func() {
			proc.Stdin().Write(in)
			proc.Stdin().Close()
		}()
		out, err := io.ReadAll(proc.Stdout())
		if err != nil || !bytes.Equal(out, in) {
			t.Errorf("%d bytes back, err %v; want the %d sent", len(out), err, len(in))
		}
	})
	t.Run("a program that is missing", func(t *testing.T) {
		_, err := p.Exec(t.Context(), sandboxID, sandbox.Exec{Argv: []string{"no-such-program-here"}})
		if !errors.Is(err, exec.ErrNotFound) {
			t.Errorf("got %v, want exec.ErrNotFound", err)
		}
	})
	t.Run("a directory that is missing", func(t *testing.T) {
		e := sh("pwd")
		e.Dir = "/no/such/dir"
		_, err := p.Exec(t.Context(), sandboxID, e)
		wantCode(t, err, sandbox.CodeInvalidRequest, "cwd")
	})
	t.Run("a user that is missing", func(t *testing.T) {
		for _, name := range []string{"no-such-user", "-h", "a:b", "root\nx"} {
			e := sh("id")
			e.User = name
			_, err := p.Exec(t.Context(), sandboxID, e)
			wantCode(t, err, sandbox.CodeInvalidRequest, "user")
			_, err = p.RuntimeDir(t.Context(), sandboxID, name)
			wantCode(t, err, sandbox.CodeInvalidRequest, "user")
		}
	})
	t.Run("a sandbox that is missing", func(t *testing.T) {
		_, err := p.Exec(t.Context(), "sbx_nobody", sh("id"))
		wantCode(t, err, sandbox.CodeNotFound, "")
	})
	t.Run("the user's own environment, and what is added", func(t *testing.T) {
		t.Setenv("TABS_TEST_SECRET", "leak")
		t.Setenv("PLATINUM_API_KEY", "leak")
		e := sh(`pwd -P && cd && pwd -P && echo "$HOME" && id -un && echo "$USER" && echo "$LOGNAME" && env`)
		e.Env = []string{"ADDED=1 2"}
		out, _, _ := run(t, e)
		l := strings.Split(out, "\n")
		if len(l) < 7 || l[0] != l[1] || l[2] == "" || l[3] != l[4] || l[4] != l[5] {
			t.Errorf("directory, home and user do not agree: %q", l[:min(len(l), 6)])
		}
		if strings.Contains(out, "leak") {
			t.Errorf("the server's environment leaks: %s", out)
		}
		if !strings.Contains(out, "\nADDED=1 2\n") {
			t.Errorf("added variable is missing: %s", out)
		}
	})
	t.Run("a login shell", func(t *testing.T) {
		// Somewhere without a profile: that of whoever runs the test may do anything.
		proc := start(t, sandbox.Exec{TTY: true, Cols: 80, Rows: 24, Dir: "/", Env: []string{"HOME=/"}})
		fmt.Fprintf(proc.Stdin(), "echo \"$0\" | cut -c1; stty size; exit 3\n")
		out, err := io.ReadAll(proc.Stdout())
		if err != nil {
			t.Errorf("read: %v", err)
		}
		code, _ := proc.Wait()
		if s := string(out); !strings.Contains(s, "\n-\r") || !strings.Contains(s, "24 80") || code != 3 {
			t.Errorf("exit %d, screen %q", code, s)
		}
	})
	t.Run("a TTY is resized", func(t *testing.T) {
		e := sh("trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.02; done")
		e.TTY, e.Cols, e.Rows = true, 80, 24
		proc := start(t, e)
		b := make([]byte, 64)
		if n, err := proc.Stdout().Read(b); err != nil || !bytes.Contains(b[:n], []byte("ready")) {
			t.Fatalf("got %q, %v", b[:n], err)
		}
		if err := proc.Resize(132, 40); err != nil {
			t.Fatal(err)
		}
		out, _ := io.ReadAll(proc.Stdout())
		if !strings.Contains(string(out), "40 132") {
			t.Errorf("screen %q, want 40 132", out)
		}
	})
	t.Run("a signal reaches the children", func(t *testing.T) {
		proc := start(t, sh("sleep 600 & echo $!; wait"))
		b := make([]byte, 64)
		if _, err := proc.Stdout().Read(b); err != nil {
			t.Fatal(err)
		}
		if err := proc.Signal("KILL"); err != nil {
			t.Fatal(err)
		}
		if code, err := proc.Wait(); code != 128+9 || err != nil {
			t.Errorf("exit %d, %v; want 137", code, err)
		}
		// EOF comes only when the sleep, which holds the pipe too, is gone.
		if _, err := io.ReadAll(proc.Stdout()); err != nil {
			t.Error(err)
		}
		if err := proc.Signal("TERM"); err != nil {
			t.Errorf("signal after the end: %v", err)
		}
		wantCode(t, proc.Signal("NONSENSE"), sandbox.CodeInvalidRequest, "signal")
	})
	t.Run("the context ends it", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		proc, err := p.Exec(ctx, sandboxID, sh("sleep 600"))
		if err != nil {
			t.Fatal(err)
		}
		defer proc.Close()
		cancel()
		done := make(chan int)
		go func() {
			code, _ := proc.Wait()
			done <- code
		}()
		select {
		case code := <-done:
			if code != 137 {
				t.Errorf("exit %d, want 137", code)
			}
		case <-time.After(10 * time.Second):
			t.Error("still runs 10 s after its context ended")
		}
	})
	t.Run("the runtime directory is private and stays", func(t *testing.T) {
		dir, err := p.RuntimeDir(t.Context(), sandboxID, "")
		if err != nil {
			t.Fatal(err)
		}
		again, err := p.RuntimeDir(t.Context(), sandboxID, "")
		if err != nil || again != dir {
			t.Errorf("second call: %q, %v; want %q", again, err, dir)
		}
		if len(dir) > 107-len("/tab_01ARZ3NDEKTSV4RRFFQ69G5FAV") {
			t.Errorf("%q leaves no room for a socket", dir)
		}
		out, _, _ := run(t, sandbox.Exec{Argv: []string{"stat", "-c", "%a %F", dir}})
		if out != "700 directory\n" {
			t.Errorf("stat %s: %q", dir, out)
		}
	})
}

func wantCode(t *testing.T, err error, code, field string) {
	t.Helper()
	var e *sandbox.Error
	if !errors.As(err, &e) || e.Code != code || e.Field != field {
		t.Errorf("got %v (%#v), want code %s, field %q", err, e, code, field)
	}
}
