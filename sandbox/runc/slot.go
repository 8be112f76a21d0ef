package runc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	idsPerRun = 1 << 16
	// firstID is the first of the ids that runs get. systemd leaves those from here to 2^31 to nobody, and those
	// below to containers and people.
	firstID  = 1879048192
	maxSlots = 4000

	slotDir = "/run/tabs/slots"
)

// slot is a place for a run on this machine, with what must not be shared between runs: a range of uids and an address.
// It is a file of the machine, not of an engine, so that two servers keep out of each other's way, and is gone with a
// reboot as the runs are.
type slot int

func (s slot) firstID() int { return firstID + int(s)*idsPerRun }
func (s slot) file() string { return filepath.Join(slotDir, strconv.Itoa(int(s))) }

// takeSlot takes a free place for the run in directory owner.
func takeSlot(owner string) (slot, error) {
	if err := os.MkdirAll(slotDir, 0o700); err != nil {
		return 0, fmt.Errorf("make slot directory: %w", err)
	}
	for s := slot(0); s < maxSlots; s++ {
		// A link comes with its content, so that nobody sees a slot without an owner.
		err := os.Symlink(owner, s.file())
		if err == nil {
			return s, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return 0, fmt.Errorf("take slot: %w", err)
		}
	}
	return 0, fmt.Errorf("all %d places for sandboxes on this machine are taken", maxSlots)
}

// slots lists the places whose owner matches.
func slots(match func(owner string) bool) ([]slot, error) {
	entries, err := os.ReadDir(slotDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list slots: %w", err)
	}
	var found []slot
	for _, entry := range entries {
		n, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if owner, err := os.Readlink(slot(n).file()); err == nil && match(owner) {
			found = append(found, slot(n))
		}
	}
	return found, nil
}

// ownedBy matches the owners that are a directory or below it.
func ownedBy(dir string) func(string) bool {
	return func(owner string) bool { return owner == dir || strings.HasPrefix(owner, dir+"/") }
}
