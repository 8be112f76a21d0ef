package web

import (
	"context"
	"fmt"

	"github.com/labstack/echo/v4"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/terminal"
	"github.com/browsertabs/tabs/terminal/tabs"
)

// Tabs is what web needs of the tabs of sandboxes. TabsOf makes one of a tabs.Service.
type Tabs interface {
	List(ctx context.Context, sandboxID string) ([]tabs.Tab, error)
	Get(ctx context.Context, sandboxID, tabID string) (tabs.Tab, error)
	Watch(ctx context.Context, sandboxID string) (<-chan tabs.Event, error)
	// View gives a viewer the tab's terminal until it leaves or is sent away.
	View(ctx context.Context, sandboxID, tabID string, c terminal.Conn, h terminal.Hello, v terminal.ViewerConfig) error
}

// TabsOf adapts s.
func TabsOf(s *tabs.Service) Tabs { return serviceTabs{s} }

type serviceTabs struct{ *tabs.Service }

func (s serviceTabs) View(ctx context.Context, sandboxID, tabID string, c terminal.Conn, h terminal.Hello, v terminal.ViewerConfig) error {
	t, err := s.Terminal(ctx, sandboxID, tabID)
	if err != nil {
		return fmt.Errorf("find terminal: %w", err)
	}
	return t.Serve(ctx, c, h, v)
}

func (s *Server) tabSocket(c echo.Context) error {
	sb, err := s.socketSandbox(c)
	tabID := c.Param("tab")
	if err == nil {
		_, err = s.d.Tabs.Get(c.Request().Context(), sb.ID, tabID)
	}
	viewer := terminal.ViewerConfig{Name: viewerName(c)}
	return s.serveSocket(c, sb.ID+"/"+tabID, err, func(ctx context.Context, conn *wsConn, h terminal.Hello) error {
		s.log.Debug("viewer came", "request_id", requestID(c), "sandbox_id", sb.ID, "terminal_id", tabID)
		err := s.d.Tabs.View(ctx, sb.ID, tabID, conn, h, viewer)
		s.log.Debug("viewer left", "request_id", requestID(c), "sandbox_id", sb.ID, "terminal_id", tabID, "err", err)
		return err
	})
}

// socketSandbox finds the sandbox of a socket. A page without a login gets as far as the close code that says so.
func (s *Server) socketSandbox(c echo.Context) (sandbox.Sandbox, error) {
	a := Actor(c)
	if a.OrgID == "" {
		return sandbox.Sandbox{}, errUnauthorized("logged out", "")
	}
	return s.d.Sandboxes.Get(c.Request().Context(), a, sandbox.VerbTabs, c.Param("id"))
}

// viewerName is what other viewers see.
func viewerName(c echo.Context) string {
	if w := current(c); w != nil {
		return w.Device
	}
	return guessDevice(c.Request().UserAgent())
}
