package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// memory is a Store.
type memory struct {
	mu        sync.Mutex
	orgs      []Org
	keys      []StoredKey
	sandboxes []Sandbox
	settings  map[string]Settings
	touches   int
	failTouch error
}

func (m *memory) CreateOrg(_ context.Context, o Org) error {
	m.orgs = append(m.orgs, o)
	return nil
}
func (m *memory) Orgs(context.Context) ([]Org, error) { return m.orgs, nil }
func (m *memory) CreateKey(_ context.Context, k StoredKey) error {
	m.keys = append(m.keys, k)
	return nil
}
func (m *memory) KeysByPrefix(_ context.Context, prefix string) (list []StoredKey, _ error) {
	for _, k := range m.keys {
		if k.Prefix == prefix {
			list = append(list, k)
		}
	}
	return list, nil
}
func (m *memory) Keys(_ context.Context, orgID string) (list []Key, _ error) {
	for _, k := range m.keys {
		if k.OrgID == orgID {
			list = append(list, k.Key)
		}
	}
	return list, nil
}
func (m *memory) TouchKey(_ context.Context, id string, at time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.touches++
	for i := range m.keys {
		if m.keys[i].ID == id && m.failTouch == nil {
			m.keys[i].LastUsed = at
		}
	}
	return m.failTouch
}
func (m *memory) CreateSandbox(_ context.Context, s Sandbox) error {
	m.sandboxes = append(m.sandboxes, s)
	return nil
}
func (m *memory) Sandbox(_ context.Context, orgID, idOrName string) (Sandbox, error) {
	for _, s := range m.sandboxes {
		if s.OrgID == orgID && (s.ID == idOrName || s.Name == idOrName) {
			return s, nil
		}
	}
	return Sandbox{}, ErrNoRow
}
func (m *memory) Sandboxes(_ context.Context, orgID string) (list []Sandbox, _ error) {
	for _, s := range m.sandboxes {
		if s.OrgID == orgID {
			list = append(list, s)
		}
	}
	return list, nil
}

func (m *memory) Settings(_ context.Context, orgID, user string) (Settings, error) {
	return maps.Clone(m.settings[orgID+" "+user]), nil
}
func (m *memory) ChangeSettings(_ context.Context, orgID, user string, changes Settings) error {
	if m.settings == nil {
		m.settings = map[string]Settings{}
	}
	all := maps.Clone(m.settings[orgID+" "+user])
	if all == nil {
		all = Settings{}
	}
	maps.Copy(all, changes)
	maps.DeleteFunc(all, func(_ string, v json.RawMessage) bool { return v == nil })
	m.settings[orgID+" "+user] = all
	return nil
}

func code(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func TestFirstOrg(t *testing.T) {
	store := &memory{}
	s := New(Config{Store: store, Local: true})
	first, err := s.FirstOrg(t.Context())
	if err != nil || !strings.HasPrefix(first.ID, "org_") {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := s.FirstOrg(t.Context())
	if err != nil || again.ID != first.ID || len(store.orgs) != 1 || len(store.sandboxes) != 1 {
		t.Errorf("second start: %+v, %v, %+v", again, err, store)
	}
	// A start that was cut short after the organisation was made.
	store.sandboxes = nil
	if _, err := s.FirstOrg(t.Context()); err != nil || len(store.sandboxes) != 1 {
		t.Errorf("completed start: %v, %+v", err, store.sandboxes)
	}
}

// TestLocal: the machine itself is a sandbox of the first organisation alone, and can be switched off.
func TestLocal(t *testing.T) {
	store := &memory{}
	s := New(Config{Store: store, Local: true})
	first, err := s.FirstOrg(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.CreateOrg(t.Context(), "second")
	if err != nil {
		t.Fatal(err)
	}
	off := New(Config{Store: store})
	for _, tt := range []struct {
		name  string
		s     *Service
		actor Actor
		code  string
	}{
		{"first", s, Actor{OrgID: first.ID}, ""},
		{"first, with a device", s, Actor{OrgID: first.ID, Device: "laptop"}, ""},
		{"second", s, Actor{OrgID: second.ID}, CodeNotFound},
		{"nobody", s, Actor{}, CodeUnauthorized},
		{"first, switched off", off, Actor{OrgID: first.ID}, CodeNotFound},
	} {
		for _, v := range []Verb{VerbRead, VerbTabs} {
			sb, err := tt.s.Get(t.Context(), tt.actor, v, LocalID)
			if code(err) != tt.code || (err == nil) != (sb.ID == LocalID) {
				t.Errorf("%s: %s: %+v, %v; want %q", tt.name, v, sb, err, tt.code)
			}
		}
		list, err := tt.s.List(t.Context(), tt.actor)
		seen := slices.ContainsFunc(list, func(sb Sandbox) bool { return sb.ID == LocalID })
		if seen != (tt.code == "") || (tt.code == CodeUnauthorized) != (code(err) == CodeUnauthorized) {
			t.Errorf("%s: list %+v, %v", tt.name, list, err)
		}
	}
	// What is not there and what is another's read the same.
	_, unknown := s.Get(t.Context(), Actor{OrgID: second.ID}, VerbRead, "sbx_x")
	_, foreign := s.Get(t.Context(), Actor{OrgID: second.ID}, VerbRead, LocalID)
	if got := strings.ReplaceAll(foreign.Error(), LocalID, "sbx_x"); got != unknown.Error() {
		t.Errorf("%q and %q differ", foreign, unknown)
	}
}

func TestAuthorizeFailsClosed(t *testing.T) {
	s := New(Config{Store: &memory{}, Local: true})
	sb := &Sandbox{ID: "sbx_1", OrgID: "a", Provider: "runc"}
	for _, tt := range []struct {
		name string
		a    Actor
		v    Verb
		o    object
		code string
	}{
		{"own sandbox", Actor{OrgID: "a"}, VerbTabs, object{orgID: "a", sandbox: sb}, ""},
		{"another's sandbox", Actor{OrgID: "b"}, VerbTabs, object{orgID: "a", sandbox: sb}, CodeNotFound},
		{"no organisation on both sides", Actor{}, VerbTabs, object{}, CodeUnauthorized},
		{"own keys", Actor{OrgID: "a"}, VerbKeys, object{orgID: "a"}, ""},
		{"another's keys", Actor{OrgID: "b"}, VerbKeys, object{orgID: "a"}, CodeNotFound},
		{"keys of a sandbox", Actor{OrgID: "a"}, VerbKeys, object{orgID: "a", sandbox: sb}, CodeNotFound},
		{"tabs of an organisation", Actor{OrgID: "a"}, VerbTabs, object{orgID: "a"}, CodeNotFound},
		{"a verb nobody knows", Actor{OrgID: "a"}, "fly", object{orgID: "a", sandbox: sb}, CodeScopeForbidden},
	} {
		if err := s.authorize(tt.a, tt.v, tt.o); code(err) != tt.code || (err == nil) != (tt.code == "") {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.code)
		}
	}
}

func TestKeys(t *testing.T) {
	store := &memory{}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := New(Config{Store: store, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)})
	org, err := s.CreateOrg(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	admin := Actor{OrgID: org.ID}
	key, secret, err := s.CreateKey(t.Context(), admin, " agent ")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^pt_live_[0-9a-z]{40}$`).MatchString(secret) || key.Name != "agent" {
		t.Errorf("key %+v, secret %q", key, secret)
	}
	if !strings.HasPrefix(secret, key.Prefix) || len(key.Prefix) >= len(secret)/2 {
		t.Errorf("prefix %q of %q", key.Prefix, secret)
	}
	if stored := store.keys[0]; stored.Hash == [32]byte{} || strings.Contains(string(stored.Hash[:]), secret[8:]) {
		t.Errorf("stored %+v", stored)
	}
	a, err := s.Authenticate(t.Context(), secret)
	if err != nil || a.OrgID != org.ID || a.KeyID != key.ID {
		t.Errorf("actor %+v, %v", a, err)
	}

	// Last use is written once a minute.
	for range 5 {
		now = now.Add(time.Second)
		if _, err := s.Authenticate(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
	}
	if store.touches != 1 {
		t.Errorf("%d writes of last use in 6 s, want 1", store.touches)
	}
	now = now.Add(time.Minute)
	store.failTouch = errors.New("disk full")
	if _, err := s.Authenticate(t.Context(), secret); err != nil || store.touches != 2 {
		t.Errorf("with a full disk: %v, %d writes", err, store.touches)
	}

	for name, wrong := range map[string]string{
		"empty":             "",
		"prefix alone":      key.Prefix,
		"typo":              swap(secret, 20),
		"typo in checksum":  swap(secret, len(secret)-1),
		"another's mark":    "pt_test_" + secret[8:],
		"upper case":        strings.ToUpper(secret),
		"with a newline":    secret + "\n",
		"same prefix only":  samePrefix(key.Prefix),
		"a key nobody made": newSecret(),
	} {
		if _, err := s.Authenticate(t.Context(), wrong); code(err) != CodeUnauthorized {
			t.Errorf("%s: %v, want %s", name, err, CodeUnauthorized)
		}
	}
	if _, _, err := s.CreateKey(t.Context(), Actor{}, "x"); code(err) != CodeUnauthorized {
		t.Errorf("nobody made a key: %v", err)
	}
	for _, name := range []string{"", " ", "a\nb", strings.Repeat("x", 101)} {
		if _, _, err := s.CreateKey(t.Context(), admin, name); code(err) != CodeInvalidRequest {
			t.Errorf("name %q: %v", name, err)
		}
	}
	other, _ := s.CreateOrg(t.Context(), "other")
	if keys, err := s.Keys(t.Context(), Actor{OrgID: other.ID}); err != nil || len(keys) != 0 {
		t.Errorf("another organisation sees %+v, %v", keys, err)
	}
	if keys, err := s.Keys(t.Context(), admin); err != nil || len(keys) != 1 || keys[0].ID != key.ID {
		t.Errorf("keys %+v, %v", keys, err)
	}
}

// swap replaces a character by another of the alphabet.
func swap(s string, i int) string {
	c := byte('0')
	if s[i] == c {
		c = '1'
	}
	return s[:i] + string(c) + s[i+1:]
}

// samePrefix is a well-formed secret that is shown in lists as another one is.
func samePrefix(prefix string) string {
	for {
		s := newSecret()
		body := prefix[len(secretMark):] + s[secretPrefixChars:]
		raw, err := secretEncoding.DecodeString(body)
		if err == nil {
			return withChecksum(raw[:secretRandomBytes])
		}
	}
}

func TestSecretsAreRandom(t *testing.T) {
	seen := make(map[string]bool)
	for range 1000 {
		s := newSecret()
		if seen[s] || !checkSecret(s) {
			t.Fatalf("secret %q", s)
		}
		seen[s] = true
	}
}

func FuzzCheckSecret(f *testing.F) {
	f.Add(newSecret())
	f.Add("pt_live_")
	f.Fuzz(func(t *testing.T, s string) {
		if checkSecret(s) && len(secretPrefix(s)) != secretPrefixChars {
			t.Errorf("prefix of %q", s)
		}
	})
}

func TestError(t *testing.T) {
	cause := errors.New("cause")
	e := &Error{Code: CodeNotFound, Message: "gone", Err: cause}
	if e.Error() != "gone: cause" || !errors.Is(e, cause) || (&Error{Message: "x"}).Error() != "x" {
		t.Errorf("%v", e)
	}
}
