package static

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

func built() *assets {
	return load(fstest.MapFS{
		"manifest.json":       {Data: []byte(`{"main.js":"main-AB12CD34.js","icon.png":"icon-AB12CD34.png"}`)},
		"main-AB12CD34.js":    {Data: []byte("plain")},
		"main-AB12CD34.js.br": {Data: []byte("brotli")},
		"main-AB12CD34.js.gz": {Data: []byte("gzip")},
		"icon-AB12CD34.png":   {Data: []byte("png")},
		"licenses.txt":        {Data: []byte("MIT")},
		"sub/main.js":         {Data: []byte("below")},
	})
}

func TestURL(t *testing.T) {
	if got, want := built().url("main.js"), "/static/main-AB12CD34.js"; got != want {
		t.Errorf("url(main.js) = %q, want %q", got, want)
	}
	for _, a := range []*assets{built(), load(fstest.MapFS{})} {
		if got, want := a.url("nope.js"), "/static/not-built/nope.js"; got != want {
			t.Errorf("url(nope.js) = %q, want %q", got, want)
		}
	}
}

func TestServe(t *testing.T) {
	const forever = "public, max-age=31536000, immutable"
	tests := []struct {
		name, method, path, accept string
		status                     int
		body, contentType          string
		encoding, cache            string
	}{
		{name: "plain", path: "/static/main-AB12CD34.js", status: 200, body: "plain",
			contentType: "text/javascript; charset=utf-8", cache: forever},
		{name: "brotli first", path: "/static/main-AB12CD34.js", accept: "gzip, deflate, br", status: 200, body: "brotli",
			contentType: "text/javascript; charset=utf-8", encoding: "br", cache: forever},
		{name: "brotli refused", path: "/static/main-AB12CD34.js", accept: "br;q=0, gzip;q=0.5", status: 200, body: "gzip",
			contentType: "text/javascript; charset=utf-8", encoding: "gzip", cache: forever},
		{name: "not compressed", path: "/static/icon-AB12CD34.png", accept: "br, gzip", status: 200, body: "png",
			contentType: "image/png", cache: forever},
		{name: "no hash", path: "/static/licenses.txt", accept: "br", status: 200, body: "MIT",
			contentType: "text/plain; charset=utf-8", cache: "no-cache"},
		{name: "head", method: "HEAD", path: "/static/main-AB12CD34.js", status: 200,
			contentType: "text/javascript; charset=utf-8", cache: forever},
		{name: "post", method: "POST", path: "/static/main-AB12CD34.js", status: 405},
		{name: "unknown", path: "/static/main-ZZZZZZZZ.js", status: 404},
		{name: "manifest is ours", path: "/static/manifest.json", status: 404},
		{name: "compressed form by name", path: "/static/main-AB12CD34.js.br", status: 404},
		{name: "no listing", path: "/static/", status: 404},
		{name: "no listing below", path: "/static/sub/", status: 404},
		{name: "no climbing", path: "/static/../static/main-AB12CD34.js", status: 404},
		{name: "elsewhere", path: "/main-AB12CD34.js", status: 404},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/", nil)
			if tt.method != "" {
				r.Method = tt.method
			}
			r.URL.Path = tt.path
			r.Header.Set("Accept-Encoding", tt.accept)
			w := httptest.NewRecorder()
			built().ServeHTTP(w, r)
			if w.Code != tt.status {
				t.Fatalf("status %d, want %d; body %q", w.Code, tt.status, w.Body)
			}
			if tt.status != http.StatusOK {
				return
			}
			if got := w.Body.String(); got != tt.body {
				t.Errorf("body %q, want %q", got, tt.body)
			}
			for key, want := range map[string]string{"Content-Type": tt.contentType, "Content-Encoding": tt.encoding,
				"Cache-Control": tt.cache, "Vary": "Accept-Encoding"} {
				if got := w.Header().Get(key); got != want {
					t.Errorf("%s: %q, want %q", key, got, want)
				}
			}
		})
	}
}

func TestNotBuilt(t *testing.T) {
	w := httptest.NewRecorder()
	load(fstest.MapFS{".keep": {}}).ServeHTTP(w, httptest.NewRequest("GET", "/static/not-built/main.js", nil))
	if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "make build") {
		t.Errorf("answer %d %q, want a 404 that says make build", w.Code, w.Body)
	}
}

func TestAccepts(t *testing.T) {
	for _, tt := range []struct {
		header string
		want   bool
	}{
		{"br", true}, {"gzip, BR", true}, {"br;q=1.0", true}, {"br; q=0.1", true},
		{"", false}, {"gzip", false}, {"brx", false}, {"br;q=0", false}, {"br;q=0.000", false}, {"br;q=x", false},
	} {
		if got := accepts(tt.header, "br"); got != tt.want {
			t.Errorf("accepts(%q, br) = %v, want %v", tt.header, got, tt.want)
		}
	}
}
