package runc

import (
	"bufio"
	"context"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

const (
	// gateway is the same address for every run: the host's end of its own cable. It is from the range that only
	// one cable's two ends know (RFC 3927), so it collides with no network of the host.
	gateway = "169.254.77.1"
	// vethPrefix marks the host's ends of all servers' cables: rules of one server hold against the others' too.
	vethPrefix = "tbx"
)

// boxes are the addresses of runs: slot n has the n-th, from the second on.
var boxes = netip.MustParsePrefix("10.213.0.0/20")

// network is the world of the runs of one engine: a cable for each run that ends at the host, no bridge between them,
// and rules that let them out and nothing in.
type network struct {
	table string
	dns   []string // what runs find in /etc/resolv.conf
}

func (s slot) address() string {
	a := boxes.Addr().As4()
	n := int(s) + 2
	a[2], a[3] = a[2]|byte(n>>8), byte(n)
	return netip.AddrFrom4(a).String()
}

func (s slot) veth() string { return vethPrefix + strconv.Itoa(int(s)) }

// openNetwork lays the rules. They replace those of an earlier server at once.
func openNetwork(ctx context.Context, instance string) (*network, error) {
	for _, name := range []string{"ip", "nft", "nsenter"} {
		if _, err := lookPath(name); err != nil {
			return nil, fmt.Errorf("%s is not installed: apt-get install iproute2 nftables util-linux", name)
		}
	}
	n := &network{table: "tabs_" + instance}
	resolv, err := os.Open("/etc/resolv.conf")
	if err == nil {
		defer resolv.Close()
		for sc := bufio.NewScanner(resolv); sc.Scan(); {
			f := strings.Fields(sc.Text())
			if len(f) < 2 || f[0] != "nameserver" {
				continue
			}
			if a, err := netip.ParseAddr(f[1]); err == nil && a.Is4() {
				n.dns = append(n.dns, f[1])
			}
		}
	}
	if err := n.lay(ctx); err != nil {
		return nil, err
	}
	const forward = "/proc/sys/net/ipv4/ip_forward"
	if b, _ := os.ReadFile(forward); strings.TrimSpace(string(b)) != "1" {
		if err := os.WriteFile(forward, []byte("1"), 0); err != nil {
			return nil, fmt.Errorf("let packets through: %w", err)
		}
	}
	return n, nil
}

// lay writes the rules, those of no run yet. A run may speak only as itself, to the world and to names' servers; not to the host, to other
// runs, or to link-local addresses, where clouds keep the machine's own credentials. A resolver on the host's loopback
// is reached by the gateway's address.
func (n *network) lay(ctx context.Context) error {
	var local string
	for i, a := range n.dns {
		if addr := netip.MustParseAddr(a); addr.IsLoopback() {
			local, n.dns[i] = a, gateway
		}
	}
	var dns strings.Builder
	if local != "" {
		for _, proto := range []string{"udp", "tcp"} {
			fmt.Fprintf(&dns, "iifname %q ip daddr %s %s dport 53 dnat ip to %s\n", vethPrefix+"*", gateway, proto, local)
		}
	}
	rules := fmt.Sprintf(`
table inet %[1]s
delete table inet %[1]s
table inet %[1]s {
	set runs { type ifname . ipv4_addr; }
	chain from_run {
		meta nfproto ipv6 drop
		iifname . ip saddr != @runs drop
	}
	chain input {
		type filter hook input priority -10; policy accept;
		iifname != "%[2]s*" accept
		ct state established,related accept
		ct status dnat accept
		icmp type echo-request accept
		drop
	}
	chain forward {
		type filter hook forward priority -10; policy accept;
		iifname "%[2]s*" oifname "%[2]s*" drop
		oifname "%[2]s*" ct state established,related accept
		oifname "%[2]s*" drop
		iifname "%[2]s*" ip daddr 169.254.0.0/16 drop
	}
	chain spoofed {
		type filter hook prerouting priority -310; policy accept;
		iifname @mine jump from_run
	}
	set mine { type ifname; }
	chain names {
		type nat hook prerouting priority -100; policy accept;
		%[4]s
	}
	chain out {
		type nat hook postrouting priority 100; policy accept;
		ip saddr %[3]s oifname != "%[2]s*" masquerade
	}
}
`, n.table, vethPrefix, boxes, dns.String())
	if _, err := run(ctx, rules, "nft", "-f", "-"); err != nil {
		return fmt.Errorf("lay network rules: %w", err)
	}
	return nil
}

// resolv is the content of a run's /etc/resolv.conf.
func (n *network) resolv() string {
	var b strings.Builder
	for _, a := range n.dns {
		fmt.Fprintln(&b, "nameserver", a)
	}
	return b.String()
}

// plug lays the cable of a run into the network namespace of its process.
func (n *network) plug(ctx context.Context, s slot, pid int) error {
	veth, addr := s.veth(), s.address()
	outside := fmt.Sprintf("link add %[1]s type veth peer name eth0 netns %[2]d\nlink set %[1]s up\naddr add %[3]s/32 dev %[1]s\nroute add %[4]s/32 dev %[1]s\n",
		veth, pid, gateway, addr)
	if _, err := run(ctx, outside, "ip", "-batch", "-"); err != nil {
		return fmt.Errorf("lay cable: %w", err)
	}
	inside := fmt.Sprintf("link set lo up\naddr add %[1]s/32 dev eth0\nlink set eth0 up\nroute add %[2]s/32 dev eth0\nroute add default via %[2]s\n",
		addr, gateway)
	if _, err := run(ctx, inside, "nsenter", fmt.Sprintf("--net=/proc/%d/ns/net", pid), "ip", "-batch", "-"); err != nil {
		return fmt.Errorf("plug cable in: %w", err)
	}
	if _, err := run(ctx, n.elements("add", s), "nft", "-f", "-"); err != nil {
		return fmt.Errorf("let run out: %w", err)
	}
	return nil
}

// unplug takes a cable away; the kernel may have done it already, with the run's namespace, or does it in a moment.
func unplug(ctx context.Context, s slot) {
	run(ctx, "", "ip", "link", "delete", s.veth())
}

// shut takes back what plug allowed, if it did. Only what is there can be deleted.
func (n *network) shut(ctx context.Context, s slot) error {
	if _, err := run(ctx, n.elements("add", s)+n.elements("delete", s), "nft", "-f", "-"); err != nil {
		return fmt.Errorf("close run's way out: %w", err)
	}
	return nil
}

// elements are the commands that make the rules know of a run, or forget it.
func (n *network) elements(verb string, s slot) string {
	return fmt.Sprintf("%[1]s element inet %[2]s runs { %[3]q . %[4]s }\n%[1]s element inet %[2]s mine { %[3]q }\n",
		verb, n.table, s.veth(), s.address())
}

// connect opens the network, for runs that outlived an earlier server too.
func (e *Engine) connect(ctx context.Context) (*network, error) {
	n, err := openNetwork(ctx, e.instance)
	if err != nil {
		return nil, err
	}
	runs, err := slots(ownedBy(e.c.RunDir))
	if err != nil {
		return nil, err
	}
	for _, s := range runs {
		if _, err := run(ctx, n.elements("add", s), "nft", "-f", "-"); err != nil {
			return nil, fmt.Errorf("let run out: %w", err)
		}
	}
	return n, nil
}

func (n *network) remove(ctx context.Context) error {
	_, err := run(ctx, "", "nft", "delete", "table", "inet", n.table)
	return err
}
