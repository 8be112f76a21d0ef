package runc

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/browsertabs/tabs/sandbox"
)

// A layer is a directory of files that never changes, named by what it came from. A template is a stack of them: the
// base image's below, one for each step above. A step that was run before, on the same stack, is not run again.

func (e *Engine) layers(t template) []string {
	dirs := make([]string, len(t.Layers))
	for i, key := range t.Layers {
		dirs[i] = e.path("layers", key)
	}
	return dirs
}

func layerKey(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16])
}

// addLayer makes a layer of what fill puts into a directory, at once or not at all.
func (e *Engine) addLayer(key string, fill func(dir string) error) error {
	dir, err := os.MkdirTemp(e.path("layers"), ".new-*")
	if err != nil {
		return fmt.Errorf("make layer: %w", err)
	}
	err = os.Chmod(dir, 0o755)
	if err == nil {
		err = fill(dir)
	}
	if err == nil {
		err = os.Rename(dir, e.path("layers", key))
		if errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTEMPTY) {
			err = nil // somebody else was faster
			os.RemoveAll(dir)
		}
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	return syncDir(e.path("layers"))
}

func (e *Engine) imageRecord(ref string) string {
	return e.path("images", layerKey(ref)+".json")
}

// ImportImage makes an image known by a reference, from what fill puts into a directory: the files of a root. The image
// that the reference meant before stays for the templates that were built on it.
func (e *Engine) ImportImage(ctx context.Context, ref, digest string, fill func(dir string) error) error {
	if err := os.MkdirAll(e.path("images"), 0o700); err != nil {
		return fmt.Errorf("make image directory: %w", err)
	}
	key := layerKey("image", digest)
	if _, err := os.Stat(e.path("layers", key)); err != nil {
		if err := e.addLayer(key, fill); err != nil {
			return err
		}
	}
	return writeJSON(e.imageRecord(ref), template{Layers: []string{key}, Image: ref})
}

// BuildTemplate implements sandbox.Provider.
func (e *Engine) BuildTemplate(ctx context.Context, id string, b sandbox.Build, log io.Writer) error {
	if err := e.checkLimits(b.Limits); err != nil {
		return err
	}
	if b.MaxBytes < minDiskBytes {
		return invalid("size_mb", "size_mb is %d: want at least %d", b.MaxBytes>>20, minDiskBytes>>20)
	}
	unlock, err := e.lock(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := e.template(id); err == nil {
		return invalid("id", "there is a template %s already", id)
	}
	t, err := readJSON[template](e.imageRecord(b.Image))
	if errors.Is(err, fs.ErrNotExist) {
		return &sandbox.Error{Code: sandbox.CodeInvalidRequest, Field: "base_image",
			Message: fmt.Sprintf("there is no image %.200q here", b.Image), Remedy: "tabs image import " + b.Image + " FILE"}
	}
	if err != nil {
		return err
	}
	for i, step := range b.Steps {
		spec, err := json.Marshal(step)
		if err != nil {
			return err
		}
		key := layerKey("step", t.Layers[0], string(spec))
		if step.Key == "" {
			key = layerKey("step", sandbox.NewID("run"))
		}
		if _, err := os.Stat(e.path("layers", key)); err == nil {
			fmt.Fprintf(log, "step %d/%d: cached\n", i+1, len(b.Steps))
		} else {
			fmt.Fprintf(log, "step %d/%d: %s\n", i+1, len(b.Steps), strings.Join(step.Argv, " "))
			if err := e.runStep(ctx, key, t, step, b, log); err != nil {
				return fmt.Errorf("step %d: %w", i+1, err)
			}
		}
		t.Layers = append([]string{key}, t.Layers...)
	}
	return writeJSON(e.path("templates", id+".json"), t)
}

// runStep runs a step in a machine of its own and makes a layer of what it changed.
func (e *Engine) runStep(ctx context.Context, key string, t template, step sandbox.Step, b sandbox.Build, log io.Writer) (err error) {
	id := sandbox.NewID("bld")
	dir := e.path("sandboxes", id) // without a record: nobody sees it, and a sweep removes it
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("make build: %w", err)
	}
	defer func() {
		err = errors.Join(err, e.clean(context.WithoutCancel(ctx), id), os.RemoveAll(dir))
	}()
	disk := filepath.Join(dir, diskFile)
	if err := makeDisk(ctx, disk, b.MaxBytes); err != nil {
		return err
	}
	if err := e.start(ctx, id, record{Hostname: "build", Limits: b.Limits}, disk, e.layers(t)); err != nil {
		return err
	}
	full, err := e.execStep(ctx, id, step, log)
	if err != nil && full {
		return &sandbox.Error{Code: sandbox.CodeTemplateTooBig, Err: err,
			Message: fmt.Sprintf("the step needs more than the %d MB of size_mb", b.MaxBytes>>20)}
	}
	if err != nil {
		return err
	}
	return e.addLayer(key, func(layer string) error {
		return e.withRoot(id, e.layers(t), func(root string) error {
			upper := filepath.Join(filepath.Dir(root), "raw", "upper")
			_, err := run(ctx, "", "cp", "-a", "--sparse=always", upper+"/.", layer)
			return err
		})
	})
}

// stepGrace is for daemons that a step left behind.
const stepGrace = 2 * time.Second

// execStep runs a step to its end, and its machine too. It reports whether the disk was full when it ended.
func (e *Engine) execStep(ctx context.Context, id string, step sandbox.Step, log io.Writer) (full bool, err error) {
	x := sandbox.Exec{Argv: step.Argv, Env: step.Env, Dir: step.Dir, User: step.User}
	if x.Dir == "" {
		x.Dir = "/"
	}
	p, err := e.exec(ctx, e.agent(id), id, x)
	if err != nil {
		return false, err
	}
	defer p.Close()
	p.Stdin().Close()
	out := &lockedWriter{w: log}
	var wg sync.WaitGroup
	wg.Go(func() { io.Copy(out, p.Stderr()) })
	wg.Go(func() { io.Copy(out, p.Stdout()) })
	code, err := p.Wait()
	full = e.full(id)
	// Before the output has ended: a daemon that holds it open would hold the build up for ever.
	err = errors.Join(err, e.stop(ctx, id, stepGrace))
	wg.Wait()
	if err == nil && code != 0 {
		err = &sandbox.Error{Code: sandbox.CodeInvalidRequest, Field: "steps", Message: fmt.Sprintf("exit code %d", code)}
	}
	return full, err
}

// full reports whether a build has filled its disk.
func (e *Engine) full(id string) bool {
	for _, pid := range processes(e.cgroup(id)) {
		var f syscall.Statfs_t
		if syscall.Statfs(fmt.Sprintf("/proc/%d/root", pid), &f) == nil {
			return int64(f.Bavail)*f.Bsize < 4<<20 || f.Ffree < 16
		}
	}
	return false
}

// DeleteTemplate implements sandbox.Provider.
func (e *Engine) DeleteTemplate(ctx context.Context, id string) error {
	unlock, err := e.lock(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	entries, err := os.ReadDir(e.path("sandboxes"))
	if err != nil {
		return fmt.Errorf("list sandboxes: %w", err)
	}
	users := 0
	for _, entry := range entries {
		if r, err := e.record(entry.Name()); err == nil && r.Template == id {
			users++
		}
	}
	if users > 0 {
		return &sandbox.Error{Code: sandbox.CodeTemplateInUse,
			Message: fmt.Sprintf("the disks of %d sandboxes need this template: delete them first", users)}
	}
	return removeIfThere(e.path("templates", id+".json"))
}

// sweepLayers removes the rest of layers that were never finished, and those that neither a template nor an image needs.
// It is called while nobody builds.
func (e *Engine) sweepLayers() error {
	needed := make(map[string]bool)
	for _, pattern := range []string{"templates", "images"} {
		files, _ := filepath.Glob(e.path(pattern, "*.json"))
		for _, f := range files {
			t, err := readJSON[template](f)
			if err != nil {
				return err // or we would remove what it needs
			}
			for _, key := range t.Layers {
				needed[key] = true
			}
		}
		removeNew(e.path(pattern))
	}
	entries, err := os.ReadDir(e.path("layers"))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !needed[entry.Name()] {
			if err := os.RemoveAll(e.path("layers", entry.Name())); err != nil {
				return fmt.Errorf("remove layer: %w", err)
			}
		}
	}
	return nil
}

// lockedWriter lets two streams write to one.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}
