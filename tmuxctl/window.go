package tmuxctl

import (
	"fmt"
	"strconv"
)

// WindowID is @2.
type WindowID uint32

func (id WindowID) String() string { return "@" + strconv.FormatUint(uint64(id), 10) }

// ParseWindowID parses "@2".
func ParseWindowID(s string) (WindowID, error) {
	n, err := parseID(s, '@')
	return WindowID(n), err
}

// Bounds of a window. 1x1 has crashed tmux; columns in the thousands are an attack on memory.
const (
	minCols, minRows = 2, 1
	maxCols, maxRows = 1000, 500
)

// ResizeWindow is the command line that gives a window this size, moved into safe bounds, and makes it keep it: it
// sets window-size manual on this window alone.
func ResizeWindow(id WindowID, cols, rows int) string {
	return fmt.Sprintf("resize-window -t %s -x %d -y %d", id, min(max(cols, minCols), maxCols), min(max(rows, minRows), maxRows))
}

// SelectWindow is the command line that makes a window its session's current one.
func SelectWindow(id WindowID) string { return "select-window -t " + id.String() }

// KillWindow is the command line that ends a window and the programs in it.
func KillWindow(id WindowID) string { return "kill-window -t " + id.String() }

// RenameWindow is the command line that names a window.
func RenameWindow(id WindowID, name string) string {
	return "rename-window -t " + id.String() + " -- " + Quote(literal(name))
}

// NewWindow is a command that makes a window in the directory of the session's active pane, and the current one. It
// first clears a global window-size, on which tmux would crash.
func NewWindow(session SessionID) Command {
	t := session.String() + ":"
	return Lines(
		"set-option -gu window-size",
		newWindowCommand+" -P -F '#{window_id}' -t "+t+" -c '#{pane_current_path}'",
	)
}
