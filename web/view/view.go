// Package view holds the pages: templ components and the view models that handlers fill. It must not call services.
package view

// Layout is what every page's head and frame need.
type Layout struct {
	Title    string
	BasePath string // "" or "/term"; no trailing slash. Every URL in a page starts with it
	Script   string // entry module under static/src without ".ts", "" for none: "main", "devices"
	Token    string // page token for unsafe requests and sockets, "" when logged out
	Protocol int
	Version  string
	Settings string   // of the person, as JSON; "" when logged out
	Schemes  []Scheme // of colours; the last one whose Media match is in force
}

// Scheme is a style sheet of colours.
type Scheme struct {
	ID    string
	Media string // "" for always
}

// TabPage is /tabs?id=.
type TabPage struct {
	Layout
	SandboxID   string
	SandboxName string
	State       string // of the sandbox
	TmuxMissing bool
	Tabs        []Tab
	Active      string // tab id to show first, "" for none
	Device      string // name of this device
}

// Tab is an entry of the strip in the server's HTML.
type Tab struct {
	ID    string
	Title string
	State string // live, ended, gone
	Bell  bool
}

// LoginPage is /login: with a token one button, else a form for a key.
type LoginPage struct {
	Layout
	Token  string
	Next   string
	Error  string // one sentence
	Device string // guessed name of this device
}

// DevicesPage is /devices: web sessions, and the QR code of a login address after "Add a device".
type DevicesPage struct {
	Layout
	Devices []Device
	QR      string // SVG markup, "" until asked for
	Address string // the login address in the QR code
	Expires string // "10 minutes"
}

// Device is a web session.
type Device struct {
	ID       string
	Name     string
	Current  bool
	LastSeen string // RFC 3339
	Created  string
	Address  string
}

// MessagePage is one sentence and one way on: not found, not allowed, logged out, internal error.
type MessagePage struct {
	Layout
	Status    int
	Heading   string
	Text      string
	Action    string // label
	ActionURL string
	RequestID string
}
