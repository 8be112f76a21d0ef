package sandboxtest

import (
	"archive/tar"
	"errors"
	"io"
	"path"
	"testing"
)

// tarNames returns the names in an archive, with the content of small files.
func tarNames(t *testing.T, r io.Reader) map[string]string {
	t.Helper()
	names := make(map[string]string)
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatalf("read archive: %v", err)
		}
		content := ""
		if h.Size < 1000 {
			b, err := io.ReadAll(tr)
			if err != nil {
				t.Fatalf("read %s: %v", h.Name, err)
			}
			content = string(b)
		}
		names[path.Clean(h.Name)] = content
	}
}
