package runc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// shown are the files that lxcfs makes tell a run's own limits.
var shown = []string{"cpuinfo", "diskstats", "loadavg", "meminfo", "stat", "swaps", "uptime"}

// startLxcfs mounts lxcfs, or finds the one of an earlier server: runs that are older than this server read from it.
// It is the one mount that the host sees, and a process that outlives us.
func (e *Engine) startLxcfs(ctx context.Context) (dir string, err error) {
	dir = e.runPath("lxcfs")
	if lxcfsWorks(dir) {
		return dir, nil
	}
	if err := e.stopLxcfs(ctx); err != nil {
		return "", err
	}
	path, err := lookPath("lxcfs")
	if err != nil {
		return "", errors.New("lxcfs is not installed: apt-get install lxcfs")
	}
	if _, err := os.Stat("/dev/fuse"); err != nil {
		return "", errors.New("the kernel has no FUSE: modprobe fuse")
	}
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return "", err
	}
	cmd := exec.Command(path, "--pidfile", e.runPath("lxcfs.pid"), "--foreground", dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	log, err := os.Create(e.runPath("lxcfs.log"))
	if err != nil {
		return "", err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("start lxcfs: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	deadline := time.After(20 * time.Second)
	for !lxcfsWorks(dir) {
		select {
		case err := <-ended:
			said, _ := os.ReadFile(log.Name())
			return "", fmt.Errorf("lxcfs ended: %v: %.300s", err, said)
		case <-deadline:
			cmd.Process.Kill()
			return "", errors.New("lxcfs does not answer")
		case <-time.After(2 * time.Millisecond):
		}
	}
	return dir, nil
}

func lxcfsWorks(dir string) bool {
	b, err := os.ReadFile(filepath.Join(dir, "proc", "meminfo"))
	return err == nil && strings.HasPrefix(string(b), "MemTotal")
}

func (e *Engine) stopLxcfs(ctx context.Context) error {
	dir, pidFile := e.runPath("lxcfs"), e.runPath("lxcfs.pid")
	b, _ := os.ReadFile(pidFile)
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	ours := func() bool {
		cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		return err == nil && strings.Contains(string(cmdline), "\x00"+dir+"\x00")
	}
	if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("unmount lxcfs: %w", err)
	}
	if err == nil && pid > 1 {
		for ours() {
			syscall.Kill(pid, syscall.SIGKILL)
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(2 * time.Millisecond):
			}
		}
	}
	return removeIfThere(pidFile)
}
