package sandbox

import (
	"context"
	"errors"
	"time"
)

// ErrNoRow says that a Store has no such row. The Service turns it into an Error that a caller may see.
var ErrNoRow = errors.New("no such row")

// StoredKey is a key as a Store keeps it: with the SHA-256 of its secret, never the secret.
type StoredKey struct {
	Key
	Hash [32]byte
}

// Store keeps organisations, keys and sandboxes. Every method may be called from any goroutine, and is durable when it
// returns. Every query that serves an actor carries the organisation, so that a forgotten check fails closed.
type Store interface {
	// CreateOrg adds an organisation. Orgs lists them, oldest first.
	CreateOrg(ctx context.Context, o Org) error
	Orgs(ctx context.Context) ([]Org, error)

	CreateKey(ctx context.Context, k StoredKey) error
	// KeysByPrefix returns the keys with exactly this Prefix, of any organisation; none is not an error.
	KeysByPrefix(ctx context.Context, prefix string) ([]StoredKey, error)
	// Keys lists an organisation's keys, oldest first.
	Keys(ctx context.Context, orgID string) ([]Key, error)
	// TouchKey sets LastUsed; a key that is gone is not an error.
	TouchKey(ctx context.Context, keyID string, at time.Time) error

	// CreateSandbox adds a sandbox. Its name is unique within the organisation, its id everywhere.
	CreateSandbox(ctx context.Context, s Sandbox) error
	// Sandbox finds by id or, when no id matches, by name; ErrNoRow when neither does.
	Sandbox(ctx context.Context, orgID, idOrName string) (Sandbox, error)
	// Sandboxes lists an organisation's sandboxes, oldest first.
	Sandboxes(ctx context.Context, orgID string) ([]Sandbox, error)

	// Settings are those of one of an organisation's users; none is not an error.
	Settings(ctx context.Context, orgID, user string) (Settings, error)
	// ChangeSettings sets what is in changes and removes what is nil there, all or nothing.
	ChangeSettings(ctx context.Context, orgID, user string, changes Settings) error
}
