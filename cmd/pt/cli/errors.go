package cli

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"

	"github.com/browsertabs/tabs/client"
)

// Exit codes of pt.
const (
	exitOK       = 0
	exitOther    = 1
	exitUsage    = 2
	exitAuth     = 3
	exitNotFound = 4
	exitConflict = 5
	exitQuota    = 6
	exitWait     = 7
	exitFailed   = 8
)

// usageError is a mistake in how pt was called.
type usageError struct{ msg, hint string }

func (e *usageError) Error() string { return e.msg }

// hintError adds the next step to an error.
type hintError struct {
	err  error
	hint string
}

func (e *hintError) Error() string { return e.err.Error() }
func (e *hintError) Unwrap() error { return e.err }

// exitError ends pt with a code and says nothing: all has been said.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// report writes what went wrong, in one line and at most one more with the next step, and returns the exit code.
func (a *app) report(err error) int {
	var silent exitError
	if errors.As(err, &silent) {
		return int(silent)
	}
	msg, hint, code := a.explain(err)
	fmt.Fprintf(a.Err, "pt: %s\n", oneLine(msg))
	if hint != "" {
		fmt.Fprintf(a.Err, "hint: %s\n", oneLine(hint))
	}
	return code
}

func (a *app) explain(err error) (msg, hint string, code int) {
	var usage *usageError
	var api *client.Error
	var hinted *hintError
	var noKey *noKeyError
	switch {
	case errors.As(err, &usage):
		return usage.msg, usage.hint, exitUsage
	case errors.As(err, &api):
		msg, hint, code = api.Error(), api.Remedy, exitCode(api.Status, api.Code)
		if hint == "" && api.Status == http.StatusUnauthorized {
			hint = "pt login"
		}
		if api.Status >= 500 && api.RequestID != "" {
			hint = "look for " + api.RequestID + " in the server's log"
		}
	case errors.As(err, &noKey):
		return noKey.Error(), "pt login, or set PLATINUM_API_KEY; a server leaves its key on its own machine: tabs serve", exitAuth
	case !a.running:
		return err.Error(), "pt --help", exitUsage
	default:
		msg, hint = transportError(err)
		code = exitOther
	}
	if errors.As(err, &hinted) {
		hint = hinted.hint
	}
	return msg, hint, code
}

// exitCode maps an API error to an exit code.
func exitCode(status int, code string) int {
	switch {
	case code == "state_failed":
		return exitFailed
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return exitAuth
	case status == http.StatusNotFound || status == http.StatusGone:
		return exitNotFound
	case status == http.StatusConflict:
		return exitConflict
	case status == http.StatusTooManyRequests:
		return exitQuota
	case status == http.StatusAccepted:
		return exitWait
	}
	return exitOther
}

// transportError turns the ways in which a server is not reached into a sentence and a next step.
func transportError(err error) (msg, hint string) {
	var unknownAuthority x509.UnknownAuthorityError
	var dns *net.DNSError
	switch {
	case errors.Is(err, context.Canceled):
		return "interrupted", ""
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, errTimeout):
		return "the server did not answer in time", "--timeout gives it longer"
	case errors.Is(err, syscall.ECONNREFUSED):
		return err.Error(), "is the server running? tabs serve"
	case errors.As(err, &unknownAuthority):
		return err.Error(), "SSL_CERT_FILE=<the server's certificate> makes pt trust it"
	case errors.As(err, &dns):
		return err.Error(), "is the address right? pt --api-url URL"
	}
	return err.Error(), ""
}

// oneLine keeps a message, which may come from a server, from moving the cursor or adding lines.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r < ' ' || r >= 0x7f && r < 0xa0:
			return -1
		}
		return r
	}, strings.TrimSpace(s))
}
