// Package login knows what a login on a Unix machine is: an Account, as passwd and group tell, and how a program is
// found for it. It reads the machine it runs on and changes nothing; the server uses it, and so does PID 1 of a sandbox,
// so it needs the standard library alone.
package login
