package runc

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/browsertabs/tabs/sandbox"
)

// Config is what New needs.
type Config struct {
	Dir string // disks and templates; nobody else's
	// RunDir holds what ends with the machine, on a tmpfs. "": a directory in /run named for Dir.
	RunDir string
	Init   string // the binary of cmd/init; "": the one in this program
	// Runtime is an OCI runtime with the command line of runc, "" for runc itself.
	Runtime string
	Log     *slog.Logger
}

// Engine runs sandboxes. Its methods may be called from any goroutine.
type Engine struct {
	c        Config
	instance string // tells engines of one machine apart
	cores    []int  // of this machine
	caps     sandbox.Capabilities
	net      *network // nil: without
	lxcfs    string   // where it is mounted, "" without

	mu    sync.Mutex // protects following
	locks map[string]*lock
}

var _ sandbox.Provider = (*Engine)(nil)

var validID = regexp.MustCompile(`^[a-z]{3}_[0-9A-Za-z]{1,40}$`)

// New makes the directories, finds out what this machine can do, and undoes what an earlier engine of these
// directories was killed in the middle of. Sandboxes that run go on running.
func New(ctx context.Context, c Config) (*Engine, error) {
	if c.Runtime == "" {
		c.Runtime = "runc"
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("find engine directory: %w", err)
	}
	c.Dir = dir
	h := fnv.New32a()
	h.Write([]byte(dir))
	e := &Engine{c: c, instance: fmt.Sprintf("%08x", h.Sum32()), locks: make(map[string]*lock)}
	if e.c.RunDir == "" {
		e.c.RunDir = filepath.Join("/run/tabs", e.instance)
	}
	if missing := Missing(c.Runtime); len(missing) > 0 {
		return nil, &sandbox.Error{Code: sandbox.CodeNotSupported,
			Message: "sandboxes cannot run here: " + strings.Join(missing, "; ")}
	}
	for _, d := range []string{e.path("sandboxes"), e.path("templates"), e.path("layers")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("make engine directory: %w", err)
		}
	}
	// A container's root walks down to its own root directory as a stranger.
	for _, d := range []string{filepath.Dir(e.c.RunDir), e.c.RunDir} {
		if err := os.MkdirAll(d, 0o711); err != nil {
			return nil, fmt.Errorf("make run directory: %w", err)
		}
	}
	if err := os.Chmod(e.c.RunDir, 0o711); err != nil {
		return nil, fmt.Errorf("open run directory: %w", err)
	}
	if err := e.installInit(); err != nil {
		return nil, err
	}
	if e.cores, err = cores(); err != nil {
		return nil, err
	}
	if err := e.sweep(ctx); err != nil {
		return nil, fmt.Errorf("tidy up after an earlier server: %w", err)
	}
	e.caps = e.probe(ctx)
	return e, nil
}

// probe finds out what can be done by doing it. What is missing keeps no sandbox from running.
func (e *Engine) probe(ctx context.Context) sandbox.Capabilities {
	missing := map[sandbox.Capability]string{
		sandbox.CanForkLive: "a running disk cannot be copied yet: stop the sandbox first",
	}
	var err error
	if e.net, err = e.connect(ctx); err != nil {
		missing[sandbox.CanNetwork] = err.Error()
	}
	if e.lxcfs, err = e.startLxcfs(ctx); err != nil {
		missing[sandbox.CanShowLimits] = err.Error()
	}
	return sandbox.Capabilities{Isolation: "container", Missing: missing}
}

// Capabilities implements sandbox.Provider.
func (e *Engine) Capabilities() sandbox.Capabilities { return e.caps }

// Remove ends every sandbox and takes away what the engine has outside of its directory: for tests and uninstalling.
func (e *Engine) Remove(ctx context.Context) error {
	all, err := e.List(ctx)
	errs := []error{err}
	for _, s := range all {
		errs = append(errs, e.Delete(ctx, s.ID))
	}
	errs = append(errs, e.stopLxcfs(ctx))
	if e.net != nil {
		errs = append(errs, e.net.remove(ctx))
	}
	errs = append(errs, removeCgroups(e.cgroup("")), os.RemoveAll(e.c.RunDir))
	return errors.Join(errs...)
}

func (e *Engine) path(elem ...string) string {
	return filepath.Join(append([]string{e.c.Dir}, elem...)...)
}
func (e *Engine) runPath(elem ...string) string {
	return filepath.Join(append([]string{e.c.RunDir}, elem...)...)
}
func (e *Engine) cgroup(id string) string { return filepath.Join("/tabs-"+e.instance, id) }

// lock is a mutex that gives up when a context does, and goes when nobody waits for it.
type lock struct {
	held  chan struct{}
	users int
}

// lock waits for its turn to change a sandbox or a template.
func (e *Engine) lock(ctx context.Context, id string) (unlock func(), err error) {
	if !validID.MatchString(id) {
		return nil, &sandbox.Error{Code: sandbox.CodeInvalidRequest, Field: "id", Message: fmt.Sprintf("%.80q is no id", id)}
	}
	e.mu.Lock()
	l := e.locks[id]
	if l == nil {
		l = &lock{held: make(chan struct{}, 1)}
		e.locks[id] = l
	}
	l.users++
	e.mu.Unlock()
	release := func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(e.locks, id)
		}
	}
	select {
	case l.held <- struct{}{}:
		if ctx.Err() == nil {
			return func() { <-l.held; release() }, nil
		}
		<-l.held
	case <-ctx.Done():
	}
	release()
	return nil, ctx.Err()
}

// Missing says what keeps this machine from running sandboxes at all, each with what to do about it.
func Missing(runtimeName string) []string {
	var list []string
	if runtime.GOOS != "linux" {
		return []string{"this is not Linux"}
	}
	if os.Getuid() != 0 {
		return []string{"the server does not run as root"}
	}
	filesystems, _ := os.ReadFile("/proc/filesystems")
	for _, name := range []string{"overlay", "ext4"} {
		if !slices.Contains(strings.Fields(string(filesystems)), name) {
			list = append(list, "the kernel has no "+name+": modprobe "+name)
		}
	}
	for _, need := range []struct{ program, pkg string }{
		{runtimeName, "runc"}, {"mkfs.ext4", "e2fsprogs"}, {"resize2fs", "e2fsprogs"}, {"e2undo", "e2fsprogs"},
		{"cp", "coreutils"}, {"tar", "tar"},
	} {
		if _, err := lookPath(need.program); err != nil {
			list = append(list, fmt.Sprintf("%s is not installed: apt-get install %s", need.program, need.pkg))
		}
	}
	if _, err := os.Stat("/dev/loop-control"); errors.Is(err, fs.ErrNotExist) {
		list = append(list, "the kernel has no loop devices: modprobe loop")
	}
	return list
}

func (e *Engine) warn(msg string, args ...any) {
	if e.c.Log != nil {
		e.c.Log.Warn(msg, args...)
	}
}
