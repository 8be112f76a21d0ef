package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/creack/pty"

	"github.com/browsertabs/tabs/sandbox/login"
)

// exec starts a program and stays until it has ended and the server knows, or the server is gone.
func (s *server) exec(c *net.UnixConn, e Exec, streams []*os.File) {
	master, child, err := s.start(e, streams)
	closeAll(streams)
	if err != nil {
		send(c, failure(err, answer{}))
		return
	}
	if master != nil {
		err = send(c, answer{}, int(master.Fd()))
		master.Close() // the server holds the last one: its end hangs up
	} else {
		err = send(c, answer{})
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for err == nil {
			var m control
			var files []*os.File
			if files, err = receive(c, &m); err == nil && m.Signal > 0 {
				s.children.signal(child, m.Signal)
			}
			closeAll(files)
		}
	}()
	select {
	case <-child.done:
		send(c, exit{Code: child.code})
	case <-gone:
		if !e.TTY { // a terminal hangs up by itself
			s.children.signal(child, syscall.SIGKILL)
		}
	}
	c.Close() // ends the reader
	<-gone
}

func (s *server) start(e Exec, streams []*os.File) (master *os.File, c *child, err error) {
	a, err := account(e.User)
	if err != nil {
		return nil, nil, err
	}
	env := s.environ(a, e)
	dir := e.Dir
	if dir == "" {
		dir = a.Home
		if fi, err := os.Stat(dir); err != nil || !fi.IsDir() { // as login(1) does
			dir = "/"
		}
	}
	path, argv := a.Shell, []string{"-" + filepath.Base(a.Shell)}
	if len(e.Argv) > 0 {
		argv = stringsOf(e.Argv)
		if path, err = login.LookPath(argv[0], dir, env); err != nil {
			return nil, nil, err
		}
	}
	attr := &os.ProcAttr{Dir: dir, Env: env, Files: streams, Sys: &syscall.SysProcAttr{
		Setsid:     true,
		Credential: &syscall.Credential{Uid: uint32(a.UID), Gid: uint32(a.GID), Groups: a.Groups()},
	}}
	if e.TTY {
		var tty *os.File
		if master, tty, err = pty.Open(); err != nil {
			return nil, nil, fmt.Errorf("open pty: %w", err)
		}
		defer tty.Close()
		attr.Files, attr.Sys.Setctty = []*os.File{tty, tty, tty}, true
		if err = pty.Setsize(master, &pty.Winsize{Cols: e.Cols, Rows: e.Rows}); err == nil {
			err = tty.Chown(a.UID, -1) // or the user could not open the terminal by name
		}
	} else if len(streams) != 3 {
		err = errors.New("three descriptors must come with an exec")
	}
	if err == nil {
		c, err = s.children.start(path, argv, attr)
	}
	if err != nil {
		if master != nil {
			master.Close()
		}
		return nil, nil, startError(e, err)
	}
	return master, c, nil
}

// startError tells a directory that is not there from a program that is not there: the kernel says ENOENT to both.
func startError(e Exec, err error) error {
	if e.Dir != "" {
		if fi, derr := os.Stat(e.Dir); derr != nil || !fi.IsDir() || errors.Is(err, fs.ErrPermission) {
			return kinded{kindBadDir, err}
		}
	}
	return err
}

func (s *server) environ(a login.Account, e Exec) []string {
	env := []string{"HOME=" + a.Home, "USER=" + a.Name, "LOGNAME=" + a.Name, "SHELL=" + a.Shell, "PATH=" + login.RootPath}
	extra := slices.Concat(s.c.Env, stringsOf(e.Env))
	hasLocale := false
	for _, kv := range extra {
		hasLocale = hasLocale || strings.HasPrefix(kv, "LANG=") || strings.HasPrefix(kv, "LC_")
	}
	if !hasLocale { // programs that see no locale draw boxes and CJK as question marks
		env = append(env, "LANG=C.UTF-8")
	}
	return append(env, extra...)
}

func stringsOf(all [][]byte) []string {
	list := make([]string, len(all))
	for i, b := range all {
		list[i] = string(b)
	}
	return list
}
