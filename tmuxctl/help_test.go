package tmuxctl_test

import (
	"syscall"
	"testing"
)

func killPID(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }

func signal(t testing.TB, pid int, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatal(err)
	}
}
