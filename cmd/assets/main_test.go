package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
)

// tree writes files below a new directory and returns it.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestBundle(t *testing.T) {
	root := tree(t, map[string]string{
		"src/main.ts":                        `import {twice} from "@who/lib"; import("./late"); document.title = String(twice(21)) + "` + strings.Repeat("long enough to get smaller ", 20) + `";`,
		"src/late.ts":                        `console.log("only when asked for");`,
		"css/main.css":                       `:root { --accent: #123456 }`,
		"img/icon.svg":                       `<svg xmlns="http://www.w3.org/2000/svg"/>`,
		"node_modules/@who/lib/index.js":     `export const twice = n => 2 * n; ` + strings.Repeat("//\n", 100),
		"node_modules/@who/lib/LICENSE":      "Do as you like.",
		"node_modules/unused/package.json":   `{"name": "unused"}`,
		"node_modules/@who/lib/package.json": `{"name": "@who/lib", "version": "1.2.3", "module": "index.js"}`,
	})
	files, packages, err := bundle(root)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(root, "node_modules/@who/lib"); len(packages) != 1 || packages[0] != want {
		t.Errorf("packages %q, want only %s", packages, want)
	}
	var manifest map[string]string
	if err := json.Unmarshal(files["manifest.json"], &manifest); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"main.js", "main.css", "icon.svg"} {
		file := manifest[name]
		stem, ext, _ := strings.Cut(name, ".")
		if !regexp.MustCompile(`^` + stem + `-[A-Z0-9]{8}\.` + ext + `$`).MatchString(file) {
			t.Errorf("manifest has %q for %s", file, name)
		}
		if files[file] == nil {
			t.Errorf("%s names no file", name)
		}
	}
	if len(manifest) != 3 {
		t.Errorf("manifest %v: want the entries alone", manifest)
	}
	if code := files[manifest["main.js"]]; bytes.Contains(code, []byte("only when asked for")) {
		t.Errorf("a module imported on demand is in the entry: %s", code)
	}

	dist := filepath.Join(root, "dist")
	old := tree(t, map[string]string{".keep": "", "main-OLDOLDOL.js": "old"})
	if err := os.Rename(old, dist); err != nil {
		t.Fatal(err)
	}
	if err := write(dist, files); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dist, "main-OLDOLDOL.js")); err == nil {
		t.Error("a file of the last build is still there")
	}
	if _, err := os.Stat(filepath.Join(dist, ".keep")); err != nil {
		t.Error(err)
	}
	js := filepath.Join(dist, manifest["main.js"])
	plain := read(t, js, func(r io.Reader) (io.Reader, error) { return r, nil })
	if got := read(t, js+".gz", func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }); got != plain {
		t.Errorf("gzip holds %q, want %q", got, plain)
	}
	if got := read(t, js+".br", func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil }); got != plain {
		t.Errorf("brotli holds %q, want %q", got, plain)
	}
}

func read(t *testing.T, path string, open func(io.Reader) (io.Reader, error)) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := open(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestBundleSaysWhatIsWrong(t *testing.T) {
	_, _, err := bundle(tree(t, map[string]string{"src/main.ts": `import "./nope"`}))
	if err == nil || !strings.Contains(err.Error(), "src/main.ts:1:7") {
		t.Errorf("error %v does not say where", err)
	}
	if _, _, err := bundle(t.TempDir()); err == nil || !strings.Contains(err.Error(), "find entries") {
		t.Errorf("error %v does not say that there are no entries", err)
	}
}

func TestBundleTests(t *testing.T) {
	root := tree(t, map[string]string{
		"src/add.ts":      `export const add = (a: number, b: number): number => a + b;`,
		"src/add.test.ts": `import test from "node:test"; import {add} from "./add"; test("add", () => { add(1, 2); });`,
	})
	dir := filepath.Join(root, "out")
	if err := bundleTests(root, dir); err != nil {
		t.Fatal(err)
	}
	code := read(t, filepath.Join(dir, "add.test.mjs"), func(r io.Reader) (io.Reader, error) { return r, nil })
	if !strings.Contains(code, "a + b") || strings.Contains(code, "number") {
		t.Errorf("test is not one module of plain JavaScript: %s", code)
	}
	if err := bundleTests(t.TempDir(), dir); err == nil || !strings.Contains(err.Error(), "no ") {
		t.Errorf("error %v does not say that there are no tests", err)
	}
}

func TestPackageDir(t *testing.T) {
	for input, want := range map[string]string{
		"src/main.ts":                              "",
		"node_modules/a/lib/b.js":                  "node_modules/a",
		"node_modules/@a/b/lib/c.js":               "node_modules/@a/b",
		"node_modules/a/node_modules/@b/c/d.mjs":   "node_modules/a/node_modules/@b/c",
		"../elsewhere/node_modules/a/css/main.css": "../elsewhere/node_modules/a",
	} {
		if got := packageDir(input); got != want {
			t.Errorf("packageDir(%s) = %q, want %q", input, got, want)
		}
	}
}

func TestAppendTerms(t *testing.T) {
	dir := tree(t, map[string]string{"LICENSE.md": "The terms.\n", "license.go": "package license", "NOTICE": "Thanks.", "README": "no"})
	var b bytes.Buffer
	if err := appendTerms(&b, "lib 1", dir, "MIT"); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "==== lib 1\n\nThe terms.\n\nThanks.\n\n"; got != want {
		t.Errorf("terms %q, want %q", got, want)
	}
	if err := appendTerms(&b, "lib 2", t.TempDir(), ""); err == nil {
		t.Error("a package without terms was accepted")
	}
	if err := appendTerms(&b, "lib 3", t.TempDir(), "MIT"); err != nil || !strings.HasSuffix(b.String(), "==== lib 3\n\nMIT\n\n") {
		t.Errorf("declared licence: error %v, text %q", err, b.String())
	}
}
