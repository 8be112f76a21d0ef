package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/browsertabs/tabs/client"
)

// reconnectFor is how long a lost connection is tried again: a restart of the server takes seconds.
const reconnectFor = time.Minute

// pingEvery and pingTimeout notice a connection that is dead though nobody closed it.
const (
	pingEvery   = 15 * time.Second
	pingTimeout = 10 * time.Second
)

// Sequences that put a terminal back which was left in the middle of somebody's screen: attributes, cursor, mouse, focus
// reports, bracketed paste, cursor keys, keypad. tmux was on the alternate screen, and saved the cursor going there; of
// what runs in a plain tab nobody knows, and restoring a cursor that was never saved would move it.
const (
	resetModes = "\x1b[0m\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[?1l\x1b>"
	leaveTmux  = resetModes + "\x1b[?1049l\r\n"
	leavePlain = resetModes + "\x1b[?47l\r\n"
)

// remote is a tab somewhere else. One goroutine reads while others write.
type remote interface {
	// Read returns the next bytes for the terminal; *client.Exited when the tab has ended or let us go.
	Read(ctx context.Context) ([]byte, error)
	Write(ctx context.Context, b []byte) error
	Resize(ctx context.Context, s client.Size) error
	Ping(ctx context.Context) error
	Close() error
}

type dialRemote func(ctx context.Context, size client.Size) (remote, error)

var errDetached = errors.New("detached")

// bridge connects this terminal to a tab through the server until the person leaves or the tab ends. leave is what puts
// the terminal back after a cut.
func (a *app) bridge(ctx context.Context, leave string, dial dialRemote) error {
	in := a.In.(*os.File)
	size, ok := a.terminalSize()
	if !ok {
		return errNoTerminal
	}
	r, err := a.dialWithin(ctx, dial, size)
	if err != nil {
		return err
	}
	state, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		r.Close()
		return fmt.Errorf("set terminal to raw: %w", err)
	}
	defer func() {
		io.WriteString(a.Out, leave)
		term.Restore(int(in.Fd()), state)
	}()

	keys := make(chan []byte)
	done := make(chan struct{})
	defer close(done)
	go readKeys(in, keys, done)

	for {
		err := a.session(ctx, r, keys)
		r.Close()
		var exited *client.Exited
		switch {
		case errors.Is(err, errDetached):
			return nil
		case errors.As(err, &exited):
			if leave == leaveTmux {
				leave = "" // tmux has put it back itself
			}
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !worthRetrying(err):
			return fmt.Errorf("tab: %w", err)
		}
		fmt.Fprintf(a.Out, "\r\n\x1b[7m connection lost, trying again; Ctrl-\\ Ctrl-\\ leaves \x1b[0m\r\n")
		if r, err = a.redial(ctx, dial, keys); err != nil {
			if errors.Is(err, errDetached) {
				return nil
			}
			return err
		}
	}
}

// dialWithin dials within --timeout; the connection itself has no end.
func (a *app) dialWithin(ctx context.Context, dial dialRemote, size client.Size) (remote, error) {
	ctx, cancel := a.withTimeout(ctx)
	defer cancel()
	return dial(ctx, size)
}

// worthRetrying tells whether the server may take us back: it did not send us away for a reason that stays.
func worthRetrying(err error) bool {
	code, _, closed := client.IsClosed(err)
	return !closed || code == 1001 || code == 1006 || code == 1012
}

func (a *app) redial(ctx context.Context, dial dialRemote, keys <-chan []byte) (remote, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, reconnectFor, errTimeout)
	defer cancel()
	var esc escapes
	for wait := 250 * time.Millisecond; ; wait = min(2*wait, 4*time.Second) {
		size, _ := a.terminalSize()
		r, err := a.dialWithin(ctx, dial, size)
		var api *client.Error
		if err == nil || errors.As(err, &api) && api.Status < 500 {
			return r, err
		}
		timer := time.NewTimer(wait)
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				timer.Stop()
				return nil, err
			case k, ok := <-keys:
				// Keys typed at a dead screen are dropped: the person did not see what they would have gone to.
				if _, leave := esc.filter(k); leave || !ok {
					timer.Stop()
					return nil, errDetached
				}
			case <-timer.C:
				waiting = false
			}
		}
	}
}

// session carries bytes both ways over one connection. It returns the first reason to stop.
func (a *app) session(ctx context.Context, r remote, keys <-chan []byte) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cancel(a.show(ctx, r))
	}()
	sized := make(chan struct{})
	go func() {
		defer close(sized)
		followSize(ctx, a, func(s client.Size) error { return r.Resize(ctx, s) })
	}()
	cancel(typeKeys(ctx, r, keys))
	err := context.Cause(ctx)
	r.Close()
	<-ended
	<-sized
	return err
}

// show writes what comes to the terminal.
func (a *app) show(ctx context.Context, r remote) error {
	for {
		b, err := r.Read(ctx)
		if err != nil {
			return err
		}
		if _, err := a.Out.Write(b); err != nil {
			return fmt.Errorf("write to terminal: %w", err)
		}
	}
}

// typeKeys sends what is typed, and sees that the connection lives.
func typeKeys(ctx context.Context, r remote, keys <-chan []byte) error {
	var esc escapes
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
			pinging, cancel := context.WithTimeout(ctx, pingTimeout)
			err := r.Ping(pinging)
			cancel()
			if err != nil {
				return fmt.Errorf("ping: %w", err)
			}
		case k, ok := <-keys:
			if !ok {
				return errDetached // the terminal is gone
			}
			out, leave := esc.filter(k)
			if leave {
				return errDetached
			}
			if len(out) == 0 {
				continue
			}
			if err := r.Write(ctx, out); err != nil {
				return err
			}
		}
	}
}

// readKeys hands on what is typed until the terminal ends or nobody wants it. A Read that waits for a key cannot be
// called off; it ends with the process.
func readKeys(in io.Reader, keys chan<- []byte, done <-chan struct{}) {
	defer close(keys)
	for {
		buf := make([]byte, 4096)
		n, err := in.Read(buf)
		if n > 0 {
			select {
			case keys <- buf[:n]:
			case <-done:
				return
			}
		}
		if err != nil {
			return
		}
	}
}
