// Package local is the sandbox.Provider of the machine the server runs on. Commands run as the server's own user; as
// another one only where the server is root. It has no life cycle: the machine is always running.
package local
