package tmuxctl

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// SessionID is $1.
type SessionID uint32

func (id SessionID) String() string { return "$" + strconv.FormatUint(uint64(id), 10) }

// ParseSessionID parses "$1".
func ParseSessionID(s string) (SessionID, error) {
	n, err := parseID(s, '$')
	return SessionID(n), err
}

func parseID(s string, sigil byte) (uint32, error) {
	if len(s) < 2 || s[0] != sigil || s[1] < '0' || s[1] > '9' {
		return 0, fmt.Errorf("parse tmux id %.40q: want %c and a number", s, sigil)
	}
	n, err := strconv.ParseUint(s[1:], 10, 32)
	if err != nil {
		return 0, fmt.Errorf("parse tmux id %.40q: want %c and a number", s, sigil)
	}
	return uint32(n), nil
}

// NewSession says how NewSession starts a session; it clears a global window-size in the same command.
type NewSession struct {
	Name    string // letters, digits, - and _
	Cwd     string
	Cols    int
	Rows    int
	Env     map[string]string
	Command []string          // empty: the user's login shell
	Options map[string]string // user options ("@title") set on the session in the same command line
}

// newWindowCommand and newSessionCommand are abbreviations, on purpose: our configuration makes aliases of the full
// names (see ConfigText), and an alias would change how many replies a command line gets.
const (
	newWindowCommand  = "new-windo"
	newSessionCommand = "new-sessio"
)

// NewSession starts a detached session, and the server with it if there is none. The first pane's size is exact from
// the start, and the options a tab relies on hold before its program runs.
func (s *Server) NewSession(ctx context.Context, n NewSession) (SessionID, error) {
	if !validName(n.Name) {
		return 0, fmt.Errorf("start tmux session: name %q: want 1 to 64 letters, digits, - or _", n.Name)
	}
	args := []string{"set-option", "-gu", "window-size", ";",
		newSessionCommand, "-d", "-P", "-F", "#{session_id}", "-s", n.Name}
	if n.Cwd != "" {
		args = append(args, "-c", argument(literal(n.Cwd)))
	}
	if n.Cols > 0 && n.Rows > 0 {
		args = append(args, "-x", strconv.Itoa(n.Cols), "-y", strconv.Itoa(n.Rows))
	}
	for _, k := range slices.Sorted(maps.Keys(n.Env)) {
		args = append(args, "-e", argument(k+"="+n.Env[k]))
	}
	if len(n.Command) > 0 {
		args = append(args, "--")
		if len(n.Command) == 1 {
			// tmux gives a single argument to a shell; env runs it as it is.
			args = append(args, "env", "--")
		}
		for _, a := range n.Command {
			args = append(args, argument(a))
		}
	}
	options, err := n.optionArgs()
	if err != nil {
		return 0, fmt.Errorf("start tmux session: %w", err)
	}
	// The window keeps its size whatever clients come and go; resize-window sets it.
	args = append(append(args, options...), ";", "set-option", "-w", "-t", n.target(), "window-size", "manual")
	out, err := s.Run(ctx, args...)
	if err != nil {
		return 0, fmt.Errorf("start tmux session: %w", err)
	}
	id, err := ParseSessionID(strings.TrimSpace(string(out)))
	if err != nil {
		return 0, fmt.Errorf("start tmux session: %w", err)
	}
	return id, nil
}

func (n *NewSession) target() string { return "=" + n.Name + ":" }

// optionArgs are the commands that set the options of a session just made, each after a ";".
func (n *NewSession) optionArgs() ([]string, error) {
	var args []string
	for _, o := range sessionOptions {
		args = append(args, ";", "set-option", "-t", n.target(), o.name, o.value)
	}
	for _, k := range slices.Sorted(maps.Keys(n.Options)) {
		if !validOption(k) {
			return nil, fmt.Errorf("option %q: want @ and letters, digits, - or _", k)
		}
		args = append(args, ";", "set-option", "-t", n.target(), k, argument(n.Options[k]))
	}
	return args, nil
}

// BreakPane starts a detached session of this name, size and options that has a running pane in its one window, taken out
// of the session it was in. Command, Cwd and Env are the pane's own already and are not looked at.
func (s *Server) BreakPane(ctx context.Context, id PaneID, n NewSession) (SessionID, error) {
	if !validName(n.Name) {
		return 0, fmt.Errorf("break out tmux pane: name %q: want 1 to 64 letters, digits, - or _", n.Name)
	}
	options, err := n.optionArgs()
	if err != nil {
		return 0, fmt.Errorf("break out tmux pane: %w", err)
	}
	cols, rows := strconv.Itoa(n.Cols), strconv.Itoa(n.Rows)
	// tmux makes no session without a window, so one with nothing in it keeps the place until the pane is there.
	args := []string{"set-option", "-gu", "window-size", ";",
		newSessionCommand, "-d", "-P", "-F", "#{session_id}", "-s", n.Name, "-x", cols, "-y", rows, "--", "sh", "-c", "cat"}
	args = append(args, options...)
	args = append(args, ";", "break-pane", "-d", "-s", id.String(), "-t", n.target(),
		";", "kill-window", "-t", n.target()+"^",
		";", "set-option", "-w", "-t", n.target(), "window-size", "manual",
		";", "resize-window", "-t", n.target(), "-x", cols, "-y", rows)
	out, err := s.Run(ctx, args...)
	session, parseErr := ParseSessionID(strings.TrimSpace(string(out)))
	if err == nil {
		err = parseErr
	}
	if err != nil {
		if parseErr == nil { // the pane has ended meanwhile
			s.KillSession(ctx, session)
		}
		return 0, fmt.Errorf("break out tmux pane: %w", err)
	}
	return session, nil
}

func validName(s string) bool {
	return len(s) > 0 && len(s) <= 64 && strings.Trim(s, nameBytes) == "" && s[0] != '-'
}

// validOption tells whether name is that of a user option.
func validOption(name string) bool {
	return len(name) > 1 && name[0] == '@' && strings.Trim(name[1:], nameBytes) == ""
}

const nameBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

// Session is a row of ListSessions.
type Session struct {
	ID      SessionID
	Name    string
	Created int64             // unix seconds
	Options map[string]string // the user options asked for
}

// ListSessions returns the server's sessions by id, with these user options ("@title").
func (s *Server) ListSessions(ctx context.Context, options ...string) ([]Session, error) {
	// Values may hold any byte, so each comes with its length.
	format := "#{session_id} #{session_created}" + sized("session_name")
	for _, o := range options {
		if !validOption(o) {
			return nil, fmt.Errorf("list tmux sessions: option %q: want @ and letters, digits, - or _", o)
		}
		format += sized(o)
	}
	out, err := s.Run(ctx, "list-sessions", "-F", format)
	if err != nil {
		return nil, fmt.Errorf("list tmux sessions: %w", err)
	}
	var list []Session
	for rest := string(out); rest != ""; {
		var row Session
		if row, rest, err = cutSession(rest, options); err != nil {
			return nil, fmt.Errorf("list tmux sessions: %w", err)
		}
		list = append(list, row)
	}
	slices.SortFunc(list, func(a, b Session) int { return cmp.Compare(a.ID, b.ID) })
	return list, nil
}

// sized is a format that gives the value of a variable with its length before it: " 5 hello".
func sized(variable string) string { return " #{n:" + variable + "} #{" + variable + "}" }

// cutSized cuts the value of a sized format off s.
func cutSized(s string) (value, rest string, ok bool) {
	s, ok = strings.CutPrefix(s, " ")
	length, rest, ok2 := strings.Cut(s, " ")
	n, err := strconv.Atoi(length)
	if !ok || !ok2 || err != nil || n < 0 || n > len(rest) {
		return "", s, false
	}
	return rest[:n], rest[n:], true
}

func cutSession(s string, options []string) (row Session, rest string, err error) {
	bad := fmt.Errorf("unexpected answer %.80q", s)
	id, rest, _ := strings.Cut(s, " ")
	if row.ID, err = ParseSessionID(id); err != nil {
		return row, rest, bad
	}
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	if row.Created, err = strconv.ParseInt(rest[:digits], 10, 64); err != nil {
		return row, rest, bad
	}
	var ok bool
	if row.Name, rest, ok = cutSized(rest[digits:]); !ok {
		return row, rest, bad
	}
	if len(options) > 0 {
		row.Options = make(map[string]string, len(options))
	}
	for _, o := range options {
		var value string
		if value, rest, ok = cutSized(rest); !ok {
			return row, rest, bad
		}
		if value != "" {
			row.Options[o] = value
		}
	}
	if rest, ok = strings.CutPrefix(rest, "\n"); !ok {
		return row, rest, bad
	}
	return row, rest, nil
}

// KillSession ends a session and the programs in it.
func (s *Server) KillSession(ctx context.Context, id SessionID) error {
	if _, err := s.Run(ctx, "kill-session", "-t", id.String()); err != nil {
		return fmt.Errorf("end tmux session: %w", err)
	}
	return nil
}

// RenameSession is the command line that names a session.
func RenameSession(id SessionID, name string) string {
	return "rename-session -t " + id.String() + " -- " + Quote(literal(name))
}

// KillSession is the command line that ends a session and the programs in it.
func KillSession(id SessionID) string { return "kill-session -t " + id.String() }
