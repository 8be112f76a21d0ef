package tabs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/terminal"
)

const (
	// maxTabs is how many tabs a sandbox may have. Each costs a tmux server, a control client and a shell.
	maxTabs = 200
	// maxOrder is the last place in a strip.
	maxOrder = 1_000_000
	// defaultHistoryLines is tmux's history-limit where Config says nothing.
	defaultHistoryLines = 10_000

	scriptTimeout  = 15 * time.Second
	maxScriptBytes = 1 << 20
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
	Attach     string    // shell line that attaches from inside the sandbox; "" for a plain one
	Server     string    // its tmux server: panes can move between the tabs of one; "" for a plain one
}

// States of a Tab.
const (
	StateLive  = "live"
	StateEnded = "ended"
)

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

// Reasons of Gone.
const (
	GoneClosed = "closed"
	GoneExited = "exited"
	GoneServer = "server_gone"
)

// Config is what New needs.
type Config struct {
	Provider sandbox.Provider
	Records  RecordStore
	Log      *slog.Logger
	Version  string // of our server, told to viewers
	// HistoryLines is how many lines tmux keeps of each pane; 0: 10,000.
	HistoryLines int
	// UserConfig sources the user's own tmux.conf before our options.
	UserConfig bool
	// KeepExited keeps a tab whose login shell was left with exit code 0, as those of other programs are kept.
	KeepExited bool
	// Palette is what tmux tells programs that ask for colours; zero: DefaultPalette.
	Palette terminal.Palette
}

// Service is the tabs of all sandboxes. Its methods may be called from any goroutine. Domain failures are
// *sandbox.Error; who may do what was asked before, by sandbox.Service.
type Service struct {
	c   Config
	log *slog.Logger

	ctx    context.Context // of every terminal
	cancel context.CancelFunc
	wg     sync.WaitGroup // every goroutine started here

	mu     sync.Mutex // protects following
	boxes  map[string]*box
	closed bool
}

var errClosed = errors.New("tabs are closed")

// New returns a Service. Nothing runs until Start, or the first call for a sandbox.
func New(c Config) *Service {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.HistoryLines == 0 {
		c.HistoryLines = defaultHistoryLines
	}
	if c.Palette == (terminal.Palette{}) {
		c.Palette = DefaultPalette
	}
	s := &Service{c: c, log: c.Log, boxes: make(map[string]*box)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Start finds a sandbox's tabs and attaches to all of them, to stay attached until Close. The other methods do it when
// it was not done yet.
func (s *Service) Start(ctx context.Context, sandboxID string) error {
	_, err := s.box(ctx, sandboxID)
	return err
}

// Close saves what is needed to revive tabs, sends viewers away with a code that says to come back, and detaches from
// every tab; tmux and programs go on. It waits for all that, as long as ctx allows.
func (s *Service) Close(ctx context.Context) error {
	s.mu.Lock()
	boxes := make([]*box, 0, len(s.boxes))
	for _, b := range s.boxes {
		boxes = append(boxes, b)
	}
	s.mu.Unlock()
	var wg sync.WaitGroup
	for _, b := range boxes {
		wg.Go(func() { b.close(ctx) })
	}
	wg.Wait()

	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	done := make(chan struct{})
	go func() {
		s.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close tabs: %w", context.Cause(ctx))
	}
}

// background runs fn on a goroutine that Close waits for; after Close it does nothing.
func (s *Service) background(fn func(context.Context)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.wg.Go(func() { fn(s.ctx) })
	return true
}

// box returns a sandbox's tabs, found and attached.
func (s *Service) box(ctx context.Context, sandboxID string) (*box, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, errClosed
	}
	b := s.boxes[sandboxID]
	if b == nil {
		b = newBox(s, sandboxID)
		s.boxes[sandboxID] = b
	}
	s.mu.Unlock()
	return b, b.start(ctx)
}

// List returns a sandbox's tabs in the order of the strip.
func (s *Service) List(ctx context.Context, sandboxID string) ([]Tab, error) {
	b, err := s.box(ctx, sandboxID)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.snapshotLocked().Tabs, nil
}

// Get returns one tab.
func (s *Service) Get(ctx context.Context, sandboxID, tabID string) (Tab, error) {
	b, t, err := s.find(ctx, sandboxID, tabID)
	if err != nil {
		return Tab{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return t.viewLocked(), nil
}

// Terminal returns what serves viewers of a tab.
func (s *Service) Terminal(ctx context.Context, sandboxID, tabID string) (*terminal.Terminal, error) {
	_, t, err := s.find(ctx, sandboxID, tabID)
	if err != nil {
		return nil, err
	}
	return t.term, nil
}

func (s *Service) find(ctx context.Context, sandboxID, tabID string) (*box, *tab, error) {
	b, err := s.box(ctx, sandboxID)
	if err != nil {
		return nil, nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.tabs[tabID]; t != nil {
		return b, t, nil
	}
	return nil, nil, &sandbox.Error{Code: sandbox.CodeNotFound, Message: fmt.Sprintf("tab %.80q not found", tabID)}
}

// Update gives a tab a title or another place in the strip.
func (s *Service) Update(ctx context.Context, sandboxID, tabID string, u Update) (Tab, error) {
	if u.Title != nil {
		title, err := checkTitle(*u.Title)
		if err != nil {
			return Tab{}, err
		}
		u.Title = &title
	}
	if u.Order != nil && *u.Order < 0 {
		return Tab{}, invalid("order", "order is an index, 0 or more")
	}
	b, t, err := s.find(ctx, sandboxID, tabID)
	if err != nil {
		return Tab{}, err
	}
	return b.update(ctx, t, u)
}

// End ends exactly this tab's session: its programs get SIGHUP, and those that stay are killed.
func (s *Service) End(ctx context.Context, sandboxID, tabID string) error {
	b, t, err := s.find(ctx, sandboxID, tabID)
	if err != nil {
		return err
	}
	return b.end(ctx, t)
}

// Revive opens saved tabs again, with their ids, titles, places and directories, the last lines dimmed above a fresh
// shell. ids nil revives all. It goes on after a failure and returns what was opened.
func (s *Service) Revive(ctx context.Context, sandboxID string, ids []string) ([]Tab, error) {
	b, err := s.box(ctx, sandboxID)
	if err != nil {
		return nil, err
	}
	return b.revive(ctx, ids)
}

// Forget drops saved tabs; ids nil drops all. An id that is not there is not an error.
func (s *Service) Forget(ctx context.Context, sandboxID string, ids []string) error {
	b, err := s.box(ctx, sandboxID)
	if err != nil {
		return err
	}
	return b.forget(ctx, ids)
}

// Watch tells what changes in a sandbox's tabs until ctx or the Service ends; then the channel is closed. The first
// event is what there is. Who reads slowly misses states in between, never the last.
func (s *Service) Watch(ctx context.Context, sandboxID string) (<-chan Event, error) {
	b, err := s.box(ctx, sandboxID)
	if err != nil {
		return nil, err
	}
	return b.watch(ctx)
}

func invalid(field, message string) error {
	return &sandbox.Error{Code: sandbox.CodeInvalidRequest, Field: field, Message: message}
}
