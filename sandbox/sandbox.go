package sandbox

import "time"

// LocalID is the sandbox that is the machine itself.
const LocalID = "local"

// State of a sandbox.
type State string

const (
	StateRunning State = "running"
	StateStopped State = "stopped"
)

// Sandbox is a disk that survives and a run that ends.
type Sandbox struct {
	ID        string
	OrgID     string
	Name      string
	Provider  string
	State     State
	CreatedAt time.Time
}

// Org owns sandboxes and keys.
type Org struct {
	ID        string
	Name      string
	CreatedAt time.Time
}

// Key is a credential of the API. Its secret is never stored.
type Key struct {
	ID        string
	OrgID     string
	Name      string
	Prefix    string // the first characters of the secret, to tell keys apart
	CreatedAt time.Time
	LastUsed  time.Time
}

// Actor is who asks: made by the web layer from a key or a web session, judged only by authorize.
type Actor struct {
	OrgID  string
	KeyID  string // "" for a web session
	Device string // name of the web session's device, "" for a key
	User   string // who an authenticating proxy says it is; "" for other logins and keys
}
