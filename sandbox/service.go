package sandbox

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// touchInterval is how far LastUsed of a key may lag behind: a write per request would cost more than it tells.
const touchInterval = time.Minute

const maxNameBytes = 100

// Config is what New needs.
type Config struct {
	Store Store
	Log   *slog.Logger
	// Local offers the machine itself as the sandbox "local", to the first organisation.
	Local bool
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Service is what callers may do with organisations, keys and sandboxes. Its methods may be called from any goroutine.
type Service struct {
	c Config

	mu      sync.Mutex // protects following
	touched map[string]time.Time
}

// New returns a Service. It starts nothing and needs no Close.
func New(c Config) *Service {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Service{c: c, touched: make(map[string]time.Time)}
}

// FirstOrg returns the organisation this server was made for, and makes it, with its sandbox "local", at the first
// start. A start that was cut short is completed.
func (s *Service) FirstOrg(ctx context.Context) (Org, error) {
	orgs, err := s.c.Store.Orgs(ctx)
	if err != nil {
		return Org{}, fmt.Errorf("list organisations: %w", err)
	}
	var first Org
	if len(orgs) > 0 {
		first = orgs[0]
	} else if first, err = s.CreateOrg(ctx, "default"); err != nil {
		return Org{}, err
	}
	_, err = s.c.Store.Sandbox(ctx, first.ID, LocalID)
	if errors.Is(err, ErrNoRow) {
		err = s.c.Store.CreateSandbox(ctx, Sandbox{
			ID: LocalID, OrgID: first.ID, Name: LocalID, Provider: LocalID, State: StateRunning, CreatedAt: s.now(),
		})
	}
	if err != nil {
		return Org{}, fmt.Errorf("create sandbox %s: %w", LocalID, err)
	}
	return first, nil
}

// CreateOrg makes an organisation. It is for the person who runs the server, so there is no actor; a key for it is
// made by CreateKey with Actor{OrgID: org.ID}.
func (s *Service) CreateOrg(ctx context.Context, name string) (Org, error) {
	name, err := checkName(name)
	if err != nil {
		return Org{}, err
	}
	o := Org{ID: NewID("org"), Name: name, CreatedAt: s.now()}
	if err := s.c.Store.CreateOrg(ctx, o); err != nil {
		return Org{}, fmt.Errorf("create organisation: %w", err)
	}
	return o, nil
}

// CreateKey makes a full-access key for the actor's organisation. The secret is returned here and never again.
func (s *Service) CreateKey(ctx context.Context, a Actor, name string) (Key, string, error) {
	if err := s.authorize(a, VerbKeys, object{orgID: a.OrgID}); err != nil {
		return Key{}, "", err
	}
	name, err := checkName(name)
	if err != nil {
		return Key{}, "", err
	}
	secret := newSecret()
	k := Key{ID: NewID("key"), OrgID: a.OrgID, Name: name, Prefix: secretPrefix(secret), CreatedAt: s.now()}
	if err := s.c.Store.CreateKey(ctx, StoredKey{Key: k, Hash: hashSecret(secret)}); err != nil {
		return Key{}, "", fmt.Errorf("create key: %w", err)
	}
	return k, secret, nil
}

// Keys lists the keys of the actor's organisation.
func (s *Service) Keys(ctx context.Context, a Actor) ([]Key, error) {
	if err := s.authorize(a, VerbKeys, object{orgID: a.OrgID}); err != nil {
		return nil, err
	}
	keys, err := s.c.Store.Keys(ctx, a.OrgID)
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	return keys, nil
}

// Authenticate returns the actor that a key's secret stands for. How long it takes tells nothing of how near a wrong
// secret was: rows are found by the part of it that is shown in lists anyway, and compared by hash in constant time.
func (s *Service) Authenticate(ctx context.Context, secret string) (Actor, error) {
	wrong := &Error{Code: CodeUnauthorized, Message: "key not accepted", Remedy: "pt login"}
	if !checkSecret(secret) {
		return Actor{}, wrong
	}
	keys, err := s.c.Store.KeysByPrefix(ctx, secretPrefix(secret))
	if err != nil {
		return Actor{}, fmt.Errorf("find key: %w", err)
	}
	hash := hashSecret(secret)
	var found *StoredKey
	for i := range keys {
		if subtle.ConstantTimeCompare(keys[i].Hash[:], hash[:]) == 1 {
			found = &keys[i]
		}
	}
	if found == nil {
		return Actor{}, wrong
	}
	s.touch(ctx, found.Key)
	return Actor{OrgID: found.OrgID, KeyID: found.ID}, nil
}

// touch writes LastUsed at most once per touchInterval. A failure is no reason to refuse the caller: on a full disk
// people must still get in.
func (s *Service) touch(ctx context.Context, k Key) {
	now := s.now()
	s.mu.Lock()
	last := k.LastUsed
	if t := s.touched[k.ID]; t.After(last) {
		last = t
	}
	due := now.Sub(last) >= touchInterval
	if due {
		s.touched[k.ID] = now
	}
	s.mu.Unlock()
	if !due {
		return
	}
	if err := s.c.Store.TouchKey(ctx, k.ID, now); err != nil && s.c.Log != nil {
		s.c.Log.Warn("write last use of key", "key_id", k.ID, "err", err)
	}
}

// List returns the sandboxes that the actor may see, oldest first.
func (s *Service) List(ctx context.Context, a Actor) ([]Sandbox, error) {
	if a.OrgID == "" {
		return nil, s.authorize(a, VerbRead, object{})
	}
	all, err := s.c.Store.Sandboxes(ctx, a.OrgID)
	if err != nil {
		return nil, fmt.Errorf("list sandboxes: %w", err)
	}
	seen := make([]Sandbox, 0, len(all))
	for _, sb := range all {
		if s.authorize(a, VerbRead, object{orgID: sb.OrgID, sandbox: &sb}) == nil {
			seen = append(seen, sb)
		}
	}
	return seen, nil
}

// Get returns a sandbox by id or name if the actor may apply the verb to it. Whoever acts on a sandbox gets it here.
func (s *Service) Get(ctx context.Context, a Actor, v Verb, idOrName string) (Sandbox, error) {
	if a.OrgID == "" {
		return Sandbox{}, s.authorize(a, v, object{asked: idOrName})
	}
	sb, err := s.c.Store.Sandbox(ctx, a.OrgID, idOrName)
	if errors.Is(err, ErrNoRow) {
		return Sandbox{}, notFound(object{asked: idOrName})
	}
	if err != nil {
		return Sandbox{}, fmt.Errorf("find sandbox: %w", err)
	}
	if err := s.authorize(a, v, object{orgID: sb.OrgID, sandbox: &sb, asked: idOrName}); err != nil {
		return Sandbox{}, err
	}
	return sb, nil
}

// now is the clock in UTC without what a database would lose.
func (s *Service) now() time.Time { return s.c.Now().UTC().Truncate(time.Millisecond) }

func checkName(name string) (string, error) {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > maxNameBytes || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", &Error{Code: CodeInvalidRequest, Field: "name",
			Message: fmt.Sprintf("a name has 1 to %d bytes and no control characters", maxNameBytes)}
	}
	return name, nil
}
