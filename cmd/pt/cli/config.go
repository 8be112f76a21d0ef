package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/browsertabs/tabs/client"
)

// defaultURL is where a server with no configuration listens.
const defaultURL = "http://127.0.0.1:7780"

// maxSocketPath is what the address of a unix socket holds on every system.
const maxSocketPath = 103

// target is the server to ask and the key to ask with.
type target struct{ url, key string }

// credentials is a login of the credentials file, by profile name.
type credentials struct {
	APIURL string `toml:"api_url"`
	Key    string `toml:"key"`
}

// target finds server and key: flags, environment, credentials file, the key file of a default server on this machine.
// A key that was stored for one server is never sent to another: an address given by flag or environment takes only a
// key from there, or the one stored for that same address.
func (a *app) target() (target, error) {
	key := cmp.Or(a.key, os.Getenv("PLATINUM_API_KEY"), os.Getenv("PT_TOKEN"))
	given := cmp.Or(a.apiURL, os.Getenv("PT_API_URL"), os.Getenv("PLATINUM_API_URL"))
	if key != "" && given != "" {
		return target{given, key}, nil
	}
	all, err := readCredentials()
	if err != nil {
		return target{}, err
	}
	name := a.profileName()
	saved, ok := all[name]
	if !ok && (a.profile != "" || os.Getenv("PT_PROFILE") != "") && given == "" {
		return target{}, &usageError{msg: fmt.Sprintf("no profile %q", name), hint: "pt login --profile " + name}
	}
	local := findLocalServer()
	t := target{
		url: cmp.Or(given, saved.APIURL, local.url, defaultURL),
		key: key,
	}
	if t.key == "" && sameURL(t.url, saved.APIURL) {
		t.key = saved.Key
	}
	if t.key == "" && sameURL(t.url, cmp.Or(local.url, defaultURL)) {
		if local.key != "" && !local.alive() {
			return target{}, errNotRunning
		}
		t.key = local.key
	}
	if t.key == "" {
		if _, err := client.New(client.Config{BaseURL: t.url}); err != nil {
			return target{}, &usageError{msg: err.Error()}
		}
		return target{}, &noKeyError{url: t.url}
	}
	return t, nil
}

// noKeyError says that nothing told pt which key to use.
type noKeyError struct{ url string }

func (e *noKeyError) Error() string { return "no API key for " + e.url }

func (a *app) profileName() string {
	return cmp.Or(a.profile, os.Getenv("PT_PROFILE"), "default")
}

func sameURL(a, b string) bool {
	return a != "" && strings.TrimRight(a, "/") == strings.TrimRight(b, "/")
}

// credentialsPath is "" where there is no home directory.
func credentialsPath() string {
	if dir := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "platinum", "credentials")
	}
	if home := homeDir(); home != "" {
		return filepath.Join(home, ".config", "platinum", "credentials")
	}
	return ""
}

func readCredentials() (map[string]credentials, error) {
	path := credentialsPath()
	if path == "" {
		return nil, nil
	}
	all := map[string]credentials{}
	_, err := toml.DecodeFile(path, &all)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		// The home of another user, as under sudo -u, is no reason to fail when the environment says it all.
		return nil, nil
	case err != nil:
		return nil, &hintError{fmt.Errorf("read %s: %w", path, err), "pt login writes it anew"}
	}
	return all, nil
}

// writeCredentials replaces the file in one step, readable by its owner alone.
func writeCredentials(all map[string]credentials) (path string, err error) {
	path = credentialsPath()
	if path == "" {
		return "", errors.New("no home directory to keep the key in; set HOME or use PLATINUM_API_KEY")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("make directory of credentials: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".credentials-") // mode 0600
	if err != nil {
		return "", fmt.Errorf("write credentials: %w", err)
	}
	defer os.Remove(f.Name())
	err = errors.Join(toml.NewEncoder(f).Encode(all), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return "", fmt.Errorf("write credentials: %w", err)
	}
	return path, nil
}

// localServer is what a server with the default data directory left on this machine: pt.key, and pt.url while it runs.
type localServer struct{ dir, url, key string }

func findLocalServer() localServer {
	dir := stateDir()
	if dir == "" {
		return localServer{}
	}
	l := localServer{dir, readLine(filepath.Join(dir, "pt.url")), readLine(filepath.Join(dir, "pt.key"))}
	if u, err := url.Parse(l.url); err != nil || u.Host == "" {
		l.url = ""
	}
	return l
}

var errNotRunning = &hintError{errors.New("the server of this machine is not running"), "tabs serve"}

// alive tells whether the server runs. Without it another user of this machine could listen at its address and be sent
// its key; nobody but its owner can listen in its data directory.
func (l localServer) alive() bool {
	d, err := os.Open(l.dir)
	if err != nil {
		return false
	}
	defer d.Close()
	path := filepath.Join(l.dir, "tabs.sock")
	if len(path) > maxSocketPath {
		path = fmt.Sprintf("/proc/self/fd/%d/tabs.sock", d.Fd())
	}
	c, err := net.Dial("unix", path)
	if err != nil {
		return false
	}
	c.Close()
	return true
}

func readLine(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line)
}

// stateDir is the default data directory of tabs serve.
func stateDir() string {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "tabs")
	}
	if home := homeDir(); home != "" {
		return filepath.Join(home, ".local", "state", "tabs")
	}
	return ""
}

func homeDir() string {
	if home, err := os.UserHomeDir(); err == nil {
		return home
	}
	if u, err := user.Current(); err == nil {
		return u.HomeDir
	}
	return ""
}
