package runc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const cgroupRoot = "/sys/fs/cgroup"

// cgroupDirs are where a cgroup is: one directory in the unified hierarchy, one for each controller in the older one.
func cgroupDirs(cgroup string) []string {
	dirs, _ := filepath.Glob(filepath.Join(cgroupRoot, "*", cgroup))
	if _, err := os.Stat(filepath.Join(cgroupRoot, "cgroup.controllers")); err == nil {
		dirs = []string{filepath.Join(cgroupRoot, cgroup)}
	}
	return dirs
}

// processes lists who is in a cgroup or below.
func processes(cgroup string) []int {
	var pids []int
	for _, dir := range cgroupDirs(cgroup) {
		filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return nil // it may vanish meanwhile
			}
			b, _ := os.ReadFile(filepath.Join(path, "cgroup.procs"))
			for _, f := range bytes.Fields(b) {
				if pid, err := strconv.Atoi(string(f)); err == nil && pid > 0 {
					pids = append(pids, pid)
				}
			}
			return nil
		})
	}
	slices.Sort(pids)
	return slices.Compact(pids)
}

// waitEmpty waits until nobody is in a cgroup, killing whoever is there if kill says so.
func waitEmpty(ctx context.Context, cgroup string, kill bool) error {
	for {
		pids := processes(cgroup)
		if len(pids) == 0 {
			return nil
		}
		if kill {
			for _, pid := range pids {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// removeCgroups removes an empty cgroup and those below it.
func removeCgroups(cgroup string) error {
	var errs []error
	for _, dir := range cgroupDirs(cgroup) {
		var all []string
		filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				all = append(all, path)
			}
			return nil
		})
		slices.Reverse(all) // children first
		for _, path := range all {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, fmt.Errorf("remove cgroup: %w", err))
			}
		}
	}
	return errors.Join(errs...)
}

// cores lists the cores that we may use, in order.
func cores() ([]int, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil, fmt.Errorf("count cores: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			if all := parseRanges(strings.TrimSpace(list)); len(all) > 0 {
				return all, nil
			}
		}
	}
	return nil, errors.New("count cores: the kernel does not tell")
}

// parseRanges reads a list of the kernel: "0-3,8".
func parseRanges(list string) []int {
	var all []int
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		a, err1 := strconv.Atoi(first)
		b, err2 := strconv.Atoi(last)
		if err1 != nil || err2 != nil || b-a > 1<<16 {
			return nil
		}
		for i := a; i <= b; i++ {
			all = append(all, i)
		}
	}
	return all
}

// pick returns as many cores as n needs, beginning elsewhere for each slot, so that small sandboxes spread out.
func (e *Engine) pick(n float64, s slot) string {
	count := coresFor(n)
	var list []string
	for i := range count {
		list = append(list, strconv.Itoa(e.cores[(int(s)*count+i)%len(e.cores)]))
	}
	return strings.Join(list, ",")
}

func coresFor(n float64) int {
	count := int(n)
	if float64(count) < n {
		count++
	}
	return count
}
