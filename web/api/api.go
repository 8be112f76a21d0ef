// Package api holds the handlers of /v1 that programs call: it reads requests strictly, asks one service each, and maps
// domain types to the wire types of package client. API is its main type. It writes no failure itself, package web does,
// and it decides nothing about who may do what: every sandbox comes from Sandboxes.Get with the caller's verb.
package api

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/terminal"
	"github.com/browsertabs/tabs/terminal/tabs"
	"github.com/browsertabs/tabs/web"
)

// Sandboxes is what the API needs of sandbox.Service.
type Sandboxes interface {
	Org(ctx context.Context, a sandbox.Actor) (sandbox.Org, error)
	List(ctx context.Context, a sandbox.Actor) ([]sandbox.Sandbox, error)
	Get(ctx context.Context, a sandbox.Actor, v sandbox.Verb, idOrName string) (sandbox.Sandbox, error)
}

// Tabs is what the API needs of tabs.Service.
type Tabs interface {
	List(ctx context.Context, sandboxID string) ([]tabs.Tab, error)
	Get(ctx context.Context, sandboxID, tabID string) (tabs.Tab, error)
	Open(ctx context.Context, sandboxID string, o tabs.OpenOptions) (tabs.Tab, error)
	Update(ctx context.Context, sandboxID, tabID string, u tabs.Update) (tabs.Tab, error)
	End(ctx context.Context, sandboxID, tabID string) error
	BreakOut(ctx context.Context, sandboxID, tabID string, pane terminal.PaneID) (tabs.Tab, error)
	Join(ctx context.Context, sandboxID, tabID string, j tabs.Join) (tabs.Tab, error)
	Revive(ctx context.Context, sandboxID string, ids []string) ([]tabs.Tab, error)
	Forget(ctx context.Context, sandboxID string, ids []string) error
}

// Execer starts commands in sandboxes: a sandbox.Provider.
type Execer interface {
	Exec(ctx context.Context, sandboxID string, e sandbox.Exec) (sandbox.Process, error)
}

// Config is what New needs.
type Config struct {
	Log       *slog.Logger
	Sandboxes Sandboxes
	Tabs      Tabs
	Exec      Execer
	Version   string // of the server
}

// API is the handlers. Close it to end the attachments it serves.
type API struct {
	c        Config
	attached attachments
}

// New returns an API.
func New(c Config) *API {
	a := &API{c: c}
	a.attached.init()
	return a
}

// Close detaches every attachment and waits for them, or until ctx is done. Tabs go on.
func (a *API) Close(ctx context.Context) error { return a.attached.drain(ctx) }

// Routes are the routes for web.Deps.
func (a *API) Routes() []web.Route {
	return []web.Route{
		{Method: http.MethodGet, Path: "/v1/whoami", Auth: web.KeyOrPage, Handler: a.whoami},
		{Method: http.MethodGet, Path: "/v1/sandboxes", Auth: web.KeyOrPage, Handler: a.listSandboxes},
		{Method: http.MethodGet, Path: "/v1/sandboxes/:id", Auth: web.KeyOrPage, Handler: a.getSandbox},
		{Method: http.MethodGet, Path: "/v1/sandboxes/:id/tabs", Auth: web.KeyOrPage, Handler: a.listTabs},
		{Method: http.MethodPost, Path: "/v1/sandboxes/:id/tabs", Auth: web.KeyOrPage, Handler: a.openTab},
		{Method: http.MethodPost, Path: "/v1/sandboxes/:id/tabs/revive", Auth: web.KeyOrPage, Handler: a.reviveTabs},
		{Method: http.MethodPost, Path: "/v1/sandboxes/:id/tabs/forget", Auth: web.KeyOrPage, Handler: a.forgetTabs},
		{Method: http.MethodGet, Path: "/v1/sandboxes/:id/tabs/:tab", Auth: web.KeyOrPage, Handler: a.getTab},
		{Method: http.MethodPatch, Path: "/v1/sandboxes/:id/tabs/:tab", Auth: web.KeyOrPage, Handler: a.updateTab},
		{Method: http.MethodDelete, Path: "/v1/sandboxes/:id/tabs/:tab", Auth: web.KeyOrPage, Handler: a.endTab},
		{Method: http.MethodPost, Path: "/v1/sandboxes/:id/tabs/:tab/break", Auth: web.KeyOrPage, Handler: a.breakOut},
		{Method: http.MethodPost, Path: "/v1/sandboxes/:id/tabs/:tab/join", Auth: web.KeyOrPage, Handler: a.joinTab},
		{Method: http.MethodGet, Path: "/v1/sandboxes/:id/tabs/:tab/attach", Auth: web.KeyOrPage, Handler: a.attachTab},
		{Method: http.MethodGet, Path: "/v1/tabs/:tab", Auth: web.KeyOrPage, Handler: a.findTab},
	}
}
