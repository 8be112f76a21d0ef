package sandbox

import (
	"context"
	"io"
)

// Exec is a command to run in a sandbox.
type Exec struct {
	Argv []string // empty: the user's login shell, as a login shell
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
	// Stdout and Stderr end with io.EOF when nobody holds them open any more. A process whose output is not read
	// stands still.
	Stdout() io.Reader
	Stderr() io.Reader
	Resize(cols, rows int) error
	// Signal signals the process and those it started, but for those that made themselves a session of their own:
	// "HUP", "INT", "KILL", ... A process that has ended is not an error.
	Signal(sig string) error
	// Wait returns the exit code once the process has ended, 128 and the signal's number when a signal ended it.
	// What it wrote is still there to be read.
	Wait() (int, error)
	// Close ends the process if it still runs, as a closed terminal would with a TTY and by KILL without, and
	// releases what the other methods use. It does not wait.
	Close() error
}

// Provider is the seam to what runs sandboxes. Only what tabs need is here; the life cycle joins it later.
type Provider interface {
	// Exec starts a process. It is killed when ctx is done, so ctx must live as long as the process may. A command
	// that does not exist is an error that wraps exec.ErrNotFound.
	Exec(ctx context.Context, sandboxID string, e Exec) (Process, error)
	// RuntimeDir is a directory on tmpfs inside the sandbox, private to user (mode 0700), for tmux sockets: short,
	// and this server's alone. "" is the sandbox's default user.
	RuntimeDir(ctx context.Context, sandboxID, user string) (string, error)
}
