package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"github.com/coder/websocket"
)

// Attachment is a real tmux client of a tab, running in the sandbox on a terminal whose bytes travel here. One
// goroutine may read while others write.
type Attachment struct{ ws *websocket.Conn }

// AttachTab starts a tmux client of the tab for a terminal of this size and type ("xterm-256color").
func (c *Client) AttachTab(ctx context.Context, sandbox, tabID string, size Size, term string) (*Attachment, error) {
	ws, err := c.dial(ctx, tabPath(sandbox, tabID)+"/attach", url.Values{
		"cols": {strconv.Itoa(size.Cols)}, "rows": {strconv.Itoa(size.Rows)}, "term": {term},
	})
	if err != nil {
		return nil, err
	}
	return &Attachment{ws: ws}, nil
}

// AttachFrame is a text frame of an Attachment: "resize" to the server, "exit" from it.
type AttachFrame struct {
	Type     string `json:"type"`
	Cols     int    `json:"cols,omitempty"`
	Rows     int    `json:"rows,omitempty"`
	ExitCode int    `json:"exitCode,omitempty"`
}

// Exited is the error of Read after the tmux client has ended: by detaching, or because the tab was closed.
type Exited struct{ Code int }

func (e *Exited) Error() string { return fmt.Sprintf("tmux client exited with code %d", e.Code) }

// Read returns the next bytes for the terminal.
func (a *Attachment) Read(ctx context.Context) ([]byte, error) {
	for {
		kind, b, err := a.ws.Read(ctx)
		if err != nil {
			return nil, err
		}
		if kind == websocket.MessageBinary {
			return b, nil
		}
		var f AttachFrame
		if err := json.Unmarshal(b, &f); err != nil {
			return nil, fmt.Errorf("decode text frame: %w", err)
		}
		if f.Type == "exit" {
			return nil, &Exited{Code: f.ExitCode}
		}
	}
}

// Write sends bytes from the terminal.
func (a *Attachment) Write(ctx context.Context, b []byte) error {
	return a.ws.Write(ctx, websocket.MessageBinary, b)
}

// Resize says that the terminal has this size now.
func (a *Attachment) Resize(ctx context.Context, s Size) error {
	b, err := json.Marshal(AttachFrame{Type: "resize", Cols: s.Cols, Rows: s.Rows})
	if err != nil {
		return fmt.Errorf("encode frame: %w", err)
	}
	return a.ws.Write(ctx, websocket.MessageText, b)
}

// Ping waits until the server answers; needs a Read in progress.
func (a *Attachment) Ping(ctx context.Context) error { return a.ws.Ping(ctx) }

// Close detaches. The tab goes on.
func (a *Attachment) Close() error { return a.ws.Close(websocket.StatusNormalClosure, "") }
