package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
)

// Failures that a caller tells apart, besides exec.ErrNotFound and fs.ErrPermission.
var (
	ErrNoUser = errors.New("no such user in the sandbox")
	ErrBadDir = errors.New("cannot work in this directory")
	// ErrGone says that nobody answers: the sandbox does not run.
	ErrGone = errors.New("the sandbox's PID 1 does not answer")
)

// answerTimeout bounds how long what runs inside may keep us waiting before it says anything.
const answerTimeout = 30 * time.Second

// Client speaks to the PID 1 behind a socket.
type Client struct{ Socket string }

// call sends a request and returns its answer, with the connection that what was started lives on.
func (cl Client) call(ctx context.Context, r request, fds ...int) (*net.UnixConn, answer, []*os.File, error) {
	var a answer
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", cl.Socket)
	if err != nil {
		if ctx.Err() != nil {
			return nil, a, nil, ctx.Err()
		}
		return nil, a, nil, fmt.Errorf("%w: %w", ErrGone, err)
	}
	c := conn.(*net.UnixConn)
	stop := context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	c.SetDeadline(time.Now().Add(answerTimeout))
	var files []*os.File
	if err = send(c, r, fds...); err == nil {
		files, err = receive(c, &a)
	}
	if !stop() && ctx.Err() != nil {
		closeAll(files)
		c.Close()
		return nil, a, nil, ctx.Err()
	}
	if err != nil {
		c.Close()
		return nil, a, nil, fmt.Errorf("%w: %w", ErrGone, err)
	}
	if err := a.err(r); err != nil {
		closeAll(files)
		c.Close()
		return nil, a, nil, err
	}
	c.SetDeadline(time.Time{})
	return c, a, files, nil
}

func (a answer) err(r request) error {
	switch a.Kind {
	case "":
		return nil
	case kindNoUser:
		return ErrNoUser
	case kindBadDir:
		return ErrBadDir
	case kindNotFound, kindPermission:
		if r.Exec != nil && len(r.Exec.Argv) > 0 {
			cause := exec.ErrNotFound
			if a.Kind == kindPermission {
				cause = fs.ErrPermission
			}
			return &exec.Error{Name: string(r.Exec.Argv[0]), Err: cause}
		}
	}
	return errors.New(a.Error)
}

// Ping returns when PID 1 serves.
func (cl Client) Ping(ctx context.Context) error {
	c, _, files, err := cl.call(ctx, request{})
	if err != nil {
		return err
	}
	closeAll(files)
	return c.Close()
}

// RuntimeDir makes or finds a user's private directory on tmpfs.
func (cl Client) RuntimeDir(ctx context.Context, user string) (string, error) {
	c, a, files, err := cl.call(ctx, request{RuntimeDir: &user})
	if err != nil {
		return "", err
	}
	closeAll(files)
	return a.Dir, c.Close()
}

// Dial connects to a TCP port inside.
func (cl Client) Dial(ctx context.Context, port int) (net.Conn, error) {
	c, _, files, err := cl.call(ctx, request{Dial: port})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	defer closeAll(files)
	if len(files) != 1 {
		return nil, errors.New("no connection came back")
	}
	conn, err := net.FileConn(files[0]) // fails on what is no socket
	if err != nil {
		return nil, fmt.Errorf("use connection: %w", err)
	}
	return conn, nil
}

// Stop asks PID 1 to end everything, itself last. It does not wait.
func (cl Client) Stop(ctx context.Context, grace time.Duration) error {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", cl.Socket)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	defer conn.Close()
	ms := int(grace.Milliseconds())
	return send(conn.(*net.UnixConn), request{Stop: &ms})
}

// Exec starts a program. It is killed when ctx is done, and as Close says when the server ends.
func (cl Client) Exec(ctx context.Context, e Exec) (*Process, error) {
	p := &Process{done: make(chan struct{})}
	var fds []int
	defer func() {
		for _, fd := range fds {
			syscall.Close(fd)
		}
	}()
	if !e.TTY {
		var err error
		if fds, err = p.openPipes(); err != nil {
			closeAll(p.files)
			return nil, err
		}
	}
	conn, _, files, err := cl.call(ctx, request{Exec: &e}, fds...)
	if err != nil {
		closeAll(p.files)
		return nil, err
	}
	p.conn = conn
	if e.TTY {
		if err := p.useTTY(files); err != nil {
			closeAll(files)
			conn.Close()
			return nil, err
		}
	} else {
		closeAll(files)
	}
	p.stop = context.AfterFunc(ctx, func() { p.Signal(syscall.SIGKILL) })
	go p.wait()
	return p, nil
}

// Process is a program that runs inside. It has the methods of sandbox.Process but for names of signals.
type Process struct {
	conn   *net.UnixConn
	mu     sync.Mutex // protects sending
	ptmx   *os.File
	stdin  io.WriteCloser
	stdout io.Reader
	stderr io.Reader
	files  []*os.File // our ends
	stop   func() bool
	done   chan struct{}
	code   int // once done
}

// openPipes keeps our ends and returns the three others. Those stay blocking, as programs expect of their streams.
func (p *Process) openPipes() (theirs []int, err error) {
	ours := make([]*os.File, 3)
	for i := range ours {
		var fd [2]int
		if err := syscall.Pipe2(fd[:], syscall.O_CLOEXEC); err != nil {
			return theirs, fmt.Errorf("open pipes: %w", err)
		}
		mine, their := fd[0], fd[1]
		if i == 0 {
			mine, their = fd[1], fd[0]
		}
		syscall.SetNonblock(mine, true) // so that Close wakes a reader
		ours[i] = os.NewFile(uintptr(mine), "pipe")
		theirs = append(theirs, their)
		p.files = append(p.files, ours[i])
	}
	p.stdin, p.stdout, p.stderr = ours[0], ours[1], ours[2]
	return theirs, nil
}

// useTTY takes the master that came, if it is one.
func (p *Process) useTTY(files []*os.File) error {
	if len(files) != 1 {
		return errors.New("no terminal came back")
	}
	fi, err := files[0].Stat()
	if err != nil || fi.Mode().Type() != fs.ModeDevice|fs.ModeCharDevice {
		return errors.New("what came back is no terminal")
	}
	fd, err := syscall.Dup(int(files[0].Fd()))
	if err != nil {
		return fmt.Errorf("use terminal: %w", err)
	}
	closeAll(files)
	syscall.CloseOnExec(fd)
	syscall.SetNonblock(fd, true)
	p.ptmx = os.NewFile(uintptr(fd), "ptmx")
	p.files = []*os.File{p.ptmx}
	p.stdin, p.stdout, p.stderr = nopClose{p.ptmx}, ttyReader{p.ptmx}, strings.NewReader("")
	return nil
}

func (p *Process) wait() {
	e := exit{Code: 128 + int(syscall.SIGKILL)} // what a sandbox that ended did to it
	files, err := receive(p.conn, &e)
	closeAll(files)
	if err != nil {
		e.Code = 128 + int(syscall.SIGKILL)
	}
	p.stop()
	p.code = e.Code & 0xff
	close(p.done)
}

func (p *Process) Stdin() io.WriteCloser { return p.stdin }
func (p *Process) Stdout() io.Reader     { return p.stdout }
func (p *Process) Stderr() io.Reader     { return p.stderr }

// Resize sets the size of the TTY.
func (p *Process) Resize(cols, rows int) error {
	if p.ptmx == nil {
		return errors.New("resize: process has no TTY")
	}
	if cols < 1 || rows < 1 || cols > 0xffff || rows > 0xffff {
		cols, rows = 80, 24
	}
	if err := pty.Setsize(p.ptmx, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)}); err != nil {
		return fmt.Errorf("resize pty: %w", err)
	}
	return nil
}

// Signal signals the process and its group.
func (p *Process) Signal(sig syscall.Signal) error {
	select {
	case <-p.done:
		return nil
	default:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conn.SetWriteDeadline(time.Now().Add(answerTimeout))
	if err := send(p.conn, control{Signal: sig}); err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("signal process: %w", err)
	}
	return nil
}

// Wait returns the exit code.
func (p *Process) Wait() (int, error) {
	<-p.done
	return p.code, nil
}

// Close ends the process, as PID 1 does when it finds the connection closed.
func (p *Process) Close() error {
	p.stop()
	closeAll(p.files)
	return p.conn.Close()
}

// ttyReader ends with io.EOF where Linux says EIO: nobody has the terminal open any more.
type ttyReader struct{ f *os.File }

func (r ttyReader) Read(b []byte) (int, error) {
	n, err := r.f.Read(b)
	if errors.Is(err, syscall.EIO) {
		err = io.EOF
	}
	return n, err
}

// nopClose keeps Stdin().Close from hanging up a terminal whose output is still wanted.
type nopClose struct{ io.Writer }

func (nopClose) Close() error { return nil }
