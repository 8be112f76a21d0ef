package sandbox

import "time"

// WebSession is a device that is logged in: the row behind a browser's cookie.
type WebSession struct {
	ID        string   // wse_ + ULID
	OrgID     string   // whom the device acts for, with full access
	Hash      [32]byte // SHA-256 of the cookie's secret, which is never stored
	Device    string   // name of the device, shown wherever we say "who"
	User      string   // who an authenticating proxy says it is; "" for other logins
	Address   string   // where it was last seen
	CreatedAt time.Time
	LastSeen  time.Time
}

// LoginToken lets its holder log one device in, once.
type LoginToken struct {
	Hash      [32]byte // SHA-256 of the token, which is never stored
	OrgID     string
	ExpiresAt time.Time
}
