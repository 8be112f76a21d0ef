package web

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"runtime/debug"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/browsertabs/tabs/sandbox"
)

const (
	authKey      = "auth"
	requestIDKey = "request_id"
)

// requestIDForm is what of a caller's X-Request-Id we repeat in answers and logs.
var requestIDForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// identify gives the request its id.
func (s *Server) identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		id := c.Request().Header.Get(echo.HeaderXRequestID)
		if !requestIDForm.MatchString(id) {
			id = sandbox.NewID("req")
		}
		c.Set(requestIDKey, id)
		c.Response().Header().Set(echo.HeaderXRequestID, id)
		return next(c)
	}
}

func requestID(c echo.Context) string {
	id, _ := c.Get(requestIDKey).(string)
	return id
}

// observe counts and logs the request. The query is left out: a login address has its token there.
func (s *Server) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := time.Now()
		if err := next(c); err != nil {
			c.Error(err)
		}
		status, took := c.Response().Status, time.Since(start)
		s.meters.request(c.Path(), status, took)
		s.log.Debug("request", "request_id", requestID(c), "method", c.Request().Method, "path", c.Request().URL.Path,
			"status", status, "duration", took, "remote_addr", s.remote(c.Request()))
		return nil
	}
}

// recoverPanic turns a panic of a handler into an internal error, with its stack in the log.
func (s *Server) recoverPanic(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			switch p := recover(); p {
			case nil:
			case http.ErrAbortHandler:
				panic(p)
			default:
				err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		return next(c)
	}
}

// headers sets what browsers need to keep other sites out of a page, and a page inside its bounds.
func (s *Server) headers(next echo.HandlerFunc) echo.HandlerFunc {
	// xterm.js puts style elements into the page; nothing else may be inline. blob: is for pictures in a terminal.
	const csp = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; " +
		"img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; " +
		"manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("Content-Security-Policy", csp)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		// Not no-referrer: with that, browsers send "Origin: null" with our own forms, and over plain HTTP behind a
		// proxy Origin is the only proof of where a form came from. Other sites get nothing either way.
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=(), "+
			"clipboard-read=(self), clipboard-write=(self), fullscreen=(self)")
		// No Strict-Transport-Security: it would cover every port of the host, and so the programs people run there.
		return next(c)
	}
}

func setAuth(a Auth) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			c.Set(authKey, a)
			return next(c)
		}
	}
}

// limitBody makes reading a longer body fail with 413, and one that comes too slowly, too. It is for refused requests as
// well: net/http reads their bodies to use the connection again, and would wait for a byte a minute for ever.
func (s *Server) limitBody(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if r.Body == nil || r.Body == http.NoBody {
			return next(c)
		}
		conn := http.NewResponseController(c.Response())
		// An error is that of a test's recorder, which has no connection.
		_ = conn.SetReadDeadline(time.Now().Add(s.timing.body))
		r.Body = http.MaxBytesReader(c.Response(), hurriedBody{r.Body, conn}, maxBodyBytes)
		return next(c)
	}
}

// hurriedBody lifts the deadline once the body has come: what a handler does then may take its time.
type hurriedBody struct {
	io.ReadCloser
	conn *http.ResponseController
}

func (b hurriedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.conn.SetReadDeadline(time.Time{})
	}
	return n, err
}

// compress compresses pages and JSON. Not assets, which come compressed, and never an upgrade: Echo's gzip writer hangs
// the handshake of a websocket.
func (s *Server) compress(r Route) echo.MiddlewareFunc {
	return middleware.GzipWithConfig(middleware.GzipConfig{
		MinLength: 1024,
		Skipper: func(c echo.Context) bool {
			return r.Path == assetPath || c.Request().Header.Get(echo.HeaderUpgrade) != ""
		},
	})
}
