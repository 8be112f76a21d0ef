package web

import (
	"time"

	"github.com/browsertabs/tabs/client"
	"github.com/browsertabs/tabs/terminal/tabs"
)

// TabJSON is a tab as the API and the watch socket show it.
func TabJSON(t tabs.Tab) client.Tab {
	return client.Tab{
		ID: t.ID, SandboxID: t.Sandbox, Title: t.Title, Named: t.Named, Order: t.Order, State: t.State,
		CreatedAt: t.CreatedAt.UTC(), Viewers: t.Viewers, Cols: t.Size.Cols, Rows: t.Size.Rows, User: t.User, Cwd: t.Cwd,
		Foreground: t.Foreground, ForegroundSince: timeOrNil(t.Since), ExitCode: t.ExitCode, Bell: t.Bell,
		ActivityAt: timeOrNil(t.Activity), Plain: t.Plain, AttachCommand: t.Attach, TmuxServer: t.Server,
	}
}

// SavedTabJSON is a tab that can be revived, as the API and the watch socket show it.
func SavedTabJSON(s tabs.Saved) client.SavedTab {
	return client.SavedTab{
		ID: s.ID, SandboxID: s.Sandbox, Title: s.Title, Order: s.Order, User: s.User, Cwd: s.Cwd,
		Lines: string(s.Lines), SavedAt: s.SavedAt.UTC(),
	}
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
