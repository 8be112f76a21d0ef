package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/browsertabs/tabs/client"
	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/terminal"
	"github.com/browsertabs/tabs/terminal/tabs"
	"github.com/browsertabs/tabs/web"
)

func (a *API) listTabs(c echo.Context) error {
	s, err := a.sandbox(c, sandbox.VerbTabs)
	if err != nil {
		return err
	}
	all, err := a.c.Tabs.List(c.Request().Context(), s.ID)
	if err != nil {
		return err
	}
	items := tabsJSON(all)
	key := func(t client.Tab) string { return fmt.Sprintf("%010d", t.Order) + t.ID }
	slices.SortFunc(items, func(a, b client.Tab) int { return strings.Compare(key(a), key(b)) })
	list, err := page(c, items, key)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, list)
}

func tabsJSON(all []tabs.Tab) []client.Tab {
	items := make([]client.Tab, len(all))
	for i, t := range all {
		items[i] = web.TabJSON(t)
	}
	return items
}

func (a *API) getTab(c echo.Context) error {
	s, err := a.sandbox(c, sandbox.VerbTabs)
	if err != nil {
		return err
	}
	t, err := a.c.Tabs.Get(c.Request().Context(), s.ID, param(c, "tab"))
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, web.TabJSON(t))
}

// findTab finds a tab by its id alone, among the sandboxes the caller may use.
func (a *API) findTab(c echo.Context) error {
	ctx, actor, id := c.Request().Context(), web.Actor(c), param(c, "tab")
	all, err := a.c.Sandboxes.List(ctx, actor)
	if err != nil {
		return err
	}
	for _, s := range all {
		if _, err := a.c.Sandboxes.Get(ctx, actor, sandbox.VerbTabs, s.ID); err != nil {
			continue
		}
		t, err := a.c.Tabs.Get(ctx, s.ID, id)
		if err == nil {
			return answer(c, http.StatusOK, web.TabJSON(t))
		}
		if !isNotFound(err) && len(all) == 1 {
			return err
		}
	}
	return &sandbox.Error{Code: sandbox.CodeNotFound, Message: fmt.Sprintf("tab %.80q not found", id), Remedy: "pt tab list SANDBOX"}
}

func (a *API) openTab(c echo.Context) error {
	s, err := a.sandbox(c, sandbox.VerbTabs)
	if err != nil {
		return err
	}
	var n client.NewTab
	f, err := readBody(c, &n)
	if err != nil {
		return err
	}
	if err := checkNewTab(&n, f); err != nil {
		return err
	}
	t, err := a.c.Tabs.Open(c.Request().Context(), s.ID, tabs.OpenOptions{
		Title: n.Title, User: n.User, Cwd: n.Cwd, Command: n.Command, Env: n.Env,
		Size: terminal.Size{Cols: n.Cols, Rows: n.Rows}, Plain: n.Plain,
	})
	if err != nil {
		return err
	}
	return answer(c, http.StatusCreated, web.TabJSON(t))
}

func (a *API) updateTab(c echo.Context) error {
	s, id, err := a.tab(c)
	if err != nil {
		return err
	}
	var u client.TabUpdate
	f, err := readBody(c, &u)
	if err != nil {
		return err
	}
	if err := checkTabUpdate(&u, f); err != nil {
		return err
	}
	t, err := a.c.Tabs.Update(c.Request().Context(), s.ID, id, tabs.Update{Title: u.Title, Order: u.Order})
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, web.TabJSON(t))
}

func (a *API) endTab(c echo.Context) error {
	s, err := a.sandbox(c, sandbox.VerbTabs)
	if err != nil {
		return err
	}
	if err := a.c.Tabs.End(c.Request().Context(), s.ID, param(c, "tab")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func (a *API) reviveTabs(c echo.Context) error {
	s, ids, err := a.savedTabs(c)
	if err != nil {
		return err
	}
	revived, err := a.c.Tabs.Revive(c.Request().Context(), s.ID, ids)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, client.List[client.Tab]{Items: tabsJSON(revived)})
}

func (a *API) forgetTabs(c echo.Context) error {
	s, ids, err := a.savedTabs(c)
	if err != nil {
		return err
	}
	if err := a.c.Tabs.Forget(c.Request().Context(), s.ID, ids); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func (a *API) savedTabs(c echo.Context) (sandbox.Sandbox, []string, error) {
	s, err := a.sandbox(c, sandbox.VerbTabs)
	if err != nil {
		return s, nil, err
	}
	var body client.TabIDs
	f, err := readBody(c, &body)
	if err != nil {
		return s, nil, err
	}
	return s, body.IDs, checkTabIDs(body, f)
}
