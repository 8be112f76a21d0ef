package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/browsertabs/tabs/sandbox"
)

const proxySecretHeader = "X-Tabs-Proxy-Secret"

// trustedUser is who the authenticating proxy says it is; "" when there is no such proxy, it says nothing, or the
// request did not come from it.
func (s *Server) trustedUser(r *http.Request) string {
	if s.d.TrustedHeader == "" || !s.fromProxy(r) {
		return ""
	}
	return clip(r.Header.Get(s.d.TrustedHeader))
}

func (s *Server) fromProxy(r *http.Request) bool {
	if s.d.TrustedSecret != "" {
		got, want := sha256.Sum256([]byte(r.Header.Get(proxySecretHeader))), sha256.Sum256([]byte(s.d.TrustedSecret))
		return subtle.ConstantTimeCompare(got[:], want[:]) == 1
	}
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && addr.Network() == "unix"
}

// trustedLogin logs a browser in whose user an authenticating proxy vouches for. nil without an error: none does.
func (s *Server) trustedLogin(c echo.Context) (*webSession, error) {
	r := c.Request()
	user := s.trustedUser(r)
	if user == "" {
		return nil, nil
	}
	w, err := s.startWebSession(c, sandbox.WebSession{
		OrgID: s.d.OrgID, User: user, Device: user + ", " + guessDevice(r.UserAgent()),
	})
	if err != nil {
		return nil, err
	}
	s.log.Info("logged in by proxy", "request_id", requestID(c), "user_id", user, "device_id", w.ID,
		"remote_addr", w.Address)
	s.useWebSession(c, w)
	return w, nil
}

// startWebSession logs the browser in and ends what it was logged in as before, with its sockets.
func (s *Server) startWebSession(c echo.Context, row sandbox.WebSession) (*webSession, error) {
	r := c.Request()
	old, err := s.sessions.find(r)
	if err != nil {
		return nil, err
	}
	row.Address = s.remote(r)
	w, err := s.sessions.start(c.Response(), r, row, s.scheme(r) == "https")
	if err != nil {
		return nil, err
	}
	if old != nil {
		s.sockets.logout(old.ID)
	}
	return w, nil
}
