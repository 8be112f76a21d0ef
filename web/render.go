package web

import (
	"bytes"
	"fmt"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"github.com/browsertabs/tabs/client"
	"github.com/browsertabs/tabs/web/view"
)

// render answers with a page. It is rendered whole before the first byte is sent, since an error in the middle would
// leave half a page with status 200.
func (s *Server) render(c echo.Context, status int, page templ.Component) error {
	var b bytes.Buffer
	if err := page.Render(c.Request().Context(), &b); err != nil {
		return fmt.Errorf("render page: %w", err)
	}
	noStore(c)
	return c.HTMLBlob(status, b.Bytes())
}

// layout is what every page needs. script is the page's entry module, "" for none.
func (s *Server) layout(c echo.Context, script string) view.Layout {
	l := view.Layout{BasePath: s.d.BasePath, Script: script, Protocol: client.Protocol, Version: s.d.Version}
	if w := current(c); w != nil {
		l.Token = w.pageToken
	}
	return l
}

// noStore keeps what a logged-in person saw out of caches. Pages still go to the back-forward cache, and are told when
// they come back from it.
func noStore(c echo.Context) { c.Response().Header().Set("Cache-Control", "no-cache, private") }
