package runc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/browsertabs/tabs/sandbox"
)

const minRAMBytes = 32 << 20

var validHostname = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,61}[A-Za-z0-9])?$`)

func (e *Engine) checkLimits(l sandbox.Limits) error {
	switch {
	case !(l.CPU >= 0.05) || l.CPU > float64(len(e.cores)):
		return invalid("cpu", "cpu is %g: want 0.05 to %d, which this machine has", l.CPU, len(e.cores))
	case l.RAMBytes < minRAMBytes:
		return invalid("ramMb", "ram is %d MB: want at least %d", l.RAMBytes>>20, minRAMBytes>>20)
	}
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return fmt.Errorf("look at the host's memory: %w", err)
	}
	if total := int64(info.Totalram) * int64(info.Unit); l.RAMBytes > total {
		return invalid("ramMb", "ram is %d MB: this machine has %d", l.RAMBytes>>20, total>>20)
	}
	return nil
}

// Create implements sandbox.Provider. The record is written last: a directory without one is the rest of a create that
// was cut short, or of a delete.
func (e *Engine) Create(ctx context.Context, id string, s sandbox.Spec) (err error) {
	if s.Hostname != "" && !validHostname.MatchString(s.Hostname) {
		return invalid("hostname", "%.80q is no name of a host", s.Hostname)
	}
	if err := e.checkLimits(s.Limits); err != nil {
		return err
	}
	if s.DiskBytes < minDiskBytes {
		return invalid("diskGb", "the disk has %d MB: want at least %d", s.DiskBytes>>20, minDiskBytes>>20)
	}
	if (s.From.Template == "") == (s.From.Sandbox == "") {
		return invalid("from", "a sandbox comes from a template or from a sandbox: name exactly one")
	}
	unlock, err := e.lock(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	dir := e.path("sandboxes", id)
	if _, err := os.Stat(dir); err == nil {
		return invalid("id", "there is a sandbox %s already", id)
	}
	r := record{Template: s.From.Template, Hostname: s.Hostname, Env: s.Env, Limits: s.Limits, DiskBytes: s.DiskBytes}
	if s.From.Template != "" {
		if _, err := e.template(s.From.Template); err != nil {
			return err
		}
	}
	if err := e.hasRoom(s.DiskBytes); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("make sandbox: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	disk := filepath.Join(dir, diskFile)
	if s.From.Sandbox != "" {
		r.Template, err = e.copyFrom(ctx, s.From.Sandbox, disk, s.DiskBytes)
	} else {
		err = makeDisk(ctx, disk, s.DiskBytes)
	}
	if err != nil {
		return err
	}
	// From here on the template is needed; until here it could be deleted.
	unlockTemplate, err := e.lock(ctx, r.Template)
	if err != nil {
		return err
	}
	defer unlockTemplate()
	if _, err := e.template(r.Template); err != nil {
		return err
	}
	return writeJSON(filepath.Join(dir, recordFile), r)
}

// copyFrom copies the disk of a stopped sandbox, makes it as large as is asked for, and returns its template.
func (e *Engine) copyFrom(ctx context.Context, from, disk string, bytes int64) (template string, err error) {
	unlock, err := e.lockStopped(ctx, from, "its disk can be copied")
	if err != nil {
		return "", err
	}
	defer unlock()
	r, err := e.record(from)
	if err != nil {
		return "", err
	}
	if bytes < r.DiskBytes {
		return "", &sandbox.Error{Code: sandbox.CodeDiskShrink, Message: fmt.Sprintf(
			"the disk to copy has %d GB: ask for as much, since it cannot shrink", r.DiskBytes>>30)}
	}
	if err := copyDisk(ctx, e.path("sandboxes", from, diskFile), disk); err != nil {
		return "", err
	}
	if bytes > r.DiskBytes {
		dir := filepath.Dir(disk)
		if err := growDisk(ctx, dir, bytes); err != nil {
			return "", err
		}
		return r.Template, removeIfThere(filepath.Join(dir, undoFile))
	}
	return r.Template, nil
}

// SetLimits implements sandbox.Provider.
func (e *Engine) SetLimits(ctx context.Context, id string, l sandbox.Limits) error {
	if _, err := e.record(id); err != nil {
		return err
	}
	if err := e.checkLimits(l); err != nil {
		return err
	}
	unlock, err := e.lockStopped(ctx, id, "its limits can change")
	if err != nil {
		return err
	}
	defer unlock()
	r, err := e.record(id)
	if err != nil {
		return err
	}
	r.Limits = l
	return writeJSON(e.path("sandboxes", id, recordFile), r)
}

// Delete implements sandbox.Provider. From its first act on the sandbox is gone for good.
func (e *Engine) Delete(ctx context.Context, id string) error {
	unlock, err := e.lock(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	dir := e.path("sandboxes", id)
	if err := removeIfThere(filepath.Join(dir, recordFile)); err != nil {
		return fmt.Errorf("delete sandbox: %w", err)
	}
	if err := e.clean(ctx, id); err != nil {
		return fmt.Errorf("delete sandbox: %w", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("delete sandbox: %w", err)
	}
	return nil
}

// Inspect implements sandbox.Provider.
func (e *Engine) Inspect(_ context.Context, id string) (sandbox.Status, error) {
	r, err := e.record(id)
	if err != nil {
		return sandbox.Status{}, err
	}
	s := sandbox.Status{ID: id, Limits: r.Limits, DiskBytes: r.DiskBytes}
	run, yes := e.running(id)
	if !yes {
		return s, nil
	}
	s.Running, s.RunID, s.StartedAt = true, run.RunID, run.StartedAt
	// The root of a process is reached without a step through its directories.
	for _, pid := range processes(e.cgroup(id)) {
		var f syscall.Statfs_t
		if syscall.Statfs(fmt.Sprintf("/proc/%d/root", pid), &f) == nil {
			s.UsedBytes, s.FreeBytes = int64(f.Blocks-f.Bfree)*f.Bsize, int64(f.Bavail)*f.Bsize
			s.FreeInodes = int64(f.Ffree)
			break
		}
	}
	return s, nil
}

// List implements sandbox.Provider.
func (e *Engine) List(ctx context.Context) ([]sandbox.Status, error) {
	entries, err := os.ReadDir(e.path("sandboxes"))
	if err != nil {
		return nil, fmt.Errorf("list sandboxes: %w", err)
	}
	var all []sandbox.Status
	for _, entry := range entries {
		s, err := e.Inspect(ctx, entry.Name())
		var gone *sandbox.Error
		switch {
		case err == nil:
			all = append(all, s)
		case !errors.As(err, &gone) || gone.Code != sandbox.CodeNotFound:
			return nil, err
		}
	}
	return all, nil
}

// Export implements sandbox.Provider.
func (e *Engine) Export(ctx context.Context, id string, w io.Writer) error {
	unlock, err := e.lockStopped(ctx, id, "its files can be exported")
	if err != nil {
		return err
	}
	defer unlock()
	r, err := e.record(id)
	if err != nil {
		return err
	}
	t, err := e.template(r.Template)
	if err != nil {
		return err
	}
	return e.withRoot(id, e.layers(t), func(root string) error {
		cmd, err := command(ctx, "tar", "-C", root, "--one-file-system", "--numeric-owner", "--xattrs", "--sparse", "-cf", "-", ".")
		if err != nil {
			return err
		}
		cmd.Stdout = w
		_, err = output(cmd)
		return err
	})
}

// withRoot calls f while the root of a stopped sandbox, whose lock is held, is mounted for f alone.
func (e *Engine) withRoot(id string, layers []string, f func(root string) error) error {
	dir := e.runPath(id)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("make run directory: %w", err)
	}
	m, err := e.newIDMap(0)
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	defer m.close()
	err = inMountNamespace(func() error {
		if err := m.mountRoot(dir, e.path("sandboxes", id, diskFile), layers); err != nil {
			return err
		}
		return f(filepath.Join(dir, "root"))
	})
	return errors.Join(err, e.clean(context.Background(), id))
}

// sweep undoes or completes what an earlier engine was killed in the middle of.
func (e *Engine) sweep(ctx context.Context) error {
	left := make(map[string]bool) // ids of runs
	note := func(name string) {
		if validID.MatchString(name) {
			left[name] = true
		}
	}
	entries, err := os.ReadDir(e.c.RunDir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		note(entry.Name())
	}
	for _, dir := range cgroupDirs(e.cgroup("")) {
		entries, _ := os.ReadDir(dir)
		for _, entry := range entries {
			note(entry.Name())
		}
	}
	for id := range left {
		_, recordErr := e.record(id)
		if _, yes := e.running(id); yes && recordErr == nil {
			continue
		}
		if err := e.clean(ctx, id); err != nil {
			return err
		}
	}
	err = e.freeSlots(ctx, func(owner string) bool {
		_, err := os.Stat(owner)
		return ownedBy(e.c.RunDir)(owner) && errors.Is(err, fs.ErrNotExist)
	})
	if err != nil {
		return err
	}
	return errors.Join(e.sweepDisks(ctx), e.sweepLayers())
}

func (e *Engine) sweepDisks(ctx context.Context) error {
	entries, err := os.ReadDir(e.path("sandboxes"))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		id, dir := entry.Name(), e.path("sandboxes", entry.Name())
		r, err := e.record(id)
		var gone *sandbox.Error
		if errors.As(err, &gone) && gone.Code == sandbox.CodeNotFound {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		if _, yes := e.running(id); yes {
			continue
		}
		if err := undoGrow(ctx, dir, r.DiskBytes); err != nil {
			// One broken disk must not keep the others from their owners.
			e.warn("repair disk", "sandbox_id", id, "err", err)
		}
		removeNew(dir)
	}
	return nil
}

// removeNew removes files that writeJSON was killed in the middle of.
func removeNew(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".new-") {
			os.RemoveAll(filepath.Join(dir, entry.Name()))
		}
	}
}
