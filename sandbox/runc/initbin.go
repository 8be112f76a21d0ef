package runc

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"path/filepath"
)

// initBin holds the binary of cmd/init when make has built it.
//
//go:embed initbin
var initBin embed.FS

func (e *Engine) initPath() string { return e.path("bin", "init") }

// installInit writes PID 1's binary where sandboxes find it. Not into /run, from where some systems let nobody execute.
// Sandboxes that run keep the one they were started with.
func (e *Engine) installInit() error {
	var binary []byte
	var err error
	if e.c.Init != "" {
		binary, err = os.ReadFile(e.c.Init)
	} else {
		binary, err = initBin.ReadFile("initbin/init")
	}
	if err != nil {
		return fmt.Errorf("find PID 1's binary: %w (make build)", err)
	}
	if old, err := os.ReadFile(e.initPath()); err == nil && bytes.Equal(old, binary) {
		return nil
	}
	dir := filepath.Dir(e.initPath())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("install PID 1: %w", err)
	}
	fresh := filepath.Join(dir, "init.new")
	if err := os.WriteFile(fresh, binary, 0o755); err != nil {
		return fmt.Errorf("install PID 1: %w", err)
	}
	return os.Rename(fresh, e.initPath())
}
