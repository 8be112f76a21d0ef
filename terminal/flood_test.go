package terminal_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/browsertabs/tabs/terminal"
	"github.com/browsertabs/tabs/terminal/terminaltest"
)

// flood writes at 20 MB/s for a while.
func (b *bench) flood(d time.Duration) {
	chunk := lines(512) // 16 KiB
	for began := time.Now(); time.Since(began) < d; time.Sleep(time.Millisecond) {
		b.src.Emit(1, chunk)
	}
}

func TestFloodIsSampled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		g := b.open()
		b.flood(time.Second)
		synctest.Wait()
		if n := len(b.src.Calls("pause")); n < 5 {
			t.Errorf("paused %d times", n)
		}
		if dropped, total := b.src.Dropped(), len(b.src.Shown(1)); dropped < total*8/10 {
			t.Errorf("%d of %d bytes were sampled away", dropped, total)
		}
		if n := g.Snapshots(1); n < 8 || n > 20 {
			t.Errorf("%d screens in a second", n)
		}
		b.src.Emit(1, "prompt")
		time.Sleep(300 * time.Millisecond)
		b.same(g)
		snapshots := g.Snapshots(1)
		b.src.Emit(1, "live again")
		b.same(g)
		if g.Snapshots(1) != snapshots {
			t.Error("the flood goes on")
		}
	})
}

func TestFloodEndsWithOneFullSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, withScreen)
		g := b.open()
		before := len(b.src.Calls("capture 1 1000"))
		b.flood(time.Second)
		if n := len(b.src.Calls("capture 1 1000")) - before; n != 0 {
			t.Errorf("%d captures of the history during the flood", n)
		}
		time.Sleep(time.Second)
		if n := len(b.src.Calls("capture 1 1000")) - before; n != 1 {
			t.Errorf("%d captures of the history after the flood", n)
		}
		if !g.View(1).Full {
			t.Error("no history after the flood")
		}
	})
}

func TestFloodWithoutViewersStaysPaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.flood(2 * time.Second)
		if n := len(b.src.Calls("capture")); n > 4 {
			t.Errorf("%d samples for nobody in 2 s", n)
		}
		g := b.open() // comes while it is paused
		b.src.Emit(1, "prompt")
		time.Sleep(2 * time.Second)
		b.same(g)
	})
}

func TestKeyDuringFloodShowsSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		g := b.open()
		b.flood(500 * time.Millisecond)
		n := g.Snapshots(1)
		g.Type(1, 0, "\x03")
		b.src.Emit(1, "^C prompt")
		time.Sleep(20 * time.Millisecond)
		synctest.Wait()
		if g.Snapshots(1) == n || !strings.HasSuffix(string(g.View(1).Bytes), "^C prompt") {
			t.Error("the prompt does not show within 20 ms")
		}
	})
}

func TestPauseByTmuxIsAGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		g := b.open()
		b.src.Emit(1, "before")
		synctest.Wait()
		b.src.PauseByTmux(1)
		b.src.Emit(1, " lost")
		b.src.Emit(1, " after")
		time.Sleep(time.Second)
		b.same(g)
		b.src.Emit(1, " live")
		b.same(g)
	})
}

func TestPauseDuringCaptureKeepsOthersExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		g := b.open()
		b.src.Hold()
		late := b.open(as("latecome"))
		b.flood(300 * time.Millisecond)
		b.src.Release()
		time.Sleep(time.Second)
		b.src.Emit(1, "end")
		b.same(g)
		b.same(late)
	})
}

func TestResumeGoesOnWithoutASnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		g := b.open()
		b.src.Emit(1, "one ")
		synctest.Wait()
		stream, offset := g.Texts("welcome")[0]["stream"].(string), g.Offset(1)
		seen := string(g.View(1).Bytes)
		g.Vanish()
		<-g.left
		b.src.Emit(1, "two ")
		b.src.Emit(1, "three")
		g = b.open(func(h *terminal.Hello) {
			h.Stream, h.Panes = stream, map[terminal.PaneID]uint64{1: offset}
		})
		v := g.View(1)
		if v.Snapshots != 0 || seen+string(v.Bytes) != "one two three" {
			t.Errorf("%d snapshots, then %q", v.Snapshots, v.Bytes)
		}
		if len(v.Resizes) != 1 || v.Resizes[0] != size80 {
			t.Errorf("resizes %v", v.Resizes)
		}
		// Another stream, an offset that is gone or one that never was: a snapshot.
		for _, h := range []terminal.Hello{
			{Stream: "other", Panes: map[terminal.PaneID]uint64{1: offset}},
			{Stream: stream, Panes: map[terminal.PaneID]uint64{1: 1 << 40}},
			{Stream: stream, Panes: map[terminal.PaneID]uint64{7: 1}},
		} {
			g := b.open(func(to *terminal.Hello) { to.Stream, to.Panes, to.Input = h.Stream, h.Panes, "" })
			if g.Snapshots(1) == 0 {
				t.Errorf("%+v resumed", h)
			}
			b.same(g)
		}
	})
}

// A viewer that missed a resize gets it at its place in the stream, and is then made exact.
func TestResumeOverAResizeRepaints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, withScreen)
		g := b.open()
		stream, offset := g.Texts("welcome")[0]["stream"].(string), g.Offset(1)
		g.Vanish()
		<-g.left
		b.src.Emit(1, "before")
		b.src.Windows(terminaltest.OneWindow(terminal.Size{Cols: 60, Rows: 10}, 1))
		b.src.Emit(1, "after")
		g = b.connect(func(h *terminal.Hello) {
			h.Stream, h.Panes, h.Scrollback = stream, map[terminal.PaneID]uint64{1: offset}, 0
		})
		time.Sleep(time.Second)
		if v := g.View(1); v.Snapshots != 0 || v.Repaints == 0 {
			t.Errorf("%d snapshots and %d repaints", v.Snapshots, v.Repaints)
		}
	})
}

func TestIdleRingIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		g := b.open()
		b.src.Emit(1, lines(1000))
		synctest.Wait()
		stream, offset := g.Texts("welcome")[0]["stream"].(string), g.Offset(1)
		time.Sleep(time.Minute)
		g.Vanish()
		g = b.connect(func(h *terminal.Hello) {
			h.Stream, h.Panes = stream, map[terminal.PaneID]uint64{1: offset}
		})
		b.src.Emit(1, "more")
		synctest.Wait()
		if v := g.View(1); v.Snapshots != 0 || string(v.Bytes) != "more" {
			t.Errorf("%d snapshots, then %q", v.Snapshots, v.Bytes)
		}
	})
}
