package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/sandbox/local"
	"github.com/browsertabs/tabs/terminal/tabs"
	"github.com/browsertabs/tabs/tmuxctl"
)

// runningTabs are the tabs of all sandboxes.
type runningTabs struct {
	*tabs.Service
	provider sandbox.Provider
	starting sync.WaitGroup
}

func newTabs(c *config, records tabs.RecordStore, org sandbox.Org, log *slog.Logger) (*runningTabs, error) {
	// The end of the organisation's id is random: no two data directories share it.
	instance := strings.ToLower(org.ID[max(0, len(org.ID)-16):])
	provider, err := local.New(local.Config{Instance: instance, Log: log})
	if err != nil {
		return nil, fmt.Errorf("use this machine: %w", err)
	}
	return &runningTabs{provider: provider, Service: tabs.New(tabs.Config{
		Provider: provider, Records: records, Log: log, Version: version,
		HistoryLines: c.Scrollback, UserConfig: c.TmuxConf,
	})}, nil
}

// startLocal attaches to the tabs of this machine that are there already. What goes wrong is for the log: the page says
// it too, and works as far as it can.
func (t *runningTabs) startLocal(ctx context.Context, log *slog.Logger) {
	t.starting.Go(func() {
		_, err := (&tmuxctl.Server{Start: tmuxctl.LocalStart}).Version(ctx)
		if errors.Is(err, tmuxctl.ErrMissing) || errors.Is(err, tmuxctl.ErrTooOld) {
			log.Warn("terminals do not outlive the browser: install tmux 3.2 or newer, for example by sudo apt install tmux", "err", err)
		}
		if err := t.Start(ctx, sandbox.LocalID); err != nil && ctx.Err() == nil {
			log.Error("attach to tabs", "sandbox_id", sandbox.LocalID, "err", err)
		}
	})
}

// stop lets go of every tab; tmux and its programs go on.
func (t *runningTabs) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	t.starting.Wait()
	return t.Close(ctx)
}
