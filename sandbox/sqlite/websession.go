package sqlite

import (
	"context"
	"time"

	"github.com/browsertabs/tabs/sandbox"
)

func (d *DB) CreateWebSession(ctx context.Context, w sandbox.WebSession) error {
	_, err := d.db.ExecContext(ctx, `INSERT INTO web_sessions
		(id, org_id, hash, device, user, address, created_at, last_seen) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		w.ID, w.OrgID, w.Hash[:], w.Device, w.User, w.Address, micros(w.CreatedAt), micros(w.LastSeen))
	return err
}

const webSessionColumns = `id, org_id, hash, device, user, address, created_at, last_seen`

func scanWebSession(scan func(...any) error) (w sandbox.WebSession, err error) {
	var hash []byte
	var created, seen int64
	if err := scan(&w.ID, &w.OrgID, &hash, &w.Device, &w.User, &w.Address, &created, &seen); err != nil {
		return w, err
	}
	w.CreatedAt, w.LastSeen = fromMicros(created), fromMicros(seen)
	w.Hash, err = hashOf(hash)
	return w, err
}

func (d *DB) WebSession(ctx context.Context, hash [32]byte) (sandbox.WebSession, error) {
	return row(ctx, d.db, scanWebSession, `SELECT `+webSessionColumns+` FROM web_sessions WHERE hash = ?`, hash[:])
}

func (d *DB) WebSessions(ctx context.Context, orgID string) ([]sandbox.WebSession, error) {
	return rows(ctx, d.db, scanWebSession,
		`SELECT `+webSessionColumns+` FROM web_sessions WHERE org_id = ? ORDER BY created_at, id`, orgID)
}

func (d *DB) RenameWebSession(ctx context.Context, orgID, id, device string) error {
	return found(d.db.ExecContext(ctx,
		`UPDATE web_sessions SET device = ? WHERE org_id = ? AND id = ?`, device, orgID, id))
}

func (d *DB) TouchWebSession(ctx context.Context, id, address string, at time.Time) error {
	_, err := d.db.ExecContext(ctx,
		`UPDATE web_sessions SET address = ?, last_seen = ? WHERE id = ?`, address, micros(at), id)
	return err
}

func (d *DB) DeleteWebSession(ctx context.Context, orgID, id string) error {
	return found(d.db.ExecContext(ctx, `DELETE FROM web_sessions WHERE org_id = ? AND id = ?`, orgID, id))
}

func (d *DB) CreateLoginToken(ctx context.Context, t sandbox.LoginToken) error {
	_, err := d.db.ExecContext(ctx, `INSERT INTO login_tokens (hash, org_id, expires_at) VALUES (?, ?, ?)`,
		t.Hash[:], t.OrgID, micros(t.ExpiresAt))
	return err
}

func (d *DB) TakeLoginToken(ctx context.Context, hash [32]byte) (sandbox.LoginToken, error) {
	return row(ctx, d.db, func(scan func(...any) error) (sandbox.LoginToken, error) {
		t := sandbox.LoginToken{Hash: hash}
		var expires int64
		err := scan(&t.OrgID, &expires)
		t.ExpiresAt = fromMicros(expires)
		return t, err
	}, `DELETE FROM login_tokens WHERE hash = ? RETURNING org_id, expires_at`, hash[:])
}

func (d *DB) DeleteExpired(ctx context.Context, tokensBefore, webSessionsBefore time.Time) error {
	if _, err := d.db.ExecContext(ctx,
		`DELETE FROM login_tokens WHERE expires_at < ?`, micros(tokensBefore)); err != nil {
		return err
	}
	_, err := d.db.ExecContext(ctx, `DELETE FROM web_sessions WHERE last_seen < ?`, micros(webSessionsBefore))
	return err
}
