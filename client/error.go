package client

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// Error is the body of every answer that is not 2xx. Compare Code, never Message:
//
//	var e *client.Error
//	if errors.As(err, &e) && e.Code == "not_found" { ... }
type Error struct {
	Status    int    `json:"-"` // HTTP status
	Message   string `json:"error"`
	Code      string `json:"code"`
	Remedy    string `json:"remedy,omitempty"` // the next command or step
	Field     string `json:"field,omitempty"`  // of invalid_request and unknown_field
	RequestID string `json:"requestId,omitempty"`
	// Body is the whole body, for what only some codes carry.
	Body json.RawMessage `json:"-"`
}

func (e *Error) Error() string {
	if e.Code == "" {
		return e.Message
	}
	return e.Message + " (" + e.Code + ")"
}

// DecodeError makes an Error of an answer and its body. A body that is not ours, from a proxy perhaps, gives an Error
// without a Code.
func DecodeError(resp *http.Response, body []byte) *Error {
	e := &Error{}
	if err := json.Unmarshal(body, e); err != nil || e.Message == "" {
		e = &Error{Message: fmt.Sprintf("%s answered %s", resp.Request.URL.Host, resp.Status)}
		if resp.StatusCode/100 == 3 {
			e.Message += " to " + resp.Header.Get("Location")
		}
	}
	e.Status, e.Body = resp.StatusCode, body
	if e.RequestID == "" {
		e.RequestID = resp.Header.Get("X-Request-Id")
	}
	return e
}
