package sqlite

import (
	"context"

	"github.com/browsertabs/tabs/terminal/tabs"
)

var _ tabs.RecordStore = (*DB)(nil)

func (d *DB) PutTab(ctx context.Context, s tabs.Saved) error {
	lines := s.Lines
	if lines == nil {
		lines = []byte{} // nil would be NULL
	}
	_, err := d.db.ExecContext(ctx, `INSERT INTO saved_tabs
		(id, sandbox_id, title, named, position, user, cwd, lines, saved_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET sandbox_id = excluded.sandbox_id, title = excluded.title,
			named = excluded.named, position = excluded.position, user = excluded.user, cwd = excluded.cwd,
			lines = excluded.lines, saved_at = excluded.saved_at`,
		s.ID, s.Sandbox, s.Title, s.Named, s.Order, s.User, s.Cwd, lines, micros(s.SavedAt))
	return err
}

func (d *DB) DeleteTabs(ctx context.Context, sandboxID string, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	args := []any{sandboxID}
	for _, id := range ids {
		args = append(args, id)
	}
	_, err := d.db.ExecContext(ctx,
		`DELETE FROM saved_tabs WHERE sandbox_id = ? AND id IN (`+placeholders(len(ids))+`)`, args...)
	return err
}

func (d *DB) SavedTabs(ctx context.Context, sandboxID string) ([]tabs.Saved, error) {
	return rows(ctx, d.db, func(scan func(...any) error) (s tabs.Saved, err error) {
		var saved int64
		err = scan(&s.ID, &s.Sandbox, &s.Title, &s.Named, &s.Order, &s.User, &s.Cwd, &s.Lines, &saved)
		s.SavedAt = fromMicros(saved)
		return s, err
	}, `SELECT id, sandbox_id, title, named, position, user, cwd, lines, saved_at FROM saved_tabs
		WHERE sandbox_id = ? ORDER BY position, id`, sandboxID)
}
