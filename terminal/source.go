package terminal

import "context"

// PaneID is the number of a tmux pane: 3 for %3.
type PaneID uint32

// WindowID is the number of a tmux window: 2 for @2.
type WindowID uint32

// Source is the tmux session behind a Terminal, as the terminal needs it; terminal/tabs adapts a control client to it.
//
// Run reads the stream on one goroutine and calls h and every callback given to the other methods there, in stream
// order; they must not block. The other methods queue a command and return at once, from any goroutine. A callback
// that is not nil is called exactly once, never from within the call it was given to; with an error that is ErrDetached when the stream ended first, so that what
// tmux refused (tell it to the person) and what nobody knows (ask Attached.InputMark) stay apart.
type Source interface {
	// Run attaches and reads until the session ends, the stream breaks, or ctx is done. The error says which:
	// nil when the session ended, ErrServerGone when the tmux server died under us.
	Run(ctx context.Context, h Handler) error
	// SendKeys types data into pane, at most 64 bytes a tmux command. mark is stored in the tab's tmux in the same
	// command line as the last byte (see Attached.InputMark), so that either both happen or neither. An empty mark
	// stores nothing; without data the mark alone is stored. data is valid only during the call.
	SendKeys(pane PaneID, data []byte, mark string, done func(error))
	// PasteChunk appends data, valid only during the call, to a tmux buffer of this name. PasteEnd pastes the buffer into pane, with brackets if
	// the program asked for them, deletes it and stores mark, in one command line. PasteAbort deletes it.
	PasteChunk(buffer string, data []byte, done func(error))
	PasteEnd(buffer string, pane PaneID, mark string, done func(error))
	PasteAbort(buffer string)
	// Capture asks what pane shows. at runs when the answer begins: bytes Output before it are in the capture,
	// bytes after it are not. A resume first continues a paused pane in the same command line.
	Capture(pane PaneID, o CaptureOptions, at func(), done func(Capture, error))
	// Pause makes tmux read the pane and keep nothing for us, until a Capture with Resume.
	Pause(pane PaneID)
	// Resize sizes the current window, and the session's other windows as they are shown.
	Resize(size Size, done func(error))
	// Do carries out a user's operation on panes and windows.
	Do(op Op, done func(error))
	// SetPaneOption stores a value as a pane user option; for what must survive our server.
	SetPaneOption(pane PaneID, name, value string)
}

// CaptureOptions says how much of a pane to capture.
type CaptureOptions struct {
	History int  // lines of history wanted; 0: the screen only
	Resume  bool // continue a paused pane in the same command line
}

// Capture is what a pane shows at one point of its stream, as tmux tells it. Rows are raw capture-pane -e lines.
type Capture struct {
	Vars    map[string]string // tmux format variables, by name, as CaptureVars lists them
	Screen  []byte            // history and screen, capture-pane -peqJN
	Saved   []byte            // the main screen under an alternate one, capture-pane -a; nil when there is none
	Pending []byte            // bytes of an unfinished escape sequence, capture-pane -P, unescaped
	Replay  []byte            // what the program wrote last, instead of all the above, by a Source that is not tmux
}

// Handler is told what the source sees. The Terminal is one.
type Handler interface {
	// Attached comes first, and again if the source reattaches: all that was known before is void.
	Attached(Attached)
	// Output is pane bytes, valid only during the call.
	Output(pane PaneID, data []byte)
	// Paused is tmux's own pause of a pane, or the answer to Pause.
	Paused(pane PaneID)
	// WindowsChanged says which windows there are, which is current and how it is laid out. Pane sizes take effect
	// at this place of the stream.
	WindowsChanged(Windows)
	// PaneArrived says that a pane came from another session, and what SetPaneOption stored of it there as ModesOption.
	PaneArrived(pane PaneID, modes string)
	// PaneChanged says a pane's state.
	PaneChanged(PaneState)
	// Copied is a text that tmux's copy mode put into a buffer.
	Copied(pane PaneID, text []byte)
}

// ModesOption is the pane user option that holds what a terminal knows of a pane and tmux does not.
const ModesOption = "@tabs_modes"

// ShellModes is a value of ModesOption for a shell that edits lines and is not known otherwise: its first prompt, which
// asks for bracketed paste, may be older than the first output seen.
var ShellModes = func() string {
	m := newModes(Size{Cols: 80, Rows: 24}, Answers{})
	m.setPrivate(2004, true)
	return m.encode()
}()

// Attached is the state of the session when the source attached.
type Attached struct {
	InputMark string            // the last mark stored by SendKeys or PasteEnd, "" when none
	Windows   Windows           // all windows; the current one with its layout
	Panes     []PaneState       // the panes of all windows
	Options   map[PaneID]string // what SetPaneOption stored as ModesOption, by pane
}

// Windows are the windows of the session and the layout of the current one.
type Windows struct {
	Current WindowID
	List    []Window
	Layout  Layout
}

// Window is a tmux window as the page lists it.
type Window struct {
	ID     WindowID `json:"id"`
	Index  int      `json:"index"`
	Name   string   `json:"name"`
	Active bool     `json:"active"`
	Bell   bool     `json:"bell"`
}

// Layout is how the current window is divided. When zoomed, Panes holds the zoomed pane alone.
type Layout struct {
	Size   Size
	Zoomed bool
	Active PaneID
	Panes  []PaneBox
}

// PaneBox is the place of a pane in its window, in cells.
type PaneBox struct {
	ID   PaneID `json:"id"`
	Left int    `json:"left"`
	Top  int    `json:"top"`
	Cols int    `json:"cols"`
	Rows int    `json:"rows"`
}

// PaneState is what tmux says about a pane beyond its cells.
type PaneState struct {
	Pane     PaneID `json:"pane"`
	Title    string `json:"title"`
	Cwd      string `json:"cwd"`
	Command  string `json:"command"`
	Dead     bool   `json:"dead"`
	ExitCode int    `json:"exitCode"`
	Signal   int    `json:"signal,omitempty"`
	Mode     string `json:"mode"`
}

// Op is a user's operation on panes and windows: the "do" frame of docs/PROTOCOL.md.
type Op struct {
	Name      string   `json:"op"`
	Pane      PaneID   `json:"pane,omitempty"`
	With      PaneID   `json:"with,omitempty"`
	Window    WindowID `json:"window,omitempty"`
	Cols      int      `json:"cols,omitempty"`
	Rows      int      `json:"rows,omitempty"`
	Direction string   `json:"direction,omitempty"`
}
