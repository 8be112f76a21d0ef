package terminal

import (
	"context"
	"errors"
)

// ErrServerGone says that the tmux server behind a Source died.
var ErrServerGone = errors.New("tmux server gone")

// Config is what New needs.
type Config struct {
	Source  Source
	Version string // of our server, told to viewers
}

// Terminal is one tab's running terminal.
type Terminal struct{}

// New returns a Terminal that reads nothing until Run.
func New(c Config) *Terminal { panic("todo") }

// Run reads the source until it ends; it returns after every viewer has left.
func (t *Terminal) Run(ctx context.Context) error { panic("todo") }

// Serve gives a viewer the terminal until it leaves or is sent away; hello is its first frame, already authenticated.
func (t *Terminal) Serve(ctx context.Context, c Conn, hello Hello, v ViewerConfig) error {
	panic("todo")
}

// Summary is what a tab list shows of a terminal.
type Summary struct {
	Title   string // of the active pane, from the program
	Cwd     string
	Command string
	Size    Size
	Viewers int
	Bell    bool // rang since a viewer last looked
	Dead    bool
	Exit    int
}

// Summary returns what a tab list shows.
func (t *Terminal) Summary() Summary { panic("todo") }

// Watch calls fn, from the terminal's own goroutines, when Summary may have changed. fn must not block.
func (t *Terminal) Watch(fn func()) (stop func()) { panic("todo") }
