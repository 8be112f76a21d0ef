package runc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/sandbox/runc/agent"
)

func (e *Engine) agent(id string) agent.Client {
	return agent.Client{Socket: e.runPath(id, socketFile)}
}

// running reads the record of a run whose PID 1 is there. A sandbox whose last process has ended, by itself or by the
// kernel, does not run, whatever our files say.
func (e *Engine) running(id string) (runRecord, bool) {
	r, err := readJSON[runRecord](e.runPath(id, runFile))
	return r, err == nil && len(processes(e.cgroup(id))) > 0
}

// lockStopped takes the turn of a sandbox that must be stopped, to do what.
func (e *Engine) lockStopped(ctx context.Context, id, what string) (unlock func(), err error) {
	if _, err := e.record(id); err != nil {
		return nil, err
	}
	unlock, err = e.lock(ctx, id)
	if err != nil {
		return nil, err
	}
	if _, yes := e.running(id); yes {
		unlock()
		return nil, &sandbox.Error{Code: sandbox.CodeSandboxNotStopped,
			Message: fmt.Sprintf("sandbox %s is running: stop it, then %s", id, what), Remedy: "pt sandbox stop " + id}
	}
	return unlock, e.clean(context.WithoutCancel(ctx), id)
}

// Start implements sandbox.Provider.
func (e *Engine) Start(ctx context.Context, id string) error {
	if _, err := e.record(id); err != nil {
		return err
	}
	unlock, err := e.lock(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	r, err := e.record(id)
	if err != nil {
		return err
	}
	if _, yes := e.running(id); yes {
		return nil
	}
	t, err := e.template(r.Template)
	if err != nil {
		return err
	}
	return e.start(ctx, id, r, e.path("sandboxes", id, diskFile), e.layers(t))
}

// start starts a run, or leaves nothing of it.
func (e *Engine) start(ctx context.Context, id string, r record, disk string, layers []string) (err error) {
	if err := e.clean(ctx, id); err != nil { // of a run that ended by itself
		return err
	}
	dir := e.runPath(id)
	defer func() {
		if err != nil {
			err = errors.Join(err, e.clean(context.WithoutCancel(ctx), id))
		}
	}()
	if err := os.Mkdir(dir, 0o711); err != nil {
		return fmt.Errorf("make run directory: %w", err)
	}
	if err := os.Chmod(dir, 0o711); err != nil { // whatever the umask
		return fmt.Errorf("open run directory: %w", err)
	}
	s, err := takeSlot(dir)
	if err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(dir, "config.json"), e.ociSpec(id, r, s)); err != nil {
		return err
	}
	if err := e.launch(ctx, id, s, disk, layers); err != nil {
		return err
	}
	if e.net != nil {
		pid, err := os.ReadFile(filepath.Join(dir, "pid"))
		if err != nil {
			return fmt.Errorf("find PID 1: %w", err)
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(pid)))
		if err != nil {
			return fmt.Errorf("find PID 1: %w", err)
		}
		if err := e.net.plug(ctx, s, n); err != nil {
			return err
		}
	}
	if err := e.agent(id).Ping(ctx); err != nil {
		said, _ := os.ReadFile(filepath.Join(dir, "init.log"))
		return fmt.Errorf("wait for PID 1: %w: %.300s", err, said)
	}
	return writeJSON(filepath.Join(dir, runFile), runRecord{RunID: sandbox.NewID("run"), StartedAt: time.Now().UTC()})
}

// launch has the OCI runtime start PID 1, in a mount namespace where its root is mounted, with the socket that it will
// serve. The socket's name stays outside.
func (e *Engine) launch(ctx context.Context, id string, s slot, disk string, layers []string) error {
	dir := e.runPath(id)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, socketFile), Net: "unix"})
	if err != nil {
		return fmt.Errorf("make socket: %w", err)
	}
	l.SetUnlinkOnClose(false)
	socket, err := l.File()
	l.Close()
	if err != nil {
		return fmt.Errorf("make socket: %w", err)
	}
	defer socket.Close()
	log, err := os.OpenFile(filepath.Join(dir, "init.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("make log: %w", err)
	}
	defer log.Close()
	m, err := e.newIDMap(s.firstID())
	if err != nil {
		return err
	}
	defer m.close()
	return inMountNamespace(func() error {
		if err := m.mountRoot(dir, disk, layers); err != nil {
			return err
		}
		cmd, err := e.runtime(ctx, "run", "--detach", "--preserve-fds", "1", "--bundle", dir,
			"--pid-file", filepath.Join(dir, "pid"), id)
		if err != nil {
			return err
		}
		cmd.ExtraFiles = []*os.File{socket}
		// PID 1 inherits these: files, since a pipe would keep us waiting for its end.
		cmd.Stdout, cmd.Stderr = log, log
		if _, err := output(cmd); err != nil {
			said, _ := os.ReadFile(log.Name())
			return fmt.Errorf("start container: %w: %.500s", err, said)
		}
		return nil
	})
}

func (e *Engine) runtime(ctx context.Context, args ...string) (*exec.Cmd, error) {
	return command(ctx, e.c.Runtime, append([]string{"--root", e.runPath("oci")}, args...)...)
}

// Stop implements sandbox.Provider.
func (e *Engine) Stop(ctx context.Context, id string, grace time.Duration) error {
	if _, err := e.record(id); err != nil {
		return err
	}
	unlock, err := e.lock(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	return e.stop(ctx, id, grace)
}

func (e *Engine) stop(ctx context.Context, id string, grace time.Duration) error {
	if _, yes := e.running(id); yes {
		// PID 1 might not listen: it belongs to whoever is root inside.
		patience, cancel := context.WithTimeout(ctx, grace+5*time.Second)
		if e.agent(id).Stop(patience, grace) == nil {
			waitEmpty(patience, e.cgroup(id), false)
		}
		cancel()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return e.clean(ctx, id)
}

// cleanTimeout is far more than the kernel needs to write a disk's last bytes.
const cleanTimeout = 2 * time.Minute

// clean ends what is left of a run and takes away what it had of the machine, the disk last. It may be repeated.
func (e *Engine) clean(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, cleanTimeout, errors.New("the kernel does not let go"))
	defer cancel()
	dir := e.runPath(id)
	_, err := os.Stat(dir)
	gone := errors.Is(err, fs.ErrNotExist)
	if err := waitEmpty(ctx, e.cgroup(id), true); err != nil {
		return fmt.Errorf("end processes: %w", err)
	}
	if !gone {
		if _, err := os.Stat(e.runPath("oci", id)); err == nil {
			cmd, err := e.runtime(ctx, "delete", "--force", id)
			if err != nil {
				return err
			}
			if _, err := output(cmd); err != nil {
				e.warn("delete container", "sandbox_id", id, "err", err)
			}
			if err := os.RemoveAll(e.runPath("oci", id)); err != nil {
				return fmt.Errorf("forget container: %w", err)
			}
		}
		if err := e.freeSlots(ctx, ownedBy(dir)); err != nil {
			return err
		}
	}
	if err := removeCgroups(e.cgroup(id)); err != nil {
		return err
	}
	// The kernel unmounts when the last process's last descriptor is gone, a moment after the process.
	for disk := e.path("sandboxes", id, diskFile); attached(disk); {
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the disk: %w", context.Cause(ctx))
		case <-time.After(2 * time.Millisecond):
		}
	}
	return os.RemoveAll(dir)
}

// freeSlots gives places back, and their cables before them.
func (e *Engine) freeSlots(ctx context.Context, match func(string) bool) error {
	slots, err := slots(match)
	if err != nil {
		return err
	}
	for _, s := range slots {
		unplug(ctx, s)
		if e.net != nil {
			if err := e.net.shut(ctx, s); err != nil {
				return err
			}
		}
		if err := removeIfThere(s.file()); err != nil {
			return fmt.Errorf("free slot: %w", err)
		}
	}
	return nil
}
