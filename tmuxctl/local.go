package tmuxctl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

const (
	maxStderrBytes = 4 << 10
	// stderrGrace is how long Wait waits for stderr once the process has ended, when a child of it holds it open.
	stderrGrace = time.Second
)

// LocalStart is a Start for this machine. The process gets its own process group, so that a Ctrl-C meant for our
// server does not reach it, and where the kernel allows (Linux) it dies with our server. TMUX and TMUX_PANE are
// taken out of its environment: our server may itself run inside tmux.
func LocalStart(ctx context.Context, argv, env []string) (Stream, error) {
	if len(argv) == 0 {
		return nil, errors.New("start process: no command given")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	stdin, toStdin, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make stdin pipe: %w", err)
	}
	fromStdout, stdout, err := os.Pipe()
	if err != nil {
		stdin.Close()
		toStdin.Close()
		return nil, fmt.Errorf("make stdout pipe: %w", err)
	}
	p := &localProcess{stdin: toStdin, stdout: fromStdout, done: make(chan struct{})}
	p.cmd = exec.Command(argv[0], argv[1:]...)
	p.cmd.Env = append(withoutTmux(os.Environ()), env...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = stdin, stdout, &p.stderr
	p.cmd.WaitDelay = stderrGrace
	p.cmd.SysProcAttr = processAttr()

	started := make(chan error, 1)
	go func() {
		// The kernel sends the parent-death signal when the *thread* that started the process ends, so one
		// thread is held for as long as the process lives. Waiting takes a thread anyway.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		stdin.Close()
		stdout.Close()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		toStdin.Close()
		fromStdout.Close()
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	return p, nil
}

// localProcess is a Stream over a process of this machine.
type localProcess struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	stderr boundedBuffer
	done   chan struct{} // closed after err is set
	err    error
}

func (p *localProcess) Read(b []byte) (int, error)  { return p.stdout.Read(b) }
func (p *localProcess) Write(b []byte) (int, error) { return p.stdin.Write(b) }

func (p *localProcess) CloseWrite() error {
	if err := p.stdin.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

func (p *localProcess) Wait() (int, string, error) {
	<-p.done
	var exit *exec.ExitError
	if p.err != nil && !errors.As(p.err, &exit) && !errors.Is(p.err, exec.ErrWaitDelay) {
		return -1, p.stderr.String(), fmt.Errorf("wait for %s: %w", p.cmd.Path, p.err)
	}
	return p.cmd.ProcessState.ExitCode(), p.stderr.String(), nil
}

func (p *localProcess) Kill() error {
	err := p.cmd.Process.Kill()
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	p.stdin.Close()
	p.stdout.Close()
	return err
}

// withoutTmux returns env without what says that we run inside a tmux.
func withoutTmux(env []string) []string {
	kept := make([]string, 0, len(env))
	for _, kv := range env {
		if !strings.HasPrefix(kv, "TMUX=") && !strings.HasPrefix(kv, "TMUX_PANE=") {
			kept = append(kept, kv)
		}
	}
	return kept
}

// boundedBuffer keeps the first maxStderrBytes written to it.
type boundedBuffer struct {
	mu sync.Mutex // protects following
	b  []byte
}

func (b *boundedBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.b = append(b.b, data[:min(len(data), maxStderrBytes-len(b.b))]...)
	return len(data), nil
}

func (b *boundedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.b)
}
