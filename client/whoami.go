package client

import (
	"context"
	"net/http"
)

// Whoami says who asks and what they may use.
type Whoami struct {
	OrgID   string  `json:"orgId"`
	OrgName string  `json:"orgName"`
	KeyID   *string `json:"keyId"`  // null for a web session
	Device  *string `json:"device"` // name of the web session's device, null for a key
	Scope   *string `json:"scope"`  // null: everything of the organisation
	Limits  Limits  `json:"limits"`
	Version string  `json:"version"` // of the server
}

// Limits are the bounds the server enforces on the caller.
type Limits struct {
	ListItems  int `json:"listItems"`  // of one page
	TitleChars int `json:"titleChars"` // of a tab's title
	MaxCols    int `json:"maxCols"`
	MaxRows    int `json:"maxRows"`
}

// Whoami asks who the key belongs to.
func (c *Client) Whoami(ctx context.Context) (Whoami, error) {
	var w Whoami
	err := c.call(ctx, http.MethodGet, "/v1/whoami", nil, &w)
	return w, err
}
