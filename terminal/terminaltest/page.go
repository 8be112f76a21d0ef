package terminaltest

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/browsertabs/tabs/terminal"
)

// Page is the browser's side of a viewer's connection, and the terminal.Conn the terminal is given. It puts together
// what each pane shows, checks that offsets fit, and acks what it has parsed.
type Page struct {
	in chan frame

	mu     sync.Mutex // protects following
	stall  chan struct{}
	noAck  bool
	closed chan struct{}
	code   int
	reason string
	panes  map[terminal.PaneID]*PageView
	texts  []map[string]any
	inAck  uint64
	binary int // binary frames received
	bytes  int // of binary frames
	errs   []error
}

// PageView is what a page has of one pane.
type PageView struct {
	Bytes     []byte // since the last reset
	Offset    uint64 // after the last byte
	Size      terminal.Size
	Snapshots int  // begun with a reset
	Full      bool // the last snapshot had history
	Repaints  int
	Resizes   []terminal.Size
	inside    bool // a snapshot
}

type frame struct {
	binary bool
	data   []byte
}

// NewPage returns a page that is connected to nobody yet.
func NewPage() *Page {
	return &Page{in: make(chan frame, 64), closed: make(chan struct{}), panes: map[terminal.PaneID]*PageView{}}
}

// Read implements terminal.Conn.
func (p *Page) Read(ctx context.Context) (bool, []byte, error) {
	select {
	case <-ctx.Done():
		return false, nil, ctx.Err()
	case <-p.closed:
		return false, nil, io.EOF
	case f := <-p.in:
		return f.binary, f.data, nil
	}
}

// Write implements terminal.Conn.
func (p *Page) Write(ctx context.Context, bin bool, data []byte) error {
	p.mu.Lock()
	stall := p.stall
	p.mu.Unlock()
	if stall != nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.closed:
			return io.EOF
		case <-stall:
		}
	}
	select {
	case <-p.closed:
		return io.EOF
	default:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !bin {
		var m map[string]any
		if err := json.Unmarshal(data, &m); err != nil {
			p.errs = append(p.errs, fmt.Errorf("text frame %q: %w", data, err))
		}
		p.texts = append(p.texts, m)
		return nil
	}
	p.binary++
	p.bytes += len(data)
	p.take(data)
	return nil
}

func (p *Page) take(b []byte) {
	if b[0] == 0x04 {
		p.inAck = binary.BigEndian.Uint64(b[1:])
		return
	}
	id := terminal.PaneID(binary.BigEndian.Uint32(b[1:]))
	offset := binary.BigEndian.Uint64(b[5:])
	v := p.panes[id]
	if v == nil {
		v = &PageView{}
		p.panes[id] = v
	}
	size := func() terminal.Size {
		return terminal.Size{Cols: int(binary.BigEndian.Uint16(b[13:])), Rows: int(binary.BigEndian.Uint16(b[15:]))}
	}
	switch b[0] {
	case 0x01:
		if v.inside || v.Offset != offset {
			p.errs = append(p.errs, fmt.Errorf("output at %d, want %d; inside a snapshot: %v", offset, v.Offset, v.inside))
		}
		v.Bytes = append(v.Bytes, b[13:]...)
		v.Offset = offset + uint64(len(b)-13)
	case 0x02:
		flags := b[17]
		if flags&1 != 0 {
			v.Bytes = v.Bytes[:0]
			v.Snapshots++
			v.Full = flags&4 != 0
			v.inside = true
		}
		v.Size = size()
		if v.inside {
			v.Bytes = append(v.Bytes, b[18:]...)
		} else {
			v.Repaints++
		}
		v.Offset = offset
		if flags&2 == 0 {
			return
		}
		v.inside = false
	case 0x03:
		if v.Offset != offset {
			p.errs = append(p.errs, fmt.Errorf("resize at %d, want %d", offset, v.Offset))
		}
		v.Size = size()
		v.Resizes = append(v.Resizes, v.Size)
		return
	default:
		p.errs = append(p.errs, fmt.Errorf("unknown frame 0x%02x", b[0]))
		return
	}
	if !p.noAck {
		select {
		case p.in <- frame{true, inputFrame(0x13, id, v.Offset, nil, nil)}:
		default: // the terminal does not read; a real page's acks would wait in the socket
		}
	}
}

// Close implements terminal.Conn.
func (p *Page) Close(code int, reason string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.closed:
		return errors.New("closed twice")
	default:
		p.code, p.reason = code, reason
		close(p.closed)
		return nil
	}
}

// Vanish ends the connection as a lost network does.
func (p *Page) Vanish() { _ = p.Close(0, "") }

// Stall has Write block until Unstall.
func (p *Page) Stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stall = make(chan struct{})
}

// Unstall ends Stall.
func (p *Page) Unstall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.stall)
	p.stall = nil
}

// AckNothing has the page take frames and never say that it parsed them.
func (p *Page) AckNothing() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noAck = true
}

func inputFrame(kind byte, pane terminal.PaneID, offset uint64, flags, data []byte) []byte {
	b := binary.BigEndian.AppendUint32([]byte{kind}, uint32(pane))
	b = binary.BigEndian.AppendUint64(b, offset)
	return append(append(b, flags...), data...)
}

// Type sends keys at an offset of the page's input stream.
func (p *Page) Type(pane terminal.PaneID, offset uint64, keys string) {
	p.in <- frame{true, inputFrame(0x11, pane, offset, nil, []byte(keys))}
}

// Paste sends one piece of a paste.
func (p *Page) Paste(pane terminal.PaneID, offset uint64, last bool, text string) {
	flags := []byte{0}
	if last {
		flags[0] = 1
	}
	p.in <- frame{true, inputFrame(0x12, pane, offset, flags, []byte(text))}
}

// Ack says that the page parsed the pane's bytes before offset.
func (p *Page) Ack(pane terminal.PaneID, offset uint64) {
	p.in <- frame{true, inputFrame(0x13, pane, offset, nil, nil)}
}

// Send sends a frame as it is.
func (p *Page) Send(binary bool, data string) { p.in <- frame{binary, []byte(data)} }

// View returns what the page has of a pane.
func (p *Page) View(pane terminal.PaneID) PageView {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := p.panes[pane]
	if v == nil {
		return PageView{}
	}
	c := *v
	c.Bytes = bytes.Clone(v.Bytes)
	return c
}

// Offset returns the offset after the last byte the page has of a pane.
func (p *Page) Offset(pane terminal.PaneID) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if v := p.panes[pane]; v != nil {
		return v.Offset
	}
	return 0
}

// Snapshots returns how many snapshots began with a reset of the pane.
func (p *Page) Snapshots(pane terminal.PaneID) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if v := p.panes[pane]; v != nil {
		return v.Snapshots
	}
	return 0
}

// Expect says that the page has a pane's bytes before offset from an earlier connection.
func (p *Page) Expect(pane terminal.PaneID, offset uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.panes[pane] == nil {
		p.panes[pane] = &PageView{Offset: offset}
	}
}

// Forget has the page drop the bytes it has of a pane, as a terminal drops old scrollback.
func (p *Page) Forget(pane terminal.PaneID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if v := p.panes[pane]; v != nil {
		v.Bytes = nil
	}
}

// Texts returns the text frames of a type.
func (p *Page) Texts(kind string) []map[string]any {
	p.mu.Lock()
	defer p.mu.Unlock()
	var texts []map[string]any
	for _, m := range p.texts {
		if m["type"] == kind {
			texts = append(texts, m)
		}
	}
	return texts
}

// Types returns the types of all text frames, in order.
func (p *Page) Types() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var types []string
	for _, m := range p.texts {
		types = append(types, fmt.Sprint(m["type"]))
	}
	return types
}

// InputAck returns the last inputAck.
func (p *Page) InputAck() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.inAck
}

// Received returns how many binary frames came, and their bytes.
func (p *Page) Received() (frames, size int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.binary, p.bytes
}

// Closed returns the close code, or 0 while the connection is open.
func (p *Page) Closed() (code int, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.code, p.reason
}

// Err returns what the page saw that must not happen.
func (p *Page) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return errors.Join(p.errs...)
}
