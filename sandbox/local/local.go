package local

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"sync"

	"github.com/browsertabs/tabs/sandbox"
)

// Config is what New needs.
type Config struct {
	// Instance tells servers of one user apart, 1 to 16 of [a-z0-9]: those with different data directories must have
	// different ones, or they would take each other's tabs.
	Instance string
	Log      *slog.Logger
}

// Provider runs commands on this machine. Its methods may be called from any goroutine.
type Provider struct {
	c        Config
	warnDisk sync.Once
}

var _ sandbox.Provider = (*Provider)(nil)

var instanceID = regexp.MustCompile(`^[a-z0-9]{1,16}$`)

// New returns a Provider. It starts nothing.
func New(c Config) (*Provider, error) {
	if !instanceID.MatchString(c.Instance) {
		return nil, fmt.Errorf("instance id %q: want 1 to 16 of [a-z0-9]", c.Instance)
	}
	return &Provider{c: c}, nil
}

// RuntimeDir implements sandbox.Provider.
func (p *Provider) RuntimeDir(ctx context.Context, sandboxID, user string) (string, error) {
	a, err := p.account(ctx, sandboxID, user)
	if err != nil {
		return "", err
	}
	return p.runtimeDir(a)
}

func (p *Provider) account(ctx context.Context, sandboxID, user string) (account, error) {
	if sandboxID != sandbox.LocalID {
		return account{}, &sandbox.Error{Code: sandbox.CodeNotFound,
			Message: fmt.Sprintf("sandbox %.80q not found", sandboxID)}
	}
	return lookup(ctx, user)
}
