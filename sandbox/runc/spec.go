package runc

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/browsertabs/tabs/sandbox/runc/agent"
)

// The parts of the OCI runtime specification's config.json that we use.
type (
	ociSpec struct {
		Version  string     `json:"ociVersion"`
		Process  ociProcess `json:"process"`
		Root     ociRoot    `json:"root"`
		Hostname string     `json:"hostname"`
		Mounts   []ociMount `json:"mounts"`
		Linux    ociLinux   `json:"linux"`
	}
	ociProcess struct {
		Cwd          string              `json:"cwd"`
		Args         []string            `json:"args"`
		Env          []string            `json:"env"`
		User         struct{}            `json:"user"`
		Capabilities map[string][]string `json:"capabilities"`
	}
	ociRoot struct {
		Path string `json:"path"`
	}
	ociMount struct {
		Destination string   `json:"destination"`
		Type        string   `json:"type,omitempty"`
		Source      string   `json:"source,omitempty"`
		Options     []string `json:"options,omitempty"`
	}
	ociLinux struct {
		UIDMappings   []ociIDMap        `json:"uidMappings"`
		GIDMappings   []ociIDMap        `json:"gidMappings"`
		Namespaces    []ociNamespace    `json:"namespaces"`
		CgroupsPath   string            `json:"cgroupsPath"`
		Resources     ociResources      `json:"resources"`
		Seccomp       *ociSeccomp       `json:"seccomp,omitempty"`
		MaskedPaths   []string          `json:"maskedPaths"`
		ReadonlyPaths []string          `json:"readonlyPaths"`
		Sysctl        map[string]string `json:"sysctl,omitempty"`
	}
	ociIDMap struct {
		ContainerID int `json:"containerID"`
		HostID      int `json:"hostID"`
		Size        int `json:"size"`
	}
	ociNamespace struct {
		Type string `json:"type"`
	}
	ociResources struct {
		CPU struct {
			Quota  int64  `json:"quota,omitempty"`
			Period uint64 `json:"period,omitempty"`
			Cpus   string `json:"cpus"`
		} `json:"cpu"`
		Memory struct {
			Limit int64 `json:"limit"`
			Swap  int64 `json:"swap"`
		} `json:"memory"`
		Pids struct {
			Limit int64 `json:"limit"`
		} `json:"pids"`
		Devices []ociDeviceRule `json:"devices"`
	}
	ociDeviceRule struct {
		Allow  bool   `json:"allow"`
		Access string `json:"access"`
	}
	ociSeccomp struct {
		DefaultAction string       `json:"defaultAction"`
		Architectures []string     `json:"architectures,omitempty"`
		Syscalls      []ociSyscall `json:"syscalls"`
	}
	ociSyscall struct {
		Names  []string `json:"names"`
		Action string   `json:"action"`
	}
)

// capabilities are what a root of a machine of its own needs to install packages, change users, trace programs and
// listen on low ports. Without SYS_ADMIN nothing inside can mount.
var capabilities = []string{
	"CAP_AUDIT_WRITE", "CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL", "CAP_MKNOD",
	"CAP_NET_BIND_SERVICE", "CAP_NET_RAW", "CAP_SETFCAP", "CAP_SETGID", "CAP_SETPCAP", "CAP_SETUID", "CAP_SYS_CHROOT",
	"CAP_SYS_NICE", "CAP_SYS_PTRACE",
}

// refused are calls that reach parts of the kernel which no namespace divides. A program that tries one is told that it
// may not, as it would be without the capability.
var refused = []string{
	"add_key", "bpf", "delete_module", "finit_module", "init_module", "io_uring_enter", "io_uring_register",
	"io_uring_setup", "kexec_file_load", "kexec_load", "keyctl", "open_by_handle_at", "perf_event_open", "quotactl",
	"reboot", "request_key", "swapoff", "swapon", "userfaultfd",
}

const (
	// maxPIDs keeps a fork bomb inside: many more than people run, many fewer than the kernel has.
	maxPIDs = 8192

	initInside = "/run/tabs-init"
	quotaMicro = 100_000
)

func (e *Engine) ociSpec(id string, r record, s slot) ociSpec {
	// What the network knows is told at every start; the rest the disk remembers.
	config := agent.Config{Hostname: r.Hostname, Env: r.Env}
	if e.net != nil {
		config.Resolv = e.net.resolv()
	}
	told, err := json.Marshal(config)
	if err != nil {
		panic(err) // strings only
	}
	spec := ociSpec{
		Version: "1.0.2",
		Process: ociProcess{
			Cwd: "/", Args: []string{initInside},
			Env:          []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", agent.ConfigEnv + "=" + string(told)},
			Capabilities: make(map[string][]string),
		},
		Root: ociRoot{Path: "root"}, Hostname: r.Hostname,
		Mounts: []ociMount{
			{"/proc", "proc", "proc", []string{"nosuid", "noexec", "nodev"}},
			{"/dev", "tmpfs", "tmpfs", []string{"nosuid", "strictatime", "mode=755", "size=65536k"}},
			{"/dev/pts", "devpts", "devpts", []string{"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"}},
			{"/dev/shm", "tmpfs", "shm", []string{"nosuid", "nodev", "mode=1777"}},
			{"/dev/mqueue", "mqueue", "mqueue", []string{"nosuid", "noexec", "nodev"}},
			{"/sys", "sysfs", "sysfs", []string{"nosuid", "noexec", "nodev", "ro"}},
			{"/sys/fs/cgroup", "cgroup", "cgroup", []string{"nosuid", "noexec", "nodev", "ro"}},
			// Sockets and what ends with the run. Full disks do not reach it.
			{"/run", "tmpfs", "tmpfs", []string{"nosuid", "nodev", "mode=755"}},
			// Without further options: to repeat those of the host's mount, which a user namespace may not loosen,
			// one would have to know them. Its owner is a stranger inside, so nobody can write to it.
			{initInside, "bind", e.initPath(), []string{"bind"}},
		},
		Linux: ociLinux{
			UIDMappings: []ociIDMap{{0, s.firstID(), idsPerRun}}, GIDMappings: []ociIDMap{{0, s.firstID(), idsPerRun}},
			CgroupsPath: e.cgroup(id),
			Seccomp:     &ociSeccomp{"SCMP_ACT_ALLOW", seccompArchitectures, []ociSyscall{{refused, "SCMP_ACT_ERRNO"}}},
			MaskedPaths: []string{"/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list",
				"/proc/sched_debug", "/proc/scsi", "/sys/firmware", "/sys/devices/virtual/powercap"},
			ReadonlyPaths: []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"},
			Sysctl:        map[string]string{"net.ipv4.ping_group_range": fmt.Sprint("0 ", idsPerRun-1)},
		},
	}
	for _, set := range []string{"bounding", "effective", "permitted"} {
		spec.Process.Capabilities[set] = capabilities
	}
	for _, ns := range []string{"pid", "network", "ipc", "uts", "mount", "cgroup", "user"} {
		spec.Linux.Namespaces = append(spec.Linux.Namespaces, ociNamespace{ns})
	}
	if e.lxcfs != "" {
		for _, name := range shown {
			spec.Mounts = append(spec.Mounts, ociMount{"/proc/" + name, "bind", filepath.Join(e.lxcfs, "proc", name), []string{"bind"}})
		}
	}
	res := &spec.Linux.Resources
	// As wide as the number of cores, so that programs count right; a fraction has a quota on top.
	res.CPU.Cpus = e.pick(r.Limits.CPU, s)
	if float64(coresFor(r.Limits.CPU)) != r.Limits.CPU {
		res.CPU.Period, res.CPU.Quota = quotaMicro, int64(r.Limits.CPU*quotaMicro)
	}
	res.Memory.Limit, res.Memory.Swap = r.Limits.RAMBytes, r.Limits.RAMBytes
	res.Pids.Limit = maxPIDs
	res.Devices = []ociDeviceRule{{Allow: false, Access: "rwm"}}
	return spec
}
