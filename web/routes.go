package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/browsertabs/tabs/sandbox"
)

// Auth says who may use a route. The zero value is no class and New refuses it, so that a forgotten one fails closed.
type Auth int

const (
	_ Auth = iota
	// Public is for anybody. Nothing but login may change anything here.
	Public
	// Page needs a web session; a browser without one is sent to the login. Unsafe methods need the page token too.
	Page
	// KeyOrPage needs a bearer key, or a web session with proof of same origin. Failures are JSON.
	KeyOrPage
	// Socket is KeyOrPage for websockets: with the cookie, Origin must be our own and the page token must be in the
	// first frame.
	Socket
	// LocalOrKey is for anybody on this machine, and for a bearer key from elsewhere.
	LocalOrKey
)

// Route is one route with its auth class. Path is relative to the base path.
type Route struct {
	Method  string
	Path    string
	Auth    Auth
	Handler echo.HandlerFunc
}

// withHead adds HEAD to every route that GET answers with something else than a socket: net/http leaves the body out.
func withHead(routes []Route) []Route {
	all := routes
	for _, r := range routes {
		if r.Method == http.MethodGet && r.Auth != Socket {
			r.Method = http.MethodHead
			all = append(all, r)
		}
	}
	return all
}

// Actor returns who asks. On a Public route it is the zero Actor.
func Actor(c echo.Context) sandbox.Actor {
	a, _ := c.Get(actorKey).(sandbox.Actor)
	return a
}

const actorKey = "actor"

// routes is the table of every route of the server but those of /v1 that Deps.API adds.
func (s *Server) routes() []Route {
	return []Route{
		{http.MethodGet, "/", Public, s.root},
		{http.MethodGet, "/login", Public, s.loginPage},
		{http.MethodPost, "/login", Public, s.login},
		{http.MethodPost, "/logout", Page, s.logout},
		{http.MethodGet, "/tabs", Page, s.tabPage},
		{http.MethodGet, "/devices", Page, s.devicesPage},

		{http.MethodGet, "/v1/devices", KeyOrPage, s.listDevices},
		{http.MethodPost, "/v1/devices/address", KeyOrPage, s.addDevice},
		{http.MethodPatch, "/v1/devices/:device", KeyOrPage, s.renameDevice},
		{http.MethodDelete, "/v1/devices/:device", KeyOrPage, s.removeDevice},
		{http.MethodDelete, "/v1/devices", KeyOrPage, s.removeDevices},

		{http.MethodGet, "/v1/settings", KeyOrPage, s.getSettings},
		{http.MethodPatch, "/v1/settings", KeyOrPage, s.changeSettings},

		{http.MethodGet, "/v1/sandboxes/:id/tabs/watch", Socket, s.watchSocket},
		{http.MethodGet, "/v1/sandboxes/:id/tabs/:tab/socket", Socket, s.tabSocket},

		{http.MethodGet, assetPath, Public, s.asset},
		{http.MethodGet, "/healthz", Public, s.health},
		{http.MethodGet, "/metrics", LocalOrKey, s.metrics},
	}
}
