package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/sandbox/sqlite"
	"github.com/browsertabs/tabs/web"
	"github.com/browsertabs/tabs/web/api"
)

const (
	databaseFile = "tabs.db"
	keyFile      = "pt.key"
	urlFile      = "pt.url" // where this server listens, for pt on this machine

	// drainTimeout is how long browsers get to say goodbye at a shutdown.
	drainTimeout = 5 * time.Second
)

func serveCommand(env environment, stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "serve", Short: "Run the server and print a login address", Args: cobra.NoArgs,
		Long: `Run the server and print a login address.

Every setting can also be given in the environment (TABS_LISTEN for --listen) or in
tabs.toml (listen = "..."). A flag wins over the environment, that over the file.`,
	}
	load := withConfig(cmd, env)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := load()
		if err != nil {
			return err
		}
		return serve(cmd.Context(), c, newLog(c, stderr), stdout)
	}
	return cmd
}

func logLevel(name string) (slog.Level, error) {
	var l slog.Level
	err := l.UnmarshalText([]byte(name))
	return l, err
}

func newLog(c *config, w io.Writer) *slog.Logger {
	level, _ := logLevel(c.LogLevel) // checked
	o := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

// serve runs the server until ctx is done. Then browsers are told to come back soon, and tmux and its programs are left
// alone.
func serve(ctx context.Context, c *config, log *slog.Logger, stdout io.Writer) (err error) {
	dir, err := openDataDir(c.DataDir)
	if err != nil {
		return err
	}
	defer dir.Close()
	e, err := listen(c, dir, log)
	if err != nil {
		return err
	}
	defer e.Close()
	db, err := sqlite.Open(ctx, dir.file(databaseFile))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	sandboxes := sandbox.New(sandbox.Config{Store: db, Log: log, Local: c.offersLocal()})
	org, err := sandboxes.FirstOrg(ctx)
	if err != nil {
		return err
	}
	if err := firstKey(ctx, sandboxes, org, dir.file(keyFile)); err != nil {
		return err
	}
	metrics := prometheus.NewRegistry()
	metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))

	t, err := newTabs(c, db, org, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.stop()) }()
	a := api.New(api.Config{Log: log, Sandboxes: sandboxes, Tabs: t, Exec: t.provider, Version: version})

	w, err := web.New(web.Deps{
		Log: log, Sandboxes: sandboxes, Tabs: web.TabsOf(t.Service), Store: db, OrgID: org.ID,
		Hosts: e.hosts, DeviceHost: e.other, BasePath: c.BasePath, BehindProxy: c.BehindProxy,
		TrustedHeader: c.TrustedHeader, TrustedSecret: c.TrustedSecret, Version: version, Metrics: metrics,
		API: a.Routes(),
	})
	if err != nil {
		return err
	}
	control, err := listenUnix(c.DataDir, controlSocket, 0o600)
	if err != nil {
		return err
	}
	defer control.Close()
	newLogin := func(ctx context.Context) (loginAnswer, error) {
		path, expires, err := w.NewLoginPath(ctx)
		return loginAnswer{Address: e.self + path, ExpiresAt: expires}, err
	}
	login, err := newLogin(ctx)
	if err != nil {
		return err
	}

	if err := writeFile(dir.file(urlFile), []byte(e.self+c.BasePath+"\n"), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", dir.file(urlFile), err)
	}
	defer os.Remove(dir.file(urlFile))
	if c.offersLocal() {
		t.startLocal(ctx, log)
	}
	log.Info("listening", "address", e.Addr().String(), "data_dir", c.DataDir, "version", version)
	fmt.Fprintf(stdout, "Log in at %s\n", login.Address)
	return serveHTTP(ctx, []httpServer{
		newHTTPServer(w.Handler(), e.Listener, e.tls, log),
		newHTTPServer(controlHandler(newLogin, sandboxes), control, nil, log),
	}, func(ctx context.Context) error {
		g := new(errgroup.Group)
		g.Go(func() error { return w.Close(ctx) })
		g.Go(func() error { return a.Close(ctx) })
		return g.Wait()
	})
}

// firstKey makes the full-access key that pt on this machine uses, unless there is one. A start that was cut short
// between key and file is completed.
func firstKey(ctx context.Context, s *sandbox.Service, org sandbox.Org, path string) error {
	_, err := os.Stat(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	keys, err := s.Keys(ctx, sandbox.Actor{OrgID: org.ID})
	if err != nil {
		return err
	}
	for _, k := range keys {
		if !k.LastUsed.IsZero() {
			return nil // somebody has a key, and removed the file by hand
		}
	}
	_, secret, err := s.CreateKey(ctx, sandbox.Actor{OrgID: org.ID}, "first")
	if err != nil {
		return err
	}
	if err := writeFile(path, []byte(secret+"\n"), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
