package e2e

import (
	"bytes"
	"context"
	"crypto/rand"
	wire "encoding/binary" // binary is the server under test
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/browsertabs/tabs/client"
)

// viewer is a page without a browser: it reads, takes as long to parse as a browser of its rate, and acks what it has
// parsed. Like a browser it takes compressed frames, which package client does not. It belongs to one goroutine.
type viewer struct {
	b     *testing.B
	ws    *websocket.Conn
	ctx   context.Context
	input uint64 // offset of the next byte typed
	pane  uint32 // the active one
	rate  int    // bytes parsed in a second; 0: no limit
	due   time.Time
}

// frame is what a viewer needs of one from the server.
type viewerFrame struct {
	kind  byte
	pane  uint32
	flags byte
	data  []byte
}

// view connects a viewer and reads until it has everything, history included.
func (s *server) view(b *testing.B, tab client.Tab) *viewer {
	b.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	v := &viewer{b: b, ctx: ctx}
	ws, _, err := websocket.Dial(ctx, "ws://"+s.addr+"/v1/sandboxes/local/tabs/"+tab.ID+"/socket", &websocket.DialOptions{
		HTTPHeader:      http.Header{"Authorization": {"Bearer " + s.key()}},
		CompressionMode: websocket.CompressionNoContextTakeover,
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		cancel()
		ws.CloseNow()
	})
	ws.SetReadLimit(16 << 20)
	v.ws = ws
	hello := fmt.Sprintf(`{"type":"hello","protocol":1,"token":"","size":{"cols":80,"rows":24},"readOnly":false,`+
		`"scrollback":10000,"stream":"","panes":{},"input":%q}`, strings.ToLower(rand.Text()[:16]))
	if err := ws.Write(ctx, websocket.MessageText, []byte(hello)); err != nil {
		b.Fatal(err)
	}
	v.until("the whole history", func(f viewerFrame) bool {
		return f.kind == client.FrameSnapshot && f.flags&(client.SnapshotLast|client.SnapshotHistory) == client.SnapshotLast|client.SnapshotHistory
	})
	return v
}

// next reads a frame, parses and acks it. An error means that the connection is over.
func (v *viewer) next() (viewerFrame, error) {
	kind, data, err := v.ws.Read(v.ctx)
	if err != nil {
		return viewerFrame{}, err
	}
	if kind == websocket.MessageText {
		return viewerFrame{}, v.text(data)
	}
	f := viewerFrame{kind: data[0]}
	var offset uint64
	switch f.kind {
	case client.FrameOutput:
		f.data = data[13:]
		offset = wire.BigEndian.Uint64(data[5:]) + uint64(len(f.data))
	case client.FrameSnapshot:
		f.data, f.flags = data[18:], data[17]
		offset = wire.BigEndian.Uint64(data[5:])
	default:
		return f, nil
	}
	f.pane = wire.BigEndian.Uint32(data[1:])
	if v.rate > 0 {
		now := time.Now()
		if v.due.Before(now) {
			v.due = now
		}
		v.due = v.due.Add(time.Duration(len(f.data)) * time.Second / time.Duration(v.rate))
		time.Sleep(v.due.Sub(now))
	}
	if f.kind == client.FrameSnapshot && f.flags&client.SnapshotLast == 0 {
		return f, nil
	}
	return f, v.ws.Write(v.ctx, websocket.MessageBinary, frameHead(client.FrameAck, f.pane, offset))
}

func frameHead(kind byte, pane uint32, offset uint64) []byte {
	return wire.BigEndian.AppendUint64(wire.BigEndian.AppendUint32([]byte{kind}, pane), offset)
}

func (v *viewer) text(data []byte) error {
	var m struct {
		Type        string
		InputOffset uint64
		Active      uint32
		Panes       []struct{ ID uint32 }
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return nil // pane is a number in some texts that are of no interest, a list in layout
	}
	switch m.Type {
	case "welcome":
		v.input = m.InputOffset
	case "layout":
		v.pane = m.Active
	case "inputRefused":
		return fmt.Errorf("input refused: %s", data)
	}
	return nil
}

// until reads until a frame is what is waited for.
func (v *viewer) until(what string, ok func(viewerFrame) bool) {
	v.b.Helper()
	if err := v.seek(ok); err != nil {
		v.b.Fatalf("wait for %s: %v", what, err)
	}
}

func (v *viewer) seek(ok func(viewerFrame) bool) error {
	for start := time.Now(); ; {
		f, err := v.next()
		if err != nil {
			return err
		}
		if f.data != nil && ok(f) {
			return nil
		}
		if time.Since(start) > patience {
			return fmt.Errorf("not within %v", patience)
		}
	}
}

// background reads on another goroutine until stop is called or the benchmark ends: who reads nothing is taken for dead.
func (v *viewer) background() (stop func()) {
	var stopping atomic.Bool
	done := make(chan bool)
	go func() {
		defer close(done)
		for !stopping.Load() {
			if _, err := v.next(); err != nil {
				return
			}
		}
	}()
	return func() {
		stopping.Store(true)
		// The answer ends a read that waits.
		if err := v.ws.Write(v.ctx, websocket.MessageText, []byte(`{"type":"ping","t":0}`)); err != nil {
			v.b.Fatal(err)
		}
		<-done
	}
}

// read reads for as long as that.
func (v *viewer) read(limit time.Duration) {
	v.b.Helper()
	stop := v.background()
	time.Sleep(limit)
	stop()
}

func (v *viewer) typed(text string) {
	v.b.Helper()
	if err := v.ws.Write(v.ctx, websocket.MessageBinary, append(frameHead(client.FrameInput, v.pane, v.input), text...)); err != nil {
		v.b.Fatal(err)
	}
	v.input += uint64(len(text))
}

// keyGap lies between an echo and the next key, so that everybody on the way has gone to sleep, as between real keys.
const keyGap = 2 * time.Millisecond

// echoes types n keys, one after the other, into a pane that gives every byte back, and returns how long each took to
// come back.
func (v *viewer) echoes(n int) []time.Duration {
	v.b.Helper()
	took := make([]time.Duration, n)
	for i := range took {
		key := []byte{'a' + byte(i%26)}
		time.Sleep(keyGap)
		start := time.Now()
		v.typed(string(key))
		v.until("an echo", func(f viewerFrame) bool {
			return f.kind == client.FrameOutput && f.pane == v.pane && bytes.Contains(f.data, key)
		})
		took[i] = time.Since(start)
	}
	return took
}

// echoTab opens a tab whose program gives every byte back, as a shell's line editor does.
func (s *server) echoTab(b *testing.B) client.Tab {
	b.Helper()
	return s.commandTab(b, "stty raw -echo; exec cat")
}

func (s *server) commandTab(b *testing.B, script string) client.Tab {
	b.Helper()
	n := shell
	n.Command = append(append([]string{}, shell.Command...), "-c", script)
	tab, err := s.api().OpenTab(context.Background(), "local", n)
	if err != nil {
		b.Fatal(err)
	}
	return tab
}

const echoServerEnv = "TABS_BENCH_ECHO_SERVER"

// serveEcho is a process that does nothing but give websocket messages back, the least that any server can do.
func serveEcho() {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(ln.Addr())
	http.Serve(ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer ws.CloseNow()
		for {
			kind, data, err := ws.Read(r.Context())
			if err != nil || ws.Write(r.Context(), kind, data) != nil {
				return
			}
		}
	}))
}

// bareEcho connects to an echo server of its own process and returns what measures n echoes.
func bareEcho(b *testing.B) func(n int) []time.Duration {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), echoServerEnv+"=1")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	var addr string
	if _, err := fmt.Fscan(out, &addr); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	b.Cleanup(cancel)
	ws, _, err := websocket.Dial(ctx, "ws://"+addr, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { ws.CloseNow() })
	return func(n int) []time.Duration {
		took := make([]time.Duration, n)
		message := append(frameHead(client.FrameInput, 0, 0), 'x')
		for i := range took {
			time.Sleep(keyGap)
			start := time.Now()
			err := ws.Write(ctx, websocket.MessageBinary, message)
			if err == nil {
				_, _, err = ws.Read(ctx)
			}
			if err != nil {
				b.Fatal(err)
			}
			took[i] = time.Since(start)
		}
		return took
	}
}
