package tabs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/browsertabs/tabs/sandbox"
)

// revive implements Service.Revive.
func (b *box) revive(ctx context.Context, ids []string) ([]Tab, error) {
	b.mu.Lock()
	all := b.revivableLocked()
	b.mu.Unlock()
	var wanted []Saved
	var errs []error
	if ids == nil {
		wanted = all
	}
	for _, id := range ids {
		i := slices.IndexFunc(all, func(r Saved) bool { return r.ID == id })
		if i < 0 {
			errs = append(errs, &sandbox.Error{Code: sandbox.CodeNotFound,
				Message: fmt.Sprintf("there is no tab %.80q to revive", id)})
			continue
		}
		wanted = append(wanted, all[i])
	}
	opened := []Tab{}
	for _, r := range wanted {
		v, err := b.reviveOne(ctx, r)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		opened = append(opened, v)
	}
	return opened, errors.Join(errs...)
}

func (b *box) reviveOne(ctx context.Context, r Saved) (Tab, error) {
	if _, err := b.reserve(); err != nil {
		return Tab{}, err
	}
	defer b.release()
	b.mu.Lock()
	_, still := b.saved[r.ID]
	delete(b.saved, r.ID) // nobody else revives it
	b.mu.Unlock()
	if !still {
		return Tab{}, &sandbox.Error{Code: sandbox.CodeNotFound,
			Message: fmt.Sprintf("tab %.80q is being revived already", r.ID)}
	}
	t := &tab{
		box: b, id: r.ID, user: r.User, order: r.Order, record: r,
		created: time.Now().UTC().Truncate(time.Millisecond),
	}
	if r.Named {
		t.title = r.Title
	}
	o := OpenOptions{Cwd: r.Cwd, Size: defaultSize}
	err := t.open(ctx, o, dimmed(r))
	var known *sandbox.Error
	if errors.As(err, &known) && known.Field == "cwd" { // the directory is gone: a shell at home is better than none
		o.Cwd = ""
		err = t.open(ctx, o, dimmed(r))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil && b.tabs[t.id] == nil {
		b.saved[r.ID] = r
		return Tab{}, fmt.Errorf("revive tab %s: %w", r.ID, err)
	}
	b.revivableChangedLocked()
	return t.viewLocked(), err
}

// dimmed is the saved lines as a terminal shows them faint, and a line that says what they are. Nothing but text and
// SGR is let through.
func dimmed(r Saved) []byte {
	var b bytes.Buffer
	for line := range bytes.Lines(r.Lines) {
		b.WriteString("\x1b[0;2m")
		dimLine(&b, bytes.TrimRight(line, "\r\n"))
		b.WriteString("\x1b[0m\r\n")
	}
	fmt.Fprintf(&b, "\x1b[0;2m-- Saved %s. The programs have ended; this is a new shell. --\x1b[0m\r\n",
		r.SavedAt.UTC().Format("2006-01-02 15:04 UTC"))
	return b.Bytes()
}

// dimLine copies a line, with a faint after each SGR that may have ended it.
func dimLine(b *bytes.Buffer, line []byte) {
	for i := 0; i < len(line); i++ {
		if n := sgrLength(line[i:]); n > 0 {
			b.Write(line[i : i+n])
			b.WriteString("\x1b[2m")
			i += n - 1
			continue
		}
		if c := line[i]; c >= ' ' && c != 0x7f {
			b.WriteByte(c)
		}
	}
}

// sgrLength is the length of the SGR that s begins with, 0 if it does not.
func sgrLength(s []byte) int {
	if len(s) < 3 || s[0] != 0x1b || s[1] != '[' {
		return 0
	}
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1
		case c != ';' && c != ':' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}
