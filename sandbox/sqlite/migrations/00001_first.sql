-- Times are microseconds since 1970, 0 for never.

-- +goose Up
CREATE TABLE orgs (
	id         TEXT PRIMARY KEY,
	name       TEXT NOT NULL UNIQUE,
	created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE keys (
	id         TEXT PRIMARY KEY,
	org_id     TEXT NOT NULL REFERENCES orgs (id),
	name       TEXT NOT NULL,
	prefix     TEXT NOT NULL,
	hash       BLOB NOT NULL UNIQUE,
	created_at INTEGER NOT NULL,
	last_used  INTEGER NOT NULL
) STRICT;
CREATE INDEX keys_by_prefix ON keys (prefix);
CREATE INDEX keys_by_org ON keys (org_id);

CREATE TABLE sandboxes (
	id         TEXT PRIMARY KEY,
	org_id     TEXT NOT NULL REFERENCES orgs (id),
	name       TEXT NOT NULL,
	provider   TEXT NOT NULL,
	state      TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	UNIQUE (org_id, name)
) STRICT;

CREATE TABLE web_sessions (
	id         TEXT PRIMARY KEY,
	org_id     TEXT NOT NULL REFERENCES orgs (id),
	hash       BLOB NOT NULL UNIQUE,
	device     TEXT NOT NULL,
	user       TEXT NOT NULL,
	address    TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	last_seen  INTEGER NOT NULL
) STRICT;
CREATE INDEX web_sessions_by_org ON web_sessions (org_id);

CREATE TABLE login_tokens (
	hash       BLOB PRIMARY KEY,
	org_id     TEXT NOT NULL REFERENCES orgs (id),
	expires_at INTEGER NOT NULL
) STRICT;

-- Tabs that can be revived after their machine restarted. The sandbox has no row when it is the machine itself.
CREATE TABLE saved_tabs (
	id         TEXT PRIMARY KEY,
	sandbox_id TEXT NOT NULL,
	title      TEXT NOT NULL,
	named      INTEGER NOT NULL,
	position   INTEGER NOT NULL,
	user       TEXT NOT NULL,
	cwd        TEXT NOT NULL,
	lines      BLOB NOT NULL,
	saved_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX saved_tabs_by_sandbox ON saved_tabs (sandbox_id);

-- +goose Down
DROP TABLE saved_tabs;
DROP TABLE login_tokens;
DROP TABLE web_sessions;
DROP TABLE sandboxes;
DROP TABLE keys;
DROP TABLE orgs;
