package terminal_test

import (
	"slices"
	"testing"
	"testing/synctest"
)

func TestOutputAndInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.src.Emit(1, "before ")
		g := b.open(sized(100, 30))
		b.src.Emit(1, "after")
		b.same(g)
		if got := g.Types(); got[0] != "welcome" || !slices.Contains(got, "size") || !slices.Contains(got, "layout") || !slices.Contains(got, "pane") {
			t.Errorf("texts %v", got)
		}
		g.Type(1, 0, "ls\r")
		synctest.Wait()
		if got := b.src.Keys(1); got != "ls\r" {
			t.Errorf("keys %q", got)
		}
		if g.InputAck() != 3 {
			t.Errorf("input ack %d", g.InputAck())
		}
		if got := b.src.Sizes(); len(got) != 1 || got[0].Cols != 100 {
			t.Errorf("sizes %v", got)
		}
	})
}
