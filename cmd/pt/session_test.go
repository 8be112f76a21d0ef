package main

import "syscall"

// sessionLeader gives a process the terminal it is started with, as a terminal emulator does.
func sessionLeader() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true, Setctty: true} }
