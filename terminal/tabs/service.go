package tabs

import (
	"context"
	"time"

	"github.com/browsertabs/tabs/terminal"
)

// Tab is one tmux session of a sandbox, as the API and the page show it.
type Tab struct {
	ID         string // tab_ + ULID
	Sandbox    string // sandbox id
	Title      string // given by the person, or else by the program
	Named      bool   // Title was given by the person
	Order      int
	State      string // "live", "ended" (program ended, screen kept), "gone" (tmux server died)
	CreatedAt  time.Time
	Viewers    int
	Size       terminal.Size
	User       string
	Cwd        string
	Foreground string    // command in the foreground of the active pane; "" for an idle shell
	Since      time.Time // since when Foreground runs
	ExitCode   *int
	Bell       bool
	Activity   time.Time // last output
	Plain      bool      // a PTY, not tmux: will not survive
	Attach     string    // shell line that attaches from inside the sandbox
}

// Saved is a tab that ended with its machine and can be revived: title, order, directory, last lines.
type Saved struct {
	ID      string
	Sandbox string
	Title   string
	Named   bool // Title was given by the person
	Order   int
	User    string
	Cwd     string
	Lines   []byte // last rows, with SGR
	SavedAt time.Time
}

// OpenOptions says how to open a tab. Zero values mean: login shell of the sandbox's default user in its home, 80x24.
type OpenOptions struct {
	Title   string
	User    string
	Cwd     string
	Command []string
	Env     map[string]string
	Size    terminal.Size
	Plain   bool
}

// Update changes a tab; nil fields stay.
type Update struct {
	Title *string // "" gives the title back to the program
	Order *int    // new index in the strip
}

// Event is a change in a sandbox's tabs. Exactly one field is set.
type Event struct {
	Tabs      *Snapshot // first event of every watch
	Tab       *Tab      // new or changed
	Gone      *Gone
	Revivable []Saved // non-nil: replaces the list
}

// Snapshot is all there is when a watch begins.
type Snapshot struct {
	Tabs      []Tab
	Revivable []Saved
}

// Gone says that a tab is no more: reason is "closed", "exited" or "server_gone".
type Gone struct{ ID, Reason string }

// Service is the tabs of all sandboxes.
type Service struct{}

// Close detaches from every tab; tmux and programs go on.
func (s *Service) Close(ctx context.Context) error { panic("todo") }

func (s *Service) List(ctx context.Context, sandboxID string) ([]Tab, error)     { panic("todo") }
func (s *Service) Get(ctx context.Context, sandboxID, tabID string) (Tab, error) { panic("todo") }
func (s *Service) Open(ctx context.Context, sandboxID string, o OpenOptions) (Tab, error) {
	panic("todo")
}
func (s *Service) Update(ctx context.Context, sandboxID, tabID string, u Update) (Tab, error) {
	panic("todo")
}
func (s *Service) End(ctx context.Context, sandboxID, tabID string) error { panic("todo") }
func (s *Service) Terminal(ctx context.Context, sandboxID, tabID string) (*terminal.Terminal, error) {
	panic("todo")
}
func (s *Service) Watch(ctx context.Context, sandboxID string) (<-chan Event, error) { panic("todo") }
func (s *Service) Revive(ctx context.Context, sandboxID string, ids []string) ([]Tab, error) {
	panic("todo")
}
func (s *Service) Forget(ctx context.Context, sandboxID string, ids []string) error { panic("todo") }
