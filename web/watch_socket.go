package web

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/labstack/echo/v4"

	"github.com/browsertabs/tabs/client"
	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/terminal"
	"github.com/browsertabs/tabs/terminal/tabs"
)

func (s *Server) watchSocket(c echo.Context) error {
	sb, err := s.socketSandbox(c)
	return s.serveSocket(c, "", err, func(ctx context.Context, conn *wsConn, _ terminal.Hello) error {
		return s.watch(ctx, conn, Actor(c), sb)
	})
}

// watch tells a page what happens to the tabs of a sandbox, and to the settings of its user.
func (s *Server) watch(ctx context.Context, conn *wsConn, a sandbox.Actor, sb sandbox.Sandbox) error {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	pongs, left := make(chan json.Number), make(chan error, 1)
	// The reader is told to stop by the end of its connection alone, for which our caller cares: cancelling a Read would
	// cut the connection before the close code is sent.
	s.sockets.wg.Go(func() { left <- readPings(ctx, conn, pongs, watching.Done()) })

	changed, leave := s.settings.join(a)
	defer leave()
	events, err := s.d.Tabs.Watch(watching, sb.ID)
	if err != nil {
		return fmt.Errorf("watch tabs: %w", err)
	}
	f := frame{"type": "welcome", "protocol": terminal.ProtocolVersion, "version": s.d.Version}
	if err := writeJSON(ctx, conn, f); err != nil {
		return err
	}
	if f, err = s.settingsFrame(ctx, a); err != nil {
		return err
	}
	for {
		if err := writeJSON(ctx, conn, f); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-left:
			return err
		case t := <-pongs:
			f = frame{"type": "pong", "t": t}
		case <-changed:
			if f, err = s.settingsFrame(ctx, a); err != nil {
				return err
			}
		case e, ok := <-events:
			if !ok {
				return &terminal.FrameError{Code: terminal.CloseRestart, Text: "tabs are not watched any more"}
			}
			f = eventFrame(e, sb)
		}
	}
}

// readPings reads until the connection fails, the page breaks the protocol, or nobody watches any more.
func readPings(ctx context.Context, conn *wsConn, pongs chan<- json.Number, over <-chan struct{}) error {
	for {
		t, err := readPing(ctx, conn)
		if err != nil {
			return err
		}
		select {
		case pongs <- t:
		case <-over:
			return nil
		}
	}
}

// readPing reads the one frame a watching page may send.
func readPing(ctx context.Context, conn *wsConn) (json.Number, error) {
	binary, data, err := conn.Read(ctx)
	if err != nil {
		return "", err
	}
	var ping struct {
		Type string      `json:"type"`
		T    json.Number `json:"t"`
	}
	if binary || json.Unmarshal(data, &ping) != nil || ping.Type != "ping" || ping.T == "" {
		return "", &terminal.FrameError{Code: terminal.CloseBadFrame, Text: "only ping is taken here"}
	}
	return ping.T, nil
}

func (s *Server) settingsFrame(ctx context.Context, a sandbox.Actor) (frame, error) {
	all, err := s.d.Sandboxes.Settings(ctx, a)
	if err != nil {
		return nil, fmt.Errorf("watch settings: %w", err)
	}
	return frame{"type": "settings", "settings": all}, nil
}

// frame is a text frame.
type frame map[string]any

func writeJSON(ctx context.Context, conn *wsConn, f frame) error {
	b, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("encode frame: %w", err)
	}
	return conn.Write(ctx, false, b)
}

// eventFrame is the text frame for an event.
func eventFrame(e tabs.Event, sb sandbox.Sandbox) frame {
	switch {
	case e.Tabs != nil:
		return frame{"type": "tabs", "items": tabsJSON(e.Tabs.Tabs), "revivable": savedJSON(e.Tabs.Revivable),
			"state": sb.State, "sandbox": frame{"id": sb.ID, "name": sb.Name}}
	case e.Tab != nil:
		return frame{"type": "tab", "item": TabJSON(*e.Tab)}
	case e.Gone != nil:
		return frame{"type": "tabGone", "id": e.Gone.ID, "reason": e.Gone.Reason}
	default:
		return frame{"type": "revivable", "items": savedJSON(e.Revivable)}
	}
}

func tabsJSON(all []tabs.Tab) []client.Tab {
	items := make([]client.Tab, len(all))
	for i, t := range all {
		items[i] = TabJSON(t)
	}
	return items
}

func savedJSON(all []tabs.Saved) []client.SavedTab {
	items := make([]client.SavedTab, len(all))
	for i, t := range all {
		items[i] = SavedTabJSON(t)
	}
	return items
}
