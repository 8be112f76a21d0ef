package terminal

import "fmt"

// Bounds of a Size that reaches tmux: 1x1 has crashed tmux, and rows or columns in the thousands are an attack on memory.
const (
	minCols, minRows = 2, 1
	maxCols, maxRows = 1000, 500
)

// Size is the geometry of a pane or window, in character cells.
type Size struct {
	Cols int `json:"cols"`
	Rows int `json:"rows"`
}

// Clamp returns s moved into the bounds that are safe for tmux.
func (s Size) Clamp() Size {
	return Size{Cols: min(max(s.Cols, minCols), maxCols), Rows: min(max(s.Rows, minRows), maxRows)}
}

func (s Size) String() string { return fmt.Sprintf("%dx%d", s.Cols, s.Rows) }
