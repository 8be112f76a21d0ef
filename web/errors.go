package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/browsertabs/tabs/client"
	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/web/view"
)

// Codes that only HTTP knows.
const (
	codeForbidden        = "forbidden"
	codeMethodNotAllowed = "method_not_allowed"
	codeTooLarge         = "too_large"
	codeInternal         = "internal_error"
	codeUpgradeRequired  = "upgrade_required"
)

// statuses maps the codes of domain errors. A code that is missing here is a bug, and answered with 500.
var statuses = map[string]int{
	sandbox.CodeInvalidRequest: http.StatusBadRequest,
	sandbox.CodeUnknownField:   http.StatusBadRequest,
	"disk_shrink_unsupported":  http.StatusBadRequest,
	"bad_path":                 http.StatusBadRequest,

	sandbox.CodeUnauthorized: http.StatusUnauthorized,
	"key_revoked":            http.StatusUnauthorized,
	"key_expired":            http.StatusUnauthorized,

	codeForbidden:              http.StatusForbidden,
	sandbox.CodeScopeForbidden: http.StatusForbidden,
	"sandbox_scope":            http.StatusForbidden,
	"cannot_delete_scope_root": http.StatusForbidden,

	sandbox.CodeNotFound: http.StatusNotFound,
	"template_not_found": http.StatusNotFound,

	codeMethodNotAllowed: http.StatusMethodNotAllowed,

	sandbox.CodeNameTaken:         http.StatusConflict,
	sandbox.CodeTmuxMissing:       http.StatusConflict,
	sandbox.CodeTmuxTooOld:        http.StatusConflict,
	sandbox.CodeNotSupported:      http.StatusConflict,
	sandbox.CodeSandboxNotRunning: http.StatusConflict,
	"sandbox_not_stopped":         http.StatusConflict,
	"has_live_children":           http.StatusConflict,
	"template_not_ready":          http.StatusConflict,
	"template_in_use":             http.StatusConflict,
	"operation_in_progress":       http.StatusConflict,
	"state_failed":                http.StatusConflict,
	"backup_none":                 http.StatusConflict,

	"purged":                 http.StatusGone,
	codeTooLarge:             http.StatusRequestEntityTooLarge,
	"idempotency_key_reused": http.StatusUnprocessableEntity,
	codeUpgradeRequired:      http.StatusUpgradeRequired,

	sandbox.CodeQuotaExceeded: http.StatusTooManyRequests,
	"rate_limited":            http.StatusTooManyRequests,
	"child_quota_exceeded":    http.StatusTooManyRequests,

	"exec_timeout":         http.StatusGatewayTimeout,
	"insufficient_storage": http.StatusInsufficientStorage,
}

func errForbidden(message, remedy string) error {
	return &sandbox.Error{Code: codeForbidden, Message: message, Remedy: remedy}
}

func errInvalid(message, remedy string) error {
	return &sandbox.Error{Code: sandbox.CodeInvalidRequest, Message: message, Remedy: remedy}
}

func errUnauthorized(message, remedy string) error {
	return &sandbox.Error{Code: sandbox.CodeUnauthorized, Message: message, Remedy: remedy}
}

// describe turns any error into what the caller may know of it. internal tells that err itself is for the log only.
func describe(err error) (e sandbox.Error, status int, internal bool) {
	var domain *sandbox.Error
	if errors.As(err, &domain) && statuses[domain.Code] != 0 {
		return *domain, statuses[domain.Code], false
	}
	var http4 *echo.HTTPError
	if errors.As(err, &http4) {
		switch http4.Code {
		case http.StatusNotFound:
			return sandbox.Error{Code: sandbox.CodeNotFound, Message: "not found"}, http4.Code, false
		case http.StatusMethodNotAllowed:
			return sandbox.Error{Code: codeMethodNotAllowed, Message: "this address does not take this method"}, http4.Code, false
		case http.StatusRequestEntityTooLarge:
			return tooLarge(), http4.Code, false
		}
		if http4.Code >= 400 && http4.Code < 500 {
			return sandbox.Error{Code: sandbox.CodeInvalidRequest, Message: strings.ToLower(http.StatusText(http4.Code))},
				http4.Code, false
		}
	}
	var long *http.MaxBytesError
	if errors.As(err, &long) {
		return tooLarge(), http.StatusRequestEntityTooLarge, false
	}
	return sandbox.Error{Code: codeInternal, Message: "Internal error"}, http.StatusInternalServerError, true
}

func tooLarge() sandbox.Error {
	return sandbox.Error{Code: codeTooLarge, Message: fmt.Sprintf("the body of a request has at most %d bytes", maxBodyBytes)}
}

// fail is the one place that answers a failed request: JSON for the API and sockets, a page for people.
func (s *Server) fail(err error, c echo.Context) {
	e, status, internal := describe(err)
	if errors.Is(err, context.Canceled) && c.Request().Context().Err() != nil {
		return // the caller has gone
	}
	if internal {
		s.log.Error("answer request", "request_id", requestID(c), "method", c.Request().Method,
			"path", c.Request().URL.Path, "err", err)
	}
	if c.Response().Committed {
		return
	}
	if s.wantsJSON(c) {
		err = s.failJSON(c, e, status)
	} else {
		err = s.failPage(c, e, status)
	}
	if err != nil {
		s.log.Error("write failure", "request_id", requestID(c), "err", err)
	}
}

func (s *Server) wantsJSON(c echo.Context) bool {
	switch auth, _ := c.Get(authKey).(Auth); auth {
	case KeyOrPage, Socket, LocalOrKey:
		return true
	case Page:
		return false
	}
	path := strings.TrimPrefix(c.Request().URL.Path, s.d.BasePath)
	return strings.HasPrefix(path, "/v1/") || path == "/v1"
}

func (s *Server) failJSON(c echo.Context, e sandbox.Error, status int) error {
	if status == http.StatusUnauthorized {
		c.Response().Header().Set("WWW-Authenticate", `Bearer realm="tabs"`)
	}
	noStore(c)
	return c.JSON(status, client.Error{
		Message: e.Message, Code: e.Code, Remedy: e.Remedy, Field: e.Field, RequestID: requestID(c),
	})
}

func (s *Server) failPage(c echo.Context, e sandbox.Error, status int) error {
	p := view.MessagePage{Layout: s.layout(c, ""), Status: status, RequestID: requestID(c),
		Action: "Go to your tabs", ActionURL: s.url("/")}
	switch status {
	case http.StatusNotFound:
		// One text for what does not exist and for what is somebody else's.
		p.Heading, p.Text = "Not found", "There is nothing at this address, or it is not yours to see."
	case http.StatusInternalServerError:
		p.Heading, p.Text = "Internal error", "Something went wrong on the server. Its log says what, beside the number below."
	case http.StatusUnauthorized:
		p.Heading, p.Text, p.Action, p.ActionURL = "Logged out", sentence(e), "Log in", s.url("/login")
	default:
		p.Heading, p.Text = http.StatusText(status), sentence(e)
	}
	p.Title = p.Heading
	return s.render(c, status, view.Message(p))
}

// sentence makes prose of an error's message and remedy.
func sentence(e sandbox.Error) string {
	text := e.Message
	if e.Remedy != "" {
		text += ": " + e.Remedy
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
