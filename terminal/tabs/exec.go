package tabs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/tmuxctl"
)

// maxStderrBytes is what is kept of a process's stderr.
const maxStderrBytes = 4 << 10

// account is a user of a sandbox; processes started for it live at most as long as ctx.
type account struct {
	ctx       context.Context
	provider  sandbox.Provider
	sandboxID string
	user      string
}

// start is a tmuxctl.Start inside the sandbox.
func (a *account) start(ctx context.Context, argv, env []string) (tmuxctl.Stream, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := a.provider.Exec(a.ctx, a.sandboxID, sandbox.Exec{Argv: argv, Env: env, User: a.user})
	if err != nil {
		return nil, err
	}
	st := &stream{p: p, stderrRead: make(chan struct{})}
	go st.readStderr()
	return st, nil
}

// stream is a sandbox.Process as a tmuxctl.Stream.
type stream struct {
	p          sandbox.Process
	stderrRead chan struct{}

	mu     sync.Mutex // protects following
	stderr strings.Builder
}

// readStderr ends when the process has ended, or Kill closes the pipe.
func (s *stream) readStderr() {
	defer close(s.stderrRead)
	buf := make([]byte, maxStderrBytes)
	for {
		n, err := s.p.Stderr().Read(buf)
		s.mu.Lock()
		s.stderr.Write(buf[:min(n, maxStderrBytes-s.stderr.Len())])
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *stream) Read(b []byte) (int, error)  { return s.p.Stdout().Read(b) }
func (s *stream) Write(b []byte) (int, error) { return s.p.Stdin().Write(b) }
func (s *stream) CloseWrite() error           { return s.p.Stdin().Close() }
func (s *stream) Kill() error                 { return s.p.Close() }

func (s *stream) Wait() (int, string, error) {
	code, err := s.p.Wait()
	// A tmux server keeps none of its client's pipes, so this is short; a wedged one is cut by Kill.
	<-s.stderrRead
	s.mu.Lock()
	defer s.mu.Unlock()
	return code, s.stderr.String(), err
}

// run runs a shell script in the sandbox with arguments $1, $2, ... and returns its stdout and exit code.
func (a *account) run(ctx context.Context, stdin, script string, args ...string) (string, int, error) {
	ctx, cancel := context.WithTimeout(ctx, scriptTimeout)
	defer cancel()
	st, err := a.start(ctx, append([]string{"sh", "-c", script, "sh"}, args...), nil)
	if err != nil {
		return "", -1, fmt.Errorf("run script in sandbox: %w", err)
	}
	defer st.Kill()
	stop := context.AfterFunc(ctx, func() { st.Kill() })
	defer stop()
	go func() {
		io.WriteString(st, stdin)
		st.CloseWrite()
	}()
	out, readErr := io.ReadAll(io.LimitReader(st, maxScriptBytes))
	code, stderr, err := st.Wait()
	if ctx.Err() != nil {
		return "", -1, fmt.Errorf("run script in sandbox: %w", context.Cause(ctx))
	}
	if err := errors.Join(readErr, err); err != nil {
		return "", code, fmt.Errorf("run script in sandbox: %w", err)
	}
	if code != 0 && stderr != "" {
		return string(out), code, fmt.Errorf("run script in sandbox: exit %d: %s", code, strings.TrimSpace(stderr))
	}
	return string(out), code, nil
}
