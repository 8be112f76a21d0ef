package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Sandbox is a machine that tabs run in.
type Sandbox struct {
	ID        string    `json:"id"`
	OrgID     string    `json:"orgId"`
	Name      string    `json:"name"`
	ParentID  *string   `json:"parentId"`
	Provider  string    `json:"provider"`
	State     string    `json:"state"`
	TabsURL   string    `json:"tabsUrl"` // its page
	CreatedAt time.Time `json:"createdAt"`
}

// Sandboxes returns all sandboxes the key may see; empty, not nil, when there is none.
func (c *Client) Sandboxes(ctx context.Context) ([]Sandbox, error) {
	return walk[Sandbox](ctx, c, "/v1/sandboxes")
}

// Sandbox returns one sandbox by id or name.
func (c *Client) Sandbox(ctx context.Context, idOrName string) (Sandbox, error) {
	var s Sandbox
	err := c.call(ctx, http.MethodGet, sandboxPath(idOrName), nil, &s)
	return s, err
}

func sandboxPath(idOrName string) string { return "/v1/sandboxes/" + segment(idOrName) }

// segment escapes one path segment. "." and ".." stay themselves under url.PathEscape and would be resolved away.
func segment(s string) string {
	if s == "." || s == ".." {
		return "%2E" + url.PathEscape(s[1:])
	}
	return url.PathEscape(s)
}
