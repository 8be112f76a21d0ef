package sandbox

import (
	"fmt"
	"strings"
	"syscall"
)

var signals = map[string]syscall.Signal{
	"HUP": syscall.SIGHUP, "INT": syscall.SIGINT, "QUIT": syscall.SIGQUIT, "KILL": syscall.SIGKILL,
	"USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2, "TERM": syscall.SIGTERM, "CONT": syscall.SIGCONT,
	"STOP": syscall.SIGSTOP, "TSTP": syscall.SIGTSTP, "WINCH": syscall.SIGWINCH,
}

// ParseSignal returns the signal that a name stands for, with or without "SIG".
func ParseSignal(name string) (syscall.Signal, error) {
	n, ok := signals[strings.TrimPrefix(strings.ToUpper(name), "SIG")]
	if !ok {
		return 0, &Error{Code: CodeInvalidRequest, Field: "signal", Message: fmt.Sprintf("there is no signal %.20q", name)}
	}
	return n, nil
}
