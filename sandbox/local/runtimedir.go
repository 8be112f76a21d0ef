package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// maxDirBytes keeps a socket in the directory, named by a tab id, within the 107 bytes of a unix socket's address.
const maxDirBytes = 107 - len("/tab_01ARZ3NDEKTSV4RRFFQ69G5FAV")

// Filesystems without blocks or inodes that could run out: statfs(2).
const (
	tmpfsMagic = 0x01021994
	ramfsMagic = 0x858458f6
)

// runtimeDir makes or finds a's directory for this instance. A full disk must not stop a tmux server from starting,
// so it is on tmpfs wherever there is one.
func (p *Provider) runtimeDir(a account) (string, error) {
	leaf := "tabs-" + p.c.Instance
	var errs []error
	for _, base := range p.bases(a) {
		if err := checkBase(base, a.UID); err != nil {
			errs = append(errs, err)
			continue
		}
		dir := filepath.Join(base, leaf)
		if len(dir) > maxDirBytes {
			errs = append(errs, fmt.Errorf("%s: too long for a socket", dir))
			continue
		}
		return dir, privateDir(dir, a)
	}
	// In a directory that all may write to, the owner is part of the name and nothing lies between that another
	// user could exchange.
	leaf = fmt.Sprintf("tabs-%d-%s", a.UID, p.c.Instance)
	if onTmpfs("/dev/shm") {
		dir := filepath.Join("/dev/shm", leaf)
		return dir, privateDir(dir, a)
	}
	p.warnDisk.Do(func() {
		if p.c.Log != nil {
			p.c.Log.Warn("no tmpfs for tmux sockets: a full disk will keep new tabs from opening",
				"err", errors.Join(errs...))
		}
	})
	dir := filepath.Join("/tmp", leaf)
	return dir, privateDir(dir, a)
}

// bases are the directories that are a's own already. As root we stay out of those of others.
func (p *Provider) bases(a account) []string {
	if a.UID != os.Getuid() {
		return nil
	}
	var list []string
	if x := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(x) {
		list = append(list, filepath.Clean(x))
	}
	return append(list, fmt.Sprintf("/run/user/%d", a.UID))
}

func checkBase(dir string, uid int) error {
	fi, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st := fi.Sys().(*syscall.Stat_t)
	switch {
	case !fi.IsDir():
		return fmt.Errorf("%s: not a directory", dir)
	case int(st.Uid) != uid:
		return fmt.Errorf("%s: belongs to another user", dir)
	case !onTmpfs(dir):
		return fmt.Errorf("%s: not on tmpfs", dir)
	}
	return nil
}

func onTmpfs(dir string) bool {
	var fs syscall.Statfs_t
	return syscall.Statfs(dir, &fs) == nil && (fs.Type == tmpfsMagic || fs.Type == ramfsMagic)
}

// privateDir makes dir with mode 0700 for a, or refuses one that another could read, write or exchange. Everything
// after Mkdir is done on a descriptor, so that a link put in its place meanwhile is not followed.
func privateDir(dir string, a account) error {
	err := os.Mkdir(dir, 0o700)
	made := err == nil
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make runtime directory: %w", err)
	}
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return fmt.Errorf("open runtime directory: %w", err)
	}
	defer f.Close()
	if made && a.UID != os.Getuid() {
		if err := f.Chown(a.UID, a.GID); err != nil {
			return fmt.Errorf("give away runtime directory: %w", err)
		}
	}
	fi, err := f.Stat()
	if err != nil {
		return fmt.Errorf("check runtime directory: %w", err)
	}
	if int(fi.Sys().(*syscall.Stat_t).Uid) != a.UID {
		return fmt.Errorf("runtime directory %s belongs to another user: remove it", dir)
	}
	if fi.Mode().Perm() != 0o700 {
		if err := f.Chmod(0o700); err != nil {
			return fmt.Errorf("close runtime directory: %w", err)
		}
	}
	return nil
}
