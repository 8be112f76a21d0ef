package tmuxctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

var (
	// ErrNoServer says that nobody listens on the socket.
	ErrNoServer = errors.New("no tmux server")
	// ErrWedged says that the socket answers "server exited unexpectedly" while a process still holds it.
	ErrWedged = errors.New("tmux server wedged")
	// ErrMissing says that there is no tmux where Start looks, ErrTooOld that it is older than 3.2.
	ErrMissing = errors.New("tmux missing")
	ErrTooOld  = errors.New("tmux too old")
)

const (
	// runTimeout bounds Run when its caller does not.
	runTimeout = 15 * time.Second
	// probeTimeout is how long a live server may take to answer Probe.
	probeTimeout = 3 * time.Second
	maxRunBytes  = maxBlockBytes
)

// Server is one tmux server: its socket, its config file, and how its processes are started. It holds no process.
type Server struct {
	Socket string // path, in a directory of mode 0700 on tmpfs
	Config string // path of a file with ConfigText; "" for /dev/null
	Start  Start
}

// argv is the command line of every tmux we start. -u: UTF-8 even where LANG is unset. -f: never the user's own
// tmux.conf, which ConfigText sources if it shall.
func (s *Server) argv(args ...string) []string {
	config := s.Config
	if config == "" {
		config = "/dev/null"
	}
	return append([]string{"tmux", "-u", "-S", s.Socket, "-f", config}, args...)
}

// Run runs one tmux command in a process of its own and returns its stdout. Not for the byte path: 2-6 ms each. An
// argument ";" begins another command. Without a deadline of ctx it takes 15 s at most.
func (s *Server) Run(ctx context.Context, args ...string) ([]byte, error) {
	out, err := run(ctx, s.Start, s.argv(args...))
	if err != nil {
		return out, fmt.Errorf("run tmux %s: %w", args[0], err)
	}
	return out, nil
}

// run runs a process to its end.
func run(ctx context.Context, start Start, argv []string) ([]byte, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, runTimeout)
		defer cancel()
	}
	st, err := start(ctx, argv, nil)
	if err != nil {
		return nil, startError(err)
	}
	stop := context.AfterFunc(ctx, func() { st.Kill() })
	defer stop()
	st.CloseWrite()
	out, readErr := io.ReadAll(io.LimitReader(st, maxRunBytes))
	if len(out) == maxRunBytes {
		readErr = ErrTooLong
		st.Kill()
	}
	code, stderr, err := st.Wait()
	st.Kill()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	case code != 0:
		return out, exitStatusError(code, stderr)
	case readErr != nil:
		return nil, readErr
	}
	return out, nil
}

func startError(err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%w: %w", ErrMissing, err)
	}
	return err
}

// serverVanished is what a tmux client says when the server took its connection and closed it.
const serverVanished = "server exited unexpectedly"

// exitStatusError says why a tmux process failed.
func exitStatusError(code int, stderr string) error {
	text := strings.TrimSpace(stderr)
	switch {
	case code == 127:
		return fmt.Errorf("%w: %s", ErrMissing, text)
	case strings.HasPrefix(text, "no server running on "),
		strings.HasPrefix(text, "error connecting to ") &&
			(strings.Contains(text, "No such file") || strings.Contains(text, "Connection refused")),
		strings.HasPrefix(text, serverVanished), strings.HasPrefix(text, "lost server"), text == "no sessions":
		return fmt.Errorf("%w: %s", ErrNoServer, text)
	case text == "":
		return fmt.Errorf("exit status %d", code)
	}
	return errors.New(text)
}

// Probe tells whether the server lives: nil, ErrNoServer, ErrWedged, ErrMissing, or another error when that cannot be
// told, such as a server that is too busy to answer: only ErrWedged is a reason to call Replace.
func (s *Server) Probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	vanished := false
	for {
		_, err := s.Run(ctx, "list-sessions", "-F", "")
		switch {
		case err != nil && strings.Contains(err.Error(), serverVanished):
			// Somebody took the connection and closed it: a server on its way out, which is soon gone, or a
			// wedged one. A dead process, zombie or not, accepts nothing.
			vanished = true
		case vanished && ctx.Err() != nil:
			return fmt.Errorf("probe tmux on %s: %w", s.Socket, ErrWedged)
		default:
			return err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// Attach starts `tmux -C attach-session` on the session and returns when %session-changed has come: commands sent
// before it race the attach. The caller must call Run. ctx is for the attaching alone.
func (s *Server) Attach(ctx context.Context, id SessionID) (*ControlClient, error) {
	// -N: attach-session would start a server where there is none.
	// -E: an attach must not change the session's environment to that of our server.
	// ignore-size is what KillStaleClients knows our clients by; the windows' own sizes are manual anyway.
	st, err := s.Start(ctx, s.argv("-N", "-C", "attach-session", "-E", "-f", ourFlag, "-t", id.String()), nil)
	if err != nil {
		return nil, fmt.Errorf("attach tmux session: %w", startError(err))
	}
	c := &ControlClient{stream: st, probe: s.Probe, wake: make(chan struct{}, 1), lines: lineReader{r: st}}
	stop := context.AfterFunc(ctx, func() { st.Kill() })
	err = c.awaitSession()
	if !stop() || err != nil {
		st.Kill()
		code, stderr, _ := st.Wait()
		switch {
		case ctx.Err() != nil:
			err = context.Cause(ctx)
		case errors.Is(err, io.EOF) && code != 0:
			err = exitStatusError(code, stderr)
		}
		return nil, fmt.Errorf("attach tmux session %s: %w", id, err)
	}
	return c, nil
}

// ourFlag is the client flag all our control clients have.
const ourFlag = "ignore-size"

// awaitSession reads up to %session-changed.
func (c *ControlClient) awaitSession() error {
	for {
		e, err := c.next()
		if err != nil {
			return err
		}
		switch e := e.(type) {
		case SessionChanged:
			c.session = e
			return nil
		case Exit:
			if c.refusal != nil {
				return c.refusal
			}
			if err := exitError(e.Reason); err != nil {
				return err
			}
			return fmt.Errorf("tmux left: %s", e.Reason)
		}
	}
}

// KillStaleClients kills the control clients that an earlier server of ours left behind, which would freeze the
// programs of their session, and waits until tmux has let go of them: one that leaves while another attaches can crash
// it. kill is given pids as the tmux server sees them. Call it before attaching. It returns how many there were.
func (s *Server) KillStaleClients(ctx context.Context, kill func(pid int) error) (int, error) {
	pids, err := s.ourClients(ctx)
	if err != nil {
		return 0, err
	}
	var killed []int
	var errs []error
	for _, pid := range pids {
		if err := kill(pid); err != nil {
			errs = append(errs, fmt.Errorf("kill stale tmux client %d: %w", pid, err))
			continue
		}
		killed = append(killed, pid)
	}
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	for left := killed; len(left) > 0; {
		if left, err = s.ourClients(ctx); err != nil {
			errs = append(errs, err)
			break
		}
		left = slices.DeleteFunc(left, func(pid int) bool { return !slices.Contains(killed, pid) })
	}
	return len(killed), errors.Join(errs...)
}

// ourClients returns the pids of the control clients that are ours, or were.
func (s *Server) ourClients(ctx context.Context) ([]int, error) {
	out, err := s.Run(ctx, "list-clients", "-F",
		"#{client_pid} #{client_control_mode} #{m:*"+ourFlag+"*,#{client_flags}}")
	if err != nil {
		return nil, fmt.Errorf("find stale tmux clients: %w", err)
	}
	var pids []int
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) != 3 || f[1] != "1" || f[2] != "1" {
			continue
		}
		if pid, err := strconv.Atoi(f[0]); err == nil && pid > 1 {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
