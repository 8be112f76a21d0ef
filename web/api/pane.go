package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/browsertabs/tabs/client"
	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/terminal"
	"github.com/browsertabs/tabs/terminal/tabs"
	"github.com/browsertabs/tabs/web"
)

func (a *API) breakOut(c echo.Context) error {
	s, id, err := a.tab(c)
	if err != nil {
		return err
	}
	var body client.BreakOut
	f, err := readBody(c, &body)
	if err != nil {
		return err
	}
	if _, ok := f["pane"]; !ok || f.null("pane") {
		return invalid("pane", "pane must be the number of a pane of this tab")
	}
	t, err := a.c.Tabs.BreakOut(c.Request().Context(), s.ID, id, terminal.PaneID(body.Pane))
	if err != nil {
		return err
	}
	return answer(c, http.StatusCreated, web.TabJSON(t))
}

func (a *API) joinTab(c echo.Context) error {
	s, id, err := a.tab(c)
	if err != nil {
		return err
	}
	var body client.JoinTab
	if _, err := readBody(c, &body); err != nil {
		return err
	}
	if body.From == "" {
		return invalid("from", "from must be the id of the tab to take a pane from")
	}
	t, err := a.c.Tabs.Join(c.Request().Context(), s.ID, id, tabs.Join{
		From: body.From, Pane: paneID(body.Pane), Beside: paneID(body.Beside), Direction: body.Direction,
	})
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, web.TabJSON(t))
}

// tab is the sandbox and the id of the tab that a request names; a tab that is not there is refused before the body is read.
func (a *API) tab(c echo.Context) (sandbox.Sandbox, string, error) {
	s, err := a.sandbox(c, sandbox.VerbTabs)
	if err != nil {
		return s, "", err
	}
	id := param(c, "tab")
	_, err = a.c.Tabs.Get(c.Request().Context(), s.ID, id)
	return s, id, err
}

func paneID(n *uint32) *terminal.PaneID {
	if n == nil {
		return nil
	}
	id := terminal.PaneID(*n)
	return &id
}
