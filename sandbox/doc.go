// Package sandbox holds the domain: organisations, keys and sandboxes, who may do what with them, and the seam to what
// runs them. Service is its main type; authorize is the one place that says no.
//
// It knows nothing of HTTP, SQL or tmux: package web asks, package sandbox/sqlite stores, a Provider runs.
package sandbox
