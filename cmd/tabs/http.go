package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

// httpServer is a server and where it listens.
type httpServer struct {
	*http.Server
	listener net.Listener
}

func newHTTPServer(h http.Handler, l net.Listener, t *tls.Config, log *slog.Logger) httpServer {
	if t != nil {
		t = t.Clone()
		t.NextProtos = []string{"h2", "http/1.1"}
		l = tls.NewListener(l, t)
	}
	return httpServer{listener: l, Server: &http.Server{
		Handler: h, TLSConfig: t,
		// Bodies have no limit in time here: web bounds their size, and a socket lives for days.
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		// Scanners and browsers that distrust a certificate fill it.
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}}
}

// serveHTTP serves until ctx is done, then calls drain beside the shutdown, which waits for requests but knows nothing
// of sockets.
func serveHTTP(ctx context.Context, servers []httpServer, drain func(context.Context) error) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, s := range servers {
		g.Go(func() error {
			if err := s.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("serve HTTP: %w", err)
			}
			return nil
		})
	}
	g.Go(func() error {
		<-ctx.Done()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
		defer cancel()
		var down errgroup.Group
		down.Go(func() error { return drain(ctx) })
		for _, s := range servers {
			down.Go(func() error { return s.Shutdown(ctx) })
		}
		err := down.Wait()
		if errors.Is(err, context.DeadlineExceeded) {
			err = nil // who did not leave in time is cut off: not our failure
		}
		for _, s := range servers {
			s.Close()
		}
		return err
	})
	return g.Wait()
}
