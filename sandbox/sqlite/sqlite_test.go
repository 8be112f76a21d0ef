package sqlite

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/terminal/tabs"
)

func open(t *testing.T) *DB {
	t.Helper()
	d, err := Open(t.Context(), filepath.Join(t.TempDir(), "tabs.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// at is a time as precise as the database keeps it.
func at(seconds int) time.Time { return time.Unix(1_800_000_000+int64(seconds), 123_456_000).UTC() }

func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %+v, want %+v", what, got, want)
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func addOrgs(t *testing.T, d *DB) (a, b sandbox.Org) {
	t.Helper()
	a = sandbox.Org{ID: "org_a", Name: "a", CreatedAt: at(1)}
	b = sandbox.Org{ID: "org_b", Name: "b", CreatedAt: at(2)}
	ok(t, d.CreateOrg(t.Context(), b))
	ok(t, d.CreateOrg(t.Context(), a))
	return a, b
}

func TestOrgs(t *testing.T) {
	d := open(t)
	a, b := addOrgs(t, d)
	all, err := d.Orgs(t.Context())
	ok(t, err)
	same(t, "orgs, oldest first", all, []sandbox.Org{a, b})
	err = d.CreateOrg(t.Context(), sandbox.Org{ID: "org_c", Name: "a", CreatedAt: at(3)})
	var e *sandbox.Error
	if !errors.As(err, &e) || e.Code != sandbox.CodeNameTaken {
		t.Errorf("taken name: %v", err)
	}
}

func TestKeys(t *testing.T) {
	d, ctx := open(t), t.Context()
	a, b := addOrgs(t, d)
	first := sandbox.StoredKey{Key: sandbox.Key{ID: "key_1", OrgID: a.ID, Name: "x", Prefix: "pt_live_aaaa", CreatedAt: at(1)}, Hash: [32]byte{1}}
	second := sandbox.StoredKey{Key: sandbox.Key{ID: "key_2", OrgID: b.ID, Name: "x", Prefix: "pt_live_aaaa", CreatedAt: at(2)}, Hash: [32]byte{2}}
	ok(t, d.CreateKey(ctx, first))
	ok(t, d.CreateKey(ctx, second))
	if err := d.CreateKey(ctx, sandbox.StoredKey{Key: sandbox.Key{ID: "key_3", OrgID: "org_none"}, Hash: [32]byte{3}}); err == nil {
		t.Error("a key of an organisation that is not there was kept")
	}
	ok(t, d.TouchKey(ctx, first.ID, at(9)))
	ok(t, d.TouchKey(ctx, "key_none", at(9)))
	first.LastUsed = at(9)
	found, err := d.KeysByPrefix(ctx, "pt_live_aaaa")
	ok(t, err)
	same(t, "keys by prefix", found, []sandbox.StoredKey{first, second})
	for _, prefix := range []string{"pt_live_", "pt_live_aaaab", "%", ""} {
		if found, err := d.KeysByPrefix(ctx, prefix); err != nil || len(found) > 0 {
			t.Errorf("prefix %q finds %v (%v)", prefix, found, err)
		}
	}
	mine, err := d.Keys(ctx, a.ID)
	ok(t, err)
	same(t, "keys of a", mine, []sandbox.Key{first.Key})
}

func TestSandboxes(t *testing.T) {
	d, ctx := open(t), t.Context()
	a, b := addOrgs(t, d)
	// One is named as the other's id: the id wins.
	x := sandbox.Sandbox{ID: "sbx_1", OrgID: a.ID, Name: "sbx_2", Provider: "local", State: sandbox.StateRunning, CreatedAt: at(1)}
	y := sandbox.Sandbox{ID: "sbx_2", OrgID: a.ID, Name: "dev", Provider: "local", State: sandbox.StateStopped, CreatedAt: at(2)}
	z := sandbox.Sandbox{ID: "sbx_3", OrgID: b.ID, Name: "dev", Provider: "local", State: sandbox.StateRunning, CreatedAt: at(3)}
	for _, s := range []sandbox.Sandbox{x, y, z} {
		ok(t, d.CreateSandbox(ctx, s))
	}
	for _, c := range []struct {
		org, ask string
		want     sandbox.Sandbox
		err      error
	}{
		{a.ID, "sbx_1", x, nil}, {a.ID, "sbx_2", y, nil}, {a.ID, "dev", y, nil}, {b.ID, "dev", z, nil},
		{a.ID, "sbx_3", sandbox.Sandbox{}, sandbox.ErrNoRow}, {a.ID, "nope", sandbox.Sandbox{}, sandbox.ErrNoRow},
		{"", "dev", sandbox.Sandbox{}, sandbox.ErrNoRow},
	} {
		got, err := d.Sandbox(ctx, c.org, c.ask)
		if !errors.Is(err, c.err) {
			t.Errorf("%s of %s: %v", c.ask, c.org, err)
		}
		same(t, c.ask+" of "+c.org, got, c.want)
	}
	all, err := d.Sandboxes(ctx, a.ID)
	ok(t, err)
	same(t, "sandboxes of a", all, []sandbox.Sandbox{x, y})
	var e *sandbox.Error
	if err := d.CreateSandbox(ctx, sandbox.Sandbox{ID: "sbx_4", OrgID: a.ID, Name: "dev"}); !errors.As(err, &e) || e.Code != sandbox.CodeNameTaken {
		t.Errorf("taken name: %v", err)
	}
	if err := d.CreateSandbox(ctx, sandbox.Sandbox{ID: "sbx_3", OrgID: a.ID, Name: "new"}); err == nil {
		t.Error("an id was given twice")
	}
}

func TestWebSessions(t *testing.T) {
	d, ctx := open(t), t.Context()
	a, b := addOrgs(t, d)
	x := sandbox.WebSession{ID: "wse_1", OrgID: a.ID, Hash: [32]byte{1}, Device: "phone", User: "ada", Address: "::1", CreatedAt: at(1), LastSeen: at(1)}
	y := sandbox.WebSession{ID: "wse_2", OrgID: a.ID, Hash: [32]byte{2}, Device: "desk", CreatedAt: at(2), LastSeen: at(50)}
	ok(t, d.CreateWebSession(ctx, y))
	ok(t, d.CreateWebSession(ctx, x))
	ok(t, d.RenameWebSession(ctx, a.ID, x.ID, "my phone"))
	ok(t, d.TouchWebSession(ctx, x.ID, "192.0.2.1", at(40)))
	ok(t, d.TouchWebSession(ctx, "wse_none", "192.0.2.1", at(40)))
	x.Device, x.Address, x.LastSeen = "my phone", "192.0.2.1", at(40)
	got, err := d.WebSession(ctx, x.Hash)
	ok(t, err)
	same(t, "by hash", got, x)
	all, err := d.WebSessions(ctx, a.ID)
	ok(t, err)
	same(t, "of a", all, []sandbox.WebSession{x, y})
	for what, err := range map[string]error{
		"unknown hash":           second(d.WebSession(ctx, [32]byte{9})),
		"foreign organisation":   d.RenameWebSession(ctx, b.ID, x.ID, "theirs"),
		"unknown device":         d.RenameWebSession(ctx, a.ID, "wse_none", "x"),
		"logout of a foreign":    d.DeleteWebSession(ctx, b.ID, x.ID),
		"logout of an unknown":   d.DeleteWebSession(ctx, a.ID, "wse_none"),
		"logout, then once more": errors.Join(d.DeleteWebSession(ctx, a.ID, y.ID), d.DeleteWebSession(ctx, a.ID, y.ID)),
	} {
		if !errors.Is(err, sandbox.ErrNoRow) {
			t.Errorf("%s: %v, want ErrNoRow", what, err)
		}
	}
	ok(t, d.DeleteExpired(ctx, at(0), at(40)))
	if _, err := d.WebSession(ctx, x.Hash); err != nil {
		t.Errorf("seen at the bound: %v", err)
	}
	ok(t, d.DeleteExpired(ctx, at(0), at(41)))
	if _, err := d.WebSession(ctx, x.Hash); !errors.Is(err, sandbox.ErrNoRow) {
		t.Errorf("expired: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestLoginToken gives a token to one of many that ask at once.
func TestLoginToken(t *testing.T) {
	d, ctx := open(t), t.Context()
	a, _ := addOrgs(t, d)
	for i := range 20 {
		want := sandbox.LoginToken{Hash: [32]byte{byte(i)}, OrgID: a.ID, ExpiresAt: at(60)}
		ok(t, d.CreateLoginToken(ctx, want))
		var wg sync.WaitGroup
		var taken atomic.Int32
		for range 8 {
			wg.Go(func() {
				got, err := d.TakeLoginToken(ctx, want.Hash)
				switch {
				case err == nil && got == want:
					taken.Add(1)
				case !errors.Is(err, sandbox.ErrNoRow):
					t.Errorf("take: %+v, %v", got, err)
				}
			})
		}
		wg.Wait()
		if n := taken.Load(); n != 1 {
			t.Fatalf("%d of 8 took the token", n)
		}
	}
	ok(t, d.CreateLoginToken(ctx, sandbox.LoginToken{Hash: [32]byte{99}, OrgID: a.ID, ExpiresAt: at(60)}))
	ok(t, d.DeleteExpired(ctx, at(61), at(0)))
	if _, err := d.TakeLoginToken(ctx, [32]byte{99}); !errors.Is(err, sandbox.ErrNoRow) {
		t.Errorf("expired: %v", err)
	}
}

func TestSavedTabs(t *testing.T) {
	d, ctx := open(t), t.Context()
	a := tabs.Saved{ID: "tab_a", Sandbox: "local", Title: "vim", Named: true, Order: 1, User: "dev", Cwd: "/tmp", Lines: []byte("\x1b[31mred\x00\xff"), SavedAt: at(1)}
	b := tabs.Saved{ID: "tab_b", Sandbox: "local", Order: 0, SavedAt: at(2)}
	c := tabs.Saved{ID: "tab_c", Sandbox: "sbx_1", SavedAt: at(3)}
	for _, s := range []tabs.Saved{a, b, c} {
		ok(t, d.PutTab(ctx, s))
	}
	got, err := d.SavedTabs(ctx, "local")
	ok(t, err)
	same(t, "by order", got, []tabs.Saved{b, a})
	a.Title, a.Order, a.Lines = "top", 0, []byte("x")
	ok(t, d.PutTab(ctx, a))
	got, err = d.SavedTabs(ctx, "local")
	ok(t, err)
	same(t, "after a change, then by id", got, []tabs.Saved{a, b})
	ok(t, d.DeleteTabs(ctx, "sbx_1", []string{"tab_a"}))
	ok(t, d.DeleteTabs(ctx, "local", []string{"tab_b", "tab_none"}))
	ok(t, d.DeleteTabs(ctx, "local", nil))
	got, err = d.SavedTabs(ctx, "local")
	ok(t, err)
	same(t, "after delete", got, []tabs.Saved{a})
	ok(t, d.PutTab(ctx, tabs.Saved{ID: "tab_d", Sandbox: "local"}))
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?#%.db") // what a URL would trip over
	d, err := Open(t.Context(), path)
	ok(t, err)
	ok(t, d.CreateOrg(t.Context(), sandbox.Org{ID: "org_1", Name: "x", CreatedAt: at(1)}))
	for _, suffix := range []string{"", "-wal", "-shm"} {
		fi, err := os.Stat(path + suffix)
		ok(t, err)
		if fi.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want 0600", fi.Name(), fi.Mode())
		}
	}
	ok(t, d.Close())
	d, err = Open(t.Context(), path)
	ok(t, err)
	defer d.Close()
	all, err := d.Orgs(t.Context())
	ok(t, err)
	if len(all) != 1 {
		t.Errorf("%d organisations after a restart, want 1", len(all))
	}
}

// TestNewerDatabase refuses a file that a newer program has changed, rather than spoil it.
func TestNewerDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tabs.db")
	d, err := Open(t.Context(), path)
	ok(t, err)
	_, err = d.db.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)`)
	ok(t, err)
	ok(t, d.Close())
	if d, err := Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), "newer program") {
		if err == nil {
			d.Close()
		}
		t.Errorf("opened a newer database: %v", err)
	}
}

func TestConcurrentWriters(t *testing.T) {
	d := open(t)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 20 {
				if err := d.PutTab(t.Context(), tabs.Saved{ID: fmt.Sprint("tab_", w, "_", i), Sandbox: "local", SavedAt: at(i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if all, err := d.SavedTabs(t.Context(), "local"); err != nil || len(all) != 160 {
		t.Errorf("%d rows (%v), want 160", len(all), err)
	}
}

// TestKill ends a process that writes, with SIGKILL, at moments it does not choose. Every row it said was written must
// be there.
func TestKill(t *testing.T) {
	if path := os.Getenv("SQLITE_TEST_WRITE"); path != "" {
		writeForever(path)
		return
	}
	path := filepath.Join(t.TempDir(), "tabs.db")
	written := 0
	for round := range 5 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKill$")
		cmd.Env = append(os.Environ(), "SQLITE_TEST_WRITE="+path, fmt.Sprint("SQLITE_TEST_ROUND=", round))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.StdoutPipe()
		ok(t, err)
		ok(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for n := 0; n < 30+7*round && lines.Scan(); n++ {
			written++
		}
		ok(t, cmd.Process.Kill())
		for lines.Scan() { // said before the kill reached it
			written++
		}
		cmd.Wait()
		d, err := Open(t.Context(), path)
		if err != nil {
			t.Fatalf("open after a kill: %v; it said %s", err, stderr.Bytes())
		}
		all, err := d.SavedTabs(t.Context(), "local")
		ok(t, err)
		// One more may have been written that was not said.
		if n := len(all); n < written || n > written+1 {
			t.Fatalf("round %d: %d rows, the writer said %d", round, n, written)
		}
		written = len(all)
		var check string
		ok(t, d.db.QueryRow(`PRAGMA integrity_check`).Scan(&check))
		same(t, "integrity", check, "ok")
		ok(t, d.Close())
	}
}

func writeForever(path string) {
	d, err := Open(context.Background(), path)
	if err != nil {
		panic(err)
	}
	for i := 0; ; i++ {
		id := fmt.Sprint("tab_", os.Getenv("SQLITE_TEST_ROUND"), "_", i)
		if err := d.PutTab(context.Background(), tabs.Saved{ID: id, Sandbox: "local", Order: i}); err != nil {
			panic(err)
		}
		fmt.Println(i)
	}
}

func TestSettings(t *testing.T) {
	d, ctx := open(t), t.Context()
	a, b := addOrgs(t, d)
	want := func(what, org, user string, want sandbox.Settings) {
		t.Helper()
		got, err := d.Settings(ctx, org, user)
		ok(t, err)
		same(t, what, got, want)
	}
	want("at first", a.ID, "", sandbox.Settings{})
	ok(t, d.ChangeSettings(ctx, a.ID, "", sandbox.Settings{"fontSize": []byte("14"), "quiet": []byte("true")}))
	ok(t, d.ChangeSettings(ctx, a.ID, "ada", sandbox.Settings{"fontSize": []byte("20")}))
	ok(t, d.ChangeSettings(ctx, a.ID, "", sandbox.Settings{"fontSize": []byte("15"), "quiet": nil, "keys": nil}))
	ok(t, d.ChangeSettings(ctx, a.ID, "", nil))
	want("after changes", a.ID, "", sandbox.Settings{"fontSize": []byte("15")})
	want("of another user", a.ID, "ada", sandbox.Settings{"fontSize": []byte("20")})
	want("of another organisation", b.ID, "", sandbox.Settings{})
	if err := d.ChangeSettings(ctx, "org_none", "", sandbox.Settings{"quiet": []byte("true")}); err == nil {
		t.Error("settings of no organisation were kept")
	}
}
