package tmuxctl

import (
	"context"
	"errors"
)

var (
	// ErrNoServer says that nobody listens on the socket.
	ErrNoServer = errors.New("no tmux server")
	// ErrWedged says that the socket answers "server exited unexpectedly" while a process still holds it.
	ErrWedged = errors.New("tmux server wedged")
	// ErrMissing says that there is no tmux where Start looks, ErrTooOld that it is older than 3.2.
	ErrMissing = errors.New("tmux missing")
	ErrTooOld  = errors.New("tmux too old")
)

// Server is one tmux server: its socket, its config file, and how its processes are started. It holds no process.
type Server struct {
	Socket string // path, in a directory of mode 0700 on tmpfs
	Config string // path of a file with ConfigText; "" for /dev/null
	Start  Start
}

// SessionID is $1, WindowID @2, PaneID %3.
type (
	SessionID uint32
	WindowID  uint32
	PaneID    uint32
)

// Run runs one tmux command in a process of its own and returns its stdout. Not for the byte path: 2-6 ms each.
func (s *Server) Run(ctx context.Context, args ...string) ([]byte, error) { panic("todo") }

// NewSession says how NewSession starts a session; it clears a global window-size in the same command.
type NewSession struct {
	Name    string
	Cwd     string
	Cols    int
	Rows    int
	Env     map[string]string
	Command []string          // empty: the user's login shell
	Options map[string]string // user options ("@title") set on the session in the same command line
}

// Session is a row of ListSessions.
type Session struct {
	ID      SessionID
	Name    string
	Created int64             // unix seconds
	Options map[string]string // the user options asked for
}

func (s *Server) NewSession(ctx context.Context, n NewSession) (SessionID, error) { panic("todo") }
func (s *Server) ListSessions(ctx context.Context, options ...string) ([]Session, error) {
	panic("todo")
}
func (s *Server) KillSession(ctx context.Context, id SessionID) error { panic("todo") }
func (s *Server) KillStaleClients(ctx context.Context, kill func(pid int) error) (int, error) {
	panic("todo")
}

// Probe tells whether the server lives: nil, ErrNoServer, ErrWedged, ErrMissing.
func (s *Server) Probe(ctx context.Context) error { panic("todo") }

// Attach starts `tmux -C attach-session` on the session and returns when %session-changed has come.
func (s *Server) Attach(ctx context.Context, id SessionID) (*ControlClient, error) { panic("todo") }

// ConfigText is our -f file: the options a tab relies on, and the guards against global window-size manual.
func ConfigText(historyLimit int) string { panic("todo") }
