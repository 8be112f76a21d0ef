package client

import (
	"context"
	"net/http"
	"time"
)

// Tab is one terminal of a sandbox.
type Tab struct {
	ID              string     `json:"id"`
	SandboxID       string     `json:"sandboxId"`
	Title           string     `json:"title"`
	Named           bool       `json:"named"` // Title was given by a person, not by the program
	Order           int        `json:"order"` // place in the strip, from 0
	State           string     `json:"state"` // "live", "ended" (program over, screen kept), "gone" (terminal server died)
	CreatedAt       time.Time  `json:"createdAt"`
	Viewers         int        `json:"viewers"`
	Cols            int        `json:"cols"`
	Rows            int        `json:"rows"`
	User            string     `json:"user"`
	Cwd             string     `json:"cwd"`
	Foreground      string     `json:"foreground"`      // "" for an idle shell
	ForegroundSince *time.Time `json:"foregroundSince"` // null for an idle shell
	ExitCode        *int       `json:"exitCode"`        // null while the program runs
	Bell            bool       `json:"bell"`            // rang since somebody last looked
	ActivityAt      *time.Time `json:"activityAt"`      // last output
	Plain           bool       `json:"plain"`           // not tmux: ends with the server
	AttachCommand   string     `json:"attachCommand"`   // shell line that attaches from inside the sandbox, "" for a plain tab
	TmuxServer      string     `json:"tmuxServer"`      // panes can move between tabs of the same one; "" for a plain tab
}

// SavedTab is a tab that ended with its machine and can be revived.
type SavedTab struct {
	ID        string    `json:"id"`
	SandboxID string    `json:"sandboxId"`
	Title     string    `json:"title"`
	Order     int       `json:"order"`
	User      string    `json:"user"`
	Cwd       string    `json:"cwd"`
	Lines     string    `json:"lines"` // last rows, with SGR sequences
	SavedAt   time.Time `json:"savedAt"`
}

// NewTab says how to open a tab. What is left out: a login shell of the sandbox's default user, in its home.
type NewTab struct {
	Title   string            `json:"title,omitempty"`
	User    string            `json:"user,omitempty"`
	Cwd     string            `json:"cwd,omitempty"`
	Command []string          `json:"command,omitempty"` // program and arguments, no shell
	Env     map[string]string `json:"env,omitempty"`
	Cols    int               `json:"cols,omitempty"`
	Rows    int               `json:"rows,omitempty"`
	Plain   bool              `json:"plain,omitempty"` // without tmux: ends with the server
}

// TabUpdate changes a tab; nil fields stay as they are.
type TabUpdate struct {
	Title *string `json:"title,omitempty"` // "" gives the title back to the program
	Order *int    `json:"order,omitempty"` // new place in the strip
}

// BreakOut names the pane to make a tab of its own of.
type BreakOut struct {
	Pane uint32 `json:"pane"` // number of a tmux pane: 3 for %3
}

// JoinTab says which pane of another tab to take into a tab; what is nil is the tab's active one.
type JoinTab struct {
	From      string  `json:"from"` // id of the other tab, on the same tmux server; it ends with its last pane
	Pane      *uint32 `json:"pane,omitempty"`
	Beside    *uint32 `json:"beside,omitempty"`    // the pane of this tab to put it beside
	Direction string  `json:"direction,omitempty"` // "left", "right", "up" or "down" of it; right where it is not said
}

// TabIDs names saved tabs, to revive or to forget; without ids, all of them.
type TabIDs struct {
	IDs []string `json:"ids,omitempty"`
}

// Tabs returns the tabs of a sandbox in the order of the strip; empty, not nil, when there is none.
func (c *Client) Tabs(ctx context.Context, sandbox string) ([]Tab, error) {
	return walk[Tab](ctx, c, tabsPath(sandbox))
}

// Tab finds a tab by its id alone, in whichever sandbox it is.
func (c *Client) Tab(ctx context.Context, tabID string) (Tab, error) {
	var t Tab
	err := c.call(ctx, http.MethodGet, "/v1/tabs/"+segment(tabID), nil, &t)
	return t, err
}

// OpenTab opens a tab.
func (c *Client) OpenTab(ctx context.Context, sandbox string, n NewTab) (Tab, error) {
	var t Tab
	err := c.call(ctx, http.MethodPost, tabsPath(sandbox), n, &t)
	return t, err
}

// UpdateTab renames or moves a tab.
func (c *Client) UpdateTab(ctx context.Context, sandbox, tabID string, u TabUpdate) (Tab, error) {
	var t Tab
	err := c.call(ctx, http.MethodPatch, tabPath(sandbox, tabID), u, &t)
	return t, err
}

// CloseTab ends a tab and every program in it.
func (c *Client) CloseTab(ctx context.Context, sandbox, tabID string) error {
	return c.call(ctx, http.MethodDelete, tabPath(sandbox, tabID), nil, nil)
}

// BreakOut makes a tab of its own of a pane, whose program goes on.
func (c *Client) BreakOut(ctx context.Context, sandbox, tabID string, b BreakOut) (Tab, error) {
	var t Tab
	err := c.call(ctx, http.MethodPost, tabPath(sandbox, tabID)+"/break", b, &t)
	return t, err
}

// JoinTab takes a pane of another tab into a tab, and returns that.
func (c *Client) JoinTab(ctx context.Context, sandbox, tabID string, j JoinTab) (Tab, error) {
	var t Tab
	err := c.call(ctx, http.MethodPost, tabPath(sandbox, tabID)+"/join", j, &t)
	return t, err
}

// ReviveTabs opens saved tabs again, each with a fresh shell. No ids: all of them.
func (c *Client) ReviveTabs(ctx context.Context, sandbox string, ids ...string) ([]Tab, error) {
	var l List[Tab]
	err := c.call(ctx, http.MethodPost, tabsPath(sandbox)+"/revive", TabIDs{IDs: ids}, &l)
	return l.Items, err
}

// ForgetTabs drops saved tabs for good. No ids: all of them.
func (c *Client) ForgetTabs(ctx context.Context, sandbox string, ids ...string) error {
	return c.call(ctx, http.MethodPost, tabsPath(sandbox)+"/forget", TabIDs{IDs: ids}, nil)
}

func tabsPath(sandbox string) string       { return sandboxPath(sandbox) + "/tabs" }
func tabPath(sandbox, tabID string) string { return tabsPath(sandbox) + "/" + segment(tabID) }
