// Package client is the /v1 API from the caller's side: the wire types, which the server uses too, and a Client to call
// it. It knows nothing of terminals, tmux or configuration files, and imports only the standard library and
// coder/websocket.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// maxBodyBytes bounds an answer that is read whole into memory.
const maxBodyBytes = 64 << 20

// Config is what New needs.
type Config struct {
	BaseURL   string // of the server, without /v1: "http://127.0.0.1:7780", "https://example.org/term"
	Key       string // "" asks without a key
	UserAgent string
	// HTTP carries the requests; nil is a plain http.Client. Redirects are never followed: the API has none, and a key
	// must not travel to where one points.
	HTTP *http.Client
}

// Client calls one server with one key. It is safe for concurrent use.
type Client struct {
	base      *url.URL
	key       string
	userAgent string
	http      *http.Client
}

// New returns a Client. It does not connect.
func New(c Config) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(c.BaseURL, "/"))
	if err != nil {
		return nil, fmt.Errorf("parse API address: %w", err)
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.RawQuery != "" || base.Fragment != "" {
		return nil, fmt.Errorf("API address %q is not of the form https://host[:port]", c.BaseURL)
	}
	if base.User != nil {
		return nil, errors.New("API address holds a user or password; give the key on its own")
	}
	if strings.ContainsFunc(c.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the key holds a space, a line break or a character no key has")
	}
	hc := http.Client{}
	if c.HTTP != nil {
		hc = *c.HTTP
	}
	hc.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{base: base, key: c.Key, userAgent: c.UserAgent, http: &hc}, nil
}

// BaseURL is the address of the server, without a trailing slash.
func (c *Client) BaseURL() string { return c.base.String() }

// Do sends a request as it is and returns the answer, whatever its status. path begins with a slash and may hold a
// query. A header replaces the one the Client would send. The caller closes the body.
func (c *Client) Do(ctx context.Context, method, path string, header http.Header, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base.String()+path, body)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	c.setHeader(req.Header)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, values := range header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	return resp, nil
}

func (c *Client) setHeader(h http.Header) {
	h.Set("Accept", "application/json")
	if c.key != "" {
		h.Set("Authorization", "Bearer "+c.key)
	}
	if c.userAgent != "" {
		h.Set("User-Agent", c.userAgent)
	}
}

// call sends in as JSON, if not nil, and decodes a 2xx answer into out, if not nil. Any other status is an *Error.
func (c *Client) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("encode request: %w", err)
		}
		body = bytes.NewReader(b)
	}
	resp, err := c.Do(ctx, method, path, nil, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxBodyBytes+1))
	if err != nil {
		return fmt.Errorf("read answer to %s %s: %w", method, path, err)
	}
	if len(b) > maxBodyBytes {
		return fmt.Errorf("answer to %s %s is larger than %d bytes", method, path, maxBodyBytes)
	}
	if resp.StatusCode/100 != 2 {
		return DecodeError(resp, b)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("decode answer to %s %s (is this a Tabs server?): %w", method, path, err)
	}
	return nil
}

// List is the envelope of every list. NextCursor is nil on the last page.
type List[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"nextCursor"`
}

// walk reads every page of a list. It never returns nil items with a nil error.
func walk[T any](ctx context.Context, c *Client, path string) ([]T, error) {
	items := []T{}
	cursor := ""
	for {
		q := url.Values{"limit": {"200"}}
		if cursor != "" {
			q.Set("cursor", cursor)
		}
		var page List[T]
		if err := c.call(ctx, http.MethodGet, path+"?"+q.Encode(), nil, &page); err != nil {
			return nil, err
		}
		items = append(items, page.Items...)
		if page.NextCursor == nil {
			return items, nil
		}
		if *page.NextCursor == cursor {
			return nil, fmt.Errorf("list %s: the server repeats its cursor", path)
		}
		cursor = *page.NextCursor
	}
}
