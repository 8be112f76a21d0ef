// Package tabs holds the tabs of sandboxes: each one is a tmux session, on a tmux server of its own, with a
// terminal.Terminal reading it for as long as our server runs, whether or not anybody looks. Service is its main type.
//
// What makes a tab (its id, title, order) lives in user options of its tmux session, so that it outlives our server;
// the RecordStore keeps what is needed to offer it again when the machine itself restarted.
//
// It reaches a sandbox through sandbox.Provider alone, never the file system or processes of the machine it runs on,
// and knows nothing of HTTP.
//
// Lock order: box.mu before nothing else; a Terminal may call back under no lock of its own, so box.mu may be taken
// there. No lock is held across a command of tmux.
package tabs
