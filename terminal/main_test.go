package terminal_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/browsertabs/tabs/terminal"
	"github.com/browsertabs/tabs/terminal/terminaltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var size80 = terminal.Size{Cols: 80, Rows: 24}

const inputID = "page0001"

// bench runs a terminal over a fake source until the test ends.
type bench struct {
	t    *testing.T
	src  *terminaltest.Source
	term *terminal.Terminal
	run  chan error
}

func start(t *testing.T, set ...func(*terminaltest.Source, *terminal.Config)) *bench {
	t.Helper()
	b := &bench{t: t, src: terminaltest.NewSource(size80), run: make(chan error, 1)}
	c := terminal.Config{Source: b.src, Version: "test"}
	for _, f := range set {
		f(b.src, &c)
	}
	b.term = terminal.New(c)
	go func() { b.run <- b.term.Run(context.Background()) }()
	t.Cleanup(func() {
		if err := b.term.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return b
}

// guest is a page and the Serve it is in.
type guest struct {
	*terminaltest.Page
	left chan error
}

func (b *bench) open(set ...func(*terminal.Hello)) *guest {
	b.t.Helper()
	g := b.connect(set...)
	synctest.Wait()
	return g
}

func (b *bench) connect(set ...func(*terminal.Hello)) *guest {
	g := &guest{terminaltest.NewPage(), make(chan error, 1)}
	h := terminal.Hello{Type: "hello", Protocol: 1, Scrollback: 1000, Input: inputID}
	for _, f := range set {
		f(&h)
	}
	for pane, offset := range h.Panes {
		g.Expect(pane, offset)
	}
	go func() { g.left <- b.term.Serve(context.Background(), g.Page, h, terminal.ViewerConfig{Name: h.Input}) }()
	b.t.Cleanup(func() {
		g.Vanish()
		if err := g.Err(); err != nil {
			b.t.Error(err)
		}
	})
	return g
}

func as(id string) func(*terminal.Hello) { return func(h *terminal.Hello) { h.Input = id } }

func sized(cols, rows int) func(*terminal.Hello) {
	return func(h *terminal.Hello) { h.Size = &terminal.Size{Cols: cols, Rows: rows} }
}

func readOnly(h *terminal.Hello) { h.ReadOnly = true }

// same checks that the page shows what the source does: the end of all that was emitted.
func (b *bench) same(g *guest) {
	b.t.Helper()
	synctest.Wait()
	got, want := string(g.View(1).Bytes), b.src.Shown(1)
	if len(got) < min(len(want), terminaltest.ShownBytes) || !strings.HasSuffix(want, got) {
		b.t.Fatalf("page has %d bytes, which are not the end of the %d emitted: %.40q and %.40q", len(got), len(want),
			got[max(len(got)-40, 0):], want[max(len(want)-40, 0):])
	}
}

func lines(n int) string { return strings.Repeat("0123456789abcdef0123456789abcde\n", n) }
