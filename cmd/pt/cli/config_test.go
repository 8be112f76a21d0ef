package cli

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
)

// home makes an empty home and clears the environment that pt reads.
func home(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	for _, name := range []string{"PLATINUM_API_KEY", "PT_TOKEN", "PT_API_URL", "PLATINUM_API_URL", "PT_PROFILE",
		"XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
		t.Setenv(name, "")
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// listen is a running server, as far as pt looks.
func listen(t *testing.T, dir string) {
	t.Helper()
	d, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	l, err := net.Listen("unix", fmt.Sprintf("/proc/self/fd/%d/tabs.sock", d.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
}

// Where the server is not running, somebody else may listen at its address: they must not get its key.
func TestTargetOfStoppedServer(t *testing.T) {
	dir := filepath.Join(home(t), ".local/state/tabs")
	write(t, filepath.Join(dir, "pt.key"), "k")
	write(t, filepath.Join(dir, "pt.url"), "http://127.0.0.1:99")
	for _, a := range []app{{}, {apiURL: "http://127.0.0.1:99"}} {
		if got, err := a.target(); !errors.Is(err, errNotRunning) {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	// The default address is not this server's while it says another.
	var noKey *noKeyError
	if got, err := (&app{apiURL: defaultURL}).target(); !errors.As(err, &noKey) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestTarget(t *testing.T) {
	const saved = `
[default]
api_url = "https://saved"
key = "savedkey"

[work]
api_url = "https://office/term"
key = "workkey"
`
	for _, tt := range []struct {
		name  string
		app   app
		env   map[string]string
		saved string
		local map[string]string
		want  target
	}{
		{"flags win", app{apiURL: "https://flag", key: "flagkey"},
			map[string]string{"PLATINUM_API_KEY": "envkey", "PT_API_URL": "https://env"}, saved, nil, target{"https://flag", "flagkey"}},
		{"environment wins over the file", app{},
			map[string]string{"PLATINUM_API_KEY": "envkey", "PT_API_URL": "https://env"}, saved, nil, target{"https://env", "envkey"}},
		{"the other names", app{},
			map[string]string{"PT_TOKEN": "token", "PLATINUM_API_URL": "https://other"}, saved, nil, target{"https://other", "token"}},
		{"PLATINUM_API_KEY before PT_TOKEN", app{apiURL: "https://x"},
			map[string]string{"PT_TOKEN": "token", "PLATINUM_API_KEY": "envkey"}, "", nil, target{"https://x", "envkey"}},
		{"PT_API_URL before PLATINUM_API_URL", app{key: "k"},
			map[string]string{"PT_API_URL": "https://a", "PLATINUM_API_URL": "https://b"}, "", nil, target{"https://a", "k"}},
		{"credentials", app{}, nil, saved, map[string]string{"pt.key": "localkey"}, target{"https://saved", "savedkey"}},
		{"profile", app{profile: "work"}, nil, saved, nil, target{"https://office/term", "workkey"}},
		{"profile of the environment", app{}, map[string]string{"PT_PROFILE": "work"}, saved, nil, target{"https://office/term", "workkey"}},
		{"own key, saved address", app{key: "k"}, nil, saved, nil, target{"https://saved", "k"}},
		{"saved key for its own address", app{apiURL: "https://saved/"}, nil, saved, nil, target{"https://saved/", "savedkey"}},
		{"default server", app{}, nil, "", map[string]string{"pt.key": "localkey\n"}, target{defaultURL, "localkey"}},
		{"default server elsewhere", app{}, nil, "",
			map[string]string{"pt.key": "localkey", "pt.url": "http://127.0.0.1:99\n"}, target{"http://127.0.0.1:99", "localkey"}},
		{"default server by its address", app{apiURL: defaultURL}, nil, saved, map[string]string{"pt.key": "localkey"},
			target{defaultURL, "localkey"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := home(t)
			for name, value := range tt.env {
				t.Setenv(name, value)
			}
			if tt.saved != "" {
				write(t, filepath.Join(dir, ".config/platinum/credentials"), tt.saved)
			}
			for name, text := range tt.local {
				write(t, filepath.Join(dir, ".local/state/tabs", name), text)
			}
			if tt.local != nil {
				listen(t, filepath.Join(dir, ".local/state/tabs"))
			}
			got, err := tt.app.target()
			if err != nil || got != tt.want {
				t.Fatalf("got %+v, %v; want %+v", got, err, tt.want)
			}
		})
	}
}

// A key that belongs to one server must never reach another.
func TestTargetKeepsKeysHome(t *testing.T) {
	for _, tt := range []struct {
		name string
		app  app
		env  string
	}{
		{"flag", app{apiURL: "https://evil"}, ""},
		{"environment", app{}, "https://evil"},
		{"other port", app{apiURL: "http://127.0.0.1:7781"}, ""},
		{"profile and another address", app{profile: "work", apiURL: "https://evil"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := home(t)
			t.Setenv("PT_API_URL", tt.env)
			write(t, filepath.Join(dir, ".config/platinum/credentials"),
				"[default]\napi_url = \"https://saved\"\nkey = \"k\"\n[work]\napi_url = \"https://work\"\nkey = \"k\"\n")
			write(t, filepath.Join(dir, ".local/state/tabs/pt.key"), "k")
			listen(t, filepath.Join(dir, ".local/state/tabs"))
			got, err := tt.app.target()
			var noKey *noKeyError
			if !errors.As(err, &noKey) {
				t.Fatalf("got %+v, %v; want no key", got, err)
			}
		})
	}
}

func TestTargetWithoutHome(t *testing.T) {
	home(t)
	os.Unsetenv("HOME")
	t.Setenv("PLATINUM_API_KEY", "k")
	t.Setenv("PT_API_URL", "http://box:1")
	got, err := (&app{}).target()
	if want := (target{"http://box:1", "k"}); err != nil || got != want {
		t.Fatalf("got %+v, %v", got, err)
	}
}

func TestUnknownProfile(t *testing.T) {
	home(t)
	var usage *usageError
	if _, err := (&app{profile: "nope"}).target(); !errors.As(err, &usage) {
		t.Fatalf("got %v", err)
	}
}

func TestWriteCredentials(t *testing.T) {
	home(t)
	path, err := writeCredentials(map[string]credentials{"default": {"https://a", "k"}, "b c": {"https://b", `q"`}})
	if err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(path)
	if err != nil || fi.Mode().Perm() != 0o600 {
		t.Fatalf("mode is %v, %v", fi.Mode(), err)
	}
	got, err := readCredentials()
	if err != nil || got["default"] != (credentials{"https://a", "k"}) || got["b c"] != (credentials{"https://b", `q"`}) {
		t.Fatalf("read back %v, %v", got, err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil || len(left) != 1 {
		t.Fatalf("left behind %v, %v", left, err)
	}
}
