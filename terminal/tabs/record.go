package tabs

import "context"

// RecordStore keeps what is needed to revive tabs after their machine restarted. Every method may be called from any
// goroutine, and is durable when it returns.
type RecordStore interface {
	// PutTab adds a record, or replaces the one with the same ID.
	PutTab(ctx context.Context, s Saved) error
	// DeleteTabs removes records; ids that are not there are not an error.
	DeleteTabs(ctx context.Context, sandboxID string, ids []string) error
	// SavedTabs lists a sandbox's records by Order, then ID.
	SavedTabs(ctx context.Context, sandboxID string) ([]Saved, error)
}
