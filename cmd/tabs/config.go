package main

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// config is the effective configuration of the server.
type config struct {
	Config        string
	DataDir       string
	Listen        string
	TLSCert       string
	TLSKey        string
	TLSSelfSigned bool
	BehindProxy   bool
	BasePath      string
	Hosts         []string
	Local         bool
	TrustedHeader string
	TrustedSecret string
	Scrollback    int
	TmuxConf      bool
	LogFormat     string
	LogLevel      string

	names   []string          // of the settings, in order
	sources map[string]string // where a setting that is not the default comes from
}

// problems are everything that is wrong with a configuration.
type problems []string

func (p problems) Error() string { return strings.Join(p, "; ") }

// flags declares every setting: its name is the flag, the key in the file, and TABS_NAME in the environment.
func (c *config) flags(env environment) *pflag.FlagSet {
	f := pflag.NewFlagSet("tabs", pflag.ContinueOnError)
	f.SortFlags = false
	f.StringVar(&c.Listen, "listen", "127.0.0.1:7780", "`address` to listen on: HOST:PORT, or unix:PATH")
	f.StringVar(&c.DataDir, "data-dir", env.dataDir(), "`directory` for everything the server keeps")
	f.StringVar(&c.Config, "config", env.configFile(), "`file` to read settings from")
	f.StringVar(&c.TLSCert, "tls-cert", "", "`file` with the certificate, PEM")
	f.StringVar(&c.TLSKey, "tls-key", "", "`file` with its key, PEM")
	f.BoolVar(&c.TLSSelfSigned, "tls-self-signed", false, "make a certificate and keep it in the data directory")
	f.BoolVar(&c.BehindProxy, "behind-proxy", false, "a proxy ends TLS; believe its X-Forwarded-Proto, -Host and -For")
	f.StringVar(&c.BasePath, "base-path", "", "`path` under which a proxy shows the server, such as /term")
	f.StringSliceVar(&c.Hosts, "host", nil, "host `name` by which browsers reach the server; may be given several times")
	f.BoolVar(&c.Local, "local", false, "offer this machine as the sandbox \"local\" (default: on a loopback address only)")
	f.StringVar(&c.TrustedHeader, "trusted-header", "", "`header` in which an authenticating proxy says who asks")
	f.StringVar(&c.TrustedSecret, "trusted-secret", "", "`secret` the proxy sends in X-Tabs-Proxy-Secret; not needed on a unix socket")
	f.IntVar(&c.Scrollback, "scrollback", 10000, "`lines` of history kept of each terminal")
	f.BoolVar(&c.TmuxConf, "tmux-conf", false, "read the user's own tmux.conf too")
	f.StringVar(&c.LogFormat, "log-format", "text", "text or json")
	f.StringVar(&c.LogLevel, "log-level", "info", "debug, info, warn or error")
	c.names = nil
	f.VisitAll(func(s *pflag.Flag) { c.names = append(c.names, s.Name) })
	return f
}

// withConfig adds the settings to a command and returns how to load them once its flags are parsed.
func withConfig(cmd *cobra.Command, env environment) func() (*config, error) {
	c := &config{sources: make(map[string]string)}
	f := c.flags(env)
	cmd.Flags().AddFlagSet(f)
	return func() (*config, error) {
		p := c.load(f, env)
		p = append(p, c.check()...)
		if len(p) > 0 {
			return nil, p
		}
		return c, nil
	}
}

// load fills in what the command line left open: from the environment, then from the file.
func (c *config) load(f *pflag.FlagSet, env environment) (p problems) {
	given := make(map[string]bool)
	f.VisitAll(func(s *pflag.Flag) {
		if s.Changed {
			given[s.Name] = true
			c.sources[s.Name] = "--" + s.Name
			return
		}
		name := envName(s.Name)
		v, ok := env.get(name)
		if !ok {
			return
		}
		given[s.Name] = true
		c.sources[s.Name] = name
		if err := s.Value.Set(v); err != nil {
			p = append(p, fmt.Sprintf("%s (%s): %v", s.Name, name, err))
		}
	})
	values, err := readFile(c.Config)
	if errors.Is(err, fs.ErrNotExist) && !given["config"] {
		err = nil
	}
	if err != nil {
		return append(p, fmt.Sprintf("config: %v", err))
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		s := f.Lookup(key)
		if s == nil || key == "config" {
			p = append(p, fmt.Sprintf("%s (%s): there is no such setting", key, c.Config))
			continue
		}
		if given[key] {
			continue
		}
		c.sources[key] = c.Config
		text, err := fileValue(values[key])
		if err == nil {
			err = s.Value.Set(text)
		}
		if err != nil {
			p = append(p, fmt.Sprintf("%s (%s): %v", key, c.Config, err))
		}
	}
	return p
}

func readFile(path string) (map[string]any, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var values map[string]any
	if _, err := toml.Decode(string(text), &values); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return values, nil
}

// fileValue is a value of the file as the command line would say it.
func fileValue(v any) (string, error) {
	switch v := v.(type) {
	case string, bool, int64:
		return fmt.Sprint(v), nil
	case []any:
		var all []string
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				return "", errors.New("want a list of strings")
			}
			all = append(all, s)
		}
		return strings.Join(all, ","), nil
	}
	return "", errors.New("want a string, a list of strings, true or false")
}

func envName(flag string) string {
	return "TABS_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// maxScrollback keeps a terminal's history, of which every browser has a copy, within what both can hold.
const maxScrollback = 50_000

var (
	basePathForm   = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)
	headerNameForm = regexp.MustCompile(`^[A-Za-z0-9-]+$`)
)

// check finds everything that is wrong at once.
func (c *config) check() (p problems) {
	bad := func(key, format string, args ...any) { p = append(p, key+": "+fmt.Sprintf(format, args...)) }

	if c.DataDir == "" {
		bad("data-dir", "there is no home directory to put it in; say where")
	}
	if !c.isUnix() {
		if _, port, err := net.SplitHostPort(c.Listen); err != nil || port == "" {
			bad("listen", "%q is not HOST:PORT or unix:PATH", c.Listen)
		} else if _, err := net.LookupPort("tcp", port); err != nil {
			bad("listen", "%q is no port: choose one from 1 to 65535", port)
		} else if !c.isLoopback() && !c.isTLS() && !c.BehindProxy {
			bad("listen", "%s is reachable from other machines, and without TLS anybody on the way could read and type: "+
				"add --tls-self-signed, --tls-cert and --tls-key, or --behind-proxy if a proxy in front does TLS", c.Listen)
		}
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		bad("tls-cert", "tls-cert and tls-key need each other")
	} else if c.TLSCert != "" {
		if _, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey); err != nil {
			bad("tls-cert", "%v", err)
		}
	}
	if c.TLSSelfSigned && c.TLSCert != "" {
		bad("tls-self-signed", "there is a tls-cert already; leave one of them out")
	}
	if c.isUnix() && c.isTLS() {
		bad("listen", "a unix socket has no TLS")
	}
	c.BasePath = strings.TrimRight(c.BasePath, "/")
	if c.BasePath != "" && !basePathForm.MatchString(c.BasePath) {
		bad("base-path", "%q does not look like /name", c.BasePath)
	}
	for _, h := range c.Hosts {
		if strings.ContainsAny(h, "/@ ") || h == "" {
			bad("host", "%q is not a host name; leave out https:// and any path", h)
		}
	}
	if c.BehindProxy && len(c.Hosts) == 0 {
		bad("host", "behind a proxy, say by which name browsers reach it: --host term.example.org")
	}
	if c.TrustedHeader != "" {
		if !headerNameForm.MatchString(c.TrustedHeader) {
			bad("trusted-header", "%q is not the name of a header", c.TrustedHeader)
		}
		if !c.isUnix() && c.TrustedSecret == "" {
			bad("trusted-header", "anybody who reaches the port could send it: listen on unix:PATH, or set trusted-secret "+
				"and let the proxy send it in X-Tabs-Proxy-Secret")
		}
	}
	if c.TrustedSecret != "" && len(c.TrustedSecret) < 16 {
		bad("trusted-secret", "at least 16 characters, please")
	}
	if c.TrustedSecret != "" && c.TrustedHeader == "" {
		bad("trusted-secret", "there is no trusted-header for it")
	}
	if c.Scrollback < 100 || c.Scrollback > maxScrollback {
		bad("scrollback", "%d is not from 100 to %d", c.Scrollback, maxScrollback)
	}
	if c.LogFormat != "text" && c.LogFormat != "json" {
		bad("log-format", "%q is neither text nor json", c.LogFormat)
	}
	if _, err := logLevel(c.LogLevel); err != nil {
		bad("log-level", "%q is not debug, info, warn or error", c.LogLevel)
	}
	return p
}

func (c *config) isTLS() bool { return c.TLSCert != "" || c.TLSSelfSigned }

func (c *config) isUnix() bool { return strings.HasPrefix(c.Listen, "unix:") }

// isLoopback tells whether only this machine can connect. A name other than localhost could mean anything tomorrow.
func (c *config) isLoopback() bool {
	if c.isUnix() {
		return true
	}
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}

// offersLocal tells whether the machine itself is a sandbox: on a loopback address unless it was switched off,
// elsewhere only when asked for.
func (c *config) offersLocal() bool {
	if c.sources["local"] != "" {
		return c.Local
	}
	return c.isLoopback() && !c.BehindProxy
}

// certificateHosts are the names in a certificate.
func certificateHosts(cert *x509.Certificate) []string {
	hosts := slices.Clone(cert.DNSNames)
	for _, ip := range cert.IPAddresses {
		hosts = append(hosts, ip.String())
	}
	return hosts
}

// environment is what the process was started with.
type environment []string

func (e environment) get(name string) (string, bool) {
	for _, kv := range slices.Backward(e) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// dataDir is where programs keep state, by the XDG base directory specification.
func (e environment) dataDir() string { return e.xdg("XDG_STATE_HOME", ".local/state") }

func (e environment) configFile() string {
	dir := e.xdg("XDG_CONFIG_HOME", ".config")
	if dir == "" {
		return "tabs.toml"
	}
	return filepath.Join(dir, "tabs.toml")
}

func (e environment) xdg(name, fallback string) string {
	// The specification wants relative paths ignored.
	if dir, _ := e.get(name); filepath.IsAbs(dir) {
		return filepath.Join(dir, "tabs")
	}
	if home, _ := e.get("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, fallback, "tabs")
	}
	return ""
}

func configCommand(env environment, stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Print the configuration that serve would use, as a tabs.toml", Args: cobra.NoArgs,
	}
	load := withConfig(cmd, env)
	cmd.RunE = func(*cobra.Command, []string) error {
		c, err := load()
		if err != nil {
			return err
		}
		return c.print(stdout, cmd.Flags())
	}
	return cmd
}

// print writes c as a file that serve reads back, with where each value comes from. Secrets stay out of it.
func (c *config) print(w io.Writer, f *pflag.FlagSet) error {
	for _, name := range c.names {
		source := cmp.Or(c.sources[name], "default")
		var value any
		switch v := f.Lookup(name).Value.(type) {
		case pflag.SliceValue:
			value = append([]string{}, v.GetSlice()...) // an empty list, where nil would be left out
		default:
			value = v.String()
			if v.Type() == "bool" {
				value = v.String() == "true"
			}
		}
		switch name {
		case "config": // not a setting of the file
			fmt.Fprintf(w, "# %s is read if it is there (%s)\n", c.Config, source)
			continue
		case "trusted-secret":
			if c.TrustedSecret != "" {
				fmt.Fprintf(w, "# trusted-secret is set (%s) and not shown\n", source)
			}
			continue
		case "local":
			value = c.offersLocal()
		}
		var line bytes.Buffer
		if err := toml.NewEncoder(&line).Encode(map[string]any{name: value}); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		fmt.Fprintf(w, "%-40s # %s\n", strings.TrimSuffix(line.String(), "\n"), source)
	}
	return nil
}
