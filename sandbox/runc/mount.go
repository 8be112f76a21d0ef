package runc

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// inMountNamespace calls f on a thread with a mount namespace of its own. What f mounts is seen by the processes that
// f starts and by nobody else. It is gone when the last of them is: the thread ends with f.
func inMountNamespace(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == os.Getpid() { // the main thread never ends, so neither would the namespace: hold it meanwhile
			done <- inMountNamespace(f)
			runtime.UnlockOSThread()
			return
		}
		// From here on never unlocked: the runtime ends the thread with the goroutine.
		err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS)
		if err == nil {
			err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
		}
		if err != nil {
			done <- fmt.Errorf("make mount namespace: %w", err)
			return
		}
		done <- f()
	}()
	return <-done
}

// idmap turns the owners of files in a mount, which are those that programs inside see, into the ids of a run.
type idmap struct{ userns *os.File }

// newIDMap makes the map of ids from base on. A user namespace exists as long as a process in it or a descriptor of it.
func (e *Engine) newIDMap(base int) (idmap, error) {
	ids := []syscall.SysProcIDMap{{ContainerID: 0, HostID: base, Size: idsPerRun}}
	if base != 0 {
		// An overlay makes its own working files as whoever mounted it, who has to be somebody on the disk: an
		// owner that nobody inside can be.
		ids = append(ids, syscall.SysProcIDMap{ContainerID: idsPerRun, HostID: 0, Size: 1})
	}
	holdStdin, release, err := os.Pipe()
	if err != nil {
		return idmap{}, err
	}
	defer release.Close()
	defer holdStdin.Close()
	// An idmapped mount is made with a namespace that is not ours; somebody has to be born in it.
	p, err := os.StartProcess(e.initPath(), []string{"init", "hold"}, &os.ProcAttr{
		Files: []*os.File{holdStdin},
		Sys: &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: ids, GidMappings: ids,
			GidMappingsEnableSetgroups: true},
	})
	if err != nil {
		return idmap{}, fmt.Errorf("make user namespace: %w", err)
	}
	defer func() {
		p.Kill()
		p.Wait()
	}()
	f, err := os.Open(fmt.Sprintf("/proc/%d/ns/user", p.Pid))
	if err != nil {
		return idmap{}, fmt.Errorf("open user namespace: %w", err)
	}
	return idmap{f}, nil
}

func (m idmap) close() { m.userns.Close() }

// bind mounts a directory at another with its owners mapped.
func (m idmap) bind(from, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	fd, err := unix.OpenTree(unix.AT_FDCWD, from, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return fmt.Errorf("take %s: %w", from, err)
	}
	defer unix.Close(fd)
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_IDMAP, Userns_fd: uint64(m.userns.Fd())}
	if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, &attr); err != nil {
		return fmt.Errorf("map owners of %s: %w", from, err)
	}
	if err := unix.MoveMount(fd, "", unix.AT_FDCWD, to, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("mount %s: %w", from, err)
	}
	return nil
}

// mountRoot mounts a sandbox's root at dir/root: the layers, topmost first, under the disk. It is for a mount namespace
// that ends by itself.
func (m idmap) mountRoot(dir, disk string, layers []string) error {
	dev, err := attachLoop(disk)
	if err != nil {
		return err
	}
	defer dev.Close() // the mount keeps it
	raw, mapped, root := filepath.Join(dir, "raw"), filepath.Join(dir, "disk"), filepath.Join(dir, "root")
	for _, d := range []string{raw, root} {
		if err := os.MkdirAll(d, 0o711); err != nil {
			return err
		}
	}
	// discard gives the host back what files that were removed inside took.
	err = unix.Mount(dev.Name(), raw, "ext4", unix.MS_NODEV|unix.MS_NOATIME, "discard,errors=remount-ro")
	if err != nil {
		return fmt.Errorf("mount disk: %w", err)
	}
	for _, d := range []string{"upper", "work"} {
		if err := os.Mkdir(filepath.Join(raw, d), 0o755); err != nil && !os.IsExist(err) {
			return fmt.Errorf("prepare disk: %w", err)
		}
	}
	if err := m.bind(raw, mapped); err != nil {
		return err
	}
	// An overlay copies what its layers are when it is mounted, so that their mounts need not stay. Short names: the
	// kernel takes a page of options.
	var lower []string
	for i, layer := range layers {
		to := filepath.Join(dir, fmt.Sprint("l", i))
		if err := m.bind(layer, to); err != nil {
			return err
		}
		lower = append(lower, to)
	}
	// Without the options, what an upper directory means would depend on the kernel's build, and a copy of it be
	// worth nothing elsewhere.
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s/upper,workdir=%s/work,index=off,metacopy=off,redirect_dir=off", strings.Join(lower, ":"), mapped, mapped)
	if err := unix.Mount("overlay", root, "overlay", unix.MS_NODEV|unix.MS_NOATIME, options); err != nil {
		return fmt.Errorf("mount root: %w", err)
	}
	return nil
}
