package oracle

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/sandbox/local"
	"github.com/browsertabs/tabs/terminal"
	"github.com/browsertabs/tabs/terminal/tabs"
	"github.com/browsertabs/tabs/tmuxctl"
)

var (
	seedFlag = flag.Uint64("seed", 0, "run the oracle's round of this seed alone")
	fromFlag = flag.Uint64("from", 1, "first seed of the oracle's rounds")
	soakFlag = flag.Int("rounds", 1000, "rounds of the long run of the oracle")
)

const (
	shortRounds  = 20
	historyLines = 1500
	settleTime   = 15 * time.Second
)

// TestOracle compares, for random programs and viewers that come, go, resize and are slow at random, what each viewer's
// xterm.js shows with what tmux says. A round's choices follow from its seed; its timing does not.
func TestOracle(t *testing.T) { rounds(t, shortRounds) }

func TestSoakOracle(t *testing.T) {
	if os.Getenv("TABS_SOAK") == "" {
		t.Skip("the long run: make soak")
	}
	rounds(t, *soakFlag)
}

func rounds(t *testing.T, n int) {
	if _, err := exec.LookPath("tmux"); err != nil {
		skip(t, "tmux is not installed")
	}
	o := &oracle{pages: startPages(t), fixture: fixture(t)}
	o.boot(t)
	if *seedFlag != 0 {
		o.round(t, *seedFlag)
		return
	}
	t.Run("rounds", func(t *testing.T) { // returns when all have ended
		for i := range uint64(n) {
			seed := *fromFlag + i
			t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
				t.Parallel()
				o.round(t, seed)
			})
		}
	})
}

// oracle is what all rounds share: our server's tabs and the pages that look at them.
type oracle struct {
	pages   *pages
	fixture string
	tabs    *tabs.Service
	start   tmuxctl.Start
	sockets string // directory
}

// noRecords is a tabs.RecordStore for a machine that never restarts.
type noRecords struct{}

func (noRecords) PutTab(context.Context, tabs.Saved) error                { return nil }
func (noRecords) DeleteTabs(context.Context, string, []string) error      { return nil }
func (noRecords) SavedTabs(context.Context, string) ([]tabs.Saved, error) { return nil, nil }

func (o *oracle) boot(t *testing.T) {
	t.Helper()
	provider, err := local.New(local.Config{Instance: "oracle" + strconv.Itoa(os.Getpid())})
	if err != nil {
		t.Fatal(err)
	}
	if o.sockets, err = provider.RuntimeDir(t.Context(), sandbox.LocalID, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(o.sockets) })
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	if testing.Verbose() {
		log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	o.start = tmuxctl.LocalStart
	o.tabs = tabs.New(tabs.Config{Provider: provider, Records: noRecords{}, Log: log, Version: "test", HistoryLines: historyLines})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := o.tabs.Close(ctx); err != nil {
			t.Error(err)
		}
	})
}

// round is one tab, its programs and its viewers.
type round struct {
	o    *oracle
	t    *testing.T
	seed uint64
	term *terminal.Terminal
	sh   *shell
	size terminal.Size

	mu      sync.Mutex // held while the viewers change, or are compared; protects following
	rnd     *rand.Rand
	viewers []*viewer
	resizes bool
	log     []string // what was done, told on failure
}

func (o *oracle) round(t *testing.T, seed uint64) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	r := &round{o: o, t: t, seed: seed, rnd: rand.New(rand.NewPCG(seed, 2))}
	r.resizes = r.rnd.IntN(3) == 0
	r.size = r.randomSize()
	dir := t.TempDir()
	for _, name := range []string{"names", "words", "repo"} {
		if err := os.Symlink(filepath.Join(o.fixture, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	tab, err := o.tabs.Open(ctx, sandbox.LocalID, tabs.OpenOptions{
		Cwd: dir, Size: r.size, Command: []string{"bash", "--norc", "--noprofile"},
		Env: map[string]string{"PS1": "$ ", "LANG": "C.UTF-8", "HISTFILE": "/dev/null", "LESSHISTFILE": "-"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, v := range r.viewers {
			v.drop()
			v.page.close()
		}
		if err := o.tabs.End(context.WithoutCancel(ctx), sandbox.LocalID, tab.ID); err != nil {
			t.Errorf("end tab: %v", err)
		}
	}()
	if r.term, err = o.tabs.Terminal(ctx, sandbox.LocalID, tab.ID); err != nil {
		t.Fatal(err)
	}
	r.sh = &shell{
		t: t, ctx: ctx, dir: dir, rnd: rand.New(rand.NewPCG(seed, 1)), settle: func(what string) { r.settle(ctx, what) },
		tmux: &tmuxctl.Server{Socket: filepath.Join(o.sockets, tab.ID), Start: o.start},
	}
	r.join(ctx)
	r.sh.wait(`\$`)

	chaosCtx, stop := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		r.chaos(chaosCtx)
	}()
	defer func() { stop(); <-over }()
	for range r.sh.between(1, 3) {
		p := programs[r.sh.rnd.IntN(len(programs))]
		r.note("run %s", p.name)
		p.run(r.sh)
		if t.Failed() {
			return
		}
	}
	stop()
	<-over
	r.mu.Lock()
	for _, v := range r.viewers {
		if v.conn == nil {
			r.connect(ctx, v)
		}
	}
	r.mu.Unlock()
	r.join(ctx)
	r.settle(ctx, "at the end")
}

func (r *round) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.noteLocked(format, args...)
}

func (r *round) noteLocked(format string, args ...any) {
	r.log = append(r.log, fmt.Sprintf(format, args...))
}

func (r *round) randomSize() terminal.Size {
	return terminal.Size{Cols: 20 + r.rnd.IntN(120), Rows: 6 + r.rnd.IntN(45)}
}

// chaos does to viewers what people and networks do.
func (r *round) chaos(ctx context.Context) {
	for {
		r.mu.Lock()
		pause := time.Duration(r.rnd.IntN(250)) * time.Millisecond
		r.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		r.mu.Lock()
		v := r.viewers[r.rnd.IntN(len(r.viewers))]
		switch n := r.rnd.IntN(10); {
		case n < 3 && len(r.viewers) < 4:
			r.joinLocked(ctx)
		case n < 6 && v.conn != nil:
			r.noteLocked("viewer %d drops", v.page.id)
			v.drop()
		case n < 9 && v.conn == nil:
			r.noteLocked("viewer %d resumes", v.page.id)
			r.connect(ctx, v)
		case r.resizes && r.viewers[0].conn != nil:
			r.size = r.randomSize()
			r.noteLocked("resize to %v", r.size)
			r.viewers[0].say(map[string]any{"type": "resize", "cols": r.size.Cols, "rows": r.size.Rows})
		}
		r.mu.Unlock()
	}
}

// viewer is a page and its connection, if it has one.
type viewer struct {
	page  *page
	hello terminal.Hello
	conn  *conn
	stop  context.CancelFunc
	done  chan struct{}
	err   error // of Serve, after done
}

func (r *round) join(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.joinLocked(ctx)
}

// joinLocked adds a viewer. The first has the size; some are slow, some keep little history.
func (r *round) joinLocked(ctx context.Context) {
	scrollback, delay := 2*historyLines, 0
	switch r.rnd.IntN(8) {
	case 0:
		scrollback = 50 + r.rnd.IntN(300)
	case 1:
		scrollback = 0
	case 2:
		delay = 1 + r.rnd.IntN(30)
	}
	v := &viewer{page: r.o.pages.open(scrollback, delay)}
	v.hello = terminal.Hello{
		Type: "hello", Protocol: terminal.ProtocolVersion, Scrollback: scrollback, Size: &r.size,
		Input: fmt.Sprintf("oracle%08d", v.page.id),
	}
	if len(r.viewers) > 0 {
		v.hello.Size = nil
	}
	r.viewers = append(r.viewers, v)
	r.noteLocked("viewer %d joins, scrollback %d, delay %d ms", v.page.id, scrollback, delay)
	r.connect(ctx, v)
}

// connect serves a viewer, from where its page is if it was there before.
func (r *round) connect(ctx context.Context, v *viewer) {
	var have struct {
		Stream string
		Panes  map[terminal.PaneID]uint64
	}
	if err := v.page.ask(ctx, map[string]any{"ask": "offsets"}, &have); err != nil {
		if ctx.Err() == nil {
			r.t.Error(err)
		}
		return
	}
	v.hello.Stream, v.hello.Panes = have.Stream, have.Panes
	if v.hello.Size != nil {
		size := r.size
		v.hello.Size = &size
	}
	serveCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	v.conn, v.stop, v.done, v.err = v.page.connect(), stop, make(chan struct{}), nil
	go func(c *conn, done chan struct{}, hello terminal.Hello) {
		defer close(done)
		err := r.term.Serve(serveCtx, c, hello, terminal.ViewerConfig{Name: "oracle"})
		if serveCtx.Err() == nil && !errors.Is(err, io.EOF) {
			v.err = err
		}
	}(v.conn, v.done, v.hello)
}

// say sends a text frame to the server.
func (v *viewer) say(message any) {
	data, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	v.page.fromPage(false, data)
}

// drop breaks the connection; the page stays as it is.
func (v *viewer) drop() {
	if v.conn == nil {
		return
	}
	v.conn.Close(1006, "dropped")
	v.stop()
	<-v.done
	v.conn = nil
}

// settle waits until every connected viewer shows what tmux says.
func (r *round) settle(ctx context.Context, what string) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	deadline := time.Now().Add(settleTime)
	for _, v := range r.viewers {
		for v.conn != nil {
			differences, err := r.sh.compare(ctx, v.page)
			if err != nil {
				r.t.Fatal(err)
			}
			if len(differences) == 0 {
				break
			}
			select {
			case <-v.done:
				r.t.Fatalf("seed %d, %s: viewer %d was sent away: %v", r.seed, what, v.page.id, v.err)
			default:
			}
			if time.Now().After(deadline) {
				r.t.Fatalf("%s: viewer %d differs\n  %s\nrepeat: go test ./terminal/oracle -run 'TestOracle$' -seed %d\n%s",
					what, v.page.id, strings.Join(differences, "\n  "), r.seed, strings.Join(r.log, "\n"))
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// compare lists where a page differs from tmux now.
func (s *shell) compare(ctx context.Context, v *page) ([]string, error) {
	c, err := s.capture()
	if err != nil {
		return nil, err
	}
	var answer struct{ Differences []string }
	err = v.ask(ctx, map[string]any{
		"ask": "compare", "pane": s.pane, "cols": c.Cols, "rows": c.Rows, "x": c.X, "y": c.Y, "alternate": c.Alternate,
		"history": c.History, "exactHistory": !s.overflow, "capture": c.Text,
	}, &answer)
	return answer.Differences, err
}

// fixture makes what the programs look at.
func fixture(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	names := filepath.Join(dir, "names")
	for _, name := range []string{"漢字.txt", "émile", "a file with spaces", "run.sh", "🚀 launch", "한국어", strings.Repeat("long", 30)} {
		if err := os.MkdirAll(filepath.Join(names, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var words strings.Builder
	for i := range 400 {
		fmt.Fprintf(&words, "word %d line %d %s\n", i+1, i, strings.Repeat("lorem ipsum ", i%13))
	}
	if err := os.WriteFile(filepath.Join(dir, "words"), []byte(words.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	script := `git init -q repo && cd repo && for i in $(seq 1 25); do echo $i > f$((i % 4)); git add -A;
		git -c user.name=N -c user.email=n@example.com commit -q -m "commit number $i with a message"; done`
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_DATE=2024-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2024-01-01T00:00:00Z")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make git repository: %v\n%s", err, out)
	}
	return dir
}
