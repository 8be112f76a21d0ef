package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/creack/pty"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/sandbox/login"
)

// Exec implements sandbox.Provider. Without a TTY the process dies with the server; with one it is hung up.
func (p *Provider) Exec(ctx context.Context, sandboxID string, e sandbox.Exec) (sandbox.Process, error) {
	a, err := p.account(ctx, sandboxID, e.User)
	if err != nil {
		return nil, err
	}
	cmd, err := command(ctx, a, e)
	if err != nil {
		return nil, err
	}
	proc := &process{cmd: cmd, done: make(chan struct{})}
	cmd.Cancel = func() error { return proc.kill(syscall.SIGKILL) }
	child, err := proc.open(a, e)
	if err == nil {
		err = proc.start()
	}
	for _, f := range child {
		f.Close()
	}
	if err != nil {
		proc.release()
		return nil, startError(e, err)
	}
	return proc, nil
}

// start starts the process and the goroutine that reaps it, whatever the caller does, so that nothing is left a zombie.
// The kernel sends the parent-death signal when the thread that started the process ends, so that goroutine keeps its
// thread; waiting takes one anyway.
func (p *process) start() error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.waitErr = p.cmd.Wait()
			close(p.done)
		}
	}()
	return <-started
}

func command(ctx context.Context, a account, e sandbox.Exec) (*exec.Cmd, error) {
	cred, err := a.credential()
	if err != nil {
		return nil, err
	}
	env := a.environ(e.Env)
	dir := e.Dir
	if dir == "" {
		dir = a.Home
		if fi, err := os.Stat(dir); err != nil || !fi.IsDir() { // as login(1) does
			dir = "/"
		}
	}
	cmd := exec.CommandContext(ctx, a.Shell)
	if len(e.Argv) == 0 {
		cmd.Args = []string{"-" + filepath.Base(a.Shell)}
	} else {
		path, err := login.LookPath(e.Argv[0], dir, env)
		if err != nil {
			return nil, err
		}
		cmd = exec.CommandContext(ctx, path)
		cmd.Args = e.Argv
	}
	cmd.Env, cmd.Dir = env, dir
	// A session of its own: Ctrl-C where the server was started must not reach it, and a signal to its group must
	// reach its children.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: cred}
	if e.TTY {
		cmd.SysProcAttr.Setctty = true
	} else {
		// A control client that outlives us freezes the user's program in write().
		cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
	return cmd, nil
}

// startError tells a directory that is not there from a program that is not there: the kernel says ENOENT to both.
func startError(e sandbox.Exec, err error) error {
	if e.Dir != "" {
		if fi, derr := os.Stat(e.Dir); derr != nil || !fi.IsDir() || errors.Is(err, fs.ErrPermission) {
			return &sandbox.Error{Code: sandbox.CodeInvalidRequest, Field: "cwd",
				Message: fmt.Sprintf("cannot work in directory %.200q", e.Dir), Err: err}
		}
	}
	if errors.Is(err, fs.ErrNotExist) && len(e.Argv) > 0 {
		return &exec.Error{Name: e.Argv[0], Err: exec.ErrNotFound}
	}
	return fmt.Errorf("start process: %w", err)
}

// process is a child in a process group of its own.
type process struct {
	cmd     *exec.Cmd
	ptmx    *os.File // nil without a TTY
	stdin   io.WriteCloser
	stdout  io.Reader
	stderr  io.Reader
	files   []*os.File // our ends
	done    chan struct{}
	waitErr error // of cmd.Wait, once done
}

// open makes the pipes or the PTY, and returns the child's ends.
func (p *process) open(a account, e sandbox.Exec) (child []*os.File, err error) {
	if e.TTY {
		ptmx, tty, err := pty.Open()
		if err != nil {
			return nil, fmt.Errorf("open pty: %w", err)
		}
		p.ptmx, p.files = ptmx, []*os.File{ptmx}
		p.stdin, p.stdout, p.stderr = nopClose{ptmx}, ttyReader{ptmx}, strings.NewReader("")
		p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = tty, tty, tty
		child = []*os.File{tty}
		if a.UID != os.Getuid() {
			if err := tty.Chown(a.UID, -1); err != nil { // or the user could not open /dev/tty's device by name
				return child, fmt.Errorf("give away pty: %w", err)
			}
		}
		return child, p.Resize(e.Cols, e.Rows)
	}
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	inR, inW := pipe()
	outR, outW := pipe()
	errR, errW := pipe()
	for _, f := range []*os.File{inW, outR, errR} {
		if f != nil {
			p.files = append(p.files, f)
		}
	}
	for _, f := range []*os.File{inR, outW, errW} {
		if f != nil {
			child = append(child, f)
		}
	}
	if err != nil {
		return child, fmt.Errorf("open pipes: %w", err)
	}
	p.stdin, p.stdout, p.stderr = inW, outR, errR
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = inR, outW, errW
	return child, nil
}

func (p *process) Stdin() io.WriteCloser { return p.stdin }
func (p *process) Stdout() io.Reader     { return p.stdout }
func (p *process) Stderr() io.Reader     { return p.stderr }

func (p *process) Resize(cols, rows int) error {
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

func (p *process) Signal(name string) error {
	sig, err := sandbox.ParseSignal(name)
	if err != nil {
		return err
	}
	return p.kill(sig)
}

// kill signals the group. Its number is not given away while a member lives, and after the reaping of the leader we
// send no more.
func (p *process) kill(sig syscall.Signal) error {
	select {
	case <-p.done:
		return nil
	default:
	}
	if err := syscall.Kill(-p.cmd.Process.Pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal process: %w", err)
	}
	return nil
}

func (p *process) Wait() (int, error) {
	<-p.done
	var exit *exec.ExitError
	switch {
	case p.waitErr == nil:
		return 0, nil
	case errors.As(p.waitErr, &exit):
		if st := exit.Sys().(syscall.WaitStatus); st.Signaled() {
			return 128 + int(st.Signal()), nil
		}
		return exit.ExitCode(), nil
	case p.cmd.ProcessState != nil: // ctx ended it
		return 128 + int(syscall.SIGKILL), nil
	}
	return -1, fmt.Errorf("wait for process: %w", p.waitErr)
}

func (p *process) Close() error {
	var err error
	if p.ptmx == nil {
		err = p.kill(syscall.SIGKILL)
	}
	p.release() // of a TTY: the kernel sends SIGHUP
	return err
}

func (p *process) release() {
	for _, f := range p.files {
		f.Close()
	}
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
