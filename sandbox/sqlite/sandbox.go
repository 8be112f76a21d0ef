package sqlite

import (
	"context"
	"time"

	"github.com/browsertabs/tabs/sandbox"
)

var _ sandbox.Store = (*DB)(nil)

func (d *DB) CreateOrg(ctx context.Context, o sandbox.Org) error {
	_, err := d.db.ExecContext(ctx, `INSERT INTO orgs (id, name, created_at) VALUES (?, ?, ?)`,
		o.ID, o.Name, micros(o.CreatedAt))
	return nameTaken(err, "organisation", o.Name)
}

func (d *DB) Orgs(ctx context.Context) ([]sandbox.Org, error) {
	return rows(ctx, d.db, func(scan func(...any) error) (o sandbox.Org, err error) {
		var created int64
		err = scan(&o.ID, &o.Name, &created)
		o.CreatedAt = fromMicros(created)
		return o, err
	}, `SELECT id, name, created_at FROM orgs ORDER BY created_at, id`)
}

func (d *DB) CreateKey(ctx context.Context, k sandbox.StoredKey) error {
	_, err := d.db.ExecContext(ctx,
		`INSERT INTO keys (id, org_id, name, prefix, hash, created_at, last_used) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		k.ID, k.OrgID, k.Name, k.Prefix, k.Hash[:], micros(k.CreatedAt), micros(k.LastUsed))
	return err
}

const keyColumns = `id, org_id, name, prefix, hash, created_at, last_used`

func scanKey(scan func(...any) error) (k sandbox.StoredKey, err error) {
	var hash []byte
	var created, used int64
	if err := scan(&k.ID, &k.OrgID, &k.Name, &k.Prefix, &hash, &created, &used); err != nil {
		return k, err
	}
	k.CreatedAt, k.LastUsed = fromMicros(created), fromMicros(used)
	k.Hash, err = hashOf(hash)
	return k, err
}

func (d *DB) KeysByPrefix(ctx context.Context, prefix string) ([]sandbox.StoredKey, error) {
	return rows(ctx, d.db, scanKey, `SELECT `+keyColumns+` FROM keys WHERE prefix = ? ORDER BY id`, prefix)
}

func (d *DB) Keys(ctx context.Context, orgID string) ([]sandbox.Key, error) {
	return rows(ctx, d.db, func(scan func(...any) error) (sandbox.Key, error) {
		k, err := scanKey(scan)
		return k.Key, err
	}, `SELECT `+keyColumns+` FROM keys WHERE org_id = ? ORDER BY created_at, id`, orgID)
}

func (d *DB) TouchKey(ctx context.Context, keyID string, at time.Time) error {
	_, err := d.db.ExecContext(ctx, `UPDATE keys SET last_used = ? WHERE id = ?`, micros(at), keyID)
	return err
}

func (d *DB) CreateSandbox(ctx context.Context, s sandbox.Sandbox) error {
	_, err := d.db.ExecContext(ctx,
		`INSERT INTO sandboxes (id, org_id, name, provider, state, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
		s.ID, s.OrgID, s.Name, s.Provider, s.State, micros(s.CreatedAt))
	return nameTaken(err, "sandbox", s.Name)
}

const sandboxColumns = `id, org_id, name, provider, state, created_at`

func scanSandbox(scan func(...any) error) (s sandbox.Sandbox, err error) {
	var created int64
	err = scan(&s.ID, &s.OrgID, &s.Name, &s.Provider, &s.State, &created)
	s.CreatedAt = fromMicros(created)
	return s, err
}

func (d *DB) Sandbox(ctx context.Context, orgID, idOrName string) (sandbox.Sandbox, error) {
	return row(ctx, d.db, scanSandbox, `SELECT `+sandboxColumns+` FROM sandboxes
		WHERE org_id = ?1 AND (id = ?2 OR name = ?2) ORDER BY id = ?2 DESC LIMIT 1`, orgID, idOrName)
}

func (d *DB) Sandboxes(ctx context.Context, orgID string) ([]sandbox.Sandbox, error) {
	return rows(ctx, d.db, scanSandbox,
		`SELECT `+sandboxColumns+` FROM sandboxes WHERE org_id = ? ORDER BY created_at, id`, orgID)
}
