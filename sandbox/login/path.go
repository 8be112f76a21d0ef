package login

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// LookPath finds a program as the shell of whoever has env would; exec.LookPath would search our own PATH. A program
// that is not there is exec.ErrNotFound, one that may not be run fs.ErrPermission.
func LookPath(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		// The kernel says EACCES to this and to a directory that the user may not enter alike.
		if fi, err := os.Stat(name); err == nil && (fi.IsDir() || fi.Mode()&0o111 == 0) {
			return "", &exec.Error{Name: name, Err: fs.ErrPermission}
		}
		return name, nil
	}
	var path string
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v
		}
	}
	for _, d := range filepath.SplitList(path) {
		if !filepath.IsAbs(d) {
			continue
		}
		file := filepath.Join(d, name)
		if fi, err := os.Stat(file); err == nil && !fi.IsDir() && fi.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}
