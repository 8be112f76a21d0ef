package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/labstack/echo/v4"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/terminal"
)

const (
	// A viewer costs up to 100 KB here and some work for every byte of its tab.
	maxViewersPerTab = 32
	maxSockets       = 1024
)

// timing is how patient the server is.
type timing struct {
	body  time.Duration // for the body of a request
	hello time.Duration // for the first frame
	// A peer of which nothing was heard for quiet is asked; when it stays silent for pong it is dead.
	quiet, pong time.Duration
}

var defaultTiming = timing{body: 30 * time.Second, hello: 5 * time.Second, quiet: 5 * time.Second, pong: 4 * time.Second}

const closeInternal = 1011

// socket is one open websocket.
type socket struct {
	conn       *wsConn
	webSession string // its id, "" with a key
	tab        string // sandbox and tab id, "" for a watch
	cancel     context.CancelCauseFunc
	sent       sync.Once // away
}

// away ends the socket with a close code, without waiting. Cancelling alone would cut the connection before the code
// is sent.
func (k *socket) away(wg *sync.WaitGroup, code int, reason string) {
	k.sent.Do(func() {
		wg.Go(func() {
			k.conn.Close(code, reason)
			k.cancel(&terminal.FrameError{Code: code, Text: reason})
		})
	})
}

// sockets are the open websockets of a server.
type sockets struct {
	meters *meters
	wg     sync.WaitGroup // goodbyes under way, and sockets

	mu       sync.Mutex // protects following
	open     map[*socket]struct{}
	perTab   map[string]int
	draining bool
}

func newSockets(m *meters) *sockets {
	return &sockets{meters: m, open: make(map[*socket]struct{}), perTab: make(map[string]int)}
}

// add counts the socket in, or says why there is no room. done must be called when it has ended.
func (ss *sockets) add(k *socket) (done func(), err error) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	switch {
	case ss.draining:
		return nil, &terminal.FrameError{Code: terminal.CloseRestart, Text: "server restarts"}
	case len(ss.open) >= maxSockets:
		return nil, &terminal.FrameError{Code: terminal.CloseTooManyViewers,
			Text: fmt.Sprintf("the server has %d open sockets, which is its limit", maxSockets)}
	case k.tab != "" && ss.perTab[k.tab] >= maxViewersPerTab:
		return nil, &terminal.FrameError{Code: terminal.CloseTooManyViewers,
			Text: fmt.Sprintf("the tab has %d viewers, which is its limit", maxViewersPerTab)}
	}
	ss.open[k] = struct{}{}
	if k.tab != "" {
		ss.perTab[k.tab]++
	}
	ss.wg.Add(1)
	ss.meters.socketsOpen.Inc()
	return func() { ss.remove(k) }, nil
}

func (ss *sockets) remove(k *socket) {
	ss.mu.Lock()
	delete(ss.open, k)
	if k.tab != "" {
		if ss.perTab[k.tab]--; ss.perTab[k.tab] == 0 {
			delete(ss.perTab, k.tab)
		}
	}
	ss.mu.Unlock()
	ss.meters.socketsOpen.Dec()
	ss.wg.Done()
}

// logout sends the sockets of a web session away at once.
func (ss *sockets) logout(webSessionID string) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	for k := range ss.open {
		if k.webSession == webSessionID {
			k.away(&ss.wg, terminal.CloseLoggedOut, "logged out")
		}
	}
}

func (ss *sockets) drain(ctx context.Context) error {
	ss.mu.Lock()
	ss.draining = true
	for k := range ss.open {
		k.away(&ss.wg, terminal.CloseRestart, "server restarts")
	}
	ss.mu.Unlock()

	gone := make(chan struct{})
	go func() {
		defer close(gone)
		ss.wg.Wait()
	}()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
	}
	ss.mu.Lock()
	left := len(ss.open)
	for k := range ss.open {
		k.cancel(context.Cause(ctx))
		k.conn.cut()
	}
	ss.mu.Unlock()
	<-gone
	if left == 0 {
		return nil
	}
	return fmt.Errorf("close sockets: %d said no goodbye: %w", left, ctx.Err())
}

// serveSocket upgrades the request and runs serve with the authenticated hello until it returns; its error chooses the
// close code. refusal, if not nil, is sent instead: as a status to a key's holder, as a close code to a page, which
// sees no status of a handshake.
func (s *Server) serveSocket(c echo.Context, tab string, refusal error, serve func(context.Context, *wsConn, terminal.Hello) error) error {
	w := current(c)
	isPage := Actor(c).KeyID == ""
	if refusal != nil && !isPage {
		return refusal
	}
	if !c.IsWebSocket() {
		return &sandbox.Error{Code: codeUpgradeRequired, Message: "this address speaks websocket only"}
	}
	conn := &wsConn{}
	conn.alive()
	h := &hijacker{ResponseWriter: c.Response()}
	ws, err := websocket.Accept(h, c.Request(), &websocket.AcceptOptions{
		// checkSocket has compared Origin with our own, as a proxy shows it; Accept knows only the Host header.
		InsecureSkipVerify:   true,
		CompressionMode:      websocket.CompressionNoContextTakeover,
		CompressionThreshold: compressAboveBytes,
		OnPongReceived:       func(context.Context, []byte) { conn.alive() },
	})
	if err != nil {
		return errInvalid("not a websocket handshake", err.Error())
	}
	ws.SetReadLimit(terminal.MaxFrameBytes)
	conn.ws, conn.tcp = ws, h.tcp
	defer ws.CloseNow()

	// Not the request's context: it is not cancelled when the peer vanishes, and would be when the server shuts down,
	// before the goodbye.
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	k := &socket{conn: conn, tab: tab, cancel: cancel}
	if w != nil {
		k.webSession = w.ID
	}
	if isPage && w == nil {
		refusal = &terminal.FrameError{Code: terminal.CloseLoggedOut, Text: "logged out"}
	}
	if refusal == nil {
		var done func()
		if done, refusal = s.sockets.add(k); refusal == nil {
			defer done()
			refusal = s.stillLoggedIn(ctx, w)
		}
	}
	if refusal != nil {
		s.closeSocket(c, conn, refusal)
		return nil
	}
	s.closeSocket(c, conn, s.runSocket(ctx, cancel, k, w, serve))
	return nil
}

// stillLoggedIn looks again now that a logout would find the socket; one that came before did not.
func (s *Server) stillLoggedIn(ctx context.Context, w *webSession) error {
	if w == nil {
		return nil
	}
	_, err := s.d.Store.WebSession(ctx, w.Hash)
	if errors.Is(err, sandbox.ErrNoRow) {
		return &terminal.FrameError{Code: terminal.CloseLoggedOut, Text: "logged out"}
	}
	return err
}

func (s *Server) runSocket(ctx context.Context, cancel context.CancelCauseFunc, k *socket, w *webSession,
	serve func(context.Context, *wsConn, terminal.Hello) error) error {
	fired := make(chan struct{})
	late := time.AfterFunc(s.timing.hello, func() {
		defer close(fired)
		k.away(&s.sockets.wg, terminal.CloseHelloLate, "no hello in time")
	})
	binary, data, err := k.conn.Read(ctx)
	if !late.Stop() {
		<-fired
		return err
	}
	if err != nil {
		return err
	}
	if binary {
		return &terminal.FrameError{Code: terminal.CloseBadFrame, Text: "first frame is not hello"}
	}
	hello, err := terminal.DecodeHello(data)
	if err != nil {
		return err
	}
	if w != nil && !w.checkPageToken(hello.Token) {
		return &terminal.FrameError{Code: terminal.CloseLoggedOut, Text: "page is from before the last login"}
	}

	var wg sync.WaitGroup
	defer wg.Wait()
	alive, stop := context.WithCancel(ctx)
	defer stop()
	wg.Go(func() {
		if err := k.conn.keepAlive(alive, s.timing); err != nil {
			cancel(err)
			k.conn.cut() // there is nobody to say goodbye to
		}
	})
	return serve(ctx, k.conn, hello)
}

// closeSocket ends a socket with the code that err stands for. One that was sent away already keeps its first code.
func (s *Server) closeSocket(c echo.Context, conn *wsConn, err error) {
	code, reason := terminal.CloseNormal, ""
	var frame *terminal.FrameError
	var domain *sandbox.Error
	switch {
	case isExpectedClose(err), websocket.CloseStatus(err) != -1, errors.Is(err, net.ErrClosed):
	case errors.As(err, &frame):
		code, reason = frame.Code, frame.Text
	case errors.Is(err, terminal.ErrServerGone):
		code, reason = terminal.CloseServerGone, "terminal server gone"
	case errors.As(err, &domain) && domain.Code == sandbox.CodeNotFound:
		code, reason = terminal.CloseTabGone, "no such tab"
	case errors.As(err, &domain) && domain.Code == sandbox.CodeUnauthorized:
		code, reason = terminal.CloseLoggedOut, domain.Message
	case errors.As(err, &domain):
		code, reason = closeInternal, domain.Message
	default:
		code, reason = closeInternal, "internal error"
		s.log.Error("serve socket", "request_id", requestID(c), "path", c.Request().URL.Path, "err", err)
	}
	conn.Close(code, reason)
}
