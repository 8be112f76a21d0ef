package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// dataDir is the directory a server keeps everything in, locked for as long as it is open.
type dataDir struct {
	path string
	lock *os.File
}

// errLocked says that another process has the data directory.
var errLocked = errors.New("in use by another server")

// openDataDir makes the directory if need be, and locks it: two servers on one would take each other's tabs.
func openDataDir(path string) (*dataDir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, unwritable(path, err)
	}
	lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, unwritable(path, err)
	}
	// The kernel lets go of it whatever way the process ends. Children of ours do not inherit it: Go opens files
	// close-on-exec.
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("data directory %s is %w; stop that one, or choose another with --data-dir", path, errLocked)
		}
		return nil, fmt.Errorf("lock data directory %s: %w", path, err)
	}
	return &dataDir{path: path, lock: lock}, nil
}

func unwritable(path string, err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("data directory %s cannot be written (%w); choose another with --data-dir", path, err)
}

func (d *dataDir) file(name string) string { return filepath.Join(d.path, name) }

func (d *dataDir) Close() error { return d.lock.Close() }

// writeFile puts a file in place whole, or leaves what was there.
func writeFile(path string, data []byte, mode os.FileMode) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Chmod(mode), tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}

// controlSocket is where a running server takes orders of the person who runs it.
const controlSocket = "tabs.sock"

// maxSocketPath is what sun_path holds on Linux, without the final NUL; other systems hold a few bytes less.
const maxSocketPath = 103

// withSocketPath calls fn with a path of the socket in dir that is short enough for the kernel.
func withSocketPath(dir, name string, fn func(path string) error) error {
	if path := filepath.Join(dir, name); len(path) <= maxSocketPath {
		return fn(path)
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return fn("/proc/self/fd/" + strconv.Itoa(int(d.Fd())) + "/" + name)
}

// listenUnix listens on a socket in dir with the mode, in place of one that a killed server left.
func listenUnix(dir, name string, mode os.FileMode) (net.Listener, error) {
	path := filepath.Join(dir, name)
	if fi, err := os.Lstat(path); err == nil {
		if fi.Mode().Type() != os.ModeSocket {
			return nil, fmt.Errorf("listen on %s: there is a file of that name, which is no socket; remove it", path)
		}
		if c, err := dialUnix(dir, name); err == nil {
			c.Close()
			return nil, fmt.Errorf("listen on %s: another program answers there; stop it, or choose another with --listen", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("remove old socket: %w", err)
		}
	}
	var l net.Listener
	err := withSocketPath(dir, name, func(short string) (err error) {
		// Nobody may connect between bind and chmod.
		old := syscall.Umask(0o177)
		defer syscall.Umask(old)
		l, err = net.Listen("unix", short)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	// The listener may have been made under a path that is gone by now.
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := os.Chmod(path, mode); err != nil {
		l.Close()
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	return &unixListener{Listener: l, path: path}, nil
}

// unixListener removes its socket when it is closed.
type unixListener struct {
	net.Listener
	path string
}

func (l *unixListener) Close() error {
	os.Remove(l.path)
	return l.Listener.Close()
}

func dialUnix(dir, name string) (c net.Conn, err error) {
	err = withSocketPath(dir, name, func(short string) (err error) {
		c, err = net.Dial("unix", short)
		return err
	})
	return c, err
}
