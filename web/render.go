package web

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"github.com/browsertabs/tabs/client"
	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/static"
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
	var settings sandbox.Settings
	if w := current(c); w != nil {
		l.Token = w.pageToken
		var err error
		if settings, err = s.d.Sandboxes.Settings(c.Request().Context(), Actor(c)); err != nil {
			// A page in other colours is better than none, and this may be the page that tells of a failure.
			s.log.Error("read settings", "request_id", requestID(c), "err", err)
		}
		text, err := json.Marshal(settings)
		if err != nil {
			s.log.Error("encode settings", "request_id", requestID(c), "err", err)
		}
		l.Settings = string(text)
	}
	l.Schemes = schemes(settings)
	return l
}

// schemes are the colour schemes of a page. One that this version does not know is the default.
func schemes(settings sandbox.Settings) []view.Scheme {
	read := func(name, fallback string) string {
		var value string
		if json.Unmarshal(settings[name], &value) != nil {
			return fallback
		}
		return value
	}
	scheme := func(name, fallback, media string) view.Scheme {
		id := read(name, fallback)
		if !static.Has("scheme-" + id + ".css") {
			id = fallback
		}
		return view.Scheme{ID: id, Media: media}
	}
	const light, dark = "tabs-light", "tabs-dark"
	switch read("appearance", "system") {
	case "light":
		return []view.Scheme{scheme("lightScheme", light, "")}
	case "dark":
		return []view.Scheme{scheme("darkScheme", dark, "")}
	}
	return []view.Scheme{
		scheme("lightScheme", light, "not (prefers-color-scheme: dark)"),
		scheme("darkScheme", dark, "(prefers-color-scheme: dark)"),
	}
}

// noStore keeps what a logged-in person saw out of caches. Pages still go to the back-forward cache, and are told when
// they come back from it.
func noStore(c echo.Context) { c.Response().Header().Set("Cache-Control", "no-cache, private") }
