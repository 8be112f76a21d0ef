package terminal

import "context"

// Conn is a viewer's connection, as the terminal needs it; web adapts a websocket to it. Read and Write may run at the
// same time, each by one goroutine.
type Conn interface {
	// Read returns the next frame; binary or text. data is valid until the next Read.
	Read(ctx context.Context) (binary bool, data []byte, err error)
	// Write sends one frame.
	Write(ctx context.Context, binary bool, data []byte) error
	// Close ends the connection with a close code of docs/PROTOCOL.md.
	Close(code int, reason string) error
}

// ViewerConfig is what the server knows of a viewer beside its Hello.
type ViewerConfig struct {
	Name string // device name, shown to others: "iPhone", "pt on laptop"
}
