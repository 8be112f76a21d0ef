// Package runc is the sandbox.Provider that comes with the server: containers on Linux, made with an OCI runtime. Engine
// is its main type. docs/adr/0006-engine.md says why it is built as it is.
//
// A sandbox is an ext4 image in a file and, while it runs, a container whose root is an overlay of the image over a
// template. Files in images and templates have the owners that programs inside see; an idmapped mount shifts them into
// the range of the run. Every mount is made in a mount namespace of its own, which only the container keeps: where the
// container ends, or the server is killed before it began, the kernel unmounts and detaches everything.
//
// The engine trusts nothing inside: no path of a sandbox is followed from outside, and no filesystem that came from
// elsewhere is mounted.
package runc
