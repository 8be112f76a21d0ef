package terminal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/browsertabs/tabs/terminal"
	"github.com/browsertabs/tabs/terminal/terminaltest"
)

func TestBadInputIsNamedAndNobodyElseNotices(t *testing.T) {
	big := strings.Repeat("x", 17<<10)
	for name, c := range map[string]struct {
		binary bool
		frame  string
		code   int
		notice string
	}{
		"empty frame":         {true, "", terminal.CloseBadFrame, ""},
		"garbage":             {true, "\xff\xfe\x00garbage", terminal.CloseBadFrame, ""},
		"frame of the server": {true, "\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00x", terminal.CloseBadFrame, ""},
		"short input":         {true, "\x11\x00\x00", terminal.CloseBadFrame, ""},
		"long ack":            {true, "\x13\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00x", terminal.CloseBadFrame, ""},
		"paste without flags": {true, "\x12\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00", terminal.CloseBadFrame, ""},
		"unknown paste flags": {true, "\x12\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\xf0", terminal.CloseBadFrame, ""},
		"offset out of range": {true, "\x11\x00\x00\x00\x01\xff\xff\xff\xff\xff\xff\xff\xffx", terminal.CloseBadFrame, ""},
		"too much input":      {true, "\x11\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00" + big, terminal.CloseBadFrame, ""},
		"huge frame":          {true, "\x11" + big + big, terminal.CloseTooBig, ""},
		"ack of the future":   {true, "\x13\x00\x00\x00\x01\x00\x00\xff\xff\xff\xff\xff\xff", 0, ""},
		"ack of no pane":      {true, "\x13\x00\x00\x00\x09\x00\x00\x00\x00\x00\x00\x00\x00", 0, ""},
		"not JSON":            {false, "hello", terminal.CloseBadFrame, ""},
		"unknown text":        {false, `{"type":"format-disk"}`, terminal.CloseBadFrame, ""},
		"second hello":        {false, `{"type":"hello","protocol":1}`, terminal.CloseBadFrame, ""},
		"wrong field":         {false, `{"type":"resize","cols":"many"}`, terminal.CloseBadFrame, ""},
		"resize to 0":         {false, `{"type":"resize","cols":0,"rows":24}`, 0, "bad_size"},
		"resize to -1":        {false, `{"type":"resize","cols":80,"rows":-1}`, 0, "bad_size"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := start(t)
				other := b.open(as("bystander"))
				types := len(other.Types())
				g := b.open()
				g.Send(c.binary, c.frame)
				synctest.Wait()
				code, reason := g.Closed()
				if code != c.code || code != 0 && reason == "" {
					t.Errorf("closed with %d %q, want %d", code, reason, c.code)
				}
				if n := g.Texts("notice"); c.notice != "" && (len(n) != 1 || n[0]["code"] != c.notice || n[0]["text"] == "") {
					t.Errorf("notices %v", n)
				}
				if n := len(b.src.Sizes()); n != 0 {
					t.Errorf("tmux was resized to %v", b.src.Sizes())
				}
				b.src.Emit(1, "still here")
				b.same(other)
				if got := other.Types()[types:]; len(got) != 0 {
					t.Errorf("the bystander was told %v", got)
				}
				if c.code != 0 && terminal.CloseCode(<-g.left) != c.code {
					t.Error("Serve does not say why")
				}
			})
		})
	}
}

func TestResizeIsClamped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		g := b.open()
		g.Send(false, `{"type":"resize","cols":100000,"rows":100000}`)
		synctest.Wait()
		g.Send(false, `{"type":"resize","cols":1,"rows":1}`)
		synctest.Wait()
		want := []terminal.Size{{Cols: 1000, Rows: 500}, {Cols: 2, Rows: 1}}
		if got := b.src.Sizes(); !slices.Equal(got, want) {
			t.Errorf("sizes %v", got)
		}
	})
}

// TestDeeperHistory is a page that wants more of a pane's history, as for a search, and later less.
func TestDeeperHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		g := b.open()
		for frame, want := range map[string]string{
			`{"type":"scrollback","pane":1,"lines":5000}`:   "capture 1 5000 false",
			`{"type":"scrollback","pane":1,"lines":900000}`: "capture 1 50000 false",
			`{"type":"scrollback","pane":9,"lines":5000}`:   "",
		} {
			g.Send(false, `{"type":"scrollback","pane":1,"lines":10}`)
			synctest.Wait()
			before := len(b.src.Calls(""))
			g.Send(false, frame)
			synctest.Wait()
			got := strings.Join(b.src.Calls("")[before:], "\n")
			if got != want {
				t.Errorf("%s: tmux was asked %q, want %q", frame, got, want)
			}
		}
		b.same(g)
	})
}

// TestClearedHistoryGoesEverywhere is one page that clears the history, and another that sees it gone.
func TestClearedHistoryGoesEverywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.open(as("bystander"))
		g := b.open()
		before := len(b.src.Calls("capture"))
		g.Send(false, `{"type":"do","id":1,"op":"clearHistory","pane":1}`)
		synctest.Wait()
		if d := g.Texts("done"); len(d) != 1 || d[0]["error"] != nil {
			t.Errorf("answered %v", d)
		}
		if got := b.src.Calls("capture")[before:]; len(got) != 1 || got[0] != "capture 1 1000 false" {
			t.Errorf("captures after it: %q, want one with the history, for both", got)
		}
	})
}

func TestHello(t *testing.T) {
	for in, code := range map[string]int{
		`{"type":"hello","protocol":1}`:                                  0,
		`{"type":"hello","protocol":1,"size":{"cols":0,"rows":0}}`:       0,
		`{"type":"hello","protocol":1,"input":"abcdefgh","future":"ok"}`: 0,
		`{"type":"hello","protocol":2}`:                                  terminal.CloseProtocol,
		`{"type":"hello"}`:                                               terminal.CloseProtocol,
		`{"type":"ping"}`:                                                terminal.CloseBadFrame,
		`hello`:                                                          terminal.CloseBadFrame,
		``:                                                               terminal.CloseBadFrame,
		`{"type":"hello","protocol":1,"input":"short"}`:                            terminal.CloseBadFrame,
		`{"type":"hello","protocol":1,"input":"has:colon and space"}`:              terminal.CloseBadFrame,
		`{"type":"hello","protocol":1,"panes":{"-1":5}}`:                           terminal.CloseBadFrame,
		`{"type":"hello","token":"` + strings.Repeat("x", 40<<10) + `"}`:           terminal.CloseTooBig,
		`{"type":"hello","protocol":1,"stream":"` + strings.Repeat("x", 99) + `"}`: terminal.CloseBadFrame,
	} {
		h, err := terminal.DecodeHello([]byte(in))
		got := 0
		if err != nil {
			got = terminal.CloseCode(err)
		}
		if got != code {
			t.Errorf("%.60s: close code %d (%v), want %d", in, got, err, code)
		}
		if err == nil && h.Size != nil {
			t.Errorf("%.60s: size %v taken", in, h.Size)
		}
	}
}

func TestOversizePasteIsRefusedWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		g := b.open()
		other := b.open(as("bystander"))
		piece := strings.Repeat("x", 16<<10)
		offset := uint64(0)
		for range 16<<20/len(piece) + 1 {
			g.Paste(1, offset, false, piece)
			offset += uint64(len(piece))
		}
		g.Paste(1, offset, true, "end")
		offset += 3
		synctest.Wait()
		if n := g.Texts("notice"); len(n) != 1 || n[0]["code"] != "paste_too_big" {
			t.Errorf("notices %v", n)
		}
		if r := g.Texts("inputRefused"); len(r) != 1 || r[0]["reason"] != "too_big" || r[0]["offset"] != float64(offset) {
			t.Errorf("refused %v", r)
		}
		g.Type(1, offset, "ok")
		synctest.Wait()
		if got := b.src.Keys(1); got != "ok" {
			t.Errorf("%d bytes delivered", len(got))
		}
		if len(other.Texts("notice")) != 0 {
			t.Error("the bystander was told")
		}
	})
}

func TestReadOnlyViewerTypesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		g := b.open(readOnly)
		g.Send(false, `{"type":"do","id":1,"op":"closePane","pane":1}`)
		synctest.Wait()
		if d := g.Texts("done"); len(d) != 1 || d[0]["error"] == nil {
			t.Errorf("done %v", d)
		}
		g.Type(1, 0, "rm -r\r")
		synctest.Wait()
		if b.src.Keys(1) != "" || len(b.src.Calls("do")) != 0 || len(b.src.Sizes()) != 0 {
			t.Error("a read-only viewer changed something")
		}
		if r := g.Texts("inputRefused"); len(r) != 1 || r[0]["reason"] != "read_only" {
			t.Errorf("refused %v", r)
		}
	})
}

func TestDoIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		g := b.open()
		g.Send(false, `{"type":"do","id":"a1","op":"splitPane","pane":1,"direction":"right"}`)
		g.Send(false, `{"type":"do","id":2,"op":"kill-server"}`)
		synctest.Wait()
		done := g.Texts("done")
		slices.SortFunc(done, func(a, b map[string]any) int { return strings.Compare(fmt.Sprint(b["id"]), fmt.Sprint(a["id"])) })
		if len(done) != 2 || done[0]["id"] != "a1" || done[0]["error"] != nil || done[1]["error"] == nil {
			t.Errorf("done %v", done)
		}
		if got := b.src.Calls("do"); len(got) != 1 {
			t.Errorf("did %v", got)
		}
	})
}

func TestTooManyViewers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		for i := range 64 {
			b.open(as(fmt.Sprintf("viewer%04d", i)))
		}
		g := b.open(as("onetoomany"))
		if code, _ := g.Closed(); code != terminal.CloseTooManyViewers {
			t.Errorf("closed with %d", code)
		}
	})
}

func TestViewerThatReadsNoTextsIsSentAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		other := b.open(as("bystander"))
		g := b.open()
		g.Stall()
		ping := fmt.Sprintf(`{"type":"ping","t":"%s"}`, strings.Repeat("x", 8<<10))
	loop:
		for range 200 {
			select {
			case <-g.left:
				break loop
			default:
				g.Send(false, ping)
				synctest.Wait()
			}
		}
		if code, _ := g.Closed(); code != terminal.CloseStalled {
			t.Errorf("closed with %d", code)
		}
		b.src.Emit(1, "x")
		b.same(other)
	})
}

// The order on the wire when a program ends: its last output, then its exit status, then the close.
func TestEndComesAfterTheLastOutput(t *testing.T) {
	for _, c := range []struct {
		name   string
		err    error
		dead   bool
		reason string
		code   int
	}{
		{"exited", nil, true, "exited", terminal.CloseTabGone},
		{"closed", nil, false, "closed", terminal.CloseTabGone},
		{"server gone", fmt.Errorf("read: %w", terminal.ErrServerGone), false, "server_gone", terminal.CloseServerGone},
		{"stream broke", errors.New("broken pipe"), false, "", terminal.CloseRestart},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := start(t)
				g := b.open()
				if c.dead {
					b.src.State(terminal.PaneState{Pane: 1, Dead: true, ExitCode: 3})
				}
				g.Stall()
				b.src.Emit(1, lines(1000)+"last words")
				b.src.End(c.err)
				synctest.Wait()
				g.Unstall()
				synctest.Wait()
				<-g.left
				if err := <-b.run; !errors.Is(err, c.err) {
					t.Errorf("Run returned %v", err)
				}
				if code, _ := g.Closed(); code != c.code {
					t.Errorf("closed with %d", code)
				}
				ended := g.Texts("ended")
				if c.reason == "" {
					if len(ended) != 0 {
						t.Errorf("ended %v", ended)
					}
					return
				}
				if len(ended) != 1 || ended[0]["reason"] != c.reason || c.dead && ended[0]["exitCode"] != 3.0 {
					t.Errorf("ended %v", ended)
				}
				b.same(g)
				if types := g.Types(); types[len(types)-1] != "ended" {
					t.Errorf("texts %v", types)
				}
				late := b.open(as("latecome"))
				if code, _ := late.Closed(); code != c.code {
					t.Errorf("a late viewer is closed with %d", code)
				}
			})
		})
	}
}

func TestCloseSendsViewersAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		g := b.open()
		stuck := b.open(as("stuck000"))
		stuck.Stall()
		b.src.Emit(1, "x")
		synctest.Wait()
		began := time.Now()
		if err := b.term.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(began); d > 2*time.Second {
			t.Errorf("Close took %v", d)
		}
		for _, g := range []*guest{g, stuck} {
			if code, _ := g.Closed(); code != terminal.CloseRestart {
				t.Errorf("closed with %d", code)
			}
			if err := <-g.left; err != nil {
				t.Errorf("Serve returned %v", err)
			}
		}
		if err := <-b.run; err == nil {
			t.Error("Run returned no error")
		}
	})
}

func TestReconnectReplacesTheDeadConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		dead := b.open(sized(100, 30))
		dead.Stall()
		b.src.Emit(1, "x")
		g := b.open(sized(100, 30))
		<-dead.left
		if s := b.term.Summary(); s.Viewers != 1 {
			t.Errorf("%d viewers", s.Viewers)
		}
		if m := g.Texts("size"); m[len(m)-1]["mine"] != true {
			t.Errorf("size %v", m)
		}
	})
}

func TestSummaryAndWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		var told atomic.Int32
		stop := b.term.Watch(func() {
			_ = b.term.Summary() // watchers may call back
			told.Add(1)
		})
		synctest.Wait()
		told.Store(0)
		b.src.Emit(1, "x\a")
		b.src.State(terminal.PaneState{Pane: 1, Title: "vim", Cwd: "/srv", Command: "vim"})
		synctest.Wait()
		s := b.term.Summary()
		if !s.Bell || s.Title != "vim" || s.Cwd != "/srv" || s.Size != size80 || s.Activity.IsZero() || told.Load() == 0 {
			t.Errorf("%+v, told %d times", s, told.Load())
		}
		g := b.open()
		b.src.Emit(1, "\a")
		synctest.Wait()
		if b.term.Summary().Bell {
			t.Error("a bell that somebody heard is marked")
		}
		told.Store(0)
		for range 100 {
			b.src.Emit(1, "x")
			time.Sleep(50 * time.Millisecond)
		}
		if told.Load() < 4 || told.Load() > 7 {
			t.Errorf("told of 5 s of output %d times", told.Load())
		}
		stop()
		told.Store(0)
		g.Vanish()
		synctest.Wait()
		if told.Load() != 0 {
			t.Error("told after stop")
		}
	})
}

func TestLastLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(s *terminaltest.Source, _ *terminal.Config) {
			s.CaptureFunc = func(terminal.PaneID, terminal.CaptureOptions) (terminal.Capture, error) {
				return terminal.Capture{Screen: []byte("one\n\x1b[31mtwo  \nthree\x1b[0m   \n\n\n")}, nil
			}
		})
		synctest.Wait()
		got, err := b.term.LastLines(t.Context(), 2)
		if want := "\x1b[31mtwo\nthree\x1b[0m"; string(got) != want || err != nil {
			if string(got) != "\x1b[0;31m"+want[5:] && string(got) != want {
				t.Errorf("%q, %v", got, err)
			}
		}
	})
}

func TestModesAreKeptButNotPerFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.src.Emit(1, "\x1b[?2004h\x1b[?1004h")
		time.Sleep(100 * time.Millisecond)
		kept := b.src.Option(1)
		if kept == "" || len(b.src.Calls("option")) != 1 {
			t.Fatalf("kept %q by %v", kept, b.src.Calls("option"))
		}
		for range 100 {
			b.src.Emit(1, "\x1b[?2026h\x1b[?25l\x1b[1mframe\x1b[?25h\x1b[?2026l")
			time.Sleep(100 * time.Millisecond)
		}
		if n := len(b.src.Calls("option")); n > 12 {
			t.Errorf("kept %d times in 10 s", n)
		}
		after := start(t, func(s *terminaltest.Source, _ *terminal.Config) {
			s.SetAttached(terminal.Attached{
				Windows: terminaltest.OneWindow(size80, 1), Options: map[terminal.PaneID]string{1: kept},
				Panes: []terminal.PaneState{{Pane: 1}},
			})
		})
		after.src.Emit(1, "\x1b[?2004$p")
		synctest.Wait()
		if got := after.src.Keys(1); got != "\x1b[?2004;1$y" {
			t.Errorf("after a restart DECRQM is answered %q", got)
		}
	})
}

func TestQueriesAreAnsweredOnceHoweverManyLook(t *testing.T) {
	for viewers := range 4 {
		synctest.Test(t, func(t *testing.T) {
			b := start(t)
			for i := range viewers {
				b.open(as(fmt.Sprintf("viewer%04d", i)))
			}
			b.src.Emit(1, "\x1b[?2026$p\x1b[?u\x1b[14t")
			synctest.Wait()
			if got, want := b.src.Keys(1), "\x1b[?2026;2$y\x1b[?0u\x1b[4;432;720t"; got != want {
				t.Errorf("%d viewers: answered %q", viewers, got)
			}
			if b.src.Mark() != "" {
				t.Errorf("answers touched the input mark: %q", b.src.Mark())
			}
		})
	}
}

func TestReattachKeepsViewers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		g := b.open()
		g.Type(1, 0, "abc")
		b.src.Emit(1, "before")
		synctest.Wait()
		b.src.Reattach(terminal.Attached{InputMark: b.src.Mark(), Windows: terminaltest.OneWindow(size80, 1)})
		b.src.Emit(1, " after")
		synctest.Wait()
		w := g.Texts("welcome")
		if len(w) != 2 || w[1]["stream"] != w[0]["stream"] || w[1]["inputOffset"] != 3.0 {
			t.Errorf("welcomes %v", w)
		}
		b.same(g)
	})
}

func TestCopyGoesToWhoTyped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		g, other := b.open(), b.open(as("bystander"))
		g.Type(1, 0, "x")
		synctest.Wait()
		b.src.Copy(1, "text")
		synctest.Wait()
		if m := g.Texts("clipboard"); len(m) != 1 || m[0]["text"] != "text" {
			t.Errorf("clipboard %v", m)
		}
		if len(other.Texts("clipboard")) != 0 {
			t.Error("another clipboard was overwritten")
		}
	})
}

func TestTextsAreWhatTheProtocolSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(_ *terminaltest.Source, c *terminal.Config) { c.Plain, c.Widths = true, terminal.Widths{ZWJ: true} })
		g := b.open(sized(80, 24))
		for kind, fields := range map[string]string{
			"welcome": "inputOffset plain protocol stream type version viewer widths",
			"layout":  "active panes size type window windows zoomed",
			"size":    "mine owner ownerName size type",
			"pane":    "command cwd dead exitCode mode pane title type",
		} {
			m := g.Texts(kind)
			if len(m) == 0 {
				t.Errorf("no %s", kind)
				continue
			}
			var names []string
			for k := range m[0] {
				names = append(names, k)
			}
			slices.Sort(names)
			if got := strings.Join(names, " "); got != fields {
				text, _ := json.Marshal(m[0])
				t.Errorf("%s is %s", kind, text)
			}
		}
	})
}
