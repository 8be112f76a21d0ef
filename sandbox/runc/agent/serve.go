package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/browsertabs/tabs/sandbox/login"
)

// runtimeBase is on the tmpfs that /run is, so that a full disk keeps nothing from starting, and only root may change it.
const runtimeBase = "/run/tabs"

// Serve is PID 1. It returns when the sandbox was told to stop and all but itself have ended, and the kernel then ends
// what is left.
func Serve() error {
	var c Config
	if err := json.Unmarshal([]byte(os.Getenv(ConfigEnv)), &c); err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	syscall.CloseOnExec(ListenFD)
	f := os.NewFile(ListenFD, "socket")
	l, err := net.FileListener(f)
	f.Close()
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if err := os.MkdirAll(runtimeBase, 0o755); err != nil {
		return fmt.Errorf("make runtime directory: %w", err)
	}
	prepare(c)
	s := &server{c: c, children: newChildren(), stopped: make(chan struct{})}
	go s.children.reap()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.handle(conn.(*net.UnixConn))
		}
	}()
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	select {
	case <-term:
		s.children.end(10 * time.Second)
	case <-s.stopped:
	}
	syscall.Sync()
	return nil
}

// prepare writes what the network and the name of this run are. The disk may be full or /etc away: neither keeps a
// sandbox from starting.
func prepare(c Config) {
	write := func(path, text string) {
		if old, err := os.ReadFile(path); err == nil && string(old) == text {
			return
		}
		os.WriteFile(path, []byte(text), 0o644)
	}
	if c.Resolv != "" {
		if fi, err := os.Lstat("/etc/resolv.conf"); err == nil && !fi.Mode().IsRegular() {
			os.Remove("/etc/resolv.conf") // a link to where nobody writes it
		}
		write("/etc/resolv.conf", c.Resolv)
	}
	if c.Hostname == "" {
		return
	}
	write("/etc/hostname", c.Hostname+"\n")
	if _, err := os.Stat("/etc/hosts"); errors.Is(err, fs.ErrNotExist) {
		write("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n127.0.1.1 "+c.Hostname+"\n")
	}
}

type server struct {
	c        Config
	children *children
	stopped  chan struct{}
}

func (s *server) handle(c *net.UnixConn) {
	defer c.Close()
	var r request
	files, err := receive(c, &r)
	if err != nil {
		return
	}
	switch {
	case r.Exec != nil:
		s.exec(c, *r.Exec, files)
		return
	case r.RuntimeDir != nil:
		dir, err := runtimeDir(*r.RuntimeDir)
		send(c, failure(err, answer{Dir: dir}))
	case r.Dial != 0:
		dial(c, r.Dial)
	case r.Stop != nil:
		s.children.end(time.Duration(*r.Stop) * time.Millisecond)
		close(s.stopped)
	default:
		send(c, answer{})
	}
	closeAll(files)
}

// kinded is an error that the other side must be able to tell from others.
type kinded struct {
	kind string
	err  error
}

func (k kinded) Error() string { return k.err.Error() }

func failure(err error, otherwise answer) answer {
	if err == nil {
		return otherwise
	}
	a := answer{Kind: kindOther, Error: err.Error()}
	var k kinded
	switch {
	case errors.As(err, &k):
		a.Kind = k.kind
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		a.Kind = kindNotFound
	case errors.Is(err, fs.ErrPermission):
		a.Kind = kindPermission
	}
	return a
}

func account(user string) (login.Account, error) {
	if user == "" {
		a, err := login.Find(func(a login.Account) bool { return a.UID == 0 })
		if err != nil { // an image need not have a passwd
			a = login.Account{Name: "root", Home: "/", Shell: "/bin/sh"}
		}
		return a, nil
	}
	a, err := login.Find(func(a login.Account) bool { return a.Name == user })
	if err != nil {
		return a, kinded{kindNoUser, err}
	}
	return a, nil
}

func runtimeDir(user string) (string, error) {
	a, err := account(user)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(runtimeBase, strconv.Itoa(a.UID))
	if err := os.Mkdir(dir, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			err = nil
		}
		return dir, err
	}
	return dir, os.Chown(dir, a.UID, a.GID)
}

const dialTimeout = 10 * time.Second

// dial connects to a port and hands over the connection.
func dial(c *net.UnixConn, port int) {
	// Not by name: what localhost means is up to files inside.
	conn, err := net.DialTimeout("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), dialTimeout)
	if err != nil {
		conn, err = net.DialTimeout("tcp", net.JoinHostPort("::1", strconv.Itoa(port)), dialTimeout)
	}
	if err != nil {
		send(c, failure(err, answer{}))
		return
	}
	defer conn.Close()
	f, err := conn.(*net.TCPConn).File()
	if err != nil {
		send(c, failure(err, answer{}))
		return
	}
	defer f.Close()
	send(c, answer{}, int(f.Fd()))
}
