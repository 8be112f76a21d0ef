package web

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/browsertabs/tabs/terminal"
)

const (
	// compressAboveBytes leaves keystrokes and their echo alone, where compression costs time and gains nothing.
	compressAboveBytes = 1 << 10
	// keptBufferBytes is the read buffer that a viewer keeps between frames; a paste's larger one is given back.
	keptBufferBytes = 4 << 10
)

// wsConn makes a websocket a terminal.Conn.
type wsConn struct {
	ws    *websocket.Conn
	tcp   net.Conn // under ws
	buf   []byte
	heard atomic.Int64 // unix nanoseconds of the last sign of life
}

var _ terminal.Conn = (*wsConn)(nil)

func (c *wsConn) Read(ctx context.Context) (binary bool, data []byte, err error) {
	kind, r, err := c.ws.Reader(ctx)
	if err != nil {
		return false, nil, err
	}
	if cap(c.buf) > keptBufferBytes {
		c.buf = nil
	}
	c.buf, err = appendAll(c.buf[:0], r)
	if err != nil {
		return false, nil, err
	}
	c.alive()
	return kind == websocket.MessageBinary, c.buf, nil
}

// appendAll is io.ReadAll into a buffer that is there already.
func appendAll(b []byte, r io.Reader) ([]byte, error) {
	if cap(b) == 0 {
		b = make([]byte, 0, 512)
	}
	for {
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		if err != nil {
			return b, err
		}
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
	}
}

func (c *wsConn) Write(ctx context.Context, binary bool, data []byte) error {
	kind := websocket.MessageText
	if binary {
		kind = websocket.MessageBinary
	}
	return c.ws.Write(ctx, kind, data)
}

// Close says goodbye with the code and waits for the peer's goodbye, at most 10 s. Calls after the first only wait.
func (c *wsConn) Close(code int, reason string) error {
	return c.ws.Close(websocket.StatusCode(code), closeReason(reason))
}

// closeReason shortens a text to the 123 bytes that a close frame holds beside the code. Half a character would make the
// whole frame invalid.
func closeReason(text string) string {
	if text = strings.ToValidUTF8(text, "?"); len(text) <= 123 {
		return text
	}
	return strings.ToValidUTF8(text[:120], "") + "..."
}

// cut ends the connection without a goodbye, and any wait for the peer's.
func (c *wsConn) cut() { c.tcp.Close() }

// hijacker remembers the connection that it gives away: websocket.Conn cannot be cut while it says goodbye.
type hijacker struct {
	http.ResponseWriter
	tcp net.Conn
}

func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buf, err := http.NewResponseController(h.ResponseWriter).Hijack()
	h.tcp = conn
	return conn, buf, err
}

func (c *wsConn) alive() { c.heard.Store(time.Now().UnixNano()) }

func (c *wsConn) silence() time.Duration { return time.Since(time.Unix(0, c.heard.Load())) }

var errDead = errors.New("peer is silent")

// keepAlive returns errDead once the peer is dead. Every frame is a sign of life, since on a slow line the answer to a
// ping waits behind a snapshot for longer than we want to wait for it.
func (c *wsConn) keepAlive(ctx context.Context, patience timing) error {
	t := time.NewTimer(patience.quiet)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		if wait := patience.quiet - c.silence(); wait > 0 {
			t.Reset(wait)
			continue
		}
		ping, cancel := context.WithTimeout(ctx, patience.pong)
		err := c.ws.Ping(ping)
		cancel()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && c.silence() >= patience.pong {
			return errDead
		}
		t.Reset(patience.quiet)
	}
}

// isExpectedClose tells whether err is how a connection ends when nothing is wrong.
func isExpectedClose(err error) bool {
	switch websocket.CloseStatus(err) {
	case websocket.StatusNormalClosure, websocket.StatusGoingAway, websocket.StatusNoStatusRcvd:
		return true
	}
	return err == nil || errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) || errors.Is(err, errDead)
}
