package tmuxctl

import (
	"context"
	"io"
)

// Start starts one tmux process where the tmux server lives: on this machine or inside a sandbox. argv[0] is "tmux"
// and is looked up there; env is added to that side's own environment.
type Start func(ctx context.Context, argv, env []string) (Stream, error)

// Stream is a running tmux process. Read is its stdout, Write its stdin.
type Stream interface {
	io.ReadWriter
	// CloseWrite ends its stdin.
	CloseWrite() error
	// Wait returns when it has ended, with its exit code and what it wrote to stderr (bounded).
	Wait() (code int, stderr string, err error)
	// Kill ends it at once. Wait still returns.
	Kill() error
}
