package runc

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// lookPath finds administrators' programs too where the server's PATH does not.
func lookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/local/sbin", "/usr/sbin", "/sbin"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", err
}

// run runs a program to its end and returns what it printed. It dies with the server, since the next one must find
// nobody at work.
func run(ctx context.Context, stdin, name string, args ...string) ([]byte, error) {
	cmd, err := command(ctx, name, args...)
	if err != nil {
		return nil, err
	}
	cmd.Stdin = strings.NewReader(stdin)
	return output(cmd)
}

func command(ctx context.Context, name string, args ...string) (*exec.Cmd, error) {
	path, err := lookPath(name)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	return cmd, nil
}

// output runs cmd, and tells what it said on stderr when it fails. The kernel sends the parent-death signal when the
// thread that started the process ends, so the goroutine keeps its thread meanwhile.
func output(cmd *exec.Cmd) ([]byte, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var out, errOut bytes.Buffer
	if cmd.Stdout == nil {
		cmd.Stdout = &out
	}
	if cmd.Stderr == nil {
		cmd.Stderr = &errOut
	}
	if err := cmd.Run(); err != nil {
		if said := strings.TrimSpace(errOut.String()); said != "" {
			err = fmt.Errorf("%w: %.500s", err, said)
		}
		return out.Bytes(), fmt.Errorf("%s: %w", filepath.Base(cmd.Path), err)
	}
	return out.Bytes(), nil
}
