package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// process is a row of the process table.
type process struct {
	pid  int
	ppid int
	comm string
	argv []string
}

func (p process) String() string { return fmt.Sprintf("%d %s", p.pid, strings.Join(p.argv, " ")) }

// processesOf returns the living processes that were started with dir in their arguments or environment: the servers of
// a test, their tmux, and all that runs in it.
func processesOf(dir string) []process {
	var found []process
	paths, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for _, path := range paths {
		pid, err := strconv.Atoi(filepath.Base(path))
		if err != nil || pid == os.Getpid() {
			continue
		}
		argv, err := os.ReadFile(path + "/cmdline") // empty for a zombie and a kernel thread
		if err != nil || len(argv) == 0 {
			continue
		}
		env, _ := os.ReadFile(path + "/environ") // of another user: its arguments must do
		if !bytes.Contains(argv, []byte(dir)) && !bytes.Contains(env, []byte(dir)) {
			continue
		}
		comm, err := os.ReadFile(path + "/comm")
		if err != nil {
			continue
		}
		found = append(found, process{pid, parentOf(pid), strings.TrimSpace(string(comm)),
			strings.Split(strings.TrimRight(string(argv), "\x00"), "\x00")})
	}
	return found
}

func parentOf(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	ppid, _ := strconv.Atoi(fields[1])
	return ppid
}

// isTmuxServer reports whether p is what tmux leaves in the background; its arguments are those of the command that
// started it, so its name tells. isTmuxClient reports whether p is a control client.
func (p process) isTmuxServer() bool { return p.comm == "tmux: server" }
func (p process) isTmuxClient() bool {
	return p.comm == "tmux: client" && slices.Contains(p.argv, "-C")
}

func filter(ps []process, keep func(process) bool) []process {
	return slices.DeleteFunc(slices.Clone(ps), func(p process) bool { return !keep(p) })
}
