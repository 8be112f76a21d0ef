package sandbox

import "github.com/oklog/ulid/v2"

// NewID returns a unique id: prefix ("org", "key", "sbx", "tab", "req"), an underscore and a ULID, so that ids of one
// kind sort by when they were made.
func NewID(prefix string) string { return prefix + "_" + ulid.Make().String() }
