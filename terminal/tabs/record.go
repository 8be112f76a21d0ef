package tabs

import (
	"bytes"
	"context"
	"fmt"
	"time"
)

const (
	// maxSavedLines and maxSavedBytes bound the last lines in a record.
	maxSavedLines = 200
	maxSavedBytes = 256 << 10
)

// RecordStore keeps what is needed to revive tabs after their machine restarted. Every method may be called from any
// goroutine, and is durable when it returns.
type RecordStore interface {
	// PutTab adds a record, or replaces the one with the same ID.
	PutTab(ctx context.Context, s Saved) error
	// DeleteTabs removes records; ids that are not there are not an error.
	DeleteTabs(ctx context.Context, sandboxID string, ids []string) error
	// SavedTabs lists a sandbox's records by Order, then ID.
	SavedTabs(ctx context.Context, sandboxID string) ([]Saved, error)
}

// recordLocked is what would be saved now, with these last lines.
func (t *tab) recordLocked(lines []byte) Saved {
	r := Saved{
		ID: t.id, Sandbox: t.box.id, Title: t.title, Named: t.title != "", Order: t.order, User: t.user,
		Cwd: t.seen.active.Cwd, Lines: lines, SavedAt: time.Now().UTC(),
	}
	known := t.seen.serverPID != 0
	switch {
	case r.Named:
	case !known && t.record.Title != "":
		r.Title = t.record.Title
	default:
		r.Title = t.programTitle(t.term.Summary())
	}
	if r.Cwd == "" { // not known yet, or its program has ended
		r.Cwd = t.record.Cwd
	}
	return r
}

// save puts the tab's record where it differs from what is there. It is called on a goroutine of its own.
func (t *tab) save(ctx context.Context) {
	if t.host == nil {
		return
	}
	t.findBusy(ctx)
	lines := t.savedLines()
	if now, err := t.term.LastLines(ctx, maxSavedLines); err == nil {
		lines = boundLines(now)
	} // else: detached for a moment; the lines that are saved are the best there are
	if err := t.put(ctx, lines); err != nil && ctx.Err() == nil {
		t.box.s.log.Warn("save tab", "sandbox_id", t.box.id, "tab_id", t.id, "err", err)
	}
}

func (t *tab) savedLines() []byte {
	t.box.mu.Lock()
	defer t.box.mu.Unlock()
	return t.record.Lines
}

// put writes the record, with these last lines, unless it is there already, or the tab has ended meanwhile.
func (t *tab) put(ctx context.Context, lines []byte) error {
	t.recording.Lock()
	defer t.recording.Unlock()
	t.box.mu.Lock()
	record := t.recordLocked(lines)
	same := sameRecord(t.record, record)
	t.box.mu.Unlock()
	if same || t.over {
		return nil
	}
	if err := t.box.s.c.Records.PutTab(ctx, record); err != nil {
		return fmt.Errorf("save tab: %w", err)
	}
	t.box.mu.Lock()
	t.record = record
	t.box.mu.Unlock()
	return nil
}

// closeRecord makes the record's last state: that of revivable tab, or none.
func (t *tab) closeRecord(ctx context.Context, last *Saved) error {
	t.recording.Lock()
	defer t.recording.Unlock()
	t.over = true
	if last == nil {
		return t.box.s.c.Records.DeleteTabs(ctx, t.box.id, []string{t.id})
	}
	return t.box.s.c.Records.PutTab(ctx, *last)
}

func sameRecord(a, b Saved) bool {
	lines := bytes.Equal(a.Lines, b.Lines)
	a.SavedAt, b.SavedAt, a.Lines, b.Lines = time.Time{}, time.Time{}, nil, nil
	return lines && a.ID == b.ID && a.Sandbox == b.Sandbox && a.Title == b.Title && a.Named == b.Named &&
		a.Order == b.Order && a.User == b.User && a.Cwd == b.Cwd
}

// boundLines cuts whole lines off the top until the rest is small enough.
func boundLines(lines []byte) []byte {
	lines = bytes.TrimRight(lines, "\r\n ")
	if len(lines) <= maxSavedBytes {
		return lines
	}
	lines = lines[len(lines)-maxSavedBytes:]
	if i := bytes.IndexByte(lines, '\n'); i >= 0 {
		return lines[i+1:]
	}
	return nil
}
