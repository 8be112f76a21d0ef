package e2e

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// otherVersion builds a server that says it is another version than the one under test.
func otherVersion(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tabs")
	if out, err := exec.Command("go", "build", "-o", path, "-ldflags", "-X main.version=v99.0.0", root+"/cmd/tabs").CombinedOutput(); err != nil {
		t.Fatalf("build server: %v\n%s", err, out)
	}
	return path
}
