package tmuxctl

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// PaneID is %3.
type PaneID uint32

func (id PaneID) String() string { return "%" + strconv.FormatUint(uint64(id), 10) }

// ParsePaneID parses "%3".
func ParsePaneID(s string) (PaneID, error) {
	n, err := parseID(s, '%')
	return PaneID(n), err
}

// maxKeyBytes is how many bytes one send-keys takes: its cost grows with the square of them.
const maxKeyBytes = 64

// SendKeys is a command that types data, any bytes, into a pane. It holds a reply for every 64 bytes.
func SendKeys(id PaneID, data []byte) Command {
	const hex = "0123456789abcdef"
	commands := (len(data) + maxKeyBytes - 1) / maxKeyBytes
	b := make([]byte, 0, len(data)*3+commands*32)
	for len(data) > 0 {
		if len(b) > 0 {
			b = append(b, " ; "...)
		}
		b = append(b, "send-keys -t "...)
		b = append(b, id.String()...)
		b = append(b, " -H"...)
		n := min(len(data), maxKeyBytes)
		for _, c := range data[:n] {
			b = append(b, ' ', hex[c>>4], hex[c&15])
		}
		data = data[n:]
	}
	return Command{Line: string(b), Replies: commands}
}

// AppendBuffer is the command line that appends data to a tmux buffer, which it makes if need be. Pieces of up to
// 16 KiB hold nobody up.
func AppendBuffer(name string, data []byte) string {
	b := append(make([]byte, 0, len(data)+len(name)+24), "set-buffer -a -b "...)
	b = append(AppendQuoted(b, name), " -- "...)
	return string(AppendQuoted(b, data))
}

// PasteBuffer is the command line that pastes a buffer into a pane and deletes it; tmux adds the brackets of a
// bracketed paste if the program asked for them.
func PasteBuffer(name string, id PaneID) string {
	return "paste-buffer -p -r -d -b " + Quote(name) + " -t " + id.String()
}

// DeleteBuffer is the command line that deletes a buffer.
func DeleteBuffer(name string) string { return "delete-buffer -b " + Quote(name) }

// Capture is a command that says what a pane shows at one point of its stream, that of Begin. Its replies are the
// variables, for ParseVariables; history and screen; the main screen under an alternate one, empty if there is none;
// the bytes of an unfinished escape sequence. history is how many lines of it to add, at most; 0 for none. With resume
// it first continues a paused pane, which adds a reply before the others.
func Capture(id PaneID, variables []string, history int, resume bool) Command {
	from := ""
	if history > 0 {
		from = " -S -" + strconv.Itoa(history)
	}
	lines := []string{
		Variables(id, variables),
		"capture-pane -peqJN" + from + " -t " + id.String(),
		"capture-pane -peqJNa -t " + id.String(),
		"capture-pane -pPC -t " + id.String(),
	}
	if resume {
		lines = append([]string{ContinuePane(id)}, lines...)
	}
	return Lines(lines...)
}

// Variables is the command line that asks for format variables of a pane, its window and session, user options
// ("@name") too.
func Variables(id PaneID, names []string) string {
	var format strings.Builder
	for _, name := range names {
		format.WriteString(sized(name))
	}
	return "display-message -p -t " + id.String() + " " + Quote(format.String())
}

// ParseVariables reads the reply to Variables.
func ParseVariables(r Reply, names []string) (map[string]string, error) {
	if r.Err != nil {
		return nil, r.Err
	}
	rest := string(bytes.Join(r.Lines, []byte("\n")))
	values := make(map[string]string, len(names))
	for _, name := range names {
		var ok bool
		if values[name], rest, ok = cutSized(rest); !ok {
			return nil, fmt.Errorf("read tmux variable %s: unexpected answer %.80q", name, rest)
		}
	}
	return values, nil
}

// PausePane is the command line that makes tmux read a pane and keep nothing for us, until ContinuePane. There is no
// Pause event: tmux says it inside the reply, whose one line is "%pause %1" unless the pane was paused already. Output
// that tmux had not sent yet is dropped.
func PausePane(id PaneID) string { return "refresh-client -A '" + id.String() + ":pause'" }

// ContinuePane is the command line that ends PausePane; what the pane wrote meanwhile is not sent. Its reply has the line
// "%continue %1" if the pane was paused.
func ContinuePane(id PaneID) string { return "refresh-client -A '" + id.String() + ":continue'" }

// Direction is a side of a pane.
type Direction string

const (
	Left  Direction = "left"
	Right Direction = "right"
	Up    Direction = "up"
	Down  Direction = "down"
)

// Valid tells whether d is one of the four.
func (d Direction) Valid() bool { return d == Left || d == Right || d == Up || d == Down }

// flags are those of split-window and join-pane.
func (d Direction) flags() string {
	return map[Direction]string{Left: "-h -b", Right: "-h", Up: "-v -b", Down: "-v"}[d]
}

// SplitPane is the command line that divides a pane; the new one starts in the same directory.
func SplitPane(id PaneID, d Direction) string {
	return "split-window " + d.flags() + " -P -F '#{pane_id}' -t " + id.String() + " -c '#{pane_current_path}'"
}

// ResizePane is the command line that moves a pane's dividers; a zero dimension stays.
func ResizePane(id PaneID, cols, rows int) string {
	line := "resize-pane -t " + id.String()
	if cols > 0 {
		line += " -x " + strconv.Itoa(min(cols, maxCols))
	}
	if rows > 0 {
		line += " -y " + strconv.Itoa(min(rows, maxRows))
	}
	return line
}

// SelectPane is the command line that makes a pane its window's active one.
func SelectPane(id PaneID) string { return "select-pane -t " + id.String() }

// SelectNeighbour is the command line that makes the pane beside another the active one; past the edge of the window it goes
// on at the other side.
func SelectNeighbour(id PaneID, d Direction) string {
	return "select-pane -" + map[Direction]string{Left: "L", Right: "R", Up: "U", Down: "D"}[d] + " -t " + id.String()
}

// KillPane is the command line that ends a pane and its program.
func KillPane(id PaneID) string { return "kill-pane -t " + id.String() }

// ZoomPane is the command line that zooms a pane, or unzooms it.
func ZoomPane(id PaneID) string { return "resize-pane -Z -t " + id.String() }

// ClearHistory is the command line that forgets what has scrolled off a pane's screen.
func ClearHistory(id PaneID) string { return "clear-history -t " + id.String() }

// SwapPanes is the command line that exchanges a pane with another; it is the active one then.
func SwapPanes(id, with PaneID) string { return fmt.Sprintf("swap-pane -s %s -t %s", with, id) }

// JoinPane is the command line that takes a pane out of its window, which ends with its last pane, and puts it on a side of
// another one, where it is the active one.
func JoinPane(id, beside PaneID, d Direction) string {
	return strings.Join(JoinArgs(id.String(), beside.String(), d), " ")
}

// JoinArgs is JoinPane for Server.Run. "$1:" is the active pane of a session.
func JoinArgs(pane, beside string, d Direction) []string {
	return append(append([]string{"join-pane"}, strings.Fields(d.flags())...), "-s", pane, "-t", beside)
}

// RespawnPane is the command line that starts a dead pane's program again, with its screen cleared.
func RespawnPane(id PaneID) string { return "respawn-pane -t " + id.String() }

// LeaveMode is the command line that ends copy mode or another of tmux's own screens; harmless when there is none.
func LeaveMode(id PaneID) string { return "copy-mode -q -t " + id.String() }

// SetPaneOption is the command line that stores a user option ("@name") with a pane.
func SetPaneOption(id PaneID, name, value string) string {
	return "set-option -p -t " + id.String() + " " + Quote(name) + " " + Quote(value)
}

// SetSessionOption is the command line that stores a user option ("@name") with a session.
func SetSessionOption(id SessionID, name, value string) string {
	return "set-option -t " + id.String() + ": " + Quote(name) + " " + Quote(value)
}

// SubscribePane and SubscribeWindow are command lines that ask for a SubscriptionChanged, named as the id, whenever a
// format's value changes, at most once a second. tmux can also watch the session, all its windows or all its panes, but
// it crashes, at least up to 3.7, when it does so after the session has ended and before the client has: with a session
// all others of that server would be lost.
func SubscribePane(id PaneID, format string) string     { return subscribe(id.String(), format) }
func SubscribeWindow(id WindowID, format string) string { return subscribe(id.String(), format) }

func subscribe(id, format string) string { return "refresh-client -B " + Quote(id+":"+id+":"+format) }

// Unsubscribe is the command line that ends a subscription.
func Unsubscribe(name string) string { return "refresh-client -B " + Quote(name) }
