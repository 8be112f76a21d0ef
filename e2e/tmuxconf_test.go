package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// wildOptions are lines of people's tmux.conf that have killed, resized or hung terminals of others.
var wildOptions = []string{
	"set -g window-size manual",
	"setw -g window-size manual",
	"set -g destroy-unattached on",
	"set -g detach-on-destroy off",
	"set -g remain-on-exit off",
	"setw -g remain-on-exit on",
	"set -g default-command 'sh -c \"echo default-command; exec bash --norc\"'",
	"set -g default-shell /bin/sh",
	"set -g status off",
	"set -g status on",
	"set -g mouse on",
	"setw -g aggressive-resize on",
	"set -g history-limit 50000",
	"set -g escape-time 0",
	"set -g focus-events on",
	"set -g base-index 1",
	"setw -g pane-base-index 1",
	"set -g renumber-windows on",
	"set -g default-terminal screen",
	"set -g update-environment ''",
	"set-hook -g after-new-window 'resize-window -x 77 -y 22'",
	"set-hook -g client-attached 'display-message hello'",
	"set -g exit-empty on",
	"set -g prefix C-a",
	"run-shell 'true'",
}

// TestWildOptions types each line in a tab, and reads all from a file with source-file; then come new tabs and windows and
// a restart of our server: every tab lives, with its history. It includes R088 and R089.
func TestWildOptions(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	first := p.active()
	p.run("echo history-$((50+1)); seq 1 300")
	for _, line := range wildOptions {
		// As typed: sh -c of the same words.
		p.run("tmux " + line)
	}
	file := filepath.Join(s.dir, "wild.conf")
	if err := os.WriteFile(file, []byte(strings.Join(wildOptions, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.run("tmux source-file " + file)
	for range 3 {
		before := p.panes()
		p.enter("tmux new-window")
		pollFor(t, patience, "the new window", func() (bool, any) {
			now := p.panes()
			return len(now) > 0 && !slices.Equal(now, before), now
		})
		p.waitPrompt()
	}
	// With it on, tmux itself ends a session made with -d before anybody can attach.
	p.run("tmux set -g destroy-unattached off")
	for i := range 3 {
		p.run(fmt.Sprintf("tmux new-session -d -s extra%d", i))
	}
	p.waitCount("tabs, three sessions made by hand", 4, func() int { return len(p.list()) })
	for range 3 {
		p.openTab()
	}
	// The two commands that are to keep working.
	p.run("tmux set -gu window-size")
	p.run("tmux set -w window-size manual")

	before := len(s.tabs())
	pids := s.tmuxServers()
	s.stop()
	if got := s.tmuxServers(); len(got) != len(pids) {
		t.Fatalf("tmux servers %v after our server left, before %v", got, pids)
	}
	s.restart()
	p.waitLive()
	pollTabs := func(what string, want int) { t.Helper(); p.waitCount(what, want, func() int { return len(s.tabs()) }) }
	pollTabs("tabs after the restart", before)
	p.selectTab(first)
	p.waitLive()
	p.enter("tmux select-window -t :^")
	pollFor(t, patience, "the history", func() (bool, any) {
		rows := p.scrollback()
		return slices.Contains(rows, "history-51"), fmt.Sprintf("%d rows", len(rows))
	})
	p.run("echo lives")
}

// TestSizeOptionsTypedByHand is R089: both commands act on the tab's own server.
func TestSizeOptionsTypedByHand(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	if got := p.run("tmux set -gu window-size && tmux set -w window-size manual && tmux show -wv window-size"); !slices.Equal(got, []string{"manual"}) {
		t.Errorf("tmux says %q", got)
	}
	cols, rows := p.size()
	p.resize(700, 500)
	p.waitOtherSize(cols, rows)
	c, r := p.sttySize()
	if pc, pr := p.size(); c != pc || r != pr {
		t.Errorf("shell %dx%d, page %dx%d", c, r, pc, pr)
	}
}
