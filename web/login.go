package web

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/web/view"
)

// loginTokenLife is how long a login address works.
const loginTokenLife = 10 * time.Minute

// logins makes and takes login tokens.
type logins struct {
	store SessionStore
	now   func() time.Time
}

func (l *logins) create(ctx context.Context, orgID string) (token string, expires time.Time, err error) {
	now := l.now()
	// A good moment to clean up: it happens now and then, and nobody waits for more than one of it.
	if err := l.store.DeleteExpired(ctx, now, now.Add(-webSessionIdle)); err != nil {
		return "", time.Time{}, fmt.Errorf("delete expired logins: %w", err)
	}
	token, expires = newSecret(), now.Add(loginTokenLife)
	err = l.store.CreateLoginToken(ctx, sandbox.LoginToken{
		Hash: sha256.Sum256([]byte(token)), OrgID: orgID, ExpiresAt: expires,
	})
	if err != nil {
		return "", time.Time{}, fmt.Errorf("create login token: %w", err)
	}
	return token, expires, nil
}

// take uses a token up and returns whom it logs in to.
func (l *logins) take(ctx context.Context, token string) (orgID string, err error) {
	t, err := l.store.TakeLoginToken(ctx, sha256.Sum256([]byte(token)))
	if err != nil && !errors.Is(err, sandbox.ErrNoRow) {
		return "", fmt.Errorf("take login token: %w", err)
	}
	if err != nil || !l.now().Before(t.ExpiresAt) {
		return "", errUnauthorized("this login address was used already, or is older than 10 minutes",
			"get a new one with tabs login")
	}
	return t.OrgID, nil
}

// NewLoginPath returns the path and query of a new login address, and until when it works. It is for the person who
// runs the server.
func (s *Server) NewLoginPath(ctx context.Context) (string, time.Time, error) {
	token, expires, err := s.logins.create(ctx, s.d.OrgID)
	if err != nil {
		return "", time.Time{}, err
	}
	return s.url("/login?token=" + token), expires, nil
}

// loginPage changes nothing, so that a prefetch or a link preview uses no address up.
func (s *Server) loginPage(c echo.Context) error {
	w, err := s.webSession(c)
	if err != nil {
		return err
	}
	token, next := c.QueryParam("token"), s.localPath(c.QueryParam("next"))
	if w == nil && token == "" {
		if w, err = s.trustedLogin(c); err != nil {
			return err
		}
	}
	if w != nil && token == "" {
		return c.Redirect(http.StatusSeeOther, next)
	}
	return s.renderLogin(c, http.StatusOK, view.LoginPage{Token: token, Next: next, Device: guessDevice(c.Request().UserAgent())})
}

func (s *Server) renderLogin(c echo.Context, status int, p view.LoginPage) error {
	p.Layout = s.layout(c, "")
	p.Title = "Log in"
	return s.render(c, status, view.Login(p))
}

func (s *Server) login(c echo.Context) error {
	r := c.Request()
	// Else another site could log its visitors in to an account of the attacker's.
	if err := s.checkSameOrigin(r); err != nil {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	next := s.localPath(c.FormValue("next"))
	device, err := checkDevice(c.FormValue("device"))
	if err != nil {
		device = guessDevice(r.UserAgent())
	}
	orgID, err := s.checkLogin(c)
	var wrong *sandbox.Error
	if errors.As(err, &wrong) && wrong.Code == sandbox.CodeUnauthorized {
		s.log.Warn("login refused", "request_id", requestID(c), "remote_addr", s.remote(r))
		return s.renderLogin(c, http.StatusUnauthorized, view.LoginPage{Next: next, Device: device, Error: sentence(*wrong)})
	}
	if err != nil {
		return err
	}
	w, err := s.startWebSession(c, sandbox.WebSession{OrgID: orgID, Device: device})
	if err != nil {
		return err
	}
	s.log.Info("logged in", "request_id", requestID(c), "device_id", w.ID, "remote_addr", w.Address)
	return c.Redirect(http.StatusSeeOther, next)
}

// checkLogin returns the organisation that the form's token or key stands for.
func (s *Server) checkLogin(c echo.Context) (orgID string, err error) {
	if token := c.FormValue("token"); token != "" {
		return s.logins.take(c.Request().Context(), token)
	}
	key := strings.TrimSpace(c.FormValue("key"))
	if key == "" {
		return "", errUnauthorized("no key was given", "")
	}
	a, err := s.d.Sandboxes.Authenticate(c.Request().Context(), key)
	var wrong *sandbox.Error
	if errors.As(err, &wrong) && wrong.Code == sandbox.CodeUnauthorized {
		return "", errUnauthorized("the key was not accepted", "")
	}
	return a.OrgID, err
}

// localPath returns next if it is a path of ours, else our front page: a login must not send people to other sites.
func (s *Server) localPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || strings.ContainsAny(next, "\\\r\n\t") ||
		!strings.HasPrefix(u.Path, s.url("/")) || strings.HasPrefix(next, "//") {
		return s.url("/")
	}
	return next
}

// logout ends the web session of the form. The row goes first: a socket that opens meanwhile finds it gone.
func (s *Server) logout(c echo.Context) error {
	w := current(c)
	if err := s.endWebSession(c, w.OrgID, w.ID); err != nil {
		return err
	}
	s.sessions.forget(c.Response(), s.scheme(c.Request()) == "https")
	return c.Redirect(http.StatusSeeOther, s.url("/login"))
}

func (s *Server) endWebSession(c echo.Context, orgID, id string) error {
	err := s.d.Store.DeleteWebSession(c.Request().Context(), orgID, id)
	if errors.Is(err, sandbox.ErrNoRow) {
		return &sandbox.Error{Code: sandbox.CodeNotFound, Message: "no such device"}
	}
	if err != nil {
		return fmt.Errorf("end web session: %w", err)
	}
	s.sockets.logout(id)
	s.log.Info("logged out", "request_id", requestID(c), "device_id", id)
	return nil
}
