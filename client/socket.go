package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/coder/websocket"
)

// Protocol is the version of the socket protocol this package speaks.
const Protocol = 1

// maxFrameBytes bounds a frame from the server.
const maxFrameBytes = 16 << 20

// Hello is the first frame of a viewer.
type Hello struct {
	Size       *Size             // what fits the viewer; nil never wants to own the size
	ReadOnly   bool              //
	Scrollback int               // history lines the viewer keeps
	Stream     string            // id of the last Welcome, to resume
	Panes      map[uint32]uint64 // by pane, the offset after the last byte seen, to resume
	Input      string            // id of the viewer's input stream: 8 to 32 of [a-z0-9]
}

// TabSocket is a viewer's connection to one tab. One goroutine may read while another writes.
type TabSocket struct{ ws *websocket.Conn }

// DialTab connects to a tab and says hello. A refusal by the server is an *Error.
func (c *Client) DialTab(ctx context.Context, sandbox, tabID string, h Hello) (*TabSocket, error) {
	ws, err := c.dial(ctx, tabPath(sandbox, tabID)+"/socket", nil)
	if err != nil {
		return nil, err
	}
	s := &TabSocket{ws: ws}
	if err := s.Send(ctx, helloFrame{
		Type: "hello", Protocol: Protocol, Size: h.Size, ReadOnly: h.ReadOnly, Scrollback: h.Scrollback,
		Stream: h.Stream, Panes: h.Panes, Input: h.Input,
	}); err != nil {
		ws.CloseNow()
		return nil, err
	}
	return s, nil
}

type helloFrame struct {
	Type       string            `json:"type"`
	Protocol   int               `json:"protocol"`
	Token      string            `json:"token"` // of a page; a key needs none
	Size       *Size             `json:"size,omitempty"`
	ReadOnly   bool              `json:"readOnly"`
	Scrollback int               `json:"scrollback"`
	Stream     string            `json:"stream"`
	Panes      map[uint32]uint64 `json:"panes,omitempty"`
	Input      string            `json:"input"`
}

func (c *Client) dial(ctx context.Context, path string, query url.Values) (*websocket.Conn, error) {
	u := c.base.String() + path
	if len(query) > 0 {
		u += "?" + query.Encode()
	}
	header := http.Header{}
	c.setHeader(header)
	header.Del("Accept")
	ws, resp, err := websocket.Dial(ctx, u, &websocket.DialOptions{HTTPClient: c.http, HTTPHeader: header})
	if err != nil {
		if resp != nil && resp.StatusCode != http.StatusSwitchingProtocols && resp.Request != nil {
			// Dial keeps the first 1024 bytes of the body, enough for an error.
			b, _ := io.ReadAll(resp.Body)
			if e := DecodeError(resp, b); e.Code != "" || resp.StatusCode/100 != 2 {
				return nil, e
			}
		}
		return nil, fmt.Errorf("open socket: %w", err)
	}
	ws.SetReadLimit(maxFrameBytes)
	return ws, nil
}

// Read returns the next frame. Its Data is the caller's. When the server closed, IsClosed tells the code.
func (s *TabSocket) Read(ctx context.Context) (Frame, error) {
	kind, b, err := s.ws.Read(ctx)
	if err != nil {
		return Frame{}, err
	}
	if kind == websocket.MessageBinary {
		return decodeFrame(b)
	}
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return Frame{}, fmt.Errorf("decode text frame: %w", err)
	}
	return Frame{Name: head.Type, Text: b}, nil
}

// Send sends a text frame: a struct with a "type".
func (s *TabSocket) Send(ctx context.Context, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode frame: %w", err)
	}
	return s.ws.Write(ctx, websocket.MessageText, b)
}

// Input types data, at most MaxInputBytes, into a pane; offset is its place in the input stream.
func (s *TabSocket) Input(ctx context.Context, pane uint32, offset uint64, data []byte) error {
	return s.ws.Write(ctx, websocket.MessageBinary, append(appendHeader(nil, FrameInput, pane, offset), data...))
}

// Paste sends one piece, at most MaxInputBytes, of a text to paste into a pane.
func (s *TabSocket) Paste(ctx context.Context, pane uint32, offset uint64, last bool, data []byte) error {
	var flags byte
	if last {
		flags = PasteLast
	}
	b := append(appendHeader(nil, FramePaste, pane, offset), flags)
	return s.ws.Write(ctx, websocket.MessageBinary, append(b, data...))
}

// Ack says that the pane's bytes before offset have been shown.
func (s *TabSocket) Ack(ctx context.Context, pane uint32, offset uint64) error {
	return s.ws.Write(ctx, websocket.MessageBinary, appendHeader(nil, FrameAck, pane, offset))
}

// Ping waits until the server answers; needs a Read in progress.
func (s *TabSocket) Ping(ctx context.Context) error { return s.ws.Ping(ctx) }

// Close says goodbye and closes. Read and the writes fail from then on.
func (s *TabSocket) Close() error { return s.ws.Close(websocket.StatusNormalClosure, "") }

// CloseNow closes without a goodbye.
func (s *TabSocket) CloseNow() error { return s.ws.CloseNow() }

// IsClosed tells whether err is the server closing the socket, and with which close code of docs/PROTOCOL.md.
func IsClosed(err error) (code int, reason string, ok bool) {
	var ce websocket.CloseError
	if !errors.As(err, &ce) {
		return 0, "", false
	}
	return int(ce.Code), ce.Reason, true
}
