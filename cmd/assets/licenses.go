package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licenceFile matches the names under which projects keep their terms.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([-._].*)?$`)

// licenceTexts returns the terms of the npm packages in the page and the Go modules in our binaries. Nothing may be
// shipped without its terms: a package that has none is an error.
func licenceTexts(root string, packages []string) ([]byte, error) {
	var b bytes.Buffer
	for _, dir := range packages {
		text, err := os.ReadFile(filepath.Join(dir, "package.json"))
		if err != nil {
			return nil, err
		}
		var p struct{ Name, Version, License string }
		if err := json.Unmarshal(text, &p); err != nil {
			return nil, fmt.Errorf("read %s/package.json: %w", dir, err)
		}
		if err := appendTerms(&b, p.Name+" "+p.Version, dir, p.License); err != nil {
			return nil, err
		}
	}
	modules, err := goModules(filepath.Dir(root))
	if err != nil {
		return nil, err
	}
	for _, m := range modules {
		if err := appendTerms(&b, m.title, m.dir, ""); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// appendTerms writes what a project's directory holds of licence files; declared is what it says instead of a file.
func appendTerms(b *bytes.Buffer, title, dir, declared string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read licence of %s: %w", title, err)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return !e.Type().IsRegular() || !licenceFile.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go")
	})
	if len(entries) == 0 && declared == "" {
		return fmt.Errorf("read licence of %s: no licence file in %s", title, dir)
	}
	fmt.Fprintf(b, "==== %s\n\n", title)
	if len(entries) == 0 {
		fmt.Fprintf(b, "%s\n\n", declared)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "%s\n\n", bytes.TrimSpace(text))
	}
	return nil
}

type module struct{ title, dir string }

// goModules returns the modules that our binaries are built from, and Go itself.
func goModules(dir string) ([]module, error) {
	goroot, err := goCommand(dir, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	version, err := goCommand(dir, "env", "GOVERSION")
	if err != nil {
		return nil, err
	}
	var modules []module
	if _, err := os.Stat(filepath.Join(goroot, "LICENSE")); err == nil {
		modules = append(modules, module{"Go " + version, goroot})
	} else if !errors.Is(err, fs.ErrNotExist) { // a distribution may keep it elsewhere
		return nil, err
	}

	args := []string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}"}
	for _, binary := range []string{"tabs", "pt"} {
		if _, err := os.Stat(filepath.Join(dir, "cmd", binary)); err == nil {
			args = append(args, "./cmd/"+binary)
		}
	}
	out, err := goCommand(dir, args...)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(out, "\n")
	slices.Sort(lines)
	for _, line := range slices.Compact(lines) {
		if title, dir, ok := strings.Cut(line, "\t"); ok {
			modules = append(modules, module{title, dir})
		}
	}
	return modules, nil
}

func goCommand(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("run go %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}
