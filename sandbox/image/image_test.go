package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/browsertabs/tabs/sandbox"
)

func header(typ byte, name, link string) *tar.Header {
	return &tar.Header{Typeflag: typ, Name: name, Linkname: link, Mode: 0o644, Uid: os.Getuid(), Gid: os.Getgid()}
}

type file struct {
	h    *tar.Header
	body string
}

func text(name, body string) file       { return file{header(tar.TypeReg, name, ""), body} }
func symlink(name, target string) file  { return file{header(tar.TypeSymlink, name, target), ""} }
func hardlink(name, target string) file { return file{header(tar.TypeLink, name, target), ""} }
func dir(name string) file {
	h := header(tar.TypeDir, name, "")
	h.Mode = 0o755
	return file{h, ""}
}

func archiveOf(t *testing.T, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		f.h.Size = int64(len(f.body))
		if err := w.WriteHeader(f.h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f.body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// unpack unpacks an archive into a directory whose neighbour must not change.
func unpack(t *testing.T, archive []byte, maxBytes int64) (root string, err error) {
	t.Helper()
	base := t.TempDir()
	outside := filepath.Join(base, "outside")
	root = filepath.Join(base, "root")
	for _, d := range []string{outside, root} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(base, "image.tar")
	for _, f := range []string{path, filepath.Join(outside, "secret")} {
		if err := os.WriteFile(f, archive, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err = Unpack(path, root, maxBytes)
	entries, _ := os.ReadDir(outside)
	secret, _ := os.ReadFile(filepath.Join(outside, "secret"))
	all, _ := os.ReadDir(base)
	if len(entries) != 1 || !bytes.Equal(secret, archive) || len(all) != 3 {
		t.Errorf("something was written outside: %v %v", entries, all)
	}
	return root, err
}

func want(t *testing.T, root, name, content string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil || string(b) != content {
		t.Errorf("%s: %q, %v; want %q", name, b, err, content)
	}
}

func TestRoot(t *testing.T) {
	setuid := text("usr/bin/su", "su")
	setuid.h.Mode = 0o4755
	xattr := text("usr/bin/ping", "ping")
	xattr.h.PAXRecords = map[string]string{xattrKey + "user.note": "hello", xattrKey + "trusted.overlay.opaque": "y"}
	device := file{header(tar.TypeChar, "dev/null", ""), ""}
	plainTar := archiveOf(t, dir("./"), dir("./usr/"), dir("./usr/bin"), symlink("bin", "usr/bin"), text("bin/sh", "sh"),
		symlink("var/run", "/run"), text("var/run/pid", "1"), hardlink("usr/bin/dash", "/usr/bin/sh"), setuid, device,
		symlink("etc/mtab", "../proc/self/mounts"), xattr, text("usr/bin/sh", "newer"))
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write(plainTar)
	z.Close()
	for name, archive := range map[string][]byte{"plain": plainTar, "gzip": zipped.Bytes()} {
		t.Run(name, func(t *testing.T) {
			root, err := unpack(t, archive, 1000)
			if err != nil {
				t.Fatal(err)
			}
			want(t, root, "usr/bin/sh", "newer") // replaced, not written through
			want(t, root, "usr/bin/dash", "sh")
			want(t, root, "run/pid", "1")
			fi, err := os.Stat(filepath.Join(root, "usr/bin/su"))
			if err != nil || fi.Mode() != 0o755|os.ModeSetuid {
				t.Errorf("mode of su: %v, %v", fi.Mode(), err)
			}
			if _, err := os.Lstat(filepath.Join(root, "dev/null")); err == nil {
				t.Error("a device was made")
			}
		})
	}
}

func TestHostile(t *testing.T) {
	foreign := text("a", "")
	foreign.h.Uid = 1 << 20
	for name, files := range map[string][]file{
		"climbs":               {text("../outside/x", "x")},
		"climbs from within":   {text("a/../../outside/x", "x")},
		"through a link":       {symlink("a", "../outside"), text("a/x", "x")},
		"link over link":       {symlink("a", "b"), symlink("b", "../outside"), text("a/x", "x")},
		"hard link out":        {hardlink("a", "../outside/secret"), text("a", "x")},
		"device":               {file{header(tar.TypeBlock, "disk", ""), ""}},
		"device behind a link": {symlink("l", "dev"), dir("dev"), file{header(tar.TypeChar, "x/null", ""), ""}},
		"round in links":       {symlink("a", "b"), symlink("b", "a"), text("a/x", "x")},
		"below a file":         {text("a", ""), text("a/b", "")},
		"bomb":                 {text("a", strings.Repeat("x", 600)), text("b", strings.Repeat("x", 600))},
		"owner of nobody":      {foreign},
		"climbing whiteout":    {dir("a"), text("a/.wh...", "")},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := unpack(t, archiveOf(t, files...), 1000)
			var e *sandbox.Error
			if !errors.As(err, &e) || e.Code != sandbox.CodeInvalidRequest || !strings.HasPrefix(e.Message, "image refused: ") {
				t.Errorf("got %v", err)
			}
		})
	}
	// An absolute link begins at the image's root, where it harms nobody.
	root, err := unpack(t, archiveOf(t, symlink("a", "/outside"), text("a/x", "x")), 1000)
	if err != nil {
		t.Error(err)
	}
	want(t, root, "outside/x", "x")
	// So does one that climbs on its way, where nothing is above.
	root, err = unpack(t, archiveOf(t, dir("d"), symlink("d/b", ".."), symlink("c", "d/b/../outside"), text("c/x", "x")), 1000)
	if err != nil {
		t.Error(err)
	}
	want(t, root, "outside/x", "x")
	for name, b := range map[string][]byte{
		"text": []byte("not a tar archive at all"), "half": archiveOf(t, text("a", strings.Repeat("x", 900)))[:700],
		"zstd": []byte("\x28\xb5\x2f\xfd...."), "half gzip": {0x1f, 0x8b, 8},
	} {
		if _, err := unpack(t, b, 1000); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func digest(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

func TestLayers(t *testing.T) {
	lower := archiveOf(t, text("keep", "1"), text("gone", "1"), text("d/old", "1"), text("change", "1"))
	var upper bytes.Buffer
	z := gzip.NewWriter(&upper)
	z.Write(archiveOf(t, text(".wh.gone", ""), text("d/.wh..wh..opq", ""), text("d/new", "2"), text("change", "2")))
	z.Close()
	blobs := []file{text("blobs/sha256/"+digest(lower), string(lower)), text("blobs/sha256/"+digest(upper.Bytes()), upper.String())}
	toJSON := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	layers := []descriptor{{Digest: "sha256:" + digest(lower)}, {Digest: "sha256:" + digest(upper.Bytes())}}
	manifest := toJSON(map[string]any{"layers": layers})
	oci := append(blobs, text("oci-layout", "{}"), text("blobs/sha256/"+digest([]byte(manifest)), manifest),
		text("index.json", toJSON(map[string]any{"manifests": []descriptor{{Digest: "sha256:" + digest([]byte(manifest))}}})))
	docker := append(blobs, text("manifest.json", toJSON([]map[string]any{{"Layers": []string{blobs[0].h.Name, blobs[1].h.Name}}})))
	for name, files := range map[string][]file{"oci": oci, "docker": docker} {
		t.Run(name, func(t *testing.T) {
			root, err := unpack(t, archiveOf(t, files...), 1000)
			if err != nil {
				t.Fatal(err)
			}
			want(t, root, "keep", "1")
			want(t, root, "change", "2")
			want(t, root, "d/new", "2")
			for _, gone := range []string{"gone", "d/old", ".wh.gone", "d/.wh..wh..opq"} {
				if _, err := os.Lstat(filepath.Join(root, gone)); err == nil {
					t.Errorf("%s is there", gone)
				}
			}
			forged := append([]file{text(blobs[0].h.Name, string(archiveOf(t, text("evil", "x"))))}, files...)
			if _, err := unpack(t, archiveOf(t, forged...), 1000); err == nil {
				t.Error("a part that is not what its name says is accepted")
			}
		})
	}
}
