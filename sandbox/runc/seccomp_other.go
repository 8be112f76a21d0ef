//go:build !amd64

package runc

// Without a list, the runtime takes the machine's own.
var seccompArchitectures []string
