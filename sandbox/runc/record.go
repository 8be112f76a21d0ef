package runc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/browsertabs/tabs/sandbox"
)

const (
	recordFile = "sandbox.json"
	diskFile   = "disk.img"
	undoFile   = "grow.undo"
	runFile    = "run.json"
	socketFile = "init.sock"
)

// record is what is kept of a sandbox beside its disk.
type record struct {
	Template  string // whose layers lie below the disk
	Hostname  string
	Env       []string
	Limits    sandbox.Limits
	DiskBytes int64
}

// runRecord is what is kept of a run. It is written last: a run directory without one is the rest of a start.
type runRecord struct {
	RunID     string
	StartedAt time.Time
}

// template is what is kept of a template: its layers, topmost first.
type template struct {
	Layers []string
	Image  string
}

func readJSON[T any](path string) (v T, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return v, fmt.Errorf("read %s: %w", path, err)
	}
	return v, nil
}

// writeJSON replaces a file at once, or not at all.
func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(append(b, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

func (e *Engine) record(id string) (record, error) {
	if !validID.MatchString(id) {
		return record{}, notFound(id)
	}
	r, err := readJSON[record](e.path("sandboxes", id, recordFile))
	if errors.Is(err, fs.ErrNotExist) {
		return r, notFound(id)
	}
	return r, err
}

func (e *Engine) template(id string) (template, error) {
	var t template
	err := fs.ErrNotExist
	if validID.MatchString(id) {
		t, err = readJSON[template](e.path("templates", id+".json"))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return t, &sandbox.Error{Code: sandbox.CodeTemplateNotFound, Message: fmt.Sprintf("template not found: %.80q", id)}
	}
	return t, err
}

func notFound(id string) error {
	return &sandbox.Error{Code: sandbox.CodeNotFound, Message: fmt.Sprintf("sandbox %.80q not found", id)}
}

func invalid(field, format string, args ...any) error {
	return &sandbox.Error{Code: sandbox.CodeInvalidRequest, Field: field, Message: fmt.Sprintf(format, args...)}
}
