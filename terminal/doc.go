// Package terminal is the terminal behind a tab: it reads the panes of one tmux session from a Source and serves them
// to any number of viewers. Its main type is Terminal. It knows nothing of HTTP, of how tmux is reached, or of tabs.
//
//	Source ──Handler──▶ Terminal ─ pane ─ ring ◀── view ─ viewer ──▶ Conn
//	   ▲                   │        └ modes          (cursor)   │
//	   └──── commands ─────┴───────────────────────── input ◀───┘
//
// A pane's stream is addressed by offset. Its ring holds the latest bytes; each viewer pulls from its own cursor, so
// nobody waits for a slow one, and whoever is too far behind gets a snapshot: what the pane shows at an exact offset,
// rendered from a Capture and from the modes that tmux does not tell. Bytes that never came (a flood is sampled, not
// streamed) are a gap that no cursor can cross.
//
// # Who owns what
//
// Run reads the source on its own goroutine and owns a second one that does what is due at a time. Serve owns a viewer:
// its connection and two goroutines, one of them the caller's. The first loop to end takes the viewer out of the
// terminal, closes the connection with a code that says why, and cancels the other. Run returns after all viewers have
// left; Close sends them away and waits for Run.
//
// # Locks
//
// Terminal.mu protects everything, panes and viewers included. It is held while bytes are copied, never across I/O:
// the methods of a Source only queue, and a Source never calls back from within them. Watchers are told after it is
// unlocked.
package terminal
