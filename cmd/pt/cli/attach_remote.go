package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/browsertabs/tabs/client"
)

// tmuxRemote is a tmux client running in the sandbox. A viewer beside it holds the tab's size.
type tmuxRemote struct {
	*client.Attachment
	size *client.TabSocket // nil when it could not be had
}

func dialTmux(ctx context.Context, c *client.Client, t client.Tab, size client.Size) (remote, error) {
	term := os.Getenv("TERM")
	if term == "" || term == "dumb" {
		term = "xterm-256color"
	}
	// The viewer comes first, so that tmux draws once, at the right size.
	viewer, err := c.DialTab(ctx, t.SandboxID, t.ID, client.Hello{Size: &size, Input: newInputID()})
	if err != nil {
		return nil, err
	}
	if err := viewer.Send(ctx, sizeFrame{Type: "takeSize"}); err != nil {
		viewer.CloseNow()
		return nil, fmt.Errorf("take size: %w", err)
	}
	at, err := c.AttachTab(ctx, t.SandboxID, t.ID, size, term)
	if err != nil {
		viewer.Close()
		return nil, err
	}
	r := &tmuxRemote{Attachment: at, size: viewer}
	go r.drain()
	return r, nil
}

// drain reads what the viewer is sent, so that its pings are answered; it ends when the viewer is closed. Nothing is
// acked, so that hardly any output is sent.
func (r *tmuxRemote) drain() {
	for {
		if _, err := r.size.Read(context.Background()); err != nil {
			return
		}
	}
}

func (r *tmuxRemote) Resize(ctx context.Context, s client.Size) error {
	if err := r.Attachment.Resize(ctx, s); err != nil {
		return err
	}
	// The viewer may have been sent away for a reason of its own; the tmux client goes on.
	_ = r.size.Send(ctx, sizeFrame{Type: "resize", Cols: s.Cols, Rows: s.Rows})
	return nil
}

func (r *tmuxRemote) Close() error {
	r.size.Close()
	return r.Attachment.Close()
}

// plainRemote is a tab without tmux: it has one pane, whose bytes are those of the tab socket.
type plainRemote struct {
	s      *client.TabSocket
	pane   uint32
	first  *client.Frame // read while dialling, for Read to return
	offset uint64        // of our input stream; of the writer
	shown  uint64        // offset after what Read returned last; of the reader
	acked  bool          // shown has been acked
}

func dialPlain(ctx context.Context, c *client.Client, t client.Tab, size client.Size) (remote, error) {
	s, err := c.DialTab(ctx, t.SandboxID, t.ID, client.Hello{Size: &size, Input: newInputID(), Scrollback: size.Rows})
	if err != nil {
		return nil, err
	}
	r := &plainRemote{s: s, acked: true}
	if err := r.start(ctx); err != nil {
		s.CloseNow()
		return nil, err
	}
	return r, nil
}

// start takes the size and reads until the pane is known, without which nothing can be typed.
func (r *plainRemote) start(ctx context.Context) error {
	if err := r.s.Send(ctx, sizeFrame{Type: "takeSize"}); err != nil {
		return fmt.Errorf("take size: %w", err)
	}
	for {
		f, err := r.s.Read(ctx)
		if err != nil {
			return err
		}
		switch {
		case f.Type == client.FrameSnapshot:
			r.pane, r.first = f.Pane, &f
			return nil
		case f.Name == "ended":
			return errors.New("the tab has ended")
		}
	}
}

func (r *plainRemote) Read(ctx context.Context) ([]byte, error) {
	for {
		if !r.acked {
			if err := r.s.Ack(ctx, r.pane, r.shown); err != nil {
				return nil, err
			}
			r.acked = true
		}
		f, err := r.next(ctx)
		if err != nil {
			return nil, err
		}
		switch {
		case f.Type == client.FrameSnapshot:
			r.shown, r.acked = f.Offset, f.Flags&client.SnapshotLast == 0
			if f.Flags&client.SnapshotFirst != 0 {
				return append([]byte("\x1bc"), f.Data...), nil
			}
			return f.Data, nil
		case f.Type == client.FrameOutput:
			r.shown, r.acked = f.Offset+uint64(len(f.Data)), false
			return f.Data, nil
		case f.Name == "ended":
			var ended struct {
				ExitCode int `json:"exitCode"`
			}
			if err := json.Unmarshal(f.Text, &ended); err != nil {
				return nil, fmt.Errorf("decode end: %w", err)
			}
			return nil, &client.Exited{Code: ended.ExitCode}
		}
	}
}

func (r *plainRemote) next(ctx context.Context) (client.Frame, error) {
	if f := r.first; f != nil {
		r.first = nil
		return *f, nil
	}
	return r.s.Read(ctx)
}

func (r *plainRemote) Write(ctx context.Context, b []byte) error {
	for len(b) > 0 {
		n := min(len(b), client.MaxInputBytes)
		if err := r.s.Input(ctx, r.pane, r.offset, b[:n]); err != nil {
			return err
		}
		r.offset += uint64(n)
		b = b[n:]
	}
	return nil
}

func (r *plainRemote) Resize(ctx context.Context, s client.Size) error {
	return r.s.Send(ctx, sizeFrame{Type: "resize", Cols: s.Cols, Rows: s.Rows})
}

func (r *plainRemote) Ping(ctx context.Context) error { return r.s.Ping(ctx) }

func (r *plainRemote) Close() error { return r.s.Close() }
