package runc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/browsertabs/tabs/sandbox"
)

// attachLoop makes a block device of an image. The kernel detaches it when the last user is gone, the returned file
// included, so that nothing is left whoever dies.
func attachLoop(image string) (*os.File, error) {
	img, err := os.OpenFile(image, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("open disk: %w", err)
	}
	defer img.Close()
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("open loop control: %w", err)
	}
	defer control.Close()
	for {
		n, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return nil, noLoop(err)
		}
		dev, err := os.OpenFile(fmt.Sprintf("/dev/loop%d", n), os.O_RDWR, 0)
		if err != nil {
			return nil, noLoop(err)
		}
		c := unix.LoopConfig{Fd: uint32(img.Fd())}
		c.Info.Flags = unix.LO_FLAGS_AUTOCLEAR
		copy(c.Info.File_name[:len(c.Info.File_name)-1], image)
		err = unix.IoctlLoopConfigure(int(dev.Fd()), &c)
		if err == nil {
			return dev, nil
		}
		dev.Close()
		if !errors.Is(err, unix.EBUSY) { // somebody else took it
			return nil, fmt.Errorf("attach disk: %w", err)
		}
	}
}

func noLoop(err error) error {
	return &sandbox.Error{Code: sandbox.CodeNoStorage, Message: "the host has no loop device left", Err: err,
		Remedy: "stop a sandbox, or raise the kernel's max_loop"}
}

// attached reports whether a loop device of an image is left. The kernel names the file by its full path.
func attached(image string) bool {
	files, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && strings.TrimSpace(string(b)) == image {
			return true
		}
	}
	return false
}
