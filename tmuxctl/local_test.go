package tmuxctl_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/browsertabs/tabs/tmuxctl"
	"github.com/browsertabs/tabs/tmuxctl/tmuxtest"
)

func TestLocalStart(t *testing.T) {
	t.Setenv("TMUX", "/tmp/outer,1,2")
	t.Setenv("TMUX_PANE", "%7")
	st, err := tmuxctl.LocalStart(t.Context(), []string{"sh", "-c", `cat; echo "$TMUX$TMUX_PANE:$A"; echo oops >&2; exit 3`}, []string{"A=b"})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Kill()
	fmt.Fprint(st, "in\n")
	st.CloseWrite()
	out, err := io.ReadAll(st)
	if string(out) != "in\n:b\n" || err != nil {
		t.Errorf("stdout is %q, %v", out, err)
	}
	for range 2 {
		if code, stderr, err := st.Wait(); code != 3 || stderr != "oops\n" || err != nil {
			t.Errorf("Wait: %d, %q, %v", code, stderr, err)
		}
	}
	if err := st.Kill(); err != nil {
		t.Errorf("Kill after the end: %v", err)
	}
	if _, err := tmuxctl.LocalStart(t.Context(), []string{"/nonexistent/tmux"}, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such file: %v", err)
	}
	if _, err := tmuxctl.LocalStart(t.Context(), []string{"no-such-program"}, nil); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("no such program: %v", err)
	}
}

// TestLocalStderr: what a process says on stderr is bounded, and never blocks it.
func TestLocalStderr(t *testing.T) {
	st, err := tmuxctl.LocalStart(t.Context(), []string{"sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' x >&2"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Kill()
	if code, stderr, err := st.Wait(); code != 0 || len(stderr) != 4096 || err != nil {
		t.Errorf("Wait: %d, %d bytes, %v", code, len(stderr), err)
	}
}

// TestLocalKill: a Read and a Write under way return, even when another process holds the pipes, as a wedged tmux
// server does.
func TestLocalKill(t *testing.T) {
	st, err := tmuxctl.LocalStart(t.Context(), []string{"sh", "-c", "(trap '' TERM; exec sleep 1000) & echo $!; wait"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 100)
	n, err := st.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	var holder int
	fmt.Sscan(string(b[:n]), &holder)
	defer killPID(holder)
	ended := make(chan error, 2)
	go func() { _, err := st.Read(b); ended <- err }()
	go func() { _, err := st.Write(make([]byte, 1<<20)); ended <- err }()
	if err := st.Kill(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-ended; err == nil {
			t.Error("no error")
		}
	}
	if code, _, err := st.Wait(); code != -1 || err != nil {
		t.Errorf("Wait: %d, %v", code, err)
	}
}

// TestDiesWithParent: nothing of a killed server stays behind where the kernel can see to it.
func TestDiesWithParent(t *testing.T) {
	if os.Getenv("TMUXCTL_TEST_PARENT") != "" {
		st, err := tmuxctl.LocalStart(t.Context(), []string{"sleep", "1000"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("started")
		st.Wait()
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has a parent-death signal")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestDiesWithParent$")
	cmd.Env = append(os.Environ(), "TMUXCTL_TEST_PARENT=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	b := make([]byte, 100)
	if _, err := out.Read(b); err != nil {
		t.Fatal(err)
	}
	child := sleeping(t, cmd.Process.Pid)
	cmd.Process.Kill()
	tmuxtest.Until(t, "end of the child", func() bool {
		return syscall.Kill(child, 0) != nil || isZombie(child)
	})
}

// sleeping returns the pid of the sleep that is a child of parent.
func sleeping(t *testing.T, parent int) (pid int) {
	t.Helper()
	tmuxtest.Until(t, "child", func() bool {
		out, _ := exec.Command("ps", "-o", "pid=,comm=", "--ppid", fmt.Sprint(parent)).Output()
		for line := range strings.Lines(string(out)) {
			if f := strings.Fields(line); len(f) == 2 && f[1] == "sleep" {
				fmt.Sscan(f[0], &pid)
			}
		}
		return pid != 0
	})
	return pid
}
