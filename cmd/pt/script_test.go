package main

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

const serverKey = "server"

// TestScript runs pt against a real server with real tmux. Beside testscript's own, scripts have:
//
//	server start|stop       the server of this script; its address is in $URL
//	code N IDENTITY ARGS... pt must exit with N
//	tabcount N              the sandbox local has N tabs
//
// An identity is pt (the machine's own key), upt (a user without any key), or attackpt (a user with a wrong key).
func TestScript(t *testing.T) {
	need(t, "tmux", "bash")
	if err := buildServer(); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		WorkdirRoot:         work,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			s := &server{dir: env.WorkDir}
			if err := s.makeDirs(); err != nil {
				return err
			}
			for _, kv := range [][2]string{{"HOME", env.WorkDir + "/home"}, {"XDG_RUNTIME_DIR", env.WorkDir + "/run"},
				{"TERM", "xterm-256color"}} {
				env.Setenv(kv[0], kv[1])
			}
			env.Values[serverKey] = s
			t := env.T().(testing.TB)
			env.Defer(func() { s.end(t) })
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"server": serverCmd, "code": codeCmd, "tabcount": tabCountCmd,
		},
	})
}

func serverCmd(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value(serverKey).(*server)
	if neg || len(args) != 1 {
		ts.Fatalf("usage: server start|stop")
	}
	switch args[0] {
	case "start":
		ts.Check(s.start())
		ts.Setenv("URL", s.url)
	case "stop":
		ts.Check(s.stop())
	default:
		ts.Fatalf("usage: server start|stop")
	}
}

func codeCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N IDENTITY ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	command := append(identity(ts, args[1]), args[2:]...)
	err = ts.Exec(command[0], command[1:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// identity is the command that runs pt as somebody.
func identity(ts *testscript.TestScript, who string) []string {
	s := ts.Value(serverKey).(*server)
	nobody := "HOME=" + filepath.Join(s.dir, "nobody")
	switch who {
	case "pt":
		return []string{"pt"}
	case "upt":
		return []string{"env", nobody, "PT_API_URL=" + s.url, "pt"}
	case "attackpt":
		return []string{"env", nobody, "PT_API_URL=" + s.url, "PT_TOKEN=pt_live_0000000000000000000000000000000000000000", "pt"}
	}
	ts.Fatalf("unknown identity %q", who)
	return nil
}

func tabCountCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: tabcount N")
	}
	c, err := ts.Value(serverKey).(*server).client()
	ts.Check(err)
	all, err := c.Tabs(context.Background(), "local")
	ts.Check(err)
	if strconv.Itoa(len(all)) != args[0] {
		ts.Fatalf("%d tabs, want %s: %+v", len(all), args[0], all)
	}
}
