package sandbox

import (
	"context"
	"io"
)

// Exec is a command to run in a sandbox.
type Exec struct {
	Argv []string
	Env  []string // added to the user's own
	Dir  string   // "": the user's home
	User string   // "": the sandbox's default user
	TTY  bool
	Cols int // of the TTY
	Rows int
}

// Process is a running Exec. With a TTY, Stdout carries everything and Stderr is empty.
type Process interface {
	Stdin() io.WriteCloser
	Stdout() io.Reader
	Stderr() io.Reader
	Resize(cols, rows int) error
	Signal(sig string) error // "HUP", "INT", "KILL", ...
	// Wait returns the exit code once the process and its output have ended.
	Wait() (int, error)
}

// Provider is the seam to what runs sandboxes. Only what tabs need is here; the life cycle joins it later.
type Provider interface {
	Exec(ctx context.Context, sandboxID string, e Exec) (Process, error)
	// RuntimeDir is a directory on tmpfs inside the sandbox, private to user (mode 0700), for tmux sockets.
	RuntimeDir(ctx context.Context, sandboxID, user string) (string, error)
}
