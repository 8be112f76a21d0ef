package runc

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/sandbox/login"
	"github.com/browsertabs/tabs/sandbox/runc/agent"
)

// ready returns who to speak to in a sandbox that runs.
func (e *Engine) ready(id string) (agent.Client, error) {
	if _, err := e.record(id); err != nil {
		return agent.Client{}, err
	}
	if _, yes := e.running(id); !yes {
		return agent.Client{}, notRunning(id, nil)
	}
	return e.agent(id), nil
}

func notRunning(id string, cause error) error {
	return &sandbox.Error{Code: sandbox.CodeSandboxNotRunning, Err: cause,
		Message: fmt.Sprintf("sandbox %s is not running", id), Remedy: "pt sandbox start " + id}
}

// Exec implements sandbox.Provider. The process ends with the server: it is killed, or hung up when it has a TTY.
func (e *Engine) Exec(ctx context.Context, id string, x sandbox.Exec) (sandbox.Process, error) {
	a, err := e.ready(id)
	if err != nil {
		return nil, err
	}
	return e.exec(ctx, a, id, x)
}

func (e *Engine) exec(ctx context.Context, a agent.Client, id string, x sandbox.Exec) (sandbox.Process, error) {
	if err := checkUser(x.User); err != nil {
		return nil, err
	}
	cols, rows := x.Cols, x.Rows
	if cols < 1 || rows < 1 || cols > 0xffff || rows > 0xffff {
		cols, rows = 80, 24
	}
	p, err := a.Exec(ctx, agent.Exec{
		Argv: bytesOf(x.Argv), Env: bytesOf(x.Env), Dir: x.Dir, User: x.User, TTY: x.TTY, Cols: uint16(cols), Rows: uint16(rows),
	})
	if err != nil {
		return nil, translate(err, id, x.User, x.Dir)
	}
	return process{p}, nil
}

// RuntimeDir implements sandbox.Provider.
func (e *Engine) RuntimeDir(ctx context.Context, id, user string) (string, error) {
	a, err := e.ready(id)
	if err != nil {
		return "", err
	}
	if err := checkUser(user); err != nil {
		return "", err
	}
	dir, err := a.RuntimeDir(ctx, user)
	return dir, translate(err, id, user, "")
}

// Dial implements sandbox.Provider.
func (e *Engine) Dial(ctx context.Context, id string, port int) (net.Conn, error) {
	if port < 1 || port > 0xffff {
		return nil, invalid("port", "port %d: want 1 to 65535", port)
	}
	a, err := e.ready(id)
	if err != nil {
		return nil, err
	}
	c, err := a.Dial(ctx, port)
	return c, translate(err, id, "", "")
}

func checkUser(user string) error {
	if user == "" || login.ValidName(user) {
		return nil
	}
	return noUser(user)
}

func noUser(user string) error {
	return invalid("user", "there is no user %.64q in this sandbox", user)
}

func translate(err error, id, user, dir string) error {
	switch {
	case errors.Is(err, agent.ErrGone):
		return notRunning(id, err)
	case errors.Is(err, agent.ErrNoUser):
		return noUser(user)
	case errors.Is(err, agent.ErrBadDir):
		return invalid("cwd", "cannot work in directory %.200q", dir)
	}
	return err
}

// process gives signals their names.
type process struct{ *agent.Process }

func (p process) Signal(name string) error {
	sig, err := sandbox.ParseSignal(name)
	if err != nil {
		return err
	}
	return p.Process.Signal(sig)
}

func bytesOf(list []string) [][]byte {
	all := make([][]byte, len(list))
	for i, s := range list {
		all[i] = []byte(s)
	}
	return all
}
