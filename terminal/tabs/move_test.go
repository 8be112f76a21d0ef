package tabs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/terminal"
)

func (r *running) do(id string, op terminal.Op) {
	r.t.Helper()
	term, err := r.Terminal(r.t.Context(), sandbox.LocalID, id)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := term.Do(r.t.Context(), op); err != nil {
		r.t.Fatalf("%+v: %v", op, err)
	}
}

// knows waits until the tab's source knows of this many panes.
func (r *running) knows(id string, panes int) {
	r.t.Helper()
	_, t, err := r.find(r.t.Context(), sandbox.LocalID, id)
	if err != nil {
		r.t.Fatal(err)
	}
	until(r.t, fmt.Sprintf("%d panes are known", panes), func() bool { return len(t.src.(*source).targets().panes) == panes })
}

// counter is a program that tells lost state: it counts what it is given, in a mode that tmux does not tell.
var counter = []string{"bash", "--noprofile", "--norc", "-c",
	`n=0; while read -r x; do n=$((n+1)); [ $n = 1 ] && printf '\e[?2004h'; echo "line-$n:$x."; done`}

func TestBreakOutAndJoin(t *testing.T) {
	m := newMachine(t)
	r := m.boot()
	v, other := r.open(OpenOptions{Command: counter}), r.open(OpenOptions{})
	r.do(v.ID, terminal.Op{Name: "splitPane", Pane: 0, Direction: "right"})
	r.knows(v.ID, 2)
	p := r.look(v.ID, "page0001")
	p.types(0, "a\n")
	p.sees(0, "line-1:a.")
	pid := r.tmux(v.ID, "display-message", "-p", "-t", "%0", "#{pane_pid}")
	until(t, "the program's modes are stored", func() bool {
		return r.tmux(v.ID, "display-message", "-p", "-t", "%0", "#{"+terminal.ModesOption+"}") != ""
	})

	n, err := r.BreakOut(t.Context(), sandbox.LocalID, v.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	if n.Server != v.Server || n.ID == v.ID || n.Order != 1 {
		t.Errorf("broken out: %+v", n)
	}
	if list := r.list(); len(list) != 3 || list[0].ID != v.ID || list[1].ID != n.ID || list[2].ID != other.ID {
		t.Errorf("tabs %+v", list)
	}
	r.knows(v.ID, 1)
	q := r.look(n.ID, "page0002")
	q.sees(0, "line-1:a.")
	if got := string(q.View(0).Bytes); !strings.Contains(got, "\x1b[?2004h") {
		t.Errorf("the pane lost its mode: %q", got)
	}
	q.types(0, "b\n")
	q.sees(0, "line-2:b.")
	if got := r.tmux(v.ID, "list-panes", "-t", n.ID, "-F", "#{pane_id} #{pane_pid} #{window_width}x#{window_height}"); got != "%0 "+pid+" 80x24" {
		t.Errorf("the new session has %q, want pane %%0, process %s, 80x24", got, pid)
	}
	if got := r.tmux(v.ID, "show-options", "-gv", "window-size"); got == "manual" {
		t.Error("window-size is manual for all, on which tmux dies")
	}

	// Our server finds both again, and knows at once which panes they have.
	r.shutDown()
	r = m.boot()
	if list := r.list(); len(list) != 3 || list[1].ID != n.ID || list[1].Server != v.Server {
		t.Errorf("after a restart: %+v", list)
	}
	r.knows(n.ID, 1)
	p = r.look(v.ID, "page0003")
	w, err := r.Join(t.Context(), sandbox.LocalID, v.ID, Join{From: n.ID, Direction: "left"})
	if err != nil || w.ID != v.ID {
		t.Fatalf("join: %+v, %v", w, err)
	}
	until(t, "the joined tab is gone", func() bool { return len(r.list()) == 2 })
	r.knows(v.ID, 2)
	p.sees(0, "line-2:b.")
	until(t, "the pane's mode came along", func() bool { return strings.Contains(string(p.View(0).Bytes), "\x1b[?2004h") })
	p.types(0, "c\n")
	p.sees(0, "line-3:c.")
	if got := r.tmux(v.ID, "list-panes", "-t", "%0", "-F", "#{pane_id}@#{pane_left}"); !strings.HasPrefix(got, "%0@0\n") {
		t.Errorf("panes %q, want %%0 on the left", got)
	}
	if _, ok := m.records.get(n.ID); ok {
		t.Error("the joined tab's record was kept: it would be offered for revival")
	}
}

func TestMovesRefused(t *testing.T) {
	r := newMachine(t).boot()
	v, other, plain := r.open(OpenOptions{}), r.open(OpenOptions{}), r.open(OpenOptions{Plain: true})
	_, err := r.BreakOut(t.Context(), sandbox.LocalID, v.ID, 0)
	wantCode(t, err, sandbox.CodeInvalidRequest, "pane") // alone
	_, err = r.BreakOut(t.Context(), sandbox.LocalID, v.ID, 9)
	wantCode(t, err, sandbox.CodeInvalidRequest, "pane")
	_, err = r.BreakOut(t.Context(), sandbox.LocalID, plain.ID, 0)
	wantCode(t, err, sandbox.CodeNotSupported, "")
	_, err = r.BreakOut(t.Context(), sandbox.LocalID, "tab_nobody", 0)
	wantCode(t, err, sandbox.CodeNotFound, "")
	nine := terminal.PaneID(9)
	for _, tt := range []struct {
		j           Join
		code, field string
	}{
		{Join{From: other.ID}, sandbox.CodeNotSupported, ""},
		{Join{From: plain.ID}, sandbox.CodeNotSupported, ""},
		{Join{From: v.ID}, sandbox.CodeInvalidRequest, "from"},
		{Join{From: "tab_nobody"}, sandbox.CodeNotFound, ""},
		{Join{From: other.ID, Direction: "in"}, sandbox.CodeInvalidRequest, "direction"},
	} {
		_, err := r.Join(t.Context(), sandbox.LocalID, v.ID, tt.j)
		wantCode(t, err, tt.code, tt.field)
	}
	r.do(v.ID, terminal.Op{Name: "splitPane", Pane: 0, Direction: "down"})
	r.knows(v.ID, 2)
	n, err := r.BreakOut(t.Context(), sandbox.LocalID, v.ID, 1)
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Join(t.Context(), sandbox.LocalID, v.ID, Join{From: n.ID, Pane: &nine})
	wantCode(t, err, sandbox.CodeInvalidRequest, "pane")
	_, err = r.Join(t.Context(), sandbox.LocalID, v.ID, Join{From: n.ID, Beside: &nine})
	wantCode(t, err, sandbox.CodeInvalidRequest, "beside")
	if len(r.list()) != 4 {
		t.Errorf("tabs %+v", r.list())
	}
}
