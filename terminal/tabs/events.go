package tabs

import (
	"slices"
	"strings"
	"time"

	"github.com/browsertabs/tabs/terminal"
	"github.com/browsertabs/tabs/tmuxctl"
)

// sighting is what a source saw of its session, for the tab list.
type sighting struct {
	serverPID int
	host      string
	shell     string
	title     string // stored with the session
	order     int
	size      terminal.Size
	active    pane
	dead      bool // every program has ended
	panes     int
}

// handle turns a notification into what the terminal is told. leave ends the client.
func (s *source) handle(e tmuxctl.Event, leave func()) {
	switch e := e.(type) {
	case *tmuxctl.Output:
		if !s.attached {
			return // it is in the first capture
		}
		s.h.Output(terminal.PaneID(e.Pane), e.Data)
		s.output(e)
	case tmuxctl.Pause:
		if s.attached {
			s.paused(terminal.PaneID(e.Pane))
		}
	case tmuxctl.LayoutChange:
		s.layoutChanged(e)
	case tmuxctl.WindowPaneChanged:
		if w := s.state.window(e.Window); w != nil {
			w.active = e.Pane
			s.windowsChanged()
		}
	case tmuxctl.SessionWindowChanged:
		if e.Session == s.session && s.state.window(e.Window) != nil {
			s.state.current = e.Window
			s.windowsChanged()
			s.fit()
		} else if e.Session == s.session {
			s.refresh()
		}
	case tmuxctl.WindowAdd:
		if !e.Unlinked {
			s.windowAdded(e.Window)
		}
	case tmuxctl.WindowClose:
		s.refresh()
	case tmuxctl.WindowRenamed:
		// A name changes with the program too, so it may be the first sign of a program that ended.
		if s.state.window(e.Window) != nil {
			s.refresh()
		}
	case tmuxctl.PaneModeChanged:
		s.refreshPanes()
		s.lookAtBuffers(terminal.PaneID(e.Pane))
	case tmuxctl.SubscriptionChanged:
		s.subscription(e)
	case tmuxctl.SessionsChanged:
		s.sessionsChanged()
	case tmuxctl.ClientSessionChanged, tmuxctl.ClientDetached:
		s.countClients()
	case tmuxctl.SessionChanged:
		if e.Session != s.session { // somebody switched our client to another session
			leave()
		}
	}
}

// output cuts what has grown old while another client takes tmux's back-pressure away.
func (s *source) output(e *tmuxctl.Output) {
	pane := terminal.PaneID(e.Pane)
	if e.Age > maxOutputAge && s.state.ownPauses[pane] == 0 {
		s.Pause(pane)
		s.countPause(pane)
	}
}

func (s *source) countPause(pane terminal.PaneID) {
	if s.state.ownPauses == nil {
		s.state.ownPauses = make(map[terminal.PaneID]int)
	}
	s.state.ownPauses[pane]++
}

// paused is the answer to a pause of ours, or the hook that says that the pane's program has ended.
func (s *source) paused(id terminal.PaneID) {
	delete(s.state.ownPauses, id)
	s.h.Paused(id)
	if p := s.state.panes[id]; p != nil && !p.Dead {
		s.refreshPane(id)
	}
}

func (s *source) layoutChanged(e tmuxctl.LayoutChange) {
	w := s.state.window(e.Window)
	if w == nil {
		s.refresh()
		return
	}
	before := len(w.layout.Panes())
	w.layout, w.zoomed = e.Visible, strings.Contains(e.Flags, "Z")
	w.bell = strings.Contains(e.Flags, "!")
	if w.zoomed {
		if shown := w.layout.Panes(); len(shown) == 1 {
			w.active = shown[0].Pane
		}
	}
	s.windowsChanged()
	known := !slices.ContainsFunc(e.Layout.Panes(), func(b tmuxctl.PaneBox) bool {
		return s.state.panes[terminal.PaneID(b.Pane)] == nil
	})
	if !known || before > len(w.layout.Panes()) {
		s.refresh()
	}
}

// windowsChanged tells the windows at this place of the stream.
func (s *source) windowsChanged() {
	if s.attached {
		s.h.WindowsChanged(s.state.shown())
		s.tell()
	}
}

// windowAdded makes a window that we did not make as a tab needs it.
func (s *source) windowAdded(id tmuxctl.WindowID) {
	s.send(tmuxctl.AssertWindow(id))
	if size := s.wantedSize(); size != (terminal.Size{}) {
		s.send(tmuxctl.Lines(tmuxctl.ResizeWindow(id, size.Cols, size.Rows)))
	}
	s.refresh()
}

// wantedSize is the size last asked for, or else that of the current window.
func (s *source) wantedSize() terminal.Size {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size == (terminal.Size{}) {
		if w := s.state.window(s.state.current); w != nil {
			return w.shown().Size
		}
	}
	return s.size
}

// fit sizes the current window as the others are.
func (s *source) fit() {
	w, size := s.state.window(s.state.current), s.wantedSize()
	if w != nil && size != (terminal.Size{}) && w.shown().Size != size {
		s.send(tmuxctl.Lines(tmuxctl.ResizeWindow(w.id, size.Cols, size.Rows)))
	}
}

// refresh asks for windows and panes; the answer is told at its place in the stream.
func (s *source) refresh() {
	t := " -t " + s.session.String() + ":"
	c := tmuxctl.Lines("list-windows -F "+tmuxctl.Quote(windowFormat)+t, "list-panes -s -F "+tmuxctl.Quote(paneFormat)+t)
	c.Done = func(rs []tmuxctl.Reply) {
		if replyError(rs) != nil || !s.attached {
			return // the session is on its way out: the end of the stream says so
		}
		old := s.state.panes
		if err := s.state.loadWindows(rs[0].Lines); err != nil {
			s.log.Warn("read windows", "err", err)
			return
		}
		if err := s.state.loadPanes(rs[1].Lines); err != nil {
			s.log.Warn("read panes", "err", err)
			return
		}
		s.watch()
		for id, p := range s.state.panes {
			s.settle(p, old[id])
			if old[id] == nil {
				s.h.PaneArrived(id, p.modes)
			}
			if was := old[id]; was == nil || was.PaneState != p.PaneState {
				s.h.PaneChanged(p.PaneState)
				s.closeLeft(id)
			}
		}
		s.windowsChanged()
		s.fit()
	}
	s.send(c)
}

func (s *source) refreshPanes() {
	s.listPanes("list-panes -s -F " + tmuxctl.Quote(paneFormat) + " -t " + s.session.String() + ":")
}

func (s *source) refreshPane(id terminal.PaneID) {
	s.listPanes("display-message -p -t " + tmuxctl.PaneID(id).String() + " " + tmuxctl.Quote(paneFormat))
}

func (s *source) listPanes(line string) {
	c := tmuxctl.Lines(line)
	c.Done = func(rs []tmuxctl.Reply) {
		if replyError(rs) != nil {
			return
		}
		for _, l := range rs[0].Lines {
			s.paneLine(string(l))
		}
	}
	s.send(c)
}

// paneLine takes a pane's new state.
func (s *source) paneLine(line string) {
	p, err := s.state.parsePane(line)
	if err != nil || !s.attached {
		return
	}
	was := s.state.panes[p.Pane]
	if was == nil {
		return // gone already, or its window is not known yet and refresh is on its way
	}
	s.state.panes[p.Pane] = p
	s.settle(p, was)
	if was.PaneState != p.PaneState {
		s.h.PaneChanged(p.PaneState)
		s.tell()
		s.closeLeft(p.Pane)
	}
}

// settleTime is how long tmux may take to learn how a program ended after that has let go of its pane; settleTries is
// how often we ask.
const (
	settleTime  = 200 * time.Millisecond
	settleTries = 4
)

// settle asks again about a pane whose program seems to have ended. With a control client attached tmux 3.3a overlooks
// the end of a child in one of five cases, until the next child ends: so it gets one. tmux 3.2 never tells the signal
// that ended a program.
func (s *source) settle(p, was *pane) {
	if p.unsure == 0 {
		return
	}
	if was != nil {
		p.unsure += was.unsure
	}
	if p.unsure > settleTries {
		p.Dead, p.ExitCode = true, unknownExit
		return
	}
	s.send(tmuxctl.Lines("run-shell -b true"))
	id := p.Pane
	time.AfterFunc(settleTime, func() { s.refreshPane(id) })
}

// unknownExit is the exit code of a program that ended nobody knows how.
const unknownExit = -1

// closeLeft closes the pane of a login shell that was left in order, as any terminal does.
func (s *source) closeLeft(id terminal.PaneID) {
	p := s.state.panes[id]
	if p != nil && p.Dead && p.login && p.ExitCode == 0 && s.loginLeft() {
		c := tmuxctl.Lines(tmuxctl.KillPane(tmuxctl.PaneID(id)))
		if len(s.state.panes) == 1 {
			c.Done = s.expectEnd(nil)
		}
		s.send(c)
	}
}

func (s *source) subscription(e tmuxctl.SubscriptionChanged) {
	switch {
	case !s.attached:
	case e.HasPane:
		s.paneLine(e.Value)
	default:
		window, dead, session, err := cutWatched(e.Value)
		if err != nil {
			return
		}
		s.windowLine(window, strings.Count(dead, "1"))
		if s.state.loadSession(session) == nil {
			s.tell()
		}
	}
}

// windowLine takes a window's new state, and how many of its panes have a program that has ended.
func (s *source) windowLine(line string, dead int) {
	w, active, err := parseWindow(line)
	if err != nil || s.state.window(w.id) == nil {
		return
	}
	old := s.state.window(w.id)
	// The layout has a notification of its own, in order with the output; this one is not.
	changed := old.bell != w.bell || old.name != w.name || old.index != w.index
	old.bell, old.name, old.index = w.bell, w.name, w.index
	if active && s.state.current != w.id {
		s.state.current, changed = w.id, true
	}
	if changed {
		s.state.sortWindows()
		s.windowsChanged()
	}
	for _, p := range s.state.panes {
		if p.window == w.id && p.Dead {
			dead--
		}
	}
	if dead != 0 {
		s.refreshPanes()
	}
}

func (s *source) countClients() {
	c := tmuxctl.Lines("list-clients -F '#{client_name}'")
	c.Done = func(rs []tmuxctl.Reply) {
		if replyError(rs) == nil && s.attached {
			s.state.clients = len(rs[0].Lines)
			s.limitLag()
		}
	}
	s.send(c)
}

// tell says what the tab list wants to know.
func (s *source) tell() {
	st := &s.state
	if !s.attached {
		return
	}
	s.panes.Store(int32(len(st.panes)))
	known := targets{panes: make(map[terminal.PaneID]bool, len(st.panes)), windows: make(map[terminal.WindowID]bool)}
	for id := range st.panes {
		known.panes[id] = true
	}
	for _, w := range st.windows {
		known.windows[terminal.WindowID(w.id)] = true
	}
	s.mu.Lock()
	s.known = known
	s.mu.Unlock()
	g := sighting{
		serverPID: st.serverPID, host: st.host, shell: st.shell, title: st.title, order: st.order,
		dead: len(st.panes) > 0, panes: len(st.panes),
	}
	if w := st.window(st.current); w != nil {
		g.size = w.shown().Size
	}
	if p := st.activePane(); p != nil {
		g.active = *p
	}
	for _, p := range st.panes {
		g.dead = g.dead && p.Dead
	}
	s.see(g)
}
