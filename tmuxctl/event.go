package tmuxctl

import "time"

// Event is a notification of control mode: *Output, or one of the other types of this file by value.
type Event interface{ event() }

// Output is %output or, on a client with pause-after, %extended-output: bytes a pane's program wrote. It is reused,
// and Data overwritten, after the call it is given to.
type Output struct {
	Pane PaneID
	Data []byte
	// Age is how long tmux had held the bytes; only with pause-after.
	Age time.Duration
}

// Changes of sessions and windows. Unlinked says that a window is in another session than ours.
type (
	// SessionChanged says which session our client is now attached to.
	SessionChanged struct {
		Session SessionID
		Name    string
	}
	// SessionRenamed is the new name of a session, not always ours.
	SessionRenamed struct {
		Session SessionID
		Name    string
	}
	// SessionsChanged says that a session was created or destroyed.
	SessionsChanged struct{}
	// SessionWindowChanged is the new current window of a session, not always ours.
	SessionWindowChanged struct {
		Session SessionID
		Window  WindowID
	}
	WindowAdd struct {
		Window   WindowID
		Unlinked bool
	}
	WindowClose struct {
		Window   WindowID
		Unlinked bool
	}
	WindowRenamed struct {
		Window   WindowID
		Name     string
		Unlinked bool
	}
	// WindowPaneChanged is the new active pane of a window.
	WindowPaneChanged struct {
		Window WindowID
		Pane   PaneID
	}
	// LayoutChange is how a window is divided from this place of the stream on. Visible differs from Layout while a
	// pane is zoomed.
	LayoutChange struct {
		Window  WindowID
		Layout  Layout
		Visible Layout
		Flags   string // as in #{window_raw_flags}: * current, Z zoomed, ! bell, # activity
	}
)

// Changes of panes.
type (
	// PaneModeChanged says that a pane entered or left a mode such as copy mode.
	PaneModeChanged struct{ Pane PaneID }
	// Pause says that tmux keeps no more output of the pane for us, because we were behind on a client with
	// pause-after, Continue that it does again. What we asked for comes as the reply to PausePane and ContinuePane.
	Pause    struct{ Pane PaneID }
	Continue struct{ Pane PaneID }
)

// Changes of other clients and of what we subscribed to.
type (
	// ClientSessionChanged says that another client is now attached to this session.
	ClientSessionChanged struct {
		Client  string
		Session SessionID
		Name    string
	}
	ClientDetached struct{ Client string }
	// SubscriptionChanged is a new value of a format given to Subscribe. The ids are those it belongs to;
	// HasWindow and HasPane say which there are.
	SubscriptionChanged struct {
		Name        string
		Session     SessionID
		Window      WindowID
		WindowIndex int
		Pane        PaneID
		HasWindow   bool
		HasPane     bool
		Value       string
	}
	PasteBufferChanged struct{ Name string } // tmux 3.4 and newer
	PasteBufferDeleted struct{ Name string } // tmux 3.4 and newer
)

// What tmux says about itself.
type (
	// Message is a display-message sent to our client (tmux 3.4 and newer).
	Message struct{ Text string }
	// ConfigError is a mistake in a configuration file (tmux 3.4 and newer).
	ConfigError struct{ Text string }
	// Exit is the last event: the client leaves. Reason may be empty.
	Exit struct{ Reason string }
	// Unknown is a notification of a newer tmux, or one we could not parse.
	Unknown struct{ Line string }
)

func (*Output) event()              {}
func (SessionChanged) event()       {}
func (SessionRenamed) event()       {}
func (SessionsChanged) event()      {}
func (SessionWindowChanged) event() {}
func (WindowAdd) event()            {}
func (WindowClose) event()          {}
func (WindowRenamed) event()        {}
func (WindowPaneChanged) event()    {}
func (LayoutChange) event()         {}
func (PaneModeChanged) event()      {}
func (Pause) event()                {}
func (Continue) event()             {}
func (ClientSessionChanged) event() {}
func (ClientDetached) event()       {}
func (SubscriptionChanged) event()  {}
func (PasteBufferChanged) event()   {}
func (PasteBufferDeleted) event()   {}
func (Message) event()              {}
func (ConfigError) event()          {}
func (Exit) event()                 {}
func (Unknown) event()              {}
