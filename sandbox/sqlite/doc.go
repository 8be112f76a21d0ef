// Package sqlite keeps rows in one SQLite file: organisations, keys, sandboxes, web sessions, login tokens, and what
// revives tabs. DB implements the store interfaces that sandbox, terminal/tabs and web declare; it must not judge who
// may do what.
package sqlite
