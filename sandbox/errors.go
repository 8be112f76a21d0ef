package sandbox

// Error is a failure with a stable code and a sentence for the person who caused it. Everything without a code is
// internal and shown as "Internal error".
type Error struct {
	Code    string // docs/PROTOCOL.md lists them
	Message string
	Remedy  string // next command or step, if known
	Field   string // for invalid_request
	Err     error  // cause, for logs only
}

func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Err }
