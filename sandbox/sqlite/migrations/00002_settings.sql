-- What people set up for themselves, a row for each setting that is not its default. user is "" for all who log in
-- without an authenticating proxy.

-- +goose Up
CREATE TABLE settings (
	org_id TEXT NOT NULL REFERENCES orgs (id),
	user   TEXT NOT NULL,
	name   TEXT NOT NULL,
	value  TEXT NOT NULL,
	PRIMARY KEY (org_id, user, name)
) STRICT;

-- +goose Down
DROP TABLE settings;
