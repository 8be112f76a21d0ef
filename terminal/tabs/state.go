package tabs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/browsertabs/tabs/terminal"
	"github.com/browsertabs/tabs/tmuxctl"
)

// loginOption marks a pane whose command line is ours but ends in the login shell: that of a revived tab.
const loginOption = "@tab_login"

// commandOption is the name of the command a tab was opened with, whose own process is not the pane's first one.
const commandOption = "@tab_command"

// clean is the value of a format variable without control characters: a directory's name may hold newlines, which
// would end a line of control mode, or tabs, which divide our fields.
func clean(variable string) string { return "#{s/[\x01-\x1f\x7f]/ /:" + variable + "}" }

// ownCommand is 1 for a pane that was given a command of its own; the default command, which tmux may quote, is none.
const ownCommand = "#{?pane_start_command,#{?#{||:#{==:#{pane_start_command},#{default-command}}," +
	"#{==:#{pane_start_command},\"#{default-command}\"}},0,1},0}"

// Fields are divided by tabs.
var (
	// paneFormat is a pane's state, for list-panes and a subscription alike.
	paneFormat = strings.Join([]string{
		"#{pane_id}", "#{window_id}", "#{pane_dead}", "#{pane_dead_status}", "#{pane_dead_signal}", "#{pane_pid}",
		ownCommand, "#{" + loginOption + "}", clean("pane_mode"), clean("pane_current_command"),
		clean("pane_title"), clean("pane_current_path"), clean(terminal.ModesOption),
	}, "\t")
	// windowFormat's pane_id is the window's active pane.
	windowFormat = strings.Join([]string{
		"#{window_id}", "#{window_index}", "#{window_active}", "#{window_bell_flag}", "#{window_zoomed_flag}",
		"#{pane_id}", "#{window_visible_layout}", clean("window_name"),
	}, "\t")
	// watchFormat is what to watch of a window. A pane whose program has ended is no longer watched itself.
	watchFormat = strings.Join([]string{windowFormat, "#{P:#{pane_dead}}", sessionFormat}, "\t")
	// sessionFormat is what the tab's strip shows, so that a change made by hand shows too.
	sessionFormat = strings.Join([]string{
		"#{pid}", "#{client_name}", clean("host"), "#{b:default-shell}", clean(inputMarkOption),
		clean(titleOption), clean(orderOption), clean(commandOption),
	}, "\t")
)

const windowFields, sessionFields = 8, 8

// cutWatched divides a value of watchFormat.
func cutWatched(value string) (window, dead, session string, err error) {
	f := strings.Split(value, "\t")
	if len(f) != windowFields+1+sessionFields {
		return "", "", "", fmt.Errorf("unexpected window and session %.200q", value)
	}
	session = strings.Join(f[windowFields+1:], "\t")
	return strings.Join(f[:windowFields], "\t"), f[windowFields], session, nil
}

// stateCommands is a command line of four commands that tells all there is to know of a session.
func stateCommands(id tmuxctl.SessionID) string {
	t := " -t " + id.String() + ": "
	return tmuxctl.Lines(
		"display-message -p"+t+tmuxctl.Quote(sessionFormat),
		"list-windows -F "+tmuxctl.Quote(windowFormat)+t,
		"list-panes -s -F "+tmuxctl.Quote(paneFormat)+t,
		"list-clients -F '#{client_name}'",
	).Line
}

// window is a tmux window of the session.
type window struct {
	id     tmuxctl.WindowID
	index  int
	name   string
	bell   bool
	zoomed bool
	active tmuxctl.PaneID
	layout tmuxctl.Layout // the visible one
}

// pane is a pane's state, as the page and the tab list want it.
type pane struct {
	terminal.PaneState
	window tmuxctl.WindowID
	pid    int
	login  bool // its program is the user's login shell
	modes  string
	// unsure counts how often tmux said that the program has let go of the pane, and not how it ended.
	unsure int
}

// sessionState is what a source knows of its session, of one control client.
type sessionState struct {
	serverPID    int
	clientName   string
	host         string
	shell        string // name of the login shell
	inputMark    string
	title        string
	order        int
	command      string // what the tab was opened with, "" for a shell
	clients      int
	lagFlag      string
	current      tmuxctl.WindowID
	windows      []*window // by index
	panes        map[terminal.PaneID]*pane
	watched      map[string]bool         // subscriptions
	ownPauses    map[terminal.PaneID]int // pauses we asked for and have not seen yet
	buffer       string                  // the newest paste buffer we know
	buffersKnown bool
}

// load reads the replies to stateCommands.
func (st *sessionState) load(rs []tmuxctl.Reply) error {
	for _, r := range rs {
		if r.Err != nil {
			return r.Err
		}
	}
	if len(rs) != 4 || len(rs[0].Lines) != 1 {
		return errors.New("unexpected answer to state commands")
	}
	if err := st.loadSession(string(rs[0].Lines[0])); err != nil {
		return err
	}
	if err := st.loadWindows(rs[1].Lines); err != nil {
		return err
	}
	if err := st.loadPanes(rs[2].Lines); err != nil {
		return err
	}
	st.clients = len(rs[3].Lines)
	return nil
}

func (st *sessionState) loadSession(line string) error {
	f := strings.Split(line, "\t")
	if len(f) != sessionFields {
		return fmt.Errorf("unexpected session %.200q", line)
	}
	st.serverPID, _ = strconv.Atoi(f[0])
	if f[1] != "" {
		st.clientName = f[1]
	}
	st.host, st.shell, st.inputMark, st.title = f[2], f[3], f[4], f[5]
	if order, ok := readOrder(f[6]); ok {
		st.order = order
	}
	st.command = f[7]
	return nil
}

// loadWindows replaces the windows.
func (st *sessionState) loadWindows(lines [][]byte) error {
	var windows []*window
	var current tmuxctl.WindowID
	for _, l := range lines {
		w, active, err := parseWindow(string(l))
		if err != nil {
			return err
		}
		if active {
			current = w.id
		}
		windows = append(windows, w)
	}
	if len(windows) == 0 {
		return errors.New("session without windows")
	}
	st.windows, st.current = windows, current
	st.sortWindows()
	return nil
}

func (st *sessionState) sortWindows() {
	slices.SortStableFunc(st.windows, func(a, b *window) int { return cmp.Compare(a.index, b.index) })
}

func parseWindow(line string) (w *window, active bool, err error) {
	f := strings.SplitN(line, "\t", windowFields)
	if len(f) != windowFields {
		return nil, false, fmt.Errorf("unexpected window %.200q", line)
	}
	w = &window{bell: f[3] == "1", zoomed: f[4] == "1", name: f[7]}
	var err1, err2, err3, err4 error
	w.id, err1 = tmuxctl.ParseWindowID(f[0])
	w.index, err2 = strconv.Atoi(f[1])
	w.active, err3 = tmuxctl.ParsePaneID(f[5])
	w.layout, err4 = tmuxctl.ParseLayout(f[6])
	return w, f[2] == "1", errors.Join(err1, err2, err3, err4)
}

// loadPanes replaces the panes.
func (st *sessionState) loadPanes(lines [][]byte) error {
	panes := make(map[terminal.PaneID]*pane, len(lines))
	for _, l := range lines {
		p, err := st.parsePane(string(l))
		if err != nil {
			return err
		}
		panes[p.Pane] = p
	}
	st.panes = panes
	return nil
}

func (st *sessionState) parsePane(line string) (*pane, error) {
	f := strings.SplitN(line, "\t", 13)
	if len(f) != 13 {
		return nil, fmt.Errorf("unexpected pane %.200q", line)
	}
	id, err1 := tmuxctl.ParsePaneID(f[0])
	win, err2 := tmuxctl.ParseWindowID(f[1])
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	p := &pane{window: win, login: f[6] == "0" || f[7] == "1", modes: f[12]}
	p.PaneState = terminal.PaneState{
		Pane: terminal.PaneID(id), Dead: f[2] == "1", Mode: f[8], Command: f[9], Title: f[10], Cwd: f[11],
	}
	p.pid, _ = strconv.Atoi(f[5])
	if p.Dead && f[3] == "" && f[4] == "" {
		p.Dead, p.unsure = false, 1
	}
	if p.Dead {
		p.ExitCode, _ = strconv.Atoi(f[3])
		if p.Signal, _ = strconv.Atoi(f[4]); p.Signal > 0 {
			p.ExitCode = 128 + p.Signal
		}
		// tmux shows the name of a dead program with a mark of its own.
		p.Command = strings.TrimSuffix(p.Command, "[dead]")
	}
	if p.Command == "sh" && !p.login && st.command != "" {
		p.Command = st.command
	}
	if p.Title == st.host { // tmux's own default; the program said nothing
		p.Title = ""
	}
	return p, nil
}

func (st *sessionState) window(id tmuxctl.WindowID) *window {
	for _, w := range st.windows {
		if w.id == id {
			return w
		}
	}
	return nil
}

// activePane is the active pane of the current window, nil while tmux has not told it yet.
func (st *sessionState) activePane() *pane {
	if w := st.window(st.current); w != nil {
		return st.panes[terminal.PaneID(w.active)]
	}
	return nil
}

// editingShells ask for bracketed paste at every prompt.
var editingShells = []string{"bash", "zsh", "fish"}

// attached is what a terminal is told first.
func (st *sessionState) attached() terminal.Attached {
	a := terminal.Attached{
		InputMark: st.inputMark, Windows: st.shown(), Options: make(map[terminal.PaneID]string),
	}
	for _, p := range st.panes {
		a.Panes = append(a.Panes, p.PaneState)
		switch {
		case p.modes != "":
			a.Options[p.Pane] = p.modes
		case p.login && slices.Contains(editingShells, p.Command):
			a.Options[p.Pane] = terminal.ShellModes
		}
	}
	slices.SortFunc(a.Panes, func(x, y terminal.PaneState) int { return cmp.Compare(x.Pane, y.Pane) })
	return a
}

// shown is the windows, and the current one's layout.
func (st *sessionState) shown() terminal.Windows {
	ws := terminal.Windows{Current: terminal.WindowID(st.current)}
	for _, w := range st.windows {
		ws.List = append(ws.List, terminal.Window{
			ID: terminal.WindowID(w.id), Index: w.index, Name: w.name, Active: w.id == st.current, Bell: w.bell,
		})
		if w.id == st.current {
			ws.Layout = w.shown()
		}
	}
	return ws
}

func (w *window) shown() terminal.Layout {
	l := terminal.Layout{
		Size:   terminal.Size{Cols: w.layout.Root.Cols, Rows: w.layout.Root.Rows},
		Zoomed: w.zoomed, Active: terminal.PaneID(w.active),
	}
	for _, b := range w.layout.Panes() {
		l.Panes = append(l.Panes, terminal.PaneBox{
			ID: terminal.PaneID(b.Pane), Left: b.Left, Top: b.Top, Cols: b.Cols, Rows: b.Rows,
		})
	}
	return l
}

// joinLines is a reply as tmux printed it, without a newline at the end.
func joinLines(lines [][]byte) []byte { return bytes.Join(lines, []byte("\n")) }
