package sandbox

import "fmt"

// Capability is something that not every provider can do on every machine.
type Capability string

const (
	CanLive       Capability = "live"        // create, start, stop, delete
	CanBuild      Capability = "build"       // make templates
	CanLimitDisk  Capability = "disk_limit"  // a disk that fills up alone
	CanGrowDisk   Capability = "grow_disk"   // a larger disk with the same files
	CanForkLive   Capability = "fork_live"   // copy the disk of a running sandbox
	CanNetwork    Capability = "network"     // reach out
	CanShowLimits Capability = "show_limits" // programs inside see their own cores and memory
	CanExport     Capability = "export"
	CanDial       Capability = "dial"
)

// Capabilities is what a provider found it can do here, by doing it.
type Capabilities struct {
	Isolation string                // "none", "container" or "vm"
	Missing   map[Capability]string // what it cannot do, and why; it can do everything else
}

// Need returns the error of whoever needs c, nil when it is there.
func (c Capabilities) Need(what Capability) error {
	why, missing := c.Missing[what]
	if !missing {
		return nil
	}
	return &Error{Code: CodeNotSupported, Message: fmt.Sprintf("%s is not supported here: %s", what, why)}
}
