package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite" // also registers the driver

	"github.com/browsertabs/tabs/sandbox"
)

//go:embed migrations/*.sql
var migrations embed.FS

// DB is an open database. Its methods may be called from any goroutine; a write is on disk when its method returns.
type DB struct {
	db *sql.DB
}

// Open opens the file, or makes it with mode 0600, and brings its tables up to date.
func Open(ctx context.Context, path string) (*DB, error) {
	// SQLite makes its -wal and -shm files with the mode of the main file, so that one has to be right from the start.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	f.Close()

	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	// Each connection has a page cache of its own. Few people use one server, so a few connections do.
	db.SetMaxOpenConns(4)
	db.SetMaxIdleConns(2)
	if err := migrate(ctx, db); err != nil {
		db.Close()
		return nil, damaged(err, path)
	}
	return &DB{db: db}, nil
}

// Close closes the file.
func (d *DB) Close() error { return d.db.Close() }

// dsn asks for WAL, so that readers do not wait for a writer; for FULL, so that a row survives a power cut too; and for
// transactions that lock when they begin, since one that turns from reader to writer fails instead of waiting.
func dsn(path string) string {
	q := url.Values{
		"_pragma": {
			"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "cache_size(-512)",
		},
		"_txlock": {"immediate"},
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: q.Encode()}).String()
}

// damaged says what to do about a file that SQLite cannot read.
func damaged(err error, path string) error {
	const corrupt, notADB = 11, 26 // SQLITE_CORRUPT, SQLITE_NOTADB
	var e *sqlite.Error
	if errors.As(err, &e) && (e.Code()&0xff == corrupt || e.Code()&0xff == notADB) {
		return fmt.Errorf("%s is damaged or no database: restore it, or move it away to begin with an empty one: %w", path, e)
	}
	return err
}

func migrate(ctx context.Context, db *sql.DB) error {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, dir)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	have, want, err := p.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read database version: %w", err)
	}
	if have > want {
		return fmt.Errorf("database is at version %d, this program knows %d: use a newer program", have, want)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate database: %w", err)
	}
	return nil
}

// micros and fromMicros turn times into the integers of the tables and back.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicros(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// found turns the result of a statement that must hit a row into ErrNoRow when it hit none.
func found(r sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := r.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return sandbox.ErrNoRow
	}
	return nil
}

// nameTaken turns a failed unique column into the answer for whoever chose the name.
func nameTaken(err error, noun, name string) error {
	const constraintUnique = 2067 // SQLITE_CONSTRAINT_UNIQUE
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code() == constraintUnique {
		return &sandbox.Error{Code: sandbox.CodeNameTaken, Field: "name",
			Message: fmt.Sprintf("the %s name %q is taken", noun, name)}
	}
	return err
}

func hashOf(b []byte) (h [32]byte, err error) {
	if len(b) != len(h) {
		return h, fmt.Errorf("hash has %d bytes, not %d", len(b), len(h))
	}
	return [32]byte(b), nil
}

// scanner reads the columns of one row into a T.
type scanner[T any] func(scan func(...any) error) (T, error)

// row returns what a query finds, ErrNoRow when that is nothing.
func row[T any](ctx context.Context, db *sql.DB, read scanner[T], query string, args ...any) (T, error) {
	v, err := read(db.QueryRowContext(ctx, query, args...).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		err = sandbox.ErrNoRow
	}
	return v, err
}

// rows collects what a query finds.
func rows[T any](ctx context.Context, db *sql.DB, read scanner[T], query string, args ...any) ([]T, error) {
	r, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var all []T
	for r.Next() {
		v, err := read(r.Scan)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, r.Err()
}

func placeholders(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }
