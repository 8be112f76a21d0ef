package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/labstack/echo/v4"

	"github.com/browsertabs/tabs/client"
	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/terminal"
	"github.com/browsertabs/tabs/terminal/tabs"
	"github.com/browsertabs/tabs/web"
)

const (
	maxAttachments  = 64
	maxAttachFrame  = 64 << 10
	attachReadBytes = 32 << 10
	detachTimeout   = 2 * time.Second
	writeTimeout    = 30 * time.Second
	attachPing      = 15 * time.Second

	closeRestart = 1012
	closeBad     = 4000
)

var termName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9+._-]{0,63}$`)

// attachTab runs a tmux client of the tab in its sandbox, on a terminal whose bytes travel over the socket. It is for
// keys alone: a page has no use for it, and a header no other site can set is all the proof of origin it needs.
func (a *API) attachTab(c echo.Context) error {
	ctx := c.Request().Context()
	s, err := a.sandbox(c, sandbox.VerbTabs)
	if err != nil {
		return err
	}
	if web.Actor(c).KeyID == "" {
		return &sandbox.Error{Code: sandbox.CodeScopeForbidden, Message: "attaching needs a key", Remedy: "pt tab attach TAB"}
	}
	t, err := a.c.Tabs.Get(ctx, s.ID, param(c, "tab"))
	if err != nil {
		return err
	}
	if t.Plain || t.Attach == "" {
		return &sandbox.Error{Code: sandbox.CodeNotSupported, Message: "the tab runs without tmux, so there is nothing to attach to",
			Remedy: "pt tab open " + t.ID}
	}
	size, term, err := attachQuery(c)
	if err != nil {
		return err
	}
	if !c.IsWebSocket() {
		return &sandbox.Error{Code: sandbox.CodeInvalidRequest, Message: "this address speaks websocket only"}
	}
	done, stopped, err := a.attached.add()
	if err != nil {
		return err
	}
	defer done()
	// Not the request's context, which would be cancelled before a goodbye. carry ends it.
	p, err := a.startAttach(stopped, s.ID, t, size, term)
	if err != nil {
		return err
	}
	ws, err := websocket.Accept(c.Response(), c.Request(), &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		detach(p)
		return &sandbox.Error{Code: sandbox.CodeInvalidRequest, Message: "not a websocket handshake", Err: err}
	}
	defer ws.CloseNow()
	ws.SetReadLimit(maxAttachFrame)
	a.c.Log.Info("attached", "sandbox_id", s.ID, "terminal_id", t.ID, "key_id", web.Actor(c).KeyID)
	err = carry(stopped, ws, p)
	a.c.Log.Info("detached", "sandbox_id", s.ID, "terminal_id", t.ID, "key_id", web.Actor(c).KeyID, "err", err)
	return nil
}

func attachQuery(c echo.Context) (terminal.Size, string, error) {
	cols, err1 := strconv.Atoi(c.QueryParam("cols"))
	rows, err2 := strconv.Atoi(c.QueryParam("rows"))
	size := terminal.Size{Cols: cols, Rows: rows}
	if err := errors.Join(err1, err2); err != nil || size.Clamp() != size {
		return size, "", invalid("cols", "cols and rows must be from %s to %s", minSize, maxSize)
	}
	term := c.QueryParam("term")
	if !termName.MatchString(term) {
		return size, "", invalid("term", "term must be the name of a terminal type, such as xterm-256color")
	}
	return size, term, nil
}

// startAttach runs the tab's attach line. A terminal type that the sandbox does not know becomes one that every
// system does, or tmux would refuse to start.
func (a *API) startAttach(ctx context.Context, sandboxID string, t tabs.Tab, size terminal.Size, term string) (sandbox.Process, error) {
	const known = `infocmp "$TERM" >/dev/null 2>&1 || TERM=xterm-256color; `
	p, err := a.c.Exec.Exec(context.WithoutCancel(ctx), sandboxID, sandbox.Exec{
		Argv: []string{"/bin/sh", "-c", known + "exec " + t.Attach},
		Env:  []string{"TERM=" + term, "COLORTERM=truecolor"},
		User: t.User, TTY: true, Cols: size.Cols, Rows: size.Rows,
	})
	if err != nil {
		return nil, fmt.Errorf("start tmux client: %w", err)
	}
	return p, nil
}

// carry moves bytes both ways until the tmux client ends, the peer leaves, or ctx is done.
func carry(ctx context.Context, ws *websocket.Conn, p sandbox.Process) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	wg.Go(func() { cancel(sendOutput(ws, p)) })
	wg.Go(func() { cancel(takeInput(ws, p)) })
	wg.Go(func() { cancel(keepAlive(ctx, ws)) })
	<-ctx.Done()
	err := context.Cause(ctx)

	code := detach(p)
	sayGoodbye(ws, err, code)
	wg.Wait()
	if errors.Is(err, errEnded) || websocket.CloseStatus(err) == websocket.StatusNormalClosure {
		return nil
	}
	return err
}

// sayGoodbye closes the socket with the reason and unblocks whoever still uses it. The sockets' reads and writes take no
// context of ours, since one that is cancelled would cut the connection before the goodbye.
func sayGoodbye(ws *websocket.Conn, err error, exitCode int) {
	switch {
	case errors.Is(err, errEnded):
		ctx, cancel := context.WithTimeout(context.Background(), detachTimeout)
		defer cancel()
		b, jerr := json.Marshal(client.AttachFrame{Type: "exit", ExitCode: exitCode})
		if jerr == nil && ws.Write(ctx, websocket.MessageText, b) == nil {
			ws.Close(websocket.StatusNormalClosure, "")
		}
	case errors.Is(err, errRestart):
		ws.Close(closeRestart, "server restarts")
	case errors.Is(err, errBadFrame):
		ws.Close(closeBad, err.Error())
	}
	ws.CloseNow()
}

var (
	errEnded    = errors.New("tmux client ended")
	errRestart  = errors.New("server stops")
	errBadFrame = errors.New("bad frame")
)

func sendOutput(ws *websocket.Conn, p sandbox.Process) error {
	buf := make([]byte, attachReadBytes)
	for {
		n, err := p.Stdout().Read(buf)
		if n > 0 {
			// A peer that does not read holds up this tmux client, which is its own; a dead one must not for ever.
			ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
			werr := ws.Write(ctx, websocket.MessageBinary, buf[:n])
			cancel()
			if werr != nil {
				return werr
			}
		}
		if err != nil {
			return errEnded
		}
	}
}

func takeInput(ws *websocket.Conn, p sandbox.Process) error {
	for {
		kind, b, err := ws.Read(context.Background())
		if err != nil {
			return err
		}
		if kind == websocket.MessageBinary {
			if _, err := p.Stdin().Write(b); err != nil {
				return errEnded
			}
			continue
		}
		var f client.AttachFrame
		size := terminal.Size{}
		if err := json.Unmarshal(b, &f); err == nil && f.Type == "resize" {
			size = terminal.Size{Cols: f.Cols, Rows: f.Rows}
		}
		if size.Clamp() != size {
			return fmt.Errorf("%w: want resize with cols and rows from %s to %s", errBadFrame, minSize, maxSize)
		}
		if err := p.Resize(size.Cols, size.Rows); err != nil {
			return fmt.Errorf("resize: %w", err)
		}
	}
}

// keepAlive ends a connection whose peer has vanished, which a Read that waits would never notice.
func keepAlive(ctx context.Context, ws *websocket.Conn) error {
	t := time.NewTicker(attachPing)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-t.C:
		}
		pctx, cancel := context.WithTimeout(ctx, attachPing)
		err := ws.Ping(pctx)
		cancel()
		if err != nil {
			return fmt.Errorf("ping: %w", err)
		}
	}
}

// detach ends the tmux client and reaps it. It is told to leave first: hanging up could type Ctrl-D into an idle shell
// and end it.
func detach(p sandbox.Process) int {
	code := -1
	done := make(chan struct{})
	go func() {
		defer close(done)
		code, _ = p.Wait()
	}()
	for _, sig := range []string{"TERM", "KILL"} {
		// Fails only when the process has ended.
		_ = p.Signal(sig)
		select {
		case <-done:
			_ = p.Close()
			return code
		case <-time.After(detachTimeout):
		}
	}
	_ = p.Close()
	<-done
	return code
}

// attachments are the attachments under way.
type attachments struct {
	wg   sync.WaitGroup
	ctx  context.Context
	stop context.CancelCauseFunc

	mu       sync.Mutex // protects following
	n        int
	draining bool
}

func (at *attachments) init() {
	at.ctx, at.stop = context.WithCancelCause(context.Background())
}

// add counts one in. done must be called when it has ended; ctx is done when it has to end.
func (at *attachments) add() (done func(), ctx context.Context, err error) {
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.draining || at.n >= maxAttachments {
		return nil, nil, &sandbox.Error{Code: sandbox.CodeQuotaExceeded,
			Message: fmt.Sprintf("the server takes no more than %d attachments at a time, and none while it stops", maxAttachments)}
	}
	at.n++
	at.wg.Add(1)
	return func() {
		at.mu.Lock()
		at.n--
		at.mu.Unlock()
		at.wg.Done()
	}, at.ctx, nil
}

func (at *attachments) drain(ctx context.Context) error {
	at.mu.Lock()
	at.draining = true
	at.mu.Unlock()
	at.stop(errRestart)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		at.wg.Wait()
	}()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("detach: %w", context.Cause(ctx))
	}
}
