// Package static holds what browsers load: scripts and styles built by cmd/assets from src and css into dist, embedded
// in the binary. URL names a built file, Handler serves them. It must not know any page or route but its own.
package static

import "embed"

// dist is empty but for .keep until cmd/assets has run, so that a bare `go build ./...` compiles.
//
//go:embed all:dist
var dist embed.FS
