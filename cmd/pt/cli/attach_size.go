package cli

import (
	"context"
	"crypto/rand"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/browsertabs/tabs/client"
)

// holdSize makes the tab as large as this terminal until ctx is done: as a viewer that owns the size, so that browsers
// see who has it and get it back at once when pt is gone, however it went. It never acks output, so that hardly any is
// sent. The tab works without it, at its old size: a server that is away is waited for.
func (a *app) holdSize(ctx context.Context, c *client.Client, t client.Tab) {
	for wait := 500 * time.Millisecond; ; wait = min(2*wait, 8*time.Second) {
		start := time.Now()
		if a.holdSizeOnce(ctx, c, t); ctx.Err() != nil {
			return
		}
		if time.Since(start) > 10*time.Second {
			wait = 500 * time.Millisecond
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

func (a *app) holdSizeOnce(ctx context.Context, c *client.Client, t client.Tab) {
	size, ok := a.terminalSize()
	if !ok {
		return
	}
	s, err := c.DialTab(ctx, t.SandboxID, t.ID, client.Hello{Size: &size, Input: newInputID()})
	if err != nil {
		return
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		for {
			if _, err := s.Read(ctx); err != nil {
				return
			}
		}
	}()
	if s.Send(ctx, sizeFrame{Type: "takeSize"}) != nil {
		return
	}
	followSize(ctx, a, func(size client.Size) error {
		return s.Send(ctx, sizeFrame{Type: "resize", Cols: size.Cols, Rows: size.Rows})
	})
}

type sizeFrame struct {
	Type string `json:"type"`
	Cols int    `json:"cols,omitempty"`
	Rows int    `json:"rows,omitempty"`
}

// followSize calls fn with each new size of the terminal until ctx is done or fn fails.
func followSize(ctx context.Context, a *app, fn func(client.Size) error) {
	winch := make(chan os.Signal, 1)
	signal.Notify(winch, syscall.SIGWINCH)
	defer signal.Stop(winch)
	last, _ := a.terminalSize()
	for {
		select {
		case <-ctx.Done():
			return
		case <-winch:
		}
		size, ok := a.terminalSize()
		if !ok || size == last {
			continue
		}
		last = size
		if fn(size) != nil {
			return
		}
	}
}

// newInputID names an input stream of this process.
func newInputID() string { return strings.ToLower(rand.Text()) }
