package sqlite

import (
	"context"
	"encoding/json"

	"github.com/browsertabs/tabs/sandbox"
)

func (d *DB) Settings(ctx context.Context, orgID, user string) (sandbox.Settings, error) {
	type setting struct{ name, value string }
	all, err := rows(ctx, d.db, func(scan func(...any) error) (s setting, err error) {
		err = scan(&s.name, &s.value)
		return s, err
	}, `SELECT name, value FROM settings WHERE org_id = ? AND user = ?`, orgID, user)
	if err != nil {
		return nil, err
	}
	settings := make(sandbox.Settings, len(all))
	for _, s := range all {
		settings[s.name] = json.RawMessage(s.value)
	}
	return settings, nil
}

func (d *DB) ChangeSettings(ctx context.Context, orgID, user string, changes sandbox.Settings) error {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	for name, value := range changes {
		if value == nil {
			_, err = tx.ExecContext(ctx, `DELETE FROM settings WHERE org_id = ? AND user = ? AND name = ?`, orgID, user, name)
		} else {
			_, err = tx.ExecContext(ctx, `INSERT INTO settings (org_id, user, name, value) VALUES (?, ?, ?, ?)
				ON CONFLICT (org_id, user, name) DO UPDATE SET value = excluded.value`, orgID, user, name, string(value))
		}
		if err != nil {
			return err
		}
	}
	return tx.Commit()
}
