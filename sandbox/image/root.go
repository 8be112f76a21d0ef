package image

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/browsertabs/tabs/sandbox"
)

const (
	maxFiles = 1_000_000
	maxLinks = 40 // to follow in one name, as in the kernel
	xattrKey = "SCHILY.xattr."
)

// unpacker writes layers into a root, the lowest first.
type unpacker struct {
	root  *os.Root
	left  int64 // bytes that may still be written
	files int
}

func bad(format string, args ...any) error {
	return &sandbox.Error{Code: sandbox.CodeInvalidRequest, Field: "image", Message: "image refused: " + fmt.Sprintf(format, args...)}
}

// layer applies a tar stream.
func (u *unpacker) layer(r io.Reader) error {
	type dirTime struct {
		name string
		h    *tar.Header
	}
	var dirs []dirTime
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return bad("it is no whole tar archive: %v", err)
		}
		if u.files++; u.files > maxFiles {
			return bad("it has more than %d files", maxFiles)
		}
		name, err := u.place(h.Name)
		if err != nil {
			return err
		}
		if name == "." {
			if h.Typeflag == tar.TypeDir {
				if err := u.attributes(name, h); err != nil {
					return err
				}
			}
			continue
		}
		if done, err := u.whiteout(name); done || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		if err := u.entry(name, h, tr); err != nil {
			return fmt.Errorf("unpack %.200q: %w", h.Name, err)
		}
		if h.Typeflag == tar.TypeDir {
			dirs = append(dirs, dirTime{name, h})
		}
	}
	for _, d := range dirs { // what was put into them has changed their times
		u.root.Chtimes(d.name, d.h.ModTime, d.h.ModTime)
	}
	return nil
}

// place turns a name of the archive into one without links before its last part, as the image's own system would read
// it: an absolute link begins at the image's root. A name that climbs out is refused.
func (u *unpacker) place(name string) (string, error) {
	clean := path.Clean(strings.TrimPrefix(name, "/"))
	if strings.ContainsRune(name, 0) || clean == ".." || strings.HasPrefix(clean, "../") {
		return "", bad("%.200q leads out of it", name)
	}
	done, rest, links := ".", strings.Split(clean, "/"), 0
	for len(rest) > 1 {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			done = path.Dir(done)
			continue
		}
		next := path.Join(done, part)
		fi, err := u.root.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if err := u.root.Mkdir(next, 0o755); err != nil {
				return "", err
			}
		case err != nil:
			return "", err
		case fi.Mode()&fs.ModeSymlink != 0:
			if links++; links > maxLinks {
				return "", bad("%.200q goes round in links", name)
			}
			target, err := u.root.Readlink(next)
			if err != nil {
				return "", err
			}
			if path.IsAbs(target) {
				done = "."
			}
			// Not cleaned: what is above a link depends on where the link leads.
			rest = append(strings.Split(target, "/"), rest...)
			continue
		case !fi.IsDir():
			return "", bad("%.200q is below a file", name)
		}
		done = next
	}
	return path.Join(done, rest[0]), nil
}

// whiteout does what an entry of a layer says that only takes away from those below.
func (u *unpacker) whiteout(name string) (bool, error) {
	base, ok := strings.CutPrefix(path.Base(name), ".wh.")
	if !ok {
		return false, nil
	}
	dir := path.Dir(name)
	if base == ".wh..opq" {
		f, err := u.root.Open(dir)
		if err != nil {
			return true, err
		}
		names, err := f.Readdirnames(-1)
		f.Close()
		for _, n := range names {
			err = errors.Join(err, u.root.RemoveAll(path.Join(dir, n)))
		}
		return true, err
	}
	if base == "" || base == "." || base == ".." {
		return true, bad("%.200q takes away nothing", name)
	}
	return true, u.root.RemoveAll(path.Join(dir, base))
}

func (u *unpacker) entry(name string, h *tar.Header, r io.Reader) error {
	old, err := u.root.Lstat(name)
	if err == nil && !(old.IsDir() && h.Typeflag == tar.TypeDir) {
		if err := u.root.RemoveAll(name); err != nil {
			return err
		}
	}
	switch h.Typeflag {
	case tar.TypeDir:
		if err := u.root.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	case tar.TypeReg, tar.TypeGNUSparse:
		if err := u.file(name, h.Size, r); err != nil {
			return err
		}
	case tar.TypeSymlink:
		if climbs(name, h.Linkname) {
			return bad("%.200q links out of it, to %.200q", h.Name, h.Linkname)
		}
		if err := u.root.Symlink(h.Linkname, name); err != nil {
			return err
		}
	case tar.TypeLink:
		from, err := u.place(h.Linkname)
		if err != nil {
			return err
		}
		return u.root.Link(from, name) // has its target's attributes
	case tar.TypeChar, tar.TypeBlock:
		if path.Dir(name) == "dev" || strings.HasPrefix(name, "dev/") {
			return nil // a sandbox has a /dev of its own
		}
		return bad("%.200q is a device", h.Name)
	case tar.TypeFifo:
		if err := u.fifo(name); err != nil {
			return err
		}
	case tar.TypeXGlobalHeader:
		return nil
	default:
		return bad("%.200q is of the unknown type %q", h.Name, h.Typeflag)
	}
	return u.attributes(name, h)
}

// climbs reports whether a link at name would lead above the root, were the root not the end of the world.
func climbs(name, target string) bool {
	if path.IsAbs(target) {
		target = strings.TrimLeft(target, "/")
		return target != "" && !filepath.IsLocal(target) && path.Clean(target) != "."
	}
	inside := path.Join(path.Dir(name), target)
	return inside == ".." || strings.HasPrefix(inside, "../")
}

func (u *unpacker) file(name string, size int64, r io.Reader) error {
	if size > u.left {
		return bad("its files have more bytes than allowed: %d are left for one of %d", u.left, size)
	}
	f, err := u.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, r) // no more than size
	u.left -= n
	return errors.Join(err, f.Close())
}

// inDir calls f with a descriptor of the directory that name is in. No link is followed on the way.
func (u *unpacker) inDir(name string, f func(dir int, base string) error) error {
	d, err := u.root.Open(path.Dir(name))
	if err != nil {
		return err
	}
	defer d.Close()
	return f(int(d.Fd()), path.Base(name))
}

func (u *unpacker) fifo(name string) error {
	return u.inDir(name, func(dir int, base string) error { return unix.Mkfifoat(dir, base, 0o600) })
}

// attributes sets owner, then what a change of owner takes away: mode and extended attributes; times last.
func (u *unpacker) attributes(name string, h *tar.Header) error {
	if h.Uid < 0 || h.Gid < 0 || h.Uid > 0xfffe || h.Gid > 0xfffe {
		return bad("%.200q belongs to %d:%d: a sandbox has the owners 0 to 65534", h.Name, h.Uid, h.Gid)
	}
	if err := u.root.Lchown(name, h.Uid, h.Gid); err != nil {
		return err
	}
	if h.Typeflag == tar.TypeSymlink {
		return nil
	}
	mode := h.FileInfo().Mode()
	if err := u.root.Chmod(name, mode.Perm()|mode&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky)); err != nil {
		return err
	}
	for key, value := range h.PAXRecords {
		attr, ok := strings.CutPrefix(key, xattrKey)
		// Others are the host's business: overlay's own marks among them.
		if !ok || attr != "security.capability" && !strings.HasPrefix(attr, "user.") || h.Typeflag == tar.TypeFifo {
			continue
		}
		f, err := u.root.Open(name)
		if err != nil {
			return err
		}
		err = unix.Fsetxattr(int(f.Fd()), attr, []byte(value), 0)
		f.Close()
		if err != nil {
			return fmt.Errorf("set %s: %w", attr, err)
		}
	}
	return u.root.Chtimes(name, h.ModTime, h.ModTime)
}
