package web

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/browsertabs/tabs/sandbox"
)

const (
	webSessionKey = "web_session"
	tokenHeader   = "X-Tabs-Token"
	tokenField    = "page_token" // of forms, which cannot set a header
)

// current is the web session of the request, nil with a key and on a Public route.
func current(c echo.Context) *webSession {
	w, _ := c.Get(webSessionKey).(*webSession)
	return w
}

// authentication returns the middleware of an auth class.
func (s *Server) authentication(a Auth) (echo.MiddlewareFunc, error) {
	var check func(c echo.Context) error
	switch a {
	case Public:
		check = func(echo.Context) error { return nil }
	case Page:
		check = s.checkPage
	case KeyOrPage:
		check = s.checkKeyOrPage
	case Socket:
		check = s.checkSocket
	case LocalOrKey:
		check = s.checkLocalOrKey
	default:
		return nil, errors.New("no auth class")
	}
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if err := check(c); err != nil || c.Response().Committed {
				return err
			}
			return next(c)
		}
	}, nil
}

func (s *Server) checkPage(c echo.Context) error {
	w, err := s.webSession(c)
	if err != nil {
		return err
	}
	if w == nil {
		if w, err = s.trustedLogin(c); err != nil {
			return err
		}
	}
	if w == nil {
		if !isSafe(c.Request().Method) {
			return errUnauthorized("you were logged out", "")
		}
		return c.Redirect(http.StatusSeeOther, s.url("/login?next="+url.QueryEscape(c.Request().URL.RequestURI())))
	}
	if !isSafe(c.Request().Method) {
		if err := s.checkSameOrigin(c.Request()); err != nil {
			return err
		}
		if err := parseForm(c.Request()); err != nil {
			return err
		}
		if !w.checkPageToken(cmp.Or(c.Request().Header.Get(tokenHeader), c.FormValue(tokenField))) {
			return errForbidden("this page is from before your last login", "reload it and try again")
		}
	}
	return nil
}

func (s *Server) checkKeyOrPage(c echo.Context) error {
	r := c.Request()
	if done, err := s.bearer(c); done {
		return err
	}
	w, err := s.webSession(c)
	if err != nil {
		return err
	}
	if w == nil {
		return errUnauthorized("no key and no login", "send the header Authorization: Bearer KEY, or log in")
	}
	if isSafe(r.Method) {
		// An answer that another site's page cannot read does no harm, but it has no business asking.
		if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
			return errForbidden("requests from other sites need a key", "")
		}
		return nil
	}
	if err := s.checkSameOrigin(r); err != nil {
		return err
	}
	if !w.checkPageToken(r.Header.Get(tokenHeader)) {
		return errForbidden("the header "+tokenHeader+" is missing or old", "reload the page")
	}
	return nil
}

// checkSocket lets a page of ours without a login through, since a browser hides the status of a refused handshake from
// its page: the handler closes the socket with the code that says so.
func (s *Server) checkSocket(c echo.Context) error {
	if done, err := s.bearer(c); done {
		return err
	}
	origin := c.Request().Header.Get("Origin")
	if origin == "" {
		return errUnauthorized("no key and no page", "send the header Authorization: Bearer KEY")
	}
	if !s.sameOrigin(c.Request(), origin) {
		s.log.Warn("refused socket from another origin", "request_id", requestID(c), "origin", clip(origin),
			"own_origin", s.origin(c.Request()), "remote_addr", s.remote(c.Request()))
		return errForbidden("sockets from other origins are refused", "")
	}
	_, err := s.webSession(c)
	return err
}

func (s *Server) checkLocalOrKey(c echo.Context) error {
	if done, err := s.bearer(c); done {
		return err
	}
	addr, err := netip.ParseAddrPort(c.Request().RemoteAddr)
	// Whatever comes through a proxy comes from this machine.
	if err != nil || !addr.Addr().IsLoopback() || s.d.BehindProxy {
		return errUnauthorized("from another machine this needs a key", "send the header Authorization: Bearer KEY")
	}
	return nil
}

// bearer authenticates a request with an Authorization header by that alone: done is false when it has none.
func (s *Server) bearer(c echo.Context) (done bool, err error) {
	h := c.Request().Header.Get(echo.HeaderAuthorization)
	if h == "" {
		return false, nil
	}
	scheme, secret, _ := strings.Cut(h, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		if s.d.TrustedHeader != "" {
			return false, nil // the proxy's own business
		}
		return true, errUnauthorized("only keys are taken in Authorization", "send the header Authorization: Bearer KEY")
	}
	a, err := s.d.Sandboxes.Authenticate(c.Request().Context(), strings.TrimSpace(secret))
	if err != nil {
		return true, err
	}
	c.Set(actorKey, a)
	return true, nil
}

// webSession finds the request's web session and makes its actor the request's. nil without an error: none.
func (s *Server) webSession(c echo.Context) (*webSession, error) {
	r := c.Request()
	w, err := s.sessions.find(r)
	if w == nil || err != nil {
		return nil, err
	}
	if w.User != "" && w.User != s.trustedUser(r) {
		return nil, nil // the proxy says it is someone else by now, or nobody
	}
	s.useWebSession(c, w)
	if now := s.d.Now(); now.Sub(w.LastSeen) >= touchInterval {
		// On a full disk people must still get in.
		if err := s.d.Store.TouchWebSession(r.Context(), w.ID, s.remote(r), now); err != nil {
			s.log.Warn("touch web session", "request_id", requestID(c), "err", err)
		}
	}
	return w, nil
}

func (s *Server) useWebSession(c echo.Context, w *webSession) {
	c.Set(webSessionKey, w)
	c.Set(actorKey, sandbox.Actor{OrgID: w.OrgID, Device: w.Device, User: w.User})
}

// checkSameOrigin wants proof that one of our own pages made the request. Sec-Fetch-Site comes over TLS and from this
// machine, Origin always.
func (s *Server) checkSameOrigin(r *http.Request) error {
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	switch {
	case site != "" && site != "same-origin":
	case origin != "" && origin != "null" && !s.sameOrigin(r, origin):
	case site == "" && !s.sameOrigin(r, origin):
	default:
		return nil
	}
	remedy := ""
	if s.d.BehindProxy {
		remedy = fmt.Sprintf("if this is your own page, let the proxy send X-Forwarded-Proto and X-Forwarded-Host (seen here: %s)",
			clip(s.origin(r)))
	}
	return errForbidden("this request did not come from a page of this server", remedy)
}

// parseForm reads the form of a request, and unlike FormValue says what is wrong with it.
func parseForm(r *http.Request) error {
	err := r.ParseForm()
	var long *http.MaxBytesError
	if err == nil || errors.As(err, &long) {
		return err
	}
	return errInvalid("the form was cut off, or is not encoded as a form", "")
}

func isSafe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// clip shortens what a stranger chose before it is logged or repeated.
func clip(s string) string {
	if len(s) > 200 {
		return s[:200] + "..."
	}
	return s
}
