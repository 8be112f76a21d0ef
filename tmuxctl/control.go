package tmuxctl

import "context"

// Event is a notification of control mode; see event.go for the types.
type Event interface{ event() }

// Reply is one %begin/%end block that answers a command of ours; Err is set when it ended in %error.
type Reply struct {
	Lines [][]byte // valid only during the callback
	Err   error
}

// Command is a line sent to tmux. One line can hold several commands joined by " ; ": each answers with a Reply,
// and after the first error tmux drops the rest of the line.
type Command struct {
	Line string
	// Replies is how many commands the line holds.
	Replies int
	// Begin, if set, runs when the first reply begins: the exact point of the stream at which tmux ran the line.
	Begin func()
	// Done, if set, runs once when the last reply has come or the client ended. Err of a Reply that never came is
	// why. Both run on the reader's goroutine, in stream order, and must not block.
	Done func([]Reply)
}

// ControlClient is one `tmux -C attach-session`: one reader, a FIFO of pending commands.
type ControlClient struct{}

// Run reads until the session ends, the stream breaks or ctx is done, calling handle for each notification in stream
// order on one goroutine. It owns the process: when Run returns, the process has ended. nil: %exit because the
// session ended or we detached; ErrNoServer: the server died.
func (c *ControlClient) Run(ctx context.Context, handle func(Event)) error { panic("todo") }

// Send queues a command; never blocks on tmux.
func (c *ControlClient) Send(cmd Command) { panic("todo") }

// Do sends one command line and waits for its replies; not from Run's goroutine. The lines are copies.
func (c *ControlClient) Do(ctx context.Context, line string, replies int) ([]Reply, error) {
	panic("todo")
}
