package agent

import (
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// children are the processes that PID 1 started itself. It reaps those of others too, who lost their parents.
type children struct {
	mu    sync.Mutex // protects following; held while a child is started, so that none ends before it is known
	byPID map[int]*child
}

type child struct {
	pid  int
	done chan struct{}
	code int // once done
}

func newChildren() *children { return &children{byPID: make(map[int]*child)} }

func (cs *children) start(path string, argv []string, attr *os.ProcAttr) (*child, error) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	p, err := os.StartProcess(path, argv, attr)
	if err != nil {
		return nil, err
	}
	c := &child{pid: p.Pid, done: make(chan struct{})}
	p.Release() // reap waits for everybody
	cs.byPID[c.pid] = c
	// Where memory runs out, the kernel should take anybody rather than us. A process cannot undo this.
	os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", c.pid), []byte("100"), 0)
	return c, nil
}

// reap waits for every process whose parent we are, for ever.
func (cs *children) reap() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil || pid == 0:
			<-ended
		default:
			cs.ended(pid, status)
		}
	}
}

func (cs *children) ended(pid int, status syscall.WaitStatus) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c := cs.byPID[pid]
	if c == nil {
		return
	}
	delete(cs.byPID, pid)
	c.code = status.ExitStatus()
	if status.Signaled() {
		c.code = 128 + int(status.Signal())
	}
	close(c.done)
}

// signal signals the group of a child that has not ended: a number is not given away while its row is here.
func (cs *children) signal(c *child, sig syscall.Signal) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.byPID[c.pid] == c {
		syscall.Kill(-c.pid, sig)
	}
}

// end asks every process to end, and returns when none is left or grace is over. Shells that wait for input ignore TERM
// and obey HUP; what is stopped has to be woken to obey anything.
func (cs *children) end(grace time.Duration) {
	deadline := time.Now().Add(grace)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGCONT} {
		syscall.Kill(-1, sig)
	}
	for time.Now().Before(deadline) {
		if err := syscall.Kill(-1, 0); err != nil { // ESRCH: we are alone
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
	syscall.Kill(-1, syscall.SIGKILL)
}
