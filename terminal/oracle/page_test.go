package oracle

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// Kinds of messages between this process and page.mjs.
const (
	msgText     = 1
	msgBinary   = 2
	msgOpen     = 3
	msgQuestion = 4
	msgForget   = 5
	msgAnswer   = 6
)

// pages is the node process that holds the xterm.js of every viewer of a test run.
type pages struct {
	cmd *exec.Cmd

	writeMu sync.Mutex // protects following
	stdin   io.WriteCloser

	mu      sync.Mutex // protects following
	viewers map[uint32]*page
	last    uint32
	answers map[int]chan json.RawMessage
	asked   int
	err     error // why the process is gone
}

// page is one viewer's page. It outlives connections, as a page does.
type page struct {
	pages *pages
	id    uint32

	mu   sync.Mutex // protects following
	conn *conn
}

func startPages(t *testing.T) *pages {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		skip(t, "node is not installed")
	}
	modules, err := filepath.Abs("../../static/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(modules, "@xterm/headless")); err != nil {
		skip(t, "npm packages are not installed: make assets")
	}
	script := filepath.Join(t.TempDir(), "page.mjs")
	built := api.Build(api.BuildOptions{
		EntryPoints: []string{"page.mjs"},
		Outfile:     script,
		Bundle:      true,
		Write:       true,
		Platform:    api.PlatformNode,
		Format:      api.FormatESModule,
		NodePaths:   []string{modules},
	})
	for _, e := range built.Errors {
		t.Fatalf("bundle page.mjs: %s", e.Text)
	}

	p := &pages{viewers: map[uint32]*page{}, answers: map[int]chan json.RawMessage{}}
	p.cmd = exec.Command(node, script)
	p.cmd.Stderr = os.Stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		p.read(bufio.NewReaderSize(stdout, 1<<20))
	}()
	t.Cleanup(func() {
		p.stdin.Close()
		<-read
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("node: %v", err)
		}
	})
	return p
}

func (p *pages) send(viewer uint32, kind byte, payload []byte) error {
	head := make([]byte, 9)
	binary.BigEndian.PutUint32(head, uint32(len(payload)+5))
	binary.BigEndian.PutUint32(head[4:], viewer)
	head[8] = kind
	p.writeMu.Lock()
	defer p.writeMu.Unlock()
	if _, err := p.stdin.Write(head); err != nil {
		return err
	}
	_, err := p.stdin.Write(payload)
	return err
}

func (p *pages) read(r io.Reader) {
	head := make([]byte, 9)
	for {
		if _, err := io.ReadFull(r, head); err != nil {
			p.fail(err)
			return
		}
		payload := make([]byte, binary.BigEndian.Uint32(head)-5)
		if _, err := io.ReadFull(r, payload); err != nil {
			p.fail(err)
			return
		}
		id := binary.BigEndian.Uint32(head[4:])
		p.mu.Lock()
		viewer := p.viewers[id]
		p.mu.Unlock()
		switch kind := head[8]; kind {
		case msgAnswer:
			var a struct{ ID int }
			if err := json.Unmarshal(payload, &a); err != nil {
				p.fail(err)
				return
			}
			p.mu.Lock()
			answer := p.answers[a.ID]
			delete(p.answers, a.ID)
			p.mu.Unlock()
			if answer != nil {
				answer <- payload
			}
		default:
			if viewer != nil {
				viewer.fromPage(kind == msgBinary, payload)
			}
		}
	}
}

func (p *pages) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = fmt.Errorf("node is gone: %w", err)
	for id, answer := range p.answers {
		close(answer)
		delete(p.answers, id)
	}
}

// open makes a page that keeps this many lines of history and takes its time after each write.
func (p *pages) open(scrollback, delayMillis int) *page {
	p.mu.Lock()
	p.last++
	v := &page{pages: p, id: p.last}
	p.viewers[v.id] = v
	p.mu.Unlock()
	v.send(msgOpen, map[string]int{"scrollback": scrollback, "delay": delayMillis})
	return v
}

func (v *page) close() {
	v.pages.mu.Lock()
	delete(v.pages.viewers, v.id)
	v.pages.mu.Unlock()
	v.send(msgForget, nil)
}

// send tells the page something; that it is gone shows at the next question.
func (v *page) send(kind byte, value any) {
	payload, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	_ = v.pages.send(v.id, kind, payload)
}

// ask puts a question to the page and decodes the answer.
func (v *page) ask(ctx context.Context, question map[string]any, answer any) error {
	p := v.pages
	p.mu.Lock()
	if p.err != nil {
		defer p.mu.Unlock()
		return p.err
	}
	p.asked++
	id := p.asked
	question["id"] = id
	ch := make(chan json.RawMessage, 1)
	p.answers[id] = ch
	p.mu.Unlock()
	v.send(msgQuestion, question)
	select {
	case raw, ok := <-ch:
		if !ok {
			return errors.New("node is gone")
		}
		return json.Unmarshal(raw, answer)
	case <-ctx.Done():
		return fmt.Errorf("ask page %d: %w", v.id, ctx.Err())
	}
}

func (v *page) fromPage(binary bool, data []byte) {
	v.mu.Lock()
	c := v.conn
	v.mu.Unlock()
	if c == nil {
		return // an answer to a connection that has gone
	}
	select {
	case c.toServer <- wireFrame{binary, data}:
	case <-c.closed:
	}
}

type wireFrame struct {
	binary bool
	data   []byte
}

// conn is a terminal.Conn between a Terminal and a page.
type conn struct {
	page     *page
	toServer chan wireFrame
	closed   chan struct{}
	once     sync.Once

	code   int // valid once closed
	reason string
}

// connect gives the page a new connection in place of the one it had.
func (v *page) connect() *conn {
	c := &conn{page: v, toServer: make(chan wireFrame, 1024), closed: make(chan struct{})}
	v.mu.Lock()
	v.conn = c
	v.mu.Unlock()
	return c
}

func (c *conn) Read(ctx context.Context) (bool, []byte, error) {
	select {
	case f := <-c.toServer:
		return f.binary, f.data, nil
	case <-c.closed:
		return false, nil, io.EOF
	case <-ctx.Done():
		return false, nil, ctx.Err()
	}
}

func (c *conn) Write(ctx context.Context, binary bool, data []byte) error {
	select {
	case <-c.closed:
		return io.ErrClosedPipe
	default:
	}
	kind := byte(msgText)
	if binary {
		kind = msgBinary
	}
	return c.page.pages.send(c.page.id, kind, data)
}

func (c *conn) Close(code int, reason string) error {
	c.once.Do(func() {
		c.code, c.reason = code, reason
		close(c.closed)
	})
	return nil
}

// skip leaves a test out where a plain `go test` lacks what `make test` installs.
func skip(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("TABS_TEST_ALL") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}
