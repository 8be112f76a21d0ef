//go:build unix && !linux

package tmuxctl

import "syscall"

func processAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
