package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/browsertabs/tabs/cmd/pt/cli"
)

// work is where every test writes: on tmpfs, as tmux sockets are, and with a short name, as their addresses must be.
var work string

// tabs is the server that scripts start; see buildServer.
var tabs string

func TestMain(m *testing.M) {
	testscript.Main(scripts{m}, map[string]func(){
		"pt": func() {
			os.Exit(cli.Run(context.Background(), os.Args[1:], cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
		},
	})
}

// scripts makes and removes work around the tests; testscript.Main calls it only in the process that runs tests.
type scripts struct{ m *testing.M }

func (s scripts) Run() int {
	root := "/dev/shm"
	if fi, err := os.Stat(root); err != nil || !fi.IsDir() {
		root = ""
	}
	var err error
	if work, err = os.MkdirTemp(root, "pt"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := s.m.Run()
	if err := os.RemoveAll(work); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}

var buildServer = sync.OnceValue(func() error {
	tabs = filepath.Join(work, "tabs")
	out, err := exec.Command("go", "build", "-o", tabs, "../tabs").CombinedOutput()
	if err != nil {
		return errors.New("build server: " + string(out))
	}
	return nil
})

// need skips the test when the machine lacks a program. Under make test nothing is lacking.
func need(t testing.TB, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err == nil {
			continue
		}
		if os.Getenv("TABS_TEST_ALL") != "" {
			t.Fatalf("%s is not installed", p)
		}
		t.Skipf("%s is not installed; make test installs it", p)
	}
}
