package runc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/browsertabs/tabs/sandbox"
)

const (
	minDiskBytes = 256 << 20
	// hostReserveBytes stay free on the host whatever sandboxes ask for: the server's own database must be able to
	// write.
	hostReserveBytes = 1 << 30
)

// makeDisk makes an empty disk: a sparse file with an ext4 filesystem. The two options leave to the kernel what would
// cost 20 times the time and space now. A percent is kept for whoever must get in when everything else is taken.
func makeDisk(ctx context.Context, path string, bytes int64) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		err = errors.Join(f.Truncate(bytes), f.Close())
	}
	if err != nil {
		return fmt.Errorf("make disk: %w", err)
	}
	_, err = run(ctx, "", "mkfs.ext4", "-q", "-F", "-m", "1", "-E", "lazy_itable_init=1,lazy_journal_init=1,nodiscard",
		path)
	if err != nil {
		return fmt.Errorf("make disk: %w", err)
	}
	return nil
}

// hasRoom refuses what would not fit on the host. Disks are sparse, so several may promise the same room; what one
// promises alone must be there.
func (e *Engine) hasRoom(bytes int64) error {
	var s syscall.Statfs_t
	if err := syscall.Statfs(e.c.Dir, &s); err != nil {
		return fmt.Errorf("look at the host's disk: %w", err)
	}
	free := int64(s.Bavail) * s.Bsize
	if bytes > free-hostReserveBytes {
		return &sandbox.Error{Code: sandbox.CodeNoStorage,
			Message: fmt.Sprintf("the host has %d GB free, of which 1 stays free; %d GB more are asked for", free>>30, bytes>>30),
			Remedy:  "ask for less, or delete sandboxes and templates"}
	}
	return nil
}

// GrowDisk implements sandbox.Provider.
func (e *Engine) GrowDisk(ctx context.Context, id string, bytes int64) error {
	unlock, err := e.lockStopped(ctx, id, "its disk can grow")
	if err != nil {
		return err
	}
	defer unlock()
	r, err := e.record(id)
	if err != nil {
		return err
	}
	switch {
	case bytes == r.DiskBytes:
		return nil
	case bytes < r.DiskBytes:
		return &sandbox.Error{Code: sandbox.CodeDiskShrink, Message: fmt.Sprintf(
			"the disk has %d GB and cannot shrink: files may lie where it would be cut off", r.DiskBytes>>30)}
	}
	if err := e.hasRoom(bytes - r.DiskBytes); err != nil {
		return err
	}
	dir := e.path("sandboxes", id)
	if err := growDisk(ctx, dir, bytes); err != nil {
		return errors.Join(err, undoGrow(context.WithoutCancel(ctx), dir, r.DiskBytes))
	}
	r.DiskBytes = bytes
	if err := writeJSON(filepath.Join(dir, recordFile), r); err != nil {
		return errors.Join(err, undoGrow(context.WithoutCancel(ctx), dir, r.DiskBytes))
	}
	return removeIfThere(filepath.Join(dir, undoFile))
}

// growDisk grows an image that nobody has mounted. resize2fs keeps what it overwrites in the undo file, so that a grow
// which was cut short, at any write, can be taken back. The record says which size counts: it is written after the
// resize and before the undo file goes.
func growDisk(ctx context.Context, dir string, bytes int64) error {
	disk := filepath.Join(dir, diskFile)
	if err := fsck(ctx, disk); err != nil {
		return err
	}
	if err := os.Truncate(disk, bytes); err != nil {
		return fmt.Errorf("grow disk: %w", err)
	}
	if _, err := run(ctx, "", "resize2fs", "-z", filepath.Join(dir, undoFile), disk); err != nil {
		return fmt.Errorf("grow disk: %w", err)
	}
	return nil
}

// undoGrow gives a disk the size that its record says, if a grow was cut short.
func undoGrow(ctx context.Context, dir string, bytes int64) error {
	disk, undo := filepath.Join(dir, diskFile), filepath.Join(dir, undoFile)
	fi, err := os.Stat(disk)
	if err != nil {
		return fmt.Errorf("look at disk: %w", err)
	}
	if fi.Size() <= bytes {
		return removeIfThere(undo) // the new size counts already
	}
	if _, err := os.Stat(undo); err == nil {
		// The plain form compares the superblock first, which a resize that was killed between writing it and
		// noting that has changed already. An undo file that is none yet means that nothing was overwritten. The
		// check below judges.
		if _, err := run(ctx, "", "e2undo", undo, disk); err != nil {
			run(ctx, "", "e2undo", "-f", undo, disk)
		}
	}
	if err := os.Truncate(disk, bytes); err != nil {
		return fmt.Errorf("take back a grow: %w", err)
	}
	if err := fsck(ctx, disk); err != nil {
		return err
	}
	return removeIfThere(undo)
}

// fsck brings the journal of a killed run to the disk. That it corrected something is no failure.
func fsck(ctx context.Context, disk string) error {
	cmd, err := command(ctx, "e2fsck", "-fp", disk)
	if err != nil {
		return fmt.Errorf("check disk: %w", err)
	}
	out, err := output(cmd)
	if code := cmd.ProcessState.ExitCode(); err != nil && code != 1 {
		return fmt.Errorf("check disk: %w: %.300s", err, out)
	}
	return nil
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// copyDisk copies an image with its holes.
func copyDisk(ctx context.Context, from, to string) error {
	if _, err := run(ctx, "", "cp", "--sparse=always", "--reflink=auto", "--", from, to); err != nil {
		return fmt.Errorf("copy disk: %w", err)
	}
	return os.Chmod(to, 0o600)
}
