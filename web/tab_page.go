package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/static"
	"github.com/browsertabs/tabs/web/view"
)

func (s *Server) root(c echo.Context) error {
	return c.Redirect(http.StatusSeeOther, s.url("/tabs"))
}

// tabPage is /tabs?id=. Without an id it goes to the first sandbox there is.
func (s *Server) tabPage(c echo.Context) error {
	ctx, a := c.Request().Context(), Actor(c)
	id := c.QueryParam("id")
	if id == "" {
		all, err := s.d.Sandboxes.List(ctx, a)
		if err != nil {
			return err
		}
		if len(all) == 0 {
			return s.message(c, http.StatusOK, view.MessagePage{
				Heading: "No sandbox yet",
				Text:    "This server has none that you may see. To offer the machine itself, start it with --local.",
				Action:  "Look again", ActionURL: s.url("/tabs"),
			})
		}
		return c.Redirect(http.StatusSeeOther, s.url("/tabs?id="+url.QueryEscape(all[0].ID)))
	}
	sb, err := s.d.Sandboxes.Get(ctx, a, sandbox.VerbTabs, id)
	if err != nil {
		return err
	}
	if !static.Built() {
		return s.message(c, http.StatusServiceUnavailable, view.MessagePage{
			Heading: "Assets not built", Text: "This binary was built without the page's scripts: run make build.",
			Action: "Try again", ActionURL: c.Request().URL.RequestURI(),
		})
	}
	p := view.TabPage{
		Layout: s.layout(c, "main"), SandboxID: sb.ID, SandboxName: sb.Name, State: string(sb.State),
		Active: c.QueryParam("tab"), Device: current(c).Device,
	}
	p.Title = sb.Name
	all, err := s.d.Tabs.List(ctx, sb.ID)
	var missing *sandbox.Error
	switch {
	case errors.As(err, &missing) && (missing.Code == sandbox.CodeTmuxMissing || missing.Code == sandbox.CodeTmuxTooOld):
		p.TmuxMissing = true
	case err != nil:
		return fmt.Errorf("list tabs: %w", err)
	}
	active := false
	for _, t := range all {
		p.Tabs = append(p.Tabs, view.Tab{ID: t.ID, Title: t.Title, State: t.State, Bell: t.Bell})
		active = active || t.ID == p.Active
	}
	if !active && p.Active != "" {
		p.Active = "" // closed meanwhile: a link to it still opens the sandbox
	}
	if p.Active == "" && len(p.Tabs) > 0 {
		p.Active = p.Tabs[0].ID
	}
	if err := s.sessions.refresh(c.Response(), c.Request(), s.scheme(c.Request()) == "https"); err != nil {
		return err
	}
	return s.render(c, http.StatusOK, view.Tabs(p))
}

func (s *Server) message(c echo.Context, status int, p view.MessagePage) error {
	heading := p.Heading
	p.Layout, p.Status, p.RequestID = s.layout(c, ""), status, requestID(c)
	p.Title = heading
	return s.render(c, status, view.Message(p))
}
