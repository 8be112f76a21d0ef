// Package terminaltest has fakes to test a terminal in process: a Source that can flood, stall and die, and a Page, the
// browser's side of a connection, that can stall, vanish and misbehave. It must not be imported by what is shipped.
package terminaltest
