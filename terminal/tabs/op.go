package tabs

import (
	"fmt"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/terminal"
	"github.com/browsertabs/tabs/tmuxctl"
)

// targets are the panes and windows of a session. They are not changed once made.
type targets struct {
	panes   map[terminal.PaneID]bool
	windows map[terminal.WindowID]bool
}

// command is the tmux command of a person's operation. Targets must be in the session, so that a page cannot reach the
// panes of another one on the same tmux server.
func command(session tmuxctl.SessionID, known targets, op terminal.Op) (tmuxctl.Command, error) {
	switch {
	case op.Name == "newWindow":
	case op.Name == "selectWindow":
		if !known.windows[op.Window] {
			return tmuxctl.Command{}, invalidOp(fmt.Sprintf("this tab has no window @%d", op.Window))
		}
	case !known.panes[op.Pane]:
		return tmuxctl.Command{}, invalidOp(fmt.Sprintf("this tab has no pane %%%d", op.Pane))
	case (op.Name == "swapPane" || op.Name == "movePane") && !known.panes[op.With]:
		return tmuxctl.Command{}, invalidOp(fmt.Sprintf("this tab has no pane %%%d", op.With))
	}
	pane, with, side := tmuxctl.PaneID(op.Pane), tmuxctl.PaneID(op.With), tmuxctl.Direction(op.Direction)
	if !side.Valid() && (op.Name == "splitPane" || op.Name == "movePane" || op.Name == "selectPane" && op.Direction != "") {
		return tmuxctl.Command{}, invalidOp(`direction must be "left", "right", "up" or "down"`)
	}
	var line string
	switch op.Name {
	case "selectPane":
		line = tmuxctl.SelectPane(pane)
		if op.Direction != "" {
			line = tmuxctl.SelectNeighbour(pane, side)
		}
	case "resizePane":
		if op.Cols < 0 || op.Rows < 0 || op.Cols == 0 && op.Rows == 0 {
			return tmuxctl.Command{}, invalidOp("resizePane needs cols or rows above 0")
		}
		line = tmuxctl.ResizePane(pane, op.Cols, op.Rows)
	case "splitPane":
		line = tmuxctl.SplitPane(pane, side)
	case "closePane":
		line = tmuxctl.KillPane(pane)
	case "zoomPane":
		line = tmuxctl.ZoomPane(pane)
	case "clearHistory":
		line = tmuxctl.ClearHistory(pane)
	case "swapPane":
		line = tmuxctl.SwapPanes(pane, with)
	case "movePane":
		if pane == with {
			return tmuxctl.Command{}, invalidOp("a pane cannot be moved beside itself")
		}
		line = tmuxctl.JoinPane(pane, with, side)
	case "selectWindow":
		line = tmuxctl.SelectWindow(tmuxctl.WindowID(op.Window))
	case "newWindow":
		return tmuxctl.NewWindow(session), nil
	case "respawnPane":
		line = tmuxctl.RespawnPane(pane)
	case "leaveMode":
		line = tmuxctl.LeaveMode(pane)
	default:
		return tmuxctl.Command{}, invalidOp(fmt.Sprintf("there is no operation %.40q", op.Name))
	}
	return tmuxctl.Lines(line), nil
}

func invalidOp(message string) error {
	return &sandbox.Error{Code: sandbox.CodeInvalidRequest, Field: "op", Message: message}
}
