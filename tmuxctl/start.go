package tmuxctl

import (
	"context"
	"io"
)

// Start starts one process where the tmux server lives: on this machine or inside a sandbox. argv[0] is "tmux", or
// "sh" for Replace, and is looked up there; env is added to that side's own environment. ctx bounds the start alone:
// the process lives until it ends by itself or by Kill. A command that is not there is an error that wraps
// exec.ErrNotFound, or exit code 127.
type Start func(ctx context.Context, argv, env []string) (Stream, error)

// Stream is a running process. Read is its stdout, Write its stdin; each may be used by one goroutine at a time.
type Stream interface {
	io.ReadWriter
	// CloseWrite ends its stdin.
	CloseWrite() error
	// Wait returns when it has ended, with its exit code and what it wrote to stderr (bounded). Any goroutine may
	// call it, more than once.
	Wait() (code int, stderr string, err error)
	// Kill ends it at once; a Read or Write under way returns, even while a tmux server still holds the other end
	// of the pipe, which a wedged one does. Wait still returns. After Wait, Kill frees what is left.
	Kill() error
}
