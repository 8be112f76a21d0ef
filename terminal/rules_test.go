package terminal_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/browsertabs/tabs/terminal"
	"github.com/browsertabs/tabs/terminal/terminaltest"
)

// The rules of the byte path, as docs/ARCHITECTURE.md numbers them; where a rule is a time, a benchmark has the number.

func TestRule1TwoGoroutinesPerViewer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		synctest.Wait()
		before := runtime.NumGoroutine()
		for i := range 10 {
			b.open(as(fmt.Sprintf("viewer-%d", i)[:8] + "000"))
		}
		if n := runtime.NumGoroutine() - before; n > 20 {
			t.Errorf("10 viewers take %d goroutines", n)
		}
	})
}

func TestRule1OutputAllocatesNothingPerByte(t *testing.T) {
	src := terminaltest.NewSource(size80)
	term := terminal.New(terminal.Config{Source: src})
	go term.Run(context.Background()) //nolint:errcheck // ends with Close
	c := newSink()
	served := make(chan error)
	go func() {
		served <- term.Serve(context.Background(), c, terminal.Hello{Protocol: 1}, terminal.ViewerConfig{})
	}()
	wait := func(n int) {
		for n > 0 {
			n -= <-c.got
		}
	}
	<-c.got // the snapshot
	data := []byte(strings.Repeat("some output\r\n", 100))
	send := func() {
		term.Output(1, data)
		wait(len(data))
	}
	for range 100 {
		send()
	}
	if n := testing.AllocsPerRun(200, send); n > 1 { // a pool may be emptied by the collector at any time
		t.Errorf("%.1f allocations for %d bytes of output", n, len(data))
	}
	if err := term.Close(context.Background()); err != nil {
		t.Error(err)
	}
	<-served
}

// sink is a connection that counts output and acks it.
type sink struct {
	got  chan int
	acks chan uint64
	done chan struct{}
	ack  [13]byte
}

func newSink() *sink {
	return &sink{got: make(chan int, 64), acks: make(chan uint64, 64), done: make(chan struct{}), ack: [13]byte{0x13, 0, 0, 0, 1}}
}

func (s *sink) Read(context.Context) (bool, []byte, error) {
	select {
	case <-s.done:
		return false, nil, errors.New("closed")
	case offset := <-s.acks:
		binary.BigEndian.PutUint64(s.ack[5:], offset)
		return true, s.ack[:], nil
	}
}

func (s *sink) Write(_ context.Context, bin bool, data []byte) error {
	if !bin {
		return nil
	}
	offset := binary.BigEndian.Uint64(data[5:])
	n := 0
	if data[0] == 0x01 {
		n = len(data) - 13
	}
	s.acks <- offset + uint64(n)
	s.got <- n
	return nil
}

func (s *sink) Close(int, string) error {
	close(s.done)
	return nil
}

func TestRule2InFlightIsBoundedAndLagDropsToSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		g := b.open()
		g.AckNothing()
		for range 50 {
			b.src.Emit(1, lines(64)) // 2 KiB
		}
		synctest.Wait()
		if n := len(g.View(1).Bytes); n != 64<<10 {
			t.Errorf("%d bytes in flight without an ack", n)
		}
		snapshots := g.View(1).Snapshots
		for range 200 {
			b.src.Emit(1, lines(64))
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		v := g.View(1)
		if v.Snapshots != snapshots+1 {
			t.Errorf("%d snapshots for a page %d bytes behind", v.Snapshots-snapshots, len(b.src.Shown(1))-64<<10)
		}
		g.Ack(1, v.Offset)
		time.Sleep(2 * time.Second)
		g.Ack(1, g.View(1).Offset)
		synctest.Wait()
		for range 20 { // what a page that parses again acks
			g.Ack(1, g.View(1).Offset)
			synctest.Wait()
		}
		b.same(g)
	})
}

func TestRule2WindowGrowsOnlyWithMeasuredRate(t *testing.T) {
	inFlight := func(t *testing.T, bytesPerSecond int) (most int) {
		synctest.Test(t, func(t *testing.T) {
			b := start(t)
			g := b.open()
			g.AckNothing()
			acked, snapshots := g.Offset(1), g.Snapshots(1)
			chunk := []byte(lines(512)) // 16 KiB a tick, below a flood
			for range 600 {
				b.src.Stream(1, chunk)
				time.Sleep(4 * time.Millisecond)
				if n := g.Snapshots(1); n != snapshots {
					acked, snapshots = g.Offset(1), n
				}
				g.Forget(1)
				most = max(most, int(g.Offset(1)-acked))
				acked = min(g.Offset(1), acked+uint64(bytesPerSecond/250))
				g.Ack(1, acked)
			}
		})
		return most
	}
	if n := inFlight(t, 1<<20); n > 68<<10 {
		t.Errorf("%d bytes in flight to a page of 1 MB/s", n)
	}
	if n := inFlight(t, 100<<20); n > 600<<10 {
		t.Errorf("%d bytes in flight to a fast page", n)
	}
}

func TestRule3StalledViewerCostsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		good := b.open(as("goodgood"))
		bad := b.open(as("stalled0"))
		bad.Stall()
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		chunk := []byte(lines(512))
		begin := time.Now()
		total := 0
		for time.Since(begin) < 60*time.Second {
			b.src.Stream(1, chunk)
			total += len(chunk)
			time.Sleep(50 * time.Millisecond)
			good.Forget(1)
		}
		synctest.Wait()
		if code, _ := bad.Closed(); code != 0 {
			t.Errorf("closed with %d", code)
		}
		if n, size := good.Received(); size < total/2 {
			t.Errorf("the other viewer got %d of %d bytes in %d frames", size, total, n)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 2<<20 {
			t.Errorf("memory grew by %d bytes", grown)
		}
		bad.Unstall()
	})
}

func TestRule4EchoWaitsForNoTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(s *terminaltest.Source, _ *terminal.Config) { s.Echo = true })
		g := b.open()
		offset := uint64(0)
		began := time.Now()
		for _, key := range strings.Split("echo hello", "") {
			g.Type(1, offset, key)
			offset++
			b.same(g)
		}
		if d := time.Since(began); d != 0 {
			t.Errorf("ten echoes waited for %v", d)
		}
		frames, _ := g.Received()
		if frames > 2+10+10 { // the snapshots, the echoes, the acks
			t.Errorf("%d frames", frames)
		}
	})
}

func TestRule4OutputIsCoalescedWhileAWriteIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		g := b.open()
		before, _ := g.Received()
		g.Stall()
		for range 100 {
			b.src.Emit(1, "x")
		}
		synctest.Wait()
		g.Unstall()
		b.same(g)
		if frames, _ := g.Received(); frames-before > 2 {
			t.Errorf("%d frames for what came during one write", frames-before)
		}
	})
}

func TestRule5FloodDelaysNoOtherPane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(s *terminaltest.Source, _ *terminal.Config) {
			s.SetAttached(terminal.Attached{Windows: terminaltest.OneWindow(size80, 1, 2)})
		})
		g := b.open()
		g.Stall()
		for range 20 {
			b.src.Emit(1, lines(256))
		}
		b.src.Emit(2, "echo")
		synctest.Wait()
		before, _ := g.Received()
		g.Unstall()
		synctest.Wait()
		if got := string(g.View(2).Bytes); got != "echo" {
			t.Fatalf("pane 2 shows %q", got)
		}
		_ = before
		b.same(g)
	})
}

func TestRule6ScreenFirstThenHistoryInOneCapture(t *testing.T) {
	const long = 80 * time.Millisecond // that tmux takes for a long history
	synctest.Test(t, func(t *testing.T) {
		b := start(t, withScreen, func(s *terminaltest.Source, _ *terminal.Config) {
			screen := s.CaptureFunc
			s.CaptureFunc = func(p terminal.PaneID, o terminal.CaptureOptions) (terminal.Capture, error) {
				if o.History > 0 {
					time.Sleep(long)
				}
				return screen(p, o)
			}
		})
		began := time.Now()
		b.src.Hold()
		var guests []*guest
		for i := range 5 {
			guests = append(guests, b.open(as(fmt.Sprintf("viewer00%d", i))))
		}
		b.src.Release()
		synctest.Wait()
		for _, g := range guests {
			if v := g.View(1); v.Snapshots != 1 || v.Full || time.Since(began) != 0 {
				t.Errorf("at first %d snapshots, history %v, after %v", v.Snapshots, v.Full, time.Since(began))
			}
		}
		time.Sleep(3 * long)
		for _, g := range guests {
			if v := g.View(1); v.Snapshots != 2 || !v.Full {
				t.Errorf("then %d snapshots, history %v", v.Snapshots, v.Full)
			}
		}
		if calls := b.src.Calls("capture 1 1000"); len(calls) > 2 {
			t.Errorf("%d captures of the history for five viewers", len(calls))
		}
	})
}

func TestHistoryIsAsLongAsEachViewerWants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		b := start(t, withScreen, func(s *terminaltest.Source, _ *terminal.Config) {
			screen := s.CaptureFunc
			s.CaptureFunc = func(p terminal.PaneID, o terminal.CaptureOptions) (terminal.Capture, error) {
				if o.History > 0 {
					time.Sleep(80 * time.Millisecond)
					asked.Store(int64(o.History))
				}
				return screen(p, o)
			}
		})
		depth := func(n int) func(*terminal.Hello) { return func(h *terminal.Hello) { h.Scrollback = n } }
		b.src.Hold()
		b.open(as("shallow0"), depth(10))
		deep := b.open(as("deepdeep"), depth(90))
		b.src.Release()
		time.Sleep(time.Second)
		if asked.Load() != 90 || deep.Snapshots(1) < 2 || !deep.View(1).Full {
			t.Errorf("asked for %d lines; %d snapshots", asked.Load(), deep.Snapshots(1))
		}
	})
}

func TestPageThatLeftBeforeItWasMadeExactGetsASnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, withScreen)
		g := b.open()
		time.Sleep(time.Second)
		b.src.Windows(terminaltest.OneWindow(terminal.Size{Cols: 60, Rows: 10}, 1))
		synctest.Wait()
		stream, offset := g.Texts("welcome")[0]["stream"].(string), g.Offset(1)
		g.Vanish()
		<-g.left
		resume := func(h *terminal.Hello) { h.Stream, h.Panes = stream, map[terminal.PaneID]uint64{1: offset} }
		g = b.open(resume)
		if g.Snapshots(1) == 0 {
			t.Error("it resumed with a screen that was never repainted")
		}
		time.Sleep(time.Second)
		offset = g.Offset(1)
		g.Vanish()
		<-g.left
		if g = b.open(resume); g.Snapshots(1) != 0 {
			t.Error("a page that was exact could not resume")
		}
	})
}

// withScreen answers captures with tmux's variables and a screen, of which the history is longer.
func withScreen(s *terminaltest.Source, _ *terminal.Config) {
	s.CaptureFunc = func(_ terminal.PaneID, o terminal.CaptureOptions) (terminal.Capture, error) {
		c := terminal.Capture{Vars: map[string]string{
			"pane_width": "80", "pane_height": "24", "history_size": "100", "wrap_flag": "1", "cursor_flag": "1",
		}}
		c.Screen = []byte("screen" + strings.Repeat("\n", 23))
		if o.History > 0 {
			c.Screen = append([]byte(strings.Repeat("history\n", 100)), c.Screen...)
		}
		return c, nil
	}
}

func TestRule7InputIsTakenExactlyOnce(t *testing.T) {
	for seed := range uint64(30) {
		synctest.Test(t, func(t *testing.T) { exactlyOnce(t, rand.New(rand.NewPCG(seed, 7))) })
	}
}

// exactlyOnce types a text over connections that break at random, and over servers that restart at random, as a page
// does: it sends again from where it is told. All must arrive, once, in order.
func exactlyOnce(t *testing.T, rnd *rand.Rand) {
	text := strings.Repeat("abcdefghijklmnopqrstuvwxyz0123456789", 40)
	b := start(t)
	g := b.open()
	sent := 0
	for sent < len(text) || g.InputAck() < uint64(len(text)) {
		n := min(1+rnd.IntN(50), len(text)-sent)
		if n > 0 {
			g.Type(1, uint64(sent), text[sent:sent+n])
			sent += n
		}
		switch rnd.IntN(8) {
		case 0: // the connection breaks, perhaps with frames unread
			if rnd.IntN(2) == 0 {
				synctest.Wait()
			}
			g.Vanish()
			<-g.left
		case 1: // tmux is slow
			b.src.Hold()
			continue
		case 2: // the server restarts, with the same tmux
			if err := b.term.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			<-g.left
			old := b.src
			keys, mark := old.Keys(1), old.Mark()
			b = start(t, func(s *terminaltest.Source, _ *terminal.Config) {
				s.SetAttached(terminal.Attached{InputMark: mark, Windows: terminaltest.OneWindow(size80, 1)})
				s.SendKeys(1, []byte(keys), mark, nil)
			})
		default:
			synctest.Wait()
			continue
		}
		b.src.Release()
		g = b.open()
		welcome := g.Texts("welcome")
		if len(welcome) == 0 {
			t.Fatal("no welcome")
		}
		sent = int(welcome[0]["inputOffset"].(float64))
	}
	b.src.Release()
	synctest.Wait()
	if got := b.src.Keys(1); got != text {
		t.Fatalf("tmux got %d bytes, want %d: %q", len(got), len(text), got)
	}
}

func TestRule7InputIsRefusedVisibly(t *testing.T) {
	mode := func(p terminal.PaneState) func(*bench) { return func(b *bench) { b.src.State(p) } }
	for _, c := range []struct {
		name   string
		set    func(*bench)
		hello  func(*terminal.Hello)
		pane   terminal.PaneID
		offset uint64
		reason string
	}{
		{name: "hole", offset: 10, reason: "hole"},
		{name: "no such pane", pane: 9, reason: "pane_gone"},
		{name: "copy mode", set: mode(terminal.PaneState{Pane: 1, Mode: "copy-mode"}), reason: "pane_mode"},
		{name: "dead", set: mode(terminal.PaneState{Pane: 1, Dead: true}), reason: "pane_dead"},
		{name: "zoomed away", pane: 1, reason: "pane_gone", set: func(b *bench) { b.src.Windows(terminaltest.OneWindow(size80, 2)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := start(t)
				g := b.open()
				if c.set != nil {
					c.set(b)
					synctest.Wait()
				}
				g.Type(max(c.pane, 1), c.offset, "rm -r\r")
				synctest.Wait()
				refused := g.Texts("inputRefused")
				if len(refused) != 1 || refused[0]["reason"] != c.reason || refused[0]["offset"] != float64(c.offset+6) {
					t.Fatalf("refused %v", refused)
				}
				if got := b.src.Keys(1) + b.src.Keys(9); got != "" {
					t.Errorf("delivered %q", got)
				}
				if want := fmt.Sprintf("%s:%d", inputID, c.offset+6); !strings.Contains(b.src.Mark(), want) {
					t.Errorf("tmux remembers %q, not %s", b.src.Mark(), want)
				}
				// What follows goes on.
				b.src.State(terminal.PaneState{Pane: 1})
				b.src.Windows(terminaltest.OneWindow(size80, 1))
				synctest.Wait()
				g.Type(1, c.offset+6, "ok")
				synctest.Wait()
				if got := b.src.Keys(1); got != "ok" {
					t.Errorf("then delivered %q", got)
				}
			})
		})
	}
}

func TestRule7PasteIsTakenAsAWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		g := b.open()
		text := "one\ntwo\tthree\x1b[201~; rm -r\x03 \u0085caf\u00e9 \u4e16\r"
		want := "one\ntwo\tthree[201~; rm -r caf\u00e9 \u4e16\r"
		for i := range len(text) {
			g.Paste(1, uint64(i), i == len(text)-1, text[i:i+1])
			if i == len(text)/2 {
				synctest.Wait()
				if b.src.Keys(1) != "" || g.InputAck() != 0 {
					t.Error("half a paste was taken")
				}
			}
		}
		synctest.Wait()
		if got := b.src.Keys(1); got != want {
			t.Errorf("pasted %q, want %q", got, want)
		}
		if g.InputAck() != uint64(len(text)) {
			t.Errorf("acked %d", g.InputAck())
		}
		// A paste that breaks off is sent again from its start.
		g.Paste(1, uint64(len(text)), false, "half ")
		synctest.Wait()
		g.Vanish()
		<-g.left
		g = b.open()
		from := g.Texts("welcome")[0]["inputOffset"].(float64)
		if from != float64(len(text)) {
			t.Fatalf("resend from %v", from)
		}
		g.Paste(1, uint64(from), true, "whole")
		synctest.Wait()
		if got := b.src.Keys(1); got != want+"whole" {
			t.Errorf("pasted %q", got)
		}
	})
}

func TestRule8SizeBelongsToOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		last := func() terminal.Size {
			synctest.Wait()
			s := b.src.Sizes()
			if len(s) == 0 {
				return terminal.Size{}
			}
			return s[len(s)-1]
		}
		expect := func(what string, cols, rows int) {
			t.Helper()
			if got := last(); got != (terminal.Size{Cols: cols, Rows: rows}) {
				t.Fatalf("%s: size %v, want %dx%d", what, got, cols, rows)
			}
		}
		ro := b.open(as("readonly"), sized(33, 33), readOnly)
		if n := len(b.src.Sizes()); n != 0 {
			t.Fatal("a read-only viewer resized")
		}
		desk := b.open(as("desktop0"), sized(200, 50))
		expect("first viewer with a size", 200, 50)
		phone := b.open(as("phone000"), sized(40, 20))
		expect("second viewer", 200, 50)
		phone.Send(false, `{"type":"resize","cols":41,"rows":21}`)
		ro.Send(false, `{"type":"takeSize"}`)
		expect("others resize", 200, 50)
		desk.Type(1, 0, "x")
		time.Sleep(4 * time.Second)
		phone.Type(1, 0, "x")
		expect("typing while the owner was active", 200, 50)
		time.Sleep(2 * time.Second)
		phone.Type(1, 1, "x")
		expect("typing after the owner was idle", 41, 21)
		desk.Send(false, `{"type":"takeSize"}`)
		expect("taken", 200, 50)
		if m := desk.Texts("size"); m[len(m)-1]["mine"] != true || m[len(m)-1]["ownerName"] != "desktop0" {
			t.Errorf("owner is told %v", m[len(m)-1])
		}
		if m := phone.Texts("size"); m[len(m)-1]["mine"] != false {
			t.Errorf("other is told %v", m[len(m)-1])
		}
		desk.Vanish()
		time.Sleep(time.Second)
		expect("owner left", 41, 21)
	})
}

func TestRule8OwnerThatReloadsKeepsTheSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		desk := b.open(as("desktop0"), sized(200, 50))
		b.open(as("phone000"), sized(40, 20))
		n := len(b.src.Sizes())
		desk.Vanish()
		time.Sleep(300 * time.Millisecond)
		b.open(as("desktop1"), sized(200, 50))
		time.Sleep(5 * time.Second)
		if sizes := b.src.Sizes(); len(sizes) != n {
			t.Errorf("sizes after a reload: %v", sizes[n:])
		}
	})
}

func TestRule8ResizeSettlesInThreeMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, withScreen)
		g := b.open(sized(100, 30))
		time.Sleep(time.Second)
		texts := len(g.Types())
		resizes := len(g.View(1).Resizes)
		g.Send(false, `{"type":"resize","cols":90,"rows":25}`)
		time.Sleep(time.Second)
		if n := len(g.Types()) - texts + len(g.View(1).Resizes) - resizes; n > 3 {
			t.Errorf("%d messages: %v", n, g.Types()[texts:])
		}
		if v := g.View(1); v.Repaints != 2 { // of the size in hello, and of this one
			t.Errorf("%d repaints after the resize settled", v.Repaints)
		}
	})
}

func TestRule8ResizeStormReachesTmuxOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		g := b.open(sized(100, 30))
		b.src.Hold()
		for i := range 50 {
			g.Send(false, fmt.Sprintf(`{"type":"resize","cols":%d,"rows":20}`, 50+i))
			synctest.Wait()
		}
		b.src.Release()
		synctest.Wait()
		sizes := b.src.Sizes()
		if len(sizes) != 3 || sizes[2].Cols != 99 {
			t.Errorf("sizes %v", sizes)
		}
	})
}

func TestRule9DeadViewersAreNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		silent := b.open(as("silent00"))
		stuck := b.open(as("stuck000"))
		alive := b.open(as("alive000"))
		stuck.Stall()
		b.src.Emit(1, "x")
		for range 20 {
			time.Sleep(10 * time.Second)
			alive.Send(false, `{"type":"ping","t":1}`)
			select {
			case stuckPing := <-stuck.left:
				_ = stuckPing
			default:
				stuck.Send(false, `{"type":"ping","t":1}`)
			}
		}
		synctest.Wait()
		if n := len(alive.Texts("pong")); n != 20 {
			t.Errorf("%d pongs", n)
		}
		for name, g := range map[string]*guest{"silent": silent, "stuck": stuck} {
			if code, _ := g.Closed(); code != terminal.CloseStalled {
				t.Errorf("%s viewer closed with %d", name, code)
			}
		}
		if s := b.term.Summary(); s.Viewers != 1 {
			t.Errorf("%d viewers", s.Viewers)
		}
	})
}
