package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// endpoint is where the server listens, and under which names it is reached there.
type endpoint struct {
	net.Listener
	tls   *tls.Config // nil for plain HTTP
	hosts []string    // names by which browsers may call it
	self  string      // origin for this machine's browser: "http://127.0.0.1:7780"
	other string      // host, with port, for other devices; "" when there is no way
}

var loopbackHosts = []string{"localhost", "127.0.0.1", "::1"}

// listen opens the address of c.
func listen(c *config, dir *dataDir, log *slog.Logger) (*endpoint, error) {
	l, err := openListener(c)
	if err != nil {
		return nil, err
	}
	e := &endpoint{Listener: l, hosts: slices.Clone(c.Hosts)}
	if err := e.describe(c, dir, log); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return e, nil
}

func openListener(c *config) (net.Listener, error) {
	if path, ok := strings.CutPrefix(c.Listen, "unix:"); ok {
		path, err := filepath.Abs(path)
		if err != nil {
			return nil, fmt.Errorf("listen on %s: %w", c.Listen, err)
		}
		// The proxy's user gets in by the group of the socket; nobody else does.
		return listenUnix(filepath.Dir(path), filepath.Base(path), 0o660)
	}
	l, err := net.Listen("tcp", c.Listen)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is taken by another program; stop it, or choose another port with --listen", c.Listen)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("this user may not listen on %s; choose a port above 1023 with --listen", c.Listen)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("this machine has no address %s; choose another with --listen", c.Listen)
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w", c.Listen, err)
	}
	return l, nil
}

// describe fills in the names, and the certificate that belongs to them.
func (e *endpoint) describe(c *config, dir *dataDir, log *slog.Logger) error {
	public := ""
	if len(c.Hosts) > 0 {
		public = c.Hosts[0]
	}
	if c.isUnix() {
		e.hosts = append(e.hosts, loopbackHosts...)
		e.self = "http://localhost"
		if c.BehindProxy {
			e.self, e.other = "https://"+public, public
		}
		return nil
	}
	addr := e.Addr().(*net.TCPAddr)
	port := fmt.Sprint(addr.Port)
	bound := boundHosts(addr)
	e.self = "http://" + net.JoinHostPort(ownHost(c, addr), port)
	switch {
	case c.BehindProxy:
		if c.isLoopback() {
			e.hosts = append(e.hosts, loopbackHosts...)
		}
		e.self, e.other = "https://"+public, public
	case c.TLSCert != "":
		cert, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey)
		if err != nil {
			return fmt.Errorf("read certificate: %w", err)
		}
		e.tls = tlsConfig(cert)
		names, err := leafHosts(cert)
		if err != nil {
			return err
		}
		e.hosts = append(append(e.hosts, names...), bound...)
		if i := slices.IndexFunc(names, func(n string) bool { return !strings.HasPrefix(n, "*.") }); public == "" && i >= 0 {
			public = names[i]
		}
		if public == "" {
			public = ownHost(c, addr)
		}
		e.self = "https://" + withPort(public, port)
	case c.TLSSelfSigned:
		names := append(slices.Clone(c.Hosts), bound...)
		cert, print, err := selfSigned(dir, names)
		if err != nil {
			return err
		}
		log.Info("self-signed certificate: compare when the browser warns", "sha256", print, "names", names)
		e.tls = tlsConfig(cert)
		e.hosts = append(e.hosts, bound...)
		if public == "" {
			public = ownHost(c, addr)
		}
		e.self = "https://" + withPort(public, port)
	default:
		e.hosts = append(e.hosts, loopbackHosts...)
	}
	if !c.isLoopback() && !c.BehindProxy {
		e.other = withPort(public, port)
	}
	return nil
}

func withPort(host, port string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port)
}

func tlsConfig(cert tls.Certificate) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
}

func leafHosts(cert tls.Certificate) ([]string, error) {
	leaf := cert.Leaf
	if leaf == nil {
		var err error
		if leaf, err = x509.ParseCertificate(cert.Certificate[0]); err != nil {
			return nil, fmt.Errorf("read certificate: %w", err)
		}
	}
	return certificateHosts(leaf), nil
}

// boundHosts are the names under which a listener on addr is reached without any DNS of ours: its address, or all of
// the machine's and its host name.
func boundHosts(addr *net.TCPAddr) []string {
	if !addr.IP.IsUnspecified() {
		if addr.IP.IsLoopback() {
			return loopbackHosts
		}
		return []string{addr.IP.String()}
	}
	hosts := slices.Clone(loopbackHosts)
	if name, err := os.Hostname(); err == nil && name != "" {
		hosts = append(hosts, name)
	}
	for _, a := range machineAddrs() {
		hosts = append(hosts, a.String())
	}
	return hosts
}

// ownHost is the address to print: the one that was asked for, or the first of the machine's that others may reach.
func ownHost(c *config, addr *net.TCPAddr) string {
	if host, _, err := net.SplitHostPort(c.Listen); err == nil && host == "localhost" {
		return host
	}
	if !addr.IP.IsUnspecified() {
		return addr.IP.String()
	}
	all := machineAddrs()
	if len(all) == 0 {
		return "localhost"
	}
	return all[0].String()
}

// machineAddrs are the addresses of the machine but loopback and link-local ones, IPv4 first.
func machineAddrs() []netip.Addr {
	found, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var all []netip.Addr
	for _, a := range found {
		n, ok := a.(*net.IPNet)
		if !ok {
			continue
		}
		ip, ok := netip.AddrFromSlice(n.IP)
		if ip = ip.Unmap(); ok && ip.IsGlobalUnicast() {
			all = append(all, ip)
		}
	}
	slices.SortStableFunc(all, func(a, b netip.Addr) int { return a.BitLen() - b.BitLen() })
	return all
}
