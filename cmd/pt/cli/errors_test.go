package cli

import (
	"bytes"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/browsertabs/tabs/client"
)

func TestReport(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		code int
		text string
	}{
		{"not found", fmt.Errorf("get: %w", &client.Error{Status: 404, Code: "not_found", Message: "tab not found", Remedy: "pt tab list local"}),
			4, "pt: tab not found (not_found)\nhint: pt tab list local\n"},
		{"purged", &client.Error{Status: 410, Code: "purged", Message: "gone"}, 4, "pt: gone (purged)\n"},
		{"unauthorized", &client.Error{Status: 401, Code: "unauthorized", Message: "no"}, 3, "pt: no (unauthorized)\nhint: pt login\n"},
		{"scope", &client.Error{Status: 403, Code: "sandbox_scope", Message: "no"}, 3, "pt: no (sandbox_scope)\n"},
		{"conflict", &client.Error{Status: 409, Code: "name_taken", Message: "taken"}, 5, "pt: taken (name_taken)\n"},
		{"failed state", &client.Error{Status: 409, Code: "state_failed", Message: "failed"}, 8, "pt: failed (state_failed)\n"},
		{"quota", &client.Error{Status: 429, Code: "quota_exceeded", Message: "full"}, 6, "pt: full (quota_exceeded)\n"},
		{"internal", &client.Error{Status: 500, Code: "internal_error", Message: "Internal error", RequestID: "req_1"},
			1, "pt: Internal error (internal_error)\nhint: look for req_1 in the server's log\n"},
		{"server down", fmt.Errorf("dial: %w", syscall.ECONNREFUSED), 1, "pt: dial: connection refused\nhint: is the server running? tabs serve\n"},
		{"too slow", fmt.Errorf("get: %w", errTimeout), 1, "pt: the server did not answer in time\nhint: --timeout gives it longer\n"},
		{"usage", &usageError{msg: "no", hint: "yes"}, 2, "pt: no\nhint: yes\n"},
		{"no key", &noKeyError{"http://x"}, 3, "pt: no API key for http://x\nhint: pt login, or set PLATINUM_API_KEY; a server leaves its key on its own machine: tabs serve\n"},
		{"own hint", &hintError{errors.New("a"), "b"}, 1, "pt: a\nhint: b\n"},
		{"said already", exitError(7), 7, ""},
		{"hostile text", &client.Error{Status: 404, Message: "a\x1b[2J\nb", Remedy: "\x1b]0;x\a"}, 4, "pt: a[2J b\nhint: ]0;x\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			a := &app{Stdio: Stdio{Err: &out}, running: true}
			if code := a.report(tt.err); code != tt.code || out.String() != tt.text {
				t.Fatalf("got %d, %q; want %d, %q", code, out.String(), tt.code, tt.text)
			}
		})
	}
}
