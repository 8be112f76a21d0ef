package local

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"sync"
	"syscall"

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
	sandbox.NoLife
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
	return &Provider{c: c, NoLife: sandbox.NoLife{Why: "local is the machine itself, which runs as long as its server does"}}, nil
}

// RuntimeDir implements sandbox.Provider.
func (p *Provider) RuntimeDir(ctx context.Context, sandboxID, user string) (string, error) {
	a, err := p.account(ctx, sandboxID, user)
	if err != nil {
		return "", err
	}
	return p.runtimeDir(a)
}

// Inspect implements sandbox.Provider.
func (p *Provider) Inspect(_ context.Context, sandboxID string) (sandbox.Status, error) {
	if sandboxID != sandbox.LocalID {
		return sandbox.Status{}, notFound(sandboxID)
	}
	s := sandbox.Status{ID: sandbox.LocalID, Running: true}
	var fs syscall.Statfs_t
	if err := syscall.Statfs("/", &fs); err != nil {
		return s, fmt.Errorf("look at the disk: %w", err)
	}
	block := int64(fs.Bsize)
	s.DiskBytes, s.UsedBytes = int64(fs.Blocks)*block, int64(fs.Blocks-fs.Bfree)*block
	s.FreeBytes, s.FreeInodes = int64(fs.Bavail)*block, int64(fs.Ffree)
	return s, nil
}

// List implements sandbox.Provider.
func (p *Provider) List(ctx context.Context) ([]sandbox.Status, error) {
	s, err := p.Inspect(ctx, sandbox.LocalID)
	return []sandbox.Status{s}, err
}

func notFound(sandboxID string) error {
	return &sandbox.Error{Code: sandbox.CodeNotFound, Message: fmt.Sprintf("sandbox %.80q not found", sandboxID)}
}

func (p *Provider) account(ctx context.Context, sandboxID, user string) (account, error) {
	if sandboxID != sandbox.LocalID {
		return account{}, notFound(sandboxID)
	}
	return lookup(ctx, user)
}
