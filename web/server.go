package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/browsertabs/tabs/sandbox"
)

// maxBodyBytes bounds the body of a request; larger things travel through sockets.
const maxBodyBytes = 1 << 20

// Sandboxes is what web needs of sandbox.Service.
type Sandboxes interface {
	// Authenticate returns the actor that a key's secret stands for.
	Authenticate(ctx context.Context, secret string) (sandbox.Actor, error)
	List(ctx context.Context, a sandbox.Actor) ([]sandbox.Sandbox, error)
	Get(ctx context.Context, a sandbox.Actor, v sandbox.Verb, idOrName string) (sandbox.Sandbox, error)
	Settings(ctx context.Context, a sandbox.Actor) (sandbox.Settings, error)
	ChangeSettings(ctx context.Context, a sandbox.Actor, changes sandbox.Settings) (sandbox.Settings, error)
}

// Deps is what New needs. What has no comment must be set.
type Deps struct {
	Log       *slog.Logger
	Sandboxes Sandboxes
	Tabs      Tabs
	Store     SessionStore
	// OrgID is the organisation that a login address and a trusted header log in to.
	OrgID string
	// API are the routes of /v1 that web does not have itself: package api makes them.
	API []Route
	// Hosts are the names by which browsers may call the server: "localhost", "192.0.2.1", "*.example.org". A port
	// that a name has must match; without one any port does.
	Hosts []string
	// DeviceHost, with its port, is how other devices reach the server; "" when they cannot.
	DeviceHost string
	// BasePath is "" or "/term".
	BasePath string
	// BehindProxy believes X-Forwarded-Proto, -Host and -For.
	BehindProxy bool
	// TrustedHeader names the header in which an authenticating proxy says who asks; "" for none. It is believed on a
	// unix socket, and elsewhere beside the right TrustedSecret in the header X-Tabs-Proxy-Secret.
	TrustedHeader string
	TrustedSecret string
	Version       string
	// Metrics is served at /metrics, and gets web's own; nil makes one.
	Metrics *prometheus.Registry
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Server answers HTTP. It listens nowhere itself: give its Handler to an http.Server.
type Server struct {
	d        Deps
	log      *slog.Logger
	hosts    hostList
	sessions *webSessions
	logins   *logins
	sockets  *sockets
	settings settingsWatch
	timing   timing
	meters   *meters
	echo     *echo.Echo
}

// New returns a Server.
func New(d Deps) (*Server, error) {
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Metrics == nil {
		d.Metrics = prometheus.NewRegistry()
	}
	if d.BasePath != "" && (!strings.HasPrefix(d.BasePath, "/") || strings.HasSuffix(d.BasePath, "/")) {
		return nil, fmt.Errorf("base path %q does not look like /name", d.BasePath)
	}
	if len(d.Hosts) == 0 {
		return nil, errors.New("no host name is allowed")
	}
	s := &Server{
		d: d, log: d.Log, hosts: newHostList(d.Hosts),
		sessions: newWebSessions(d.Store, d.OrgID, d.BasePath, d.Now),
		logins:   &logins{store: d.Store, now: d.Now},
		meters:   newMeters(d.Metrics),
		timing:   defaultTiming,
	}
	s.sockets = newSockets(s.meters)

	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = s.fail
	e.Pre(s.identify, s.observe, s.recoverPanic, s.headers, s.limitBody, s.refuseStrangers, s.address)
	g := e.Group(d.BasePath)
	for _, r := range withHead(append(s.routes(), d.API...)) {
		m, err := s.authentication(r.Auth)
		if err != nil {
			return nil, fmt.Errorf("route %s %s: %w", r.Method, r.Path, err)
		}
		g.Add(r.Method, r.Path, r.Handler, setAuth(r.Auth), s.compress(r), m)
	}
	s.echo = e
	return s, nil
}

// Handler answers every request, under the base path.
func (s *Server) Handler() http.Handler { return s.echo }

// Close refuses new sockets, sends every open one away with a code that says "reconnect soon", and waits for them.
// Once ctx is done those that are left are cut. Call it beside http.Server.Shutdown, which knows nothing of sockets.
func (s *Server) Close(ctx context.Context) error { return s.sockets.drain(ctx) }

// url is the path of a route as a browser sees it.
func (s *Server) url(path string) string { return s.d.BasePath + path }
