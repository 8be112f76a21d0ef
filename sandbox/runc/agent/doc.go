// Package agent is what runs as PID 1 of a sandbox, and how the server speaks to it. Serve is its main function inside;
// Client is the server's side.
//
// Bytes of programs never pass through it: pipes and terminals cross the socket as file descriptors, so the server
// holds the very ends that it would hold of a child of its own. What comes from inside is not trusted: messages are
// bounded, and a descriptor is checked before it is used.
//
// It must stay small and need the standard library alone, since every sandbox holds a copy in memory.
package agent
