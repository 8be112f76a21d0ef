package cli

import (
	"fmt"
	"io"
	"net/http"
	"time"
)

// logging returns an http.Client that writes a line per request to w: never a key, a body or a query.
func logging(w io.Writer) *http.Client { return &http.Client{Transport: logTransport{w}} }

type logTransport struct{ w io.Writer }

func (t logTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	start := time.Now()
	resp, err := http.DefaultTransport.RoundTrip(req)
	took := time.Since(start).Round(time.Microsecond)
	url := req.URL.Scheme + "://" + req.URL.Host + req.URL.EscapedPath()
	if err != nil {
		fmt.Fprintf(t.w, "%s %s: %s after %s\n", req.Method, url, oneLine(err.Error()), took)
		return nil, err
	}
	fmt.Fprintf(t.w, "%s %s: %s in %s %s\n", req.Method, url, resp.Status, took, resp.Header.Get("X-Request-Id"))
	return resp, nil
}
