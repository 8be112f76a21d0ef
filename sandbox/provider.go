package sandbox

import (
	"context"
	"io"
	"net"
	"time"
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

// Limits are what a sandbox may use at most. A limit that a provider cannot keep, it refuses.
type Limits struct {
	CPU      float64 // cores
	RAMBytes int64
}

// Source is where a disk comes from: exactly one field is set.
type Source struct {
	Template string
	Sandbox  string // a copy of its disk
}

// Spec is a sandbox to be made.
type Spec struct {
	From      Source
	Hostname  string
	Env       []string // of every process in it
	Limits    Limits
	DiskBytes int64
}

// Status is what a provider knows of a sandbox. A sandbox is running or stopped, never anything between: an operation
// that was cut short is undone or completed when the provider starts again.
type Status struct {
	ID        string
	Running   bool
	RunID     string // new at every start; "" when stopped
	StartedAt time.Time
	Limits    Limits
	DiskBytes int64
	// UsedBytes, FreeBytes and FreeInodes are as a program inside would see them; known only while it runs.
	UsedBytes  int64
	FreeBytes  int64
	FreeInodes int64
}

// Build is a template to be made. Steps run in order, as root, in an otherwise empty machine with the base's files.
type Build struct {
	Image string // a base image that was imported, by its reference
	Steps []Step
	// MaxBytes bounds what the steps may add.
	MaxBytes int64
	Limits   Limits
}

// Step is a command of a Build.
type Step struct {
	Argv []string
	Env  []string
	Dir  string // "": /
	User string // "": root
	// Key stands for everything the step's outcome depends on besides what came before; "" never hits the cache.
	Key string
}

// Provider is the seam to what runs sandboxes. A sandbox is a disk, bytes that survive, and a run, processes that end.
//
// The provider's own state is the truth: it survives kill -9 of the server at any point, and New of a provider undoes
// or completes what was cut short. Its methods may be called from any goroutine; those that change one sandbox wait for
// each other. What a provider cannot do answers CodeNotSupported and says why, as Capabilities does.
type Provider interface {
	Capabilities() Capabilities

	// BuildTemplate makes template id, or leaves nothing but cached steps. It writes the steps' output to log.
	BuildTemplate(ctx context.Context, id string, b Build, log io.Writer) error
	// DeleteTemplate is refused with CodeTemplateInUse while a disk needs it. One that is gone is not an error.
	DeleteTemplate(ctx context.Context, id string) error

	// Create makes a sandbox and leaves it stopped. On an error nothing is left.
	Create(ctx context.Context, id string, s Spec) error
	// Start returns when commands can be run. Of a running sandbox it does nothing.
	Start(ctx context.Context, id string) error
	// Stop asks processes to end, kills them after grace, and returns when none is left and the disk is written. Of
	// a stopped sandbox it does nothing.
	Stop(ctx context.Context, id string, grace time.Duration) error
	// GrowDisk makes the disk of a stopped sandbox larger: CodeDiskShrink when it would become smaller. If it is cut
	// short the disk has its old or its new size and all its files.
	GrowDisk(ctx context.Context, id string, bytes int64) error
	// SetLimits changes the limits of a stopped sandbox.
	SetLimits(ctx context.Context, id string, l Limits) error
	// Delete ends the sandbox and removes its disk. One that is gone is not an error.
	Delete(ctx context.Context, id string) error

	// Inspect fails with CodeNotFound when there is no such sandbox. List is in order of ids.
	Inspect(ctx context.Context, id string) (Status, error)
	List(ctx context.Context) ([]Status, error)

	// Exec starts a process. It is killed when ctx is done, so ctx must live as long as the process may. A command
	// that does not exist is an error that wraps exec.ErrNotFound.
	Exec(ctx context.Context, sandboxID string, e Exec) (Process, error)
	// RuntimeDir is a directory on tmpfs inside the sandbox, private to user (mode 0700), for tmux sockets: short,
	// and this server's alone. "" is the sandbox's default user.
	RuntimeDir(ctx context.Context, sandboxID, user string) (string, error)

	// Export writes the files of a stopped sandbox as a tar stream.
	Export(ctx context.Context, id string, w io.Writer) error
	// Dial connects to a TCP port that a program inside listens on, at localhost too.
	Dial(ctx context.Context, id string, port int) (net.Conn, error)
}
