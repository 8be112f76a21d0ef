package sandbox

// Codes of Error that this project's packages use so far. Clients compare them; they never change their meaning.
const (
	CodeInvalidRequest    = "invalid_request"
	CodeUnknownField      = "unknown_field"
	CodeUnauthorized      = "unauthorized"
	CodeScopeForbidden    = "scope_forbidden"
	CodeNotFound          = "not_found"
	CodeNameTaken         = "name_taken"
	CodeTmuxMissing       = "tmux_missing"
	CodeTmuxTooOld        = "tmux_too_old"
	CodeNotSupported      = "not_supported"
	CodeSandboxNotRunning = "sandbox_not_running"
	CodeQuotaExceeded     = "quota_exceeded"
	CodeSandboxNotStopped = "sandbox_not_stopped"
	CodeDiskShrink        = "disk_shrink_unsupported"
	CodeNoStorage         = "insufficient_storage"
	CodeTemplateNotFound  = "template_not_found"
	CodeTemplateInUse     = "template_in_use"
	CodeTemplateTooBig    = "template_too_big"
)

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
