package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/browsertabs/tabs/client"
	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/web"
)

func (a *API) listSandboxes(c echo.Context) error {
	all, err := a.c.Sandboxes.List(c.Request().Context(), web.Actor(c))
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(s sandbox.Sandbox) bool {
		return !matches(c, "state", string(s.State)) || !matches(c, "name", s.Name)
	})
	items := make([]client.Sandbox, len(all))
	for i, s := range all {
		items[i] = sandboxJSON(c, s)
	}
	// Oldest first, as the service lists them; ids sort alike but for the fixed one of the machine itself.
	key := func(s client.Sandbox) string { return s.CreatedAt.Format("20060102150405.000") + s.ID }
	slices.SortFunc(items, func(a, b client.Sandbox) int { return strings.Compare(key(a), key(b)) })
	list, err := page(c, items, key)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, list)
}

func matches(c echo.Context, param, value string) bool {
	want := c.QueryParam(param)
	return want == "" || want == value
}

func (a *API) getSandbox(c echo.Context) error {
	s, err := a.sandbox(c, sandbox.VerbRead)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, sandboxJSON(c, s))
}

// sandbox is the sandbox in the path, if the caller may apply the verb to it. Every handler calls it before it looks at
// anything else of the request, so that a stranger learns nothing from how a request is refused.
func (a *API) sandbox(c echo.Context, v sandbox.Verb) (sandbox.Sandbox, error) {
	return a.c.Sandboxes.Get(c.Request().Context(), web.Actor(c), v, param(c, "id"))
}

// param undoes the escaping of a path parameter, which Echo leaves when it routes on the raw path.
func param(c echo.Context, name string) string {
	raw := c.Param(name)
	if c.Request().URL.RawPath == "" {
		return raw
	}
	if s, err := url.PathUnescape(raw); err == nil {
		return s
	}
	return raw
}

func sandboxJSON(c echo.Context, s sandbox.Sandbox) client.Sandbox {
	return client.Sandbox{
		ID: s.ID, OrgID: s.OrgID, Name: s.Name, Provider: s.Provider, State: string(s.State), CreatedAt: s.CreatedAt.UTC(),
		TabsURL: web.Address(c) + "/tabs?id=" + url.QueryEscape(s.ID),
	}
}
