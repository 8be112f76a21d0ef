// Command assets builds static/dist from static/src, static/css and static/img with esbuild: minified modules with
// hashed names, compressed beside themselves, a manifest that package static reads, and the licence texts of all that
// others wrote. It runs in the module's root after `npm ci` in static; nothing in it is part of the product.
// With -tests DIR it bundles static/src/*.test.ts into DIR instead, for `node --test`.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/evanw/esbuild/pkg/api"
)

// pages are the modules under static/src that start a page; those that exist are built.
var pages = []string{"main", "devices", "login"}

func main() {
	tests := flag.String("tests", "", "bundle the tests into this `directory`, and nothing else")
	flag.Parse()
	build := run
	if *tests != "" {
		build = func(root string) error { return bundleTests(root, *tests) }
	}
	if err := build("static"); err != nil {
		fmt.Fprintln(os.Stderr, "assets:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(root, "node_modules")); err != nil {
		return fmt.Errorf("read npm packages: %w; run npm ci in static", err)
	}
	files, packages, err := bundle(root)
	if err != nil {
		return err
	}
	licences, err := licenceTexts(root, packages)
	if err != nil {
		return err
	}
	files["licenses.txt"] = licences
	return write(filepath.Join(root, "dist"), files)
}

// metafile is the part of esbuild's report that we read.
type metafile struct {
	Inputs  map[string]struct{}
	Outputs map[string]struct {
		EntryPoint string
		Inputs     map[string]struct{ BytesInOutput int }
	}
}

// bundle returns the files of dist by name, and the directories of the npm packages that are in them.
func bundle(root string) (map[string][]byte, []string, error) {
	var entries []string
	for _, name := range pages {
		entries = append(entries, "src/"+name+".ts")
	}
	entries = append(entries, "css/main.css")
	entries = slices.DeleteFunc(entries, func(name string) bool {
		_, err := os.Stat(filepath.Join(root, name))
		return err != nil
	})
	images, err := filepath.Glob(filepath.Join(root, "img", "*"))
	if err != nil {
		return nil, nil, err
	}
	for _, image := range images {
		entries = append(entries, "img/"+filepath.Base(image))
	}
	if len(entries) == 0 {
		return nil, nil, fmt.Errorf("find entries in %s: none of %v", root, pages)
	}

	result := api.Build(api.BuildOptions{
		AbsWorkingDir:     root,
		EntryPoints:       entries,
		Outdir:            "dist",
		EntryNames:        "[name]-[hash]",
		ChunkNames:        "[name]-[hash]",
		AssetNames:        "[name]-[hash]",
		Bundle:            true,
		Splitting:         true, // what two pages share, and what is imported on demand, is loaded once
		Format:            api.FormatESModule,
		Target:            api.ES2022,
		Charset:           api.CharsetUTF8,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		Sourcemap:         api.SourceMapLinked,
		LegalComments:     api.LegalCommentsNone, // licenses.txt has them whole
		Metafile:          true,
		Loader: map[string]api.Loader{".svg": api.LoaderCopy, ".png": api.LoaderCopy, ".ico": api.LoaderCopy,
			".woff2": api.LoaderCopy, ".webmanifest": api.LoaderCopy, ".wasm": api.LoaderCopy},
	})
	if err := check(result); err != nil {
		return nil, nil, err
	}
	var meta metafile
	if err := json.Unmarshal([]byte(result.Metafile), &meta); err != nil {
		return nil, nil, fmt.Errorf("read metafile: %w", err)
	}

	files := make(map[string][]byte)
	for _, out := range result.OutputFiles {
		files[filepath.Base(out.Path)] = out.Contents
	}
	manifest := make(map[string]string)
	for out, o := range meta.Outputs {
		if slices.Contains(entries, o.EntryPoint) { // what is imported on demand is an entry point to esbuild too
			manifest[strings.TrimSuffix(path.Base(o.EntryPoint), ".ts")+jsExt(o.EntryPoint)] = path.Base(out)
		}
	}
	styles, err := schemeStyles(root)
	if err != nil {
		return nil, nil, err
	}
	for name, style := range styles {
		sum := sha256.Sum256([]byte(style))
		manifest[name] = strings.TrimSuffix(name, ".css") + "-" + base32.StdEncoding.EncodeToString(sum[:5]) + ".css"
		files[manifest[name]] = []byte(style)
	}
	text, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return nil, nil, err
	}
	files["manifest.json"] = append(text, '\n')

	packages := make(map[string]bool)
	for input := range meta.Inputs {
		if dir := packageDir(input); dir != "" {
			packages[filepath.Join(root, dir)] = true
		}
	}
	return files, slices.Sorted(maps.Keys(packages)), nil
}

// bundleTests makes one module of each test and what it imports: older versions of Node.js read no TypeScript.
func bundleTests(root, dir string) error {
	entries, err := filepath.Glob(filepath.Join(root, "src", "*.test.ts"))
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return fmt.Errorf("find tests: no %s/src/*.test.ts", root)
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return check(api.Build(api.BuildOptions{
		EntryPoints:  entries,
		Outdir:       dir,
		OutExtension: map[string]string{".js": ".mjs"},
		Bundle:       true,
		Format:       api.FormatESModule,
		Platform:     api.PlatformNode,
		Target:       api.ES2022,
		Sourcemap:    api.SourceMapInline,
		Write:        true,
	}))
}

// check prints esbuild's warnings and returns its errors as one.
func check(result api.BuildResult) error {
	for _, text := range api.FormatMessages(result.Warnings, api.FormatMessagesOptions{Kind: api.WarningMessage}) {
		fmt.Fprint(os.Stderr, text)
	}
	if len(result.Errors) == 0 {
		return nil
	}
	return errors.New("bundle:\n" + strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{}), ""))
}

// jsExt is what a TypeScript entry's name becomes; others keep their own.
func jsExt(entry string) string {
	if path.Ext(entry) == ".ts" {
		return ".js"
	}
	return ""
}

// packageDir returns the npm package that holds a file, "" for our own: node_modules/@xterm/xterm for
// node_modules/@xterm/xterm/lib/xterm.mjs.
func packageDir(input string) string {
	const modules = "node_modules/"
	i := strings.LastIndex(input, modules)
	if i < 0 {
		return ""
	}
	parts := strings.SplitN(input[i+len(modules):], "/", 3)
	n := 1
	if strings.HasPrefix(parts[0], "@") {
		n = 2
	}
	return input[:i+len(modules)] + strings.Join(parts[:n], "/")
}

// write replaces the contents of dist, with compressed forms beside what gets smaller by them.
func write(dist string, files map[string][]byte) error {
	all := maps.Clone(files)
	var mu sync.Mutex // protects all
	var wg sync.WaitGroup
	for name, data := range files {
		forms := map[string]func([]byte) []byte{".gz": gzipBytes, ".br": brotliBytes}
		switch path.Ext(name) {
		case ".js", ".css", ".svg", ".txt", ".webmanifest", ".wasm":
		case ".map":
			delete(forms, ".br") // takes most of the build's time, for the few who open the browser's tools
		default:
			continue
		}
		for suffix, pack := range forms {
			wg.Go(func() {
				if packed := pack(data); len(packed) < len(data) {
					mu.Lock()
					all[name+suffix] = packed
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()

	if err := os.MkdirAll(dist, 0o755); err != nil {
		return err
	}
	old, err := os.ReadDir(dist)
	if err != nil {
		return err
	}
	for name, data := range all {
		if err := os.WriteFile(filepath.Join(dist, name), data, 0o644); err != nil {
			return err
		}
	}
	for _, entry := range old {
		if _, ok := all[entry.Name()]; ok || entry.Name() == ".keep" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dist, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

func brotliBytes(data []byte) []byte {
	var b bytes.Buffer
	w := brotli.NewWriterLevel(&b, brotli.BestCompression)
	w.Write(data) // a bytes.Buffer never fails
	w.Close()
	return b.Bytes()
}

func gzipBytes(data []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is a constant
	}
	w.Write(data)
	w.Close()
	return b.Bytes()
}
