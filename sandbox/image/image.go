package image

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"runtime"
	"strings"
)

// Digest is what an image is known by: the SHA-256 of its file.
func Digest(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read image: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Unpack writes the files of an image into dir, at most maxBytes of them. An error leaves some there.
func Unpack(file, dir string, maxBytes int64) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	u := &unpacker{root: root, left: maxBytes}
	a, err := openArchive(file)
	if err != nil {
		return err
	}
	layers, err := a.layers()
	if err != nil {
		return err
	}
	if layers == nil { // a root
		return a.read(func(r io.Reader) error { return u.layer(r) })
	}
	for _, l := range layers {
		if err := a.member(l, u.layer); err != nil {
			return err
		}
	}
	return nil
}

// archive is a tarball of an image: of a root, or of files that describe one. Those are read by name, each with a pass
// over the file, so that nothing but small descriptions is held in memory.
type archive struct{ file string }

func openArchive(file string) (archive, error) {
	fi, err := os.Stat(file)
	if err != nil {
		return archive{}, err
	}
	if !fi.Mode().IsRegular() {
		return archive{}, bad("%s is no file: give a tarball", file)
	}
	return archive{file}, nil
}

func (a archive) read(f func(io.Reader) error) error {
	file, err := os.Open(a.file)
	if err != nil {
		return err
	}
	defer file.Close()
	r, err := plain(file)
	if err != nil {
		return err
	}
	return f(r)
}

// plain takes a compression away.
func plain(r io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	head, _ := b.Peek(6)
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, bad("it is no whole gzip file: %v", err)
		}
		return z, nil
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}), bytes.HasPrefix(head, []byte("\xfd7zXZ")), bytes.HasPrefix(head, []byte("BZh")):
		return nil, bad("of compressions only gzip is known: unpack it first (zstd -d, xz -d, bzip2 -d)")
	}
	return b, nil
}

// errFound ends a pass early.
var errFound = errors.New("found")

// member calls f with one file of the archive.
func (a archive) member(l blob, f func(io.Reader) error) error {
	err := a.read(func(r io.Reader) error {
		for tr := tar.NewReader(r); ; {
			h, err := tr.Next()
			if errors.Is(err, io.EOF) {
				return bad("it lacks its part %.200q", l.name)
			}
			if err != nil {
				return bad("it is no whole tar archive: %v", err)
			}
			if path.Clean(h.Name) != l.name || h.Typeflag != tar.TypeReg {
				continue
			}
			sum := sha256.New()
			whole := io.TeeReader(tr, sum)
			in, err := plain(whole)
			if err != nil {
				return err
			}
			if err := f(in); err != nil {
				return err
			}
			if _, err := io.Copy(io.Discard, whole); err != nil { // what tar pads
				return bad("its part %.200q cannot be read: %v", l.name, err)
			}
			if l.sha256 != "" && hex.EncodeToString(sum.Sum(nil)) != l.sha256 {
				return bad("its part %.200q is not what its name says", l.name)
			}
			return errFound
		}
	})
	if errors.Is(err, errFound) {
		return nil
	}
	return err
}

// blob is a file of the archive, with the hash that it must have where one is known.
type blob struct{ name, sha256 string }

const maxDescription = 4 << 20

func (a archive) description(l blob, v any) error {
	return a.member(l, func(r io.Reader) error {
		if err := json.NewDecoder(io.LimitReader(r, maxDescription)).Decode(v); err != nil {
			return bad("its part %.200q cannot be read: %v", l.name, err)
		}
		return nil
	})
}

// layers lists an image's layers, the lowest first; nil says that the archive is itself a root.
func (a archive) layers() ([]blob, error) {
	var docker, oci bool
	err := a.read(func(r io.Reader) error {
		for tr := tar.NewReader(r); ; {
			h, err := tr.Next()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return bad("it is no whole tar archive: %v", err)
			}
			docker = docker || path.Clean(h.Name) == "manifest.json"
			oci = oci || path.Clean(h.Name) == "oci-layout"
		}
	})
	switch {
	case err != nil:
		return nil, err
	case docker:
		return a.dockerLayers()
	case oci:
		return a.ociLayers()
	}
	return nil, nil
}

func (a archive) dockerLayers() ([]blob, error) {
	var manifest []struct{ Layers []string }
	if err := a.description(blob{name: "manifest.json"}, &manifest); err != nil {
		return nil, err
	}
	if len(manifest) != 1 || len(manifest[0].Layers) == 0 {
		return nil, bad("it holds %d images: save one alone", len(manifest))
	}
	var list []blob
	for _, name := range manifest[0].Layers {
		b := blob{name: path.Clean(name)}
		if hash, ok := strings.CutPrefix(b.name, "blobs/sha256/"); ok {
			b.sha256 = hash
		}
		list = append(list, b)
	}
	return list, nil
}

// descriptor is how an OCI document points at another.
type descriptor struct {
	MediaType string
	Digest    string
	Platform  *struct{ Architecture, OS string }
}

var sha256Digest = regexp.MustCompile(`^sha256:([0-9a-f]{64})$`)

func (d descriptor) blob() (blob, error) {
	m := sha256Digest.FindStringSubmatch(d.Digest)
	if m == nil {
		return blob{}, bad("digest %.100q is of a kind that is not known", d.Digest)
	}
	return blob{name: "blobs/sha256/" + m[1], sha256: m[1]}, nil
}

func (a archive) ociLayers() ([]blob, error) {
	at := blob{name: "index.json"}
	for range 3 { // an index may point at an index, for several machines
		var doc struct{ Manifests, Layers []descriptor }
		if err := a.description(at, &doc); err != nil {
			return nil, err
		}
		if len(doc.Layers) > 0 {
			var list []blob
			for _, l := range doc.Layers {
				b, err := l.blob()
				if err != nil {
					return nil, err
				}
				list = append(list, b)
			}
			return list, nil
		}
		next, err := choose(doc.Manifests)
		if err != nil {
			return nil, err
		}
		if at, err = next.blob(); err != nil {
			return nil, err
		}
	}
	return nil, bad("it has no layers")
}

// choose picks the image for this machine.
func choose(all []descriptor) (descriptor, error) {
	var found []descriptor
	for _, d := range all {
		if d.Platform == nil || d.Platform.OS == "linux" && d.Platform.Architecture == runtime.GOARCH {
			found = append(found, d)
		}
	}
	if len(found) != 1 {
		return descriptor{}, bad("it holds %d images for linux/%s: want one", len(found), runtime.GOARCH)
	}
	return found[0], nil
}
