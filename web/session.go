package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/sessions"

	"github.com/browsertabs/tabs/sandbox"
)

const (
	// webSessionIdle is how long a device may stay away. Browsers keep no cookie longer than 400 days.
	webSessionIdle = 90 * 24 * time.Hour
	// touchInterval is how far LastSeen may lag behind: a write per request would cost more than it tells.
	touchInterval = time.Minute
)

// SessionStore keeps web sessions and login tokens. Every method may be called from any goroutine, and is durable when
// it returns.
type SessionStore interface {
	CreateWebSession(ctx context.Context, w sandbox.WebSession) error
	// WebSession finds by the hash of the cookie's secret; sandbox.ErrNoRow when there is none.
	WebSession(ctx context.Context, hash [32]byte) (sandbox.WebSession, error)
	// WebSessions lists an organisation's, oldest first.
	WebSessions(ctx context.Context, orgID string) ([]sandbox.WebSession, error)
	// RenameWebSession and DeleteWebSession answer sandbox.ErrNoRow when the organisation has no such web session.
	RenameWebSession(ctx context.Context, orgID, id, device string) error
	DeleteWebSession(ctx context.Context, orgID, id string) error
	// TouchWebSession sets LastSeen and Address; a web session that is gone is not an error.
	TouchWebSession(ctx context.Context, id, address string, at time.Time) error

	CreateLoginToken(ctx context.Context, t sandbox.LoginToken) error
	// TakeLoginToken returns a token and deletes it, to one caller only; sandbox.ErrNoRow to all others.
	TakeLoginToken(ctx context.Context, hash [32]byte) (sandbox.LoginToken, error)
	// DeleteExpired removes tokens that expired and web sessions last seen before these times.
	DeleteExpired(ctx context.Context, tokensBefore, webSessionsBefore time.Time) error
}

// webSession is the web session of a request.
type webSession struct {
	sandbox.WebSession
	pageToken string
}

// checkPageToken tells whether token is the one that the server wrote into this web session's pages.
func (w *webSession) checkPageToken(token string) bool {
	return subtle.ConstantTimeCompare([]byte(w.pageToken), []byte(token)) == 1
}

// webSessions finds, starts and ends web sessions.
type webSessions struct {
	store *cookieStore
	name  string
}

// newWebSessions names the cookie after the installation, since browsers send cookies to every port of a host: a
// second server on this machine would log people out of the first.
func newWebSessions(rows SessionStore, orgID, basePath string, now func() time.Time) *webSessions {
	sum := sha256.Sum256([]byte(orgID))
	return &webSessions{
		store: &cookieStore{rows: rows, path: basePath + "/", now: now},
		name:  "tabs_" + base64.RawURLEncoding.EncodeToString(sum[:6]),
	}
}

// find returns the web session that the request's cookie stands for, nil when there is none.
func (ws *webSessions) find(r *http.Request) (*webSession, error) {
	s, err := ws.store.Get(r, ws.name)
	if err != nil {
		return nil, err
	}
	w, _ := s.Values[valueKey].(*webSession)
	return w, nil
}

// start logs a device in: a new secret in a new cookie, and no trace of the web session the browser had before.
func (ws *webSessions) start(w http.ResponseWriter, r *http.Request, row sandbox.WebSession, secure bool) (*webSession, error) {
	s, err := ws.store.Get(r, ws.name)
	if err != nil {
		return nil, err
	}
	row.ID = sandbox.NewID("wse")
	row.CreatedAt = ws.store.now().UTC()
	row.LastSeen = row.CreatedAt
	started := &webSession{WebSession: row}
	s.Values[valueKey] = started
	s.Options = ws.store.options(secure)
	if err := s.Save(r, w); err != nil {
		return nil, err
	}
	return started, nil
}

// refresh sends the cookie again, so that it lives on as long as the device is used.
func (ws *webSessions) refresh(w http.ResponseWriter, r *http.Request, secure bool) error {
	s, err := ws.store.Get(r, ws.name)
	if err != nil {
		return err
	}
	o := ws.store.options(secure)
	http.SetCookie(w, sessions.NewCookie(ws.name, s.ID, o))
	return nil
}

// forget removes the cookie; the row is the caller's.
func (ws *webSessions) forget(w http.ResponseWriter, secure bool) {
	o := ws.store.options(secure)
	o.MaxAge = -1
	http.SetCookie(w, sessions.NewCookie(ws.name, "", o))
}

// cookieStore is the sessions.Store behind webSessions: the cookie holds a random secret, the row its hash. A Session's
// ID is the secret, its one value a *webSession.
type cookieStore struct {
	rows SessionStore
	path string
	now  func() time.Time
}

const valueKey = "web session"

var _ sessions.Store = (*cookieStore)(nil)

func (cs *cookieStore) options(secure bool) *sessions.Options {
	return &sessions.Options{
		Path: cs.path, MaxAge: int(webSessionIdle / time.Second), HttpOnly: true, Secure: secure,
		SameSite: http.SameSiteLaxMode,
	}
}

func (cs *cookieStore) Get(r *http.Request, name string) (*sessions.Session, error) {
	return sessions.GetRegistry(r).Get(cs, name)
}

func (cs *cookieStore) New(r *http.Request, name string) (*sessions.Session, error) {
	s := sessions.NewSession(cs, name)
	s.IsNew = true
	// A browser may send several cookies of one name, left by another path or planted by a neighbouring host.
	for _, c := range r.CookiesNamed(name) {
		row, err := cs.rows.WebSession(r.Context(), sha256.Sum256([]byte(c.Value)))
		if errors.Is(err, sandbox.ErrNoRow) {
			continue
		}
		if err != nil {
			return s, fmt.Errorf("find web session: %w", err)
		}
		if cs.now().Sub(row.LastSeen) > webSessionIdle {
			continue
		}
		s.ID, s.IsNew = c.Value, false
		s.Values[valueKey] = &webSession{WebSession: row, pageToken: pageToken(c.Value)}
		return s, nil
	}
	return s, nil
}

// Save gives the session a new secret and row, and ends the one it had.
func (cs *cookieStore) Save(r *http.Request, w http.ResponseWriter, s *sessions.Session) error {
	ws := s.Values[valueKey].(*webSession)
	if !s.IsNew {
		old, err := cs.rows.WebSession(r.Context(), sha256.Sum256([]byte(s.ID)))
		if err == nil {
			err = cs.rows.DeleteWebSession(r.Context(), old.OrgID, old.ID)
		}
		if err != nil && !errors.Is(err, sandbox.ErrNoRow) {
			return fmt.Errorf("end old web session: %w", err)
		}
	}
	secret := newSecret()
	ws.Hash = sha256.Sum256([]byte(secret))
	ws.pageToken = pageToken(secret)
	if err := cs.rows.CreateWebSession(r.Context(), ws.WebSession); err != nil {
		return fmt.Errorf("create web session: %w", err)
	}
	s.ID, s.IsNew = secret, false
	http.SetCookie(w, sessions.NewCookie(s.Name(), secret, s.Options))
	return nil
}

// newSecret is 256 random bits that fit into a cookie and an address.
func newSecret() string {
	var b [32]byte
	rand.Read(b[:]) // never fails, says its documentation
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// pageToken is derived from the secret, so that the database holds neither.
func pageToken(secret string) string {
	sum := sha256.Sum256([]byte("page token\x00" + secret))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// guessDevice names a device by its User-Agent: "Safari on iPhone".
func guessDevice(userAgent string) string {
	browser, system := "", ""
	// Order counts: most browsers also claim to be Chrome and Safari, and iPads to be Macs.
	for _, b := range []struct{ mark, name string }{
		{"Edg", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser", "Samsung Internet"}, {"Firefox/", "Firefox"},
		{"FxiOS", "Firefox"}, {"CriOS", "Chrome"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"},
	} {
		if strings.Contains(userAgent, b.mark) {
			browser = b.name
			break
		}
	}
	for _, o := range []struct{ mark, name string }{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"CrOS", "Chromebook"},
		{"Macintosh", "Mac"}, {"Linux", "Linux"}, {"FreeBSD", "FreeBSD"},
	} {
		if strings.Contains(userAgent, o.mark) {
			system = o.name
			break
		}
	}
	switch {
	case browser != "" && system != "":
		return browser + " on " + system
	case browser+system != "":
		return browser + system
	}
	if product, _, ok := strings.Cut(userAgent, "/"); ok {
		if name, err := checkDevice(product); err == nil {
			return name
		}
	}
	return "Unknown device"
}

const maxDeviceBytes = 100

// checkDevice tidies a device name that a person typed.
func checkDevice(name string) (string, error) {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > maxDeviceBytes || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", &sandbox.Error{Code: sandbox.CodeInvalidRequest, Field: "name",
			Message: fmt.Sprintf("the name of a device has 1 to %d bytes and no control characters", maxDeviceBytes)}
	}
	return name, nil
}
