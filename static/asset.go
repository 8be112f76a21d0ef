package static

import (
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// prefix is where Handler's files are, below the server's base path.
const prefix = "/static/"

var embedded = sync.OnceValue(func() *assets {
	sub, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // impossible: dist is embedded
	}
	return load(sub)
})

// Built reports whether the binary holds assets. Without them a page must say "assets not built: make build".
func Built() bool { return embedded().manifest != nil }

// URL returns the path, below the server's base path, of the file built from an entry: URL("main.js") may be
// "/static/main-AB12CD34.js". For a name that was not built it is a path that Handler answers with what to do.
func URL(name string) string { return embedded().url(name) }

// Has reports whether a file was built from the entry.
func Has(name string) bool { return embedded().manifest[name] != "" }

// Handler serves the paths that URL returns; the caller strips the base path. Responses are compressed already: no
// compressing middleware may wrap it.
func Handler() http.Handler { return embedded() }

// Licenses returns the licence texts of everything others wrote in the binary and in the page.
func Licenses() string {
	text, err := fs.ReadFile(embedded().files, "licenses.txt")
	if err != nil {
		return "assets not built: make build\n"
	}
	return string(text)
}

type assets struct {
	files    fs.FS
	manifest map[string]string // entry name to file; nil when not built
}

func load(files fs.FS) *assets {
	a := &assets{files: files}
	text, err := fs.ReadFile(files, "manifest.json")
	if err != nil {
		return a
	}
	if err := json.Unmarshal(text, &a.manifest); err != nil {
		panic("static: manifest.json of dist: " + err.Error()) // written by cmd/assets at build time
	}
	return a
}

func (a *assets) url(name string) string {
	if file, ok := a.manifest[name]; ok {
		return prefix + file
	}
	return prefix + "not-built/" + name
}

// hashed matches names that hold a hash of their contents, which may be kept for ever.
var hashed = regexp.MustCompile(`-[A-Z0-9]{8}\.[a-z0-9.]+$`)

// contentTypes is our own table, since package mime reads the machine's.
var contentTypes = map[string]string{
	".css":         "text/css; charset=utf-8",
	".ico":         "image/x-icon",
	".js":          "text/javascript; charset=utf-8",
	".map":         "application/json",
	".png":         "image/png",
	".svg":         "image/svg+xml",
	".txt":         "text/plain; charset=utf-8",
	".wasm":        "application/wasm",
	".webmanifest": "application/manifest+json",
	".woff2":       "font/woff2",
}

func (a *assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	name, ok := strings.CutPrefix(r.URL.Path, prefix)
	if a.manifest == nil && ok {
		http.Error(w, "assets not built: make build", http.StatusNotFound)
		return
	}
	contentType := contentTypes[path.Ext(name)]
	if !ok || contentType == "" || !fs.ValidPath(name) {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Add("Vary", "Accept-Encoding")
	f, encoding := a.open(name, r.Header.Get("Accept-Encoding"))
	if f == nil {
		http.NotFound(w, r)
		return
	}
	defer f.Close()
	h.Set("Content-Type", contentType)
	if encoding != "" {
		h.Set("Content-Encoding", encoding)
	}
	if hashed.MatchString(name) {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		h.Set("Cache-Control", "no-cache")
	}
	// Embedded files have no time; names change with contents.
	http.ServeContent(w, r, name, time.Time{}, f)
}

// open returns the smallest form of a file that the browser accepts, with its Content-Encoding; nil when there is none.
func (a *assets) open(name, accept string) (file, string) {
	for _, form := range []struct{ encoding, suffix string }{{"br", ".br"}, {"gzip", ".gz"}, {"", ""}} {
		if form.encoding != "" && !accepts(accept, form.encoding) {
			continue
		}
		f, err := a.files.Open(name + form.suffix)
		if err != nil {
			continue
		}
		if seeker, ok := f.(file); ok {
			return seeker, form.encoding
		}
		f.Close() // a directory
	}
	return nil, ""
}

// file is what embed gives for a regular file.
type file interface {
	fs.File
	io.ReadSeeker
}

// accepts reports whether an Accept-Encoding header names encoding with a weight above 0 (RFC 9110, 12.5.3).
func accepts(header, encoding string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(name), encoding) {
			continue
		}
		weight, found := strings.CutPrefix(strings.TrimSpace(params), "q=")
		if !found {
			return true
		}
		q, err := strconv.ParseFloat(weight, 64)
		return err == nil && q > 0
	}
	return false
}
