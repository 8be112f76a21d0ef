// Package e2e tests the product as people have it: the real binary, real tmux, a real browser. It must not look inside
// the server: what it knows comes from the pages, window.tabs, /v1, the command line and the process table.
package e2e
