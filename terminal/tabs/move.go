package tabs

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/terminal"
	"github.com/browsertabs/tabs/tmuxctl"
)

// Join says which pane of another tab to take, and where to put it.
type Join struct {
	From      string           // id of the other tab
	Pane      *terminal.PaneID // nil: its active one
	Beside    *terminal.PaneID // nil: the active one of the tab it joins
	Direction string           // side of Beside: "left", "right", "up", "down"; "": right
}

// BreakOut makes a tab of its own of a pane, whose program goes on: the tab is a session of the same tmux server, since no
// program can move to another one. It stands after the tab that the pane was in.
func (s *Service) BreakOut(ctx context.Context, sandboxID, tabID string, pane terminal.PaneID) (Tab, error) {
	b, t, err := s.find(ctx, sandboxID, tabID)
	if err != nil {
		return Tab{}, err
	}
	src, err := t.tmuxSource(ctx)
	if err != nil {
		return Tab{}, err
	}
	known := src.targets()
	if !known.panes[pane] {
		return Tab{}, invalid("pane", fmt.Sprintf("this tab has no pane %%%d", pane))
	}
	if len(known.panes) == 1 {
		return Tab{}, invalid("pane", "this pane is alone in its tab already")
	}
	if _, err := b.reserve(); err != nil {
		return Tab{}, err
	}
	defer b.release()
	n, err := t.host.breakOut(ctx, t, pane)
	if err != nil {
		return Tab{}, err
	}
	if err := n.awaitReady(ctx); err != nil {
		return Tab{}, err
	}
	b.mu.Lock()
	place := slices.Index(b.sortedLocked(), t) + 1
	b.mu.Unlock()
	return b.update(ctx, n, Update{Order: &place})
}

// breakOut starts the tab of a pane of t. No session is looked for meanwhile: the new one would be found twice.
func (h *host) breakOut(ctx context.Context, t *tab, pane terminal.PaneID) (*tab, error) {
	facts, err := h.box.tmux(ctx, h.acc, h.dir)
	if err != nil {
		return nil, err
	}
	h.finding.Lock()
	defer h.finding.Unlock()
	b := h.box
	b.mu.Lock()
	size := t.seen.size
	n := &tab{
		box: b, host: h, id: sandbox.NewID("tab"), user: t.user, order: b.nextOrderLocked(),
		created: time.Now().UTC().Truncate(time.Millisecond),
	}
	b.mu.Unlock()
	h.attaching.Lock()
	n.session, err = h.server.BreakPane(ctx, tmuxctl.PaneID(pane), tmuxctl.NewSession{
		Name: n.id, Cols: size.Cols, Rows: size.Rows, Options: n.options(),
	})
	h.attaching.Unlock()
	if err != nil {
		return nil, err
	}
	n.attachTo(facts)
	return n, b.add(n)
}

// Join takes a pane out of another tab and puts it into this one; a tab that loses its last pane ends. Both must be on
// one tmux server: a program cannot move to another.
func (s *Service) Join(ctx context.Context, sandboxID, tabID string, j Join) (Tab, error) {
	if j.Direction == "" {
		j.Direction = string(tmuxctl.Right)
	}
	if !tmuxctl.Direction(j.Direction).Valid() {
		return Tab{}, invalid("direction", `direction must be "left", "right", "up" or "down"`)
	}
	b, to, err := s.find(ctx, sandboxID, tabID)
	if err != nil {
		return Tab{}, err
	}
	if tabID == j.From {
		return Tab{}, invalid("from", "a tab cannot join itself")
	}
	_, from, err := s.find(ctx, sandboxID, j.From)
	if err != nil {
		return Tab{}, err
	}
	target, err := to.tmuxSource(ctx)
	if err != nil {
		return Tab{}, err
	}
	origin, err := from.tmuxSource(ctx)
	if err != nil {
		return Tab{}, err
	}
	if to.host != from.host {
		return Tab{}, &sandbox.Error{Code: sandbox.CodeNotSupported,
			Message: "these tabs run in tmux servers of their own, and a running program cannot move from one to another",
			Remedy:  "Split this tab instead; a pane that was broken out of it can come back."}
	}
	pane, err := choosePane("pane", j.Pane, from, origin)
	if err != nil {
		return Tab{}, err
	}
	beside, err := choosePane("beside", j.Beside, to, target)
	if err != nil {
		return Tab{}, err
	}
	h := to.host
	h.attaching.Lock() // a session may end
	_, err = h.server.Run(ctx, tmuxctl.JoinArgs(pane, beside, tmuxctl.Direction(j.Direction))...)
	h.attaching.Unlock()
	if err != nil {
		return Tab{}, fmt.Errorf("join tab: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return to.viewLocked(), nil
}

// choosePane is the target of the pane asked for, or else of the tab's active one, which tmux alone knows for certain.
func choosePane(field string, asked *terminal.PaneID, t *tab, src *source) (string, error) {
	if asked == nil {
		return t.session.String() + ":", nil
	}
	if !src.targets().panes[*asked] {
		return "", invalid(field, fmt.Sprintf("tab %s has no pane %%%d", t.id, *asked))
	}
	return tmuxctl.PaneID(*asked).String(), nil
}

// tmuxSource is the source of a tab that is a tmux session, once its panes are known: just after our server started they
// are not.
func (t *tab) tmuxSource(ctx context.Context) (*source, error) {
	src, ok := t.src.(*source)
	if !ok {
		return nil, &sandbox.Error{Code: sandbox.CodeNotSupported, Message: "this tab runs without tmux, which is what divides tabs into panes",
			Remedy: "Open a tab that is not plain."}
	}
	return src, t.awaitReady(ctx)
}

func (s *source) targets() targets {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known
}
