package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/browsertabs/tabs/client"
	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/sandbox/sqlite"
	"github.com/browsertabs/tabs/terminal"
	"github.com/browsertabs/tabs/terminal/tabs"
	"github.com/browsertabs/tabs/web"
	"github.com/browsertabs/tabs/web/api"
)

// fakeTabs keeps tabs in memory and remembers what it was asked for.
type fakeTabs struct {
	tabs     []tabs.Tab
	opened   tabs.OpenOptions
	updated  tabs.Update
	revived  []string
	forgot   []string
	ended    []string
	broke    terminal.PaneID
	joined   tabs.Join
	asked    int // calls of any kind
	openFail error
}

func (f *fakeTabs) List(context.Context, string) ([]tabs.Tab, error) {
	f.asked++
	return slices.Clone(f.tabs), nil
}

func (f *fakeTabs) Get(_ context.Context, sandboxID, id string) (tabs.Tab, error) {
	f.asked++
	for _, t := range f.tabs {
		if t.ID == id && t.Sandbox == sandboxID {
			return t, nil
		}
	}
	return tabs.Tab{}, &sandbox.Error{Code: sandbox.CodeNotFound, Message: "tab not found"}
}

func (f *fakeTabs) Open(_ context.Context, sandboxID string, o tabs.OpenOptions) (tabs.Tab, error) {
	f.asked++
	f.opened = o
	return tabs.Tab{ID: "tab_new", Sandbox: sandboxID, Title: o.Title, Size: o.Size, CreatedAt: someTime}, f.openFail
}

func (f *fakeTabs) Update(ctx context.Context, sandboxID, id string, u tabs.Update) (tabs.Tab, error) {
	f.asked++
	f.updated = u
	return f.Get(ctx, sandboxID, id)
}

func (f *fakeTabs) End(ctx context.Context, sandboxID, id string) error {
	f.ended = append(f.ended, id)
	_, err := f.Get(ctx, sandboxID, id)
	return err
}

func (f *fakeTabs) BreakOut(ctx context.Context, sandboxID, id string, pane terminal.PaneID) (tabs.Tab, error) {
	f.broke = pane
	return tabs.Tab{ID: "tab_new", Sandbox: sandboxID, Server: id}, nil
}

func (f *fakeTabs) Join(ctx context.Context, sandboxID, id string, j tabs.Join) (tabs.Tab, error) {
	f.joined = j
	return f.Get(ctx, sandboxID, id)
}

func (f *fakeTabs) Revive(_ context.Context, _ string, ids []string) ([]tabs.Tab, error) {
	f.asked++
	f.revived = ids
	return f.tabs[:1], nil
}

func (f *fakeTabs) Forget(_ context.Context, _ string, ids []string) error {
	f.asked++
	f.forgot = ids
	return nil
}

func (f *fakeTabs) Watch(context.Context, string) (<-chan tabs.Event, error) {
	return nil, &sandbox.Error{Code: sandbox.CodeNotSupported, Message: "not in this test"}
}

func (f *fakeTabs) View(context.Context, string, string, terminal.Conn, terminal.Hello, terminal.ViewerConfig) error {
	return nil
}

var someTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("elsewhere", 3600))

// server is the real web server, store and sandbox service, with fake tabs.
type server struct {
	t        *testing.T
	url      string
	key      string // of the first organisation
	otherKey string // of another
	tabs     *fakeTabs
	api      *api.API
}

func newServer(t *testing.T, exec api.Execer) *server {
	t.Helper()
	ctx := t.Context()
	db, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	log := slog.New(slog.DiscardHandler)
	boxes := sandbox.New(sandbox.Config{Store: db, Log: log, Local: true})
	s := &server{t: t, tabs: &fakeTabs{}}
	org, err := boxes.FirstOrg(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, s.key, err = boxes.CreateKey(ctx, sandbox.Actor{OrgID: org.ID}, "test"); err != nil {
		t.Fatal(err)
	}
	other, err := boxes.CreateOrg(ctx, "other")
	if err != nil {
		t.Fatal(err)
	}
	if _, s.otherKey, err = boxes.CreateKey(ctx, sandbox.Actor{OrgID: other.ID}, "test"); err != nil {
		t.Fatal(err)
	}
	s.api = api.New(api.Config{Log: log, Sandboxes: boxes, Tabs: s.tabs, Exec: exec, Version: "v1"})
	srv, err := web.New(web.Deps{Log: log, Sandboxes: boxes, Tabs: s.tabs, Store: db, OrgID: org.ID, API: s.api.Routes(),
		Hosts: []string{"127.0.0.1"}, BasePath: "/term", Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	hs := httptest.NewServer(srv.Handler())
	t.Cleanup(hs.Close)
	s.url = hs.URL + "/term"
	return s
}

// do sends a request with a key and decodes the answer's JSON.
func (s *server) do(key, method, path, body string) (status int, header http.Header, answer map[string]any) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if len(b) > 0 {
		if err := json.Unmarshal(b, &answer); err != nil {
			s.t.Fatalf("%s %s answered %s", method, path, b)
		}
	}
	return resp.StatusCode, resp.Header, answer
}

func (s *server) client() *client.Client {
	s.t.Helper()
	c, err := client.New(client.Config{BaseURL: s.url, Key: s.key})
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

func (s *server) addTabs(n int) {
	for i := range n {
		s.tabs.tabs = append(s.tabs.tabs, tabs.Tab{ID: fmt.Sprintf("tab_%03d", i), Sandbox: "local", Order: n - i,
			State: "live", CreatedAt: someTime})
	}
}

// routes of every kind, for what must hold for all of them.
var everyRoute = []struct{ method, path, body string }{
	{"GET", "/v1/whoami", ""},
	{"GET", "/v1/sandboxes", ""},
	{"GET", "/v1/sandboxes/local", ""},
	{"GET", "/v1/sandboxes/local/tabs", ""},
	{"POST", "/v1/sandboxes/local/tabs", "{}"},
	{"POST", "/v1/sandboxes/local/tabs/revive", `{"ids":[]}`},
	{"POST", "/v1/sandboxes/local/tabs/forget", `{"ids":[]}`},
	{"GET", "/v1/sandboxes/local/tabs/tab_000", ""},
	{"PATCH", "/v1/sandboxes/local/tabs/tab_000", `{"title":"x"}`},
	{"DELETE", "/v1/sandboxes/local/tabs/tab_000", ""},
	{"POST", "/v1/sandboxes/local/tabs/tab_000/break", `{"pane":1}`},
	{"POST", "/v1/sandboxes/local/tabs/tab_000/join", `{"from":"tab_001"}`},
	{"GET", "/v1/sandboxes/local/tabs/tab_000/attach", ""},
	{"GET", "/v1/tabs/tab_000", ""},
}

func TestEveryRouteIsListed(t *testing.T) {
	s := newServer(t, nil)
	for _, r := range s.api.Routes() {
		path := strings.NewReplacer(":id", "local", ":tab", "tab_000").Replace(r.Path)
		if !slices.ContainsFunc(everyRoute, func(e struct{ method, path, body string }) bool {
			return e.method == r.Method && e.path == path
		}) {
			t.Errorf("%s %s is not in everyRoute", r.Method, r.Path)
		}
	}
}

func TestNeedsKey(t *testing.T) {
	s := newServer(t, nil)
	s.addTabs(1)
	for _, r := range everyRoute {
		for _, key := range []string{"", "pt_live_wrong", s.key[:len(s.key)-1], s.key + "x"} {
			status, _, answer := s.do(key, r.method, r.path, r.body)
			if status != 401 || answer["code"] != "unauthorized" || answer["requestId"] == "" {
				t.Errorf("%s %s with key %q: %d %v", r.method, r.path, key, status, answer)
			}
		}
	}
	if s.tabs.asked != 0 {
		t.Errorf("tabs were asked %d times", s.tabs.asked)
	}
}

// Another organisation must not learn that a sandbox exists, nor by how a bad request is refused.
func TestForeignSandboxLooksUnknown(t *testing.T) {
	s := newServer(t, nil)
	s.addTabs(1)
	for _, r := range everyRoute {
		if r.path == "/v1/whoami" || r.path == "/v1/sandboxes" {
			continue
		}
		for _, body := range []string{r.body, `{"nonsense":`, `{"nope":1}`} {
			status, _, answer := s.do(s.otherKey, r.method, r.path, body)
			if status != 404 || answer["code"] != "not_found" {
				t.Errorf("%s %s with %s: %d %v", r.method, r.path, body, status, answer)
			}
		}
	}
	if _, _, answer := s.do(s.otherKey, "GET", "/v1/sandboxes", ""); len(answer["items"].([]any)) != 0 {
		t.Errorf("another organisation lists %v", answer["items"])
	}
	if s.tabs.asked != 0 {
		t.Errorf("tabs were asked %d times", s.tabs.asked)
	}
}

func TestUnknown(t *testing.T) {
	s := newServer(t, nil)
	for _, path := range []string{"/v1/sandboxes/sbx_x", "/v1/sandboxes/sbx_x/tabs", "/v1/sandboxes/local/tabs/tab_x",
		"/v1/tabs/tab_x", "/v1/nothing", "/v1/sandboxes/..%2flocal"} {
		status, _, answer := s.do(s.key, "GET", path, "")
		if status != 404 || answer["code"] != "not_found" {
			t.Errorf("%s: %d %v", path, status, answer)
		}
	}
}

func TestWhoami(t *testing.T) {
	s := newServer(t, nil)
	w, err := s.client().Whoami(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(w.OrgID, "org_") || w.OrgName != "default" || w.KeyID == nil || w.Scope != nil || w.Device != nil ||
		w.Version != "v1" || w.Limits.TitleChars != 200 || w.Limits.MaxCols < 300 {
		t.Fatalf("got %+v", w)
	}
}

func TestSandboxes(t *testing.T) {
	s := newServer(t, nil)
	all, err := s.client().Sandboxes(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatalf("got %v, %v", all, err)
	}
	if got := all[0]; got.ID != "local" || got.Provider != "local" || got.State != "running" ||
		got.TabsURL != s.url+"/tabs?id=local" {
		t.Errorf("got %+v", got)
	}
	for query, want := range map[string]int{"?state=running": 1, "?state=stopped": 0, "?name=local": 1, "?name=x": 0} {
		_, _, answer := s.do(s.key, "GET", "/v1/sandboxes"+query, "")
		if items := answer["items"].([]any); len(items) != want {
			t.Errorf("%s gives %v", query, items)
		}
	}
}

func TestOpen(t *testing.T) {
	s := newServer(t, nil)
	tab, err := s.client().OpenTab(t.Context(), "local", client.NewTab{
		Title: " build ", User: "dev", Cwd: "/src", Command: []string{"make", ""}, Env: map[string]string{"A_1": "b\nc"},
		Cols: 132, Rows: 40, Plain: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	o := s.tabs.opened
	if o.Title != "build" || o.User != "dev" || o.Cwd != "/src" || !slices.Equal(o.Command, []string{"make", ""}) ||
		o.Env["A_1"] != "b\nc" || o.Size != (terminal.Size{Cols: 132, Rows: 40}) || !o.Plain {
		t.Errorf("opened %+v", o)
	}
	if tab.ID != "tab_new" || tab.SandboxID != "local" || tab.Cols != 132 || tab.CreatedAt.Location() != time.UTC {
		t.Errorf("got %+v", tab)
	}
	status, header, _ := s.do(s.key, "POST", "/v1/sandboxes/local/tabs", "")
	if status != 201 || header.Get("Cache-Control") != "no-store" || header.Get("X-Request-Id") == "" {
		t.Errorf("an empty body: %d %v", status, header)
	}
}

func TestBadRequests(t *testing.T) {
	s := newServer(t, nil)
	s.addTabs(1)
	open, change, revive := "POST /v1/sandboxes/local/tabs", "PATCH /v1/sandboxes/local/tabs/tab_000", "POST /v1/sandboxes/local/tabs/revive"
	long := strings.Repeat("x", 201)
	for _, tt := range []struct{ route, body, code, field, text string }{
		{open, `{"colour":1}`, "unknown_field", "colour", "cols"},
		{open, `{"Title":"x"}`, "unknown_field", "Title", "title"},
		{open, `{"title":"a","title2":"b"}`, "unknown_field", "title2", ""},
		{open, `[]`, "invalid_request", "", "object"},
		{open, `null`, "invalid_request", "", "object"},
		{open, `{`, "invalid_request", "", "byte"},
		{open, `{} {}`, "invalid_request", "", "object"},
		{open, "\xff", "invalid_request", "", "object"},
		{open, `{"title":7}`, "invalid_request", "title", "a string, not number"},
		{open, `{"cols":"80","rows":24}`, "invalid_request", "cols", "a whole number, not string"},
		{open, `{"cols":80.5,"rows":24}`, "invalid_request", "cols", "a whole number"},
		{open, `{"cols":1e99,"rows":24}`, "invalid_request", "cols", "a whole number"},
		{open, `{"command":"make"}`, "invalid_request", "command", "a list"},
		{open, `{"command":[1]}`, "invalid_request", "command", "a string"},
		{open, `{"env":["A=b"]}`, "invalid_request", "env", "an object"},
		{open, `{"plain":"yes"}`, "invalid_request", "plain", "true or false"},
		{open, `{"title":"` + long + `"}`, "invalid_request", "title", "200"},
		{open, `{"title":"a\u001b[31m"}`, "invalid_request", "title", "control"},
		{open, `{"title":"a\u202eb"}`, "invalid_request", "title", "control"},
		{open, `{"cols":0,"rows":24}`, "invalid_request", "cols", "from 2 to 1000"},
		{open, `{"cols":-1,"rows":24}`, "invalid_request", "cols", "from 2 to 1000"},
		{open, `{"cols":100000,"rows":24}`, "invalid_request", "cols", "from 2 to 1000"},
		{open, `{"cols":80,"rows":100000}`, "invalid_request", "rows", "from 1 to 500"},
		{open, `{"cols":80}`, "invalid_request", "cols", "together"},
		{open, `{"rows":24}`, "invalid_request", "rows", "together"},
		{open, `{"user":"-x"}`, "invalid_request", "user", "user name"},
		{open, `{"user":"a b"}`, "invalid_request", "user", "user name"},
		{open, `{"cwd":"src"}`, "invalid_request", "cwd", "absolute"},
		{open, `{"cwd":"/a\u0000"}`, "invalid_request", "cwd", "absolute"},
		{open, `{"command":[""]}`, "invalid_request", "command", "program"},
		{open, `{"command":["a\u0000b"]}`, "invalid_request", "command", "NUL"},
		{open, `{"command":["` + strings.Repeat("x", 13<<10) + `"]}`, "invalid_request", "command", "12288 bytes"},
		{open, `{"env":{"A":"` + strings.Repeat("x", 13<<10) + `"}}`, "invalid_request", "env", "12288 bytes"},
		{open, `{"env":{"A-B":"x"}}`, "invalid_request", "env", "environment variable"},
		{open, `{"env":{"":"x"}}`, "invalid_request", "env", "environment variable"},
		{open, `{"env":{"A":"\u0000"}}`, "invalid_request", "env", "NUL"},
		{change, `{}`, "invalid_request", "title", "title, an order"},
		{change, `{"order":-1}`, "invalid_request", "order", "from 0"},
		{change, `{"order":null}`, "invalid_request", "order", "from 0"},
		{change, `{"order":9999999}`, "invalid_request", "order", "1000000"},
		{change, `{"name":"x"}`, "unknown_field", "name", "order, title"},
		{change, `{"title":"` + long + `"}`, "invalid_request", "title", "200"},
		{revive, `{"ids":null}`, "invalid_request", "ids", "list of tab ids"},
		{revive, `{"ids":["` + strings.Repeat(`a","`, 1000) + `"]}`, "invalid_request", "ids", "1000"},
		{"GET /v1/sandboxes/local/tabs?limit=0", "", "invalid_request", "limit", "1 to 200"},
		{"GET /v1/sandboxes/local/tabs?limit=201", "", "invalid_request", "limit", "1 to 200"},
		{"GET /v1/sandboxes/local/tabs?limit=x", "", "invalid_request", "limit", "1 to 200"},
		{"GET /v1/sandboxes/local/tabs?cursor=%21", "", "invalid_request", "cursor", "nextCursor"},
	} {
		before := s.tabs.opened.Title + fmt.Sprint(s.tabs.updated, s.tabs.revived)
		method, path, _ := strings.Cut(tt.route, " ")
		status, _, answer := s.do(s.key, method, path, tt.body)
		field, _ := answer["field"].(string)
		text, _ := answer["error"].(string)
		if status != 400 || answer["code"] != tt.code || field != tt.field || !strings.Contains(text, tt.text) {
			t.Errorf("%s %.60s: %d %v", tt.route, tt.body, status, answer)
		}
		if after := s.tabs.opened.Title + fmt.Sprint(s.tabs.updated, s.tabs.revived); after != before {
			t.Errorf("%s %.60s was carried out", tt.route, tt.body)
		}
	}
	status, _, answer := s.do(s.key, "POST", "/v1/sandboxes/local/tabs", `{"title":"`+strings.Repeat("x", 2<<20)+`"}`)
	if status != 413 {
		t.Errorf("a body of 2 MB: %d %v", status, answer)
	}
}

func TestUpdate(t *testing.T) {
	s := newServer(t, nil)
	s.addTabs(1)
	for body, want := range map[string]struct {
		title string
		set   bool
		order int
	}{
		`{"title":" 构建 👩‍🚀 "}`:      {"构建 👩‍🚀", true, -1},
		`{"title":""}`:              {"", true, -1},
		`{"title":null}`:            {"", true, -1},
		`{"order":0}`:               {"", false, 0},
		`{"title":"a","order":3}`:   {"a", true, 3},
		`{"order":3, "title":null}`: {"", true, 3},
	} {
		s.tabs.updated = tabs.Update{}
		status, _, answer := s.do(s.key, "PATCH", "/v1/sandboxes/local/tabs/tab_000", body)
		u := s.tabs.updated
		if status != 200 || answer["id"] != "tab_000" || (u.Title != nil) != want.set || u.Title != nil && *u.Title != want.title ||
			(u.Order != nil) != (want.order >= 0) || u.Order != nil && *u.Order != want.order {
			t.Errorf("%s: %d %v, updated %+v", body, status, answer, u)
		}
	}
}

func TestBreakAndJoin(t *testing.T) {
	s := newServer(t, nil)
	s.addTabs(2)
	ctx, c := t.Context(), s.client()
	if tab, err := c.BreakOut(ctx, "local", "tab_000", client.BreakOut{Pane: 7}); err != nil || tab.ID != "tab_new" || tab.TmuxServer != "tab_000" || s.tabs.broke != 7 {
		t.Errorf("break out: %+v, %v; pane %d", tab, err, s.tabs.broke)
	}
	pane := uint32(3)
	if tab, err := c.JoinTab(ctx, "local", "tab_000", client.JoinTab{From: "tab_001", Pane: &pane, Direction: "up"}); err != nil || tab.ID != "tab_000" {
		t.Errorf("join: %+v, %v", tab, err)
	}
	if j := s.tabs.joined; j.From != "tab_001" || j.Pane == nil || *j.Pane != 3 || j.Beside != nil || j.Direction != "up" {
		t.Errorf("joined %+v", j)
	}
	for path, field := range map[string]string{"break": "pane", "join": "from"} {
		status, _, answer := s.do(s.key, "POST", "/v1/sandboxes/local/tabs/tab_000/"+path, "{}")
		if status != 400 || answer["field"] != field {
			t.Errorf("%s with nothing: %d %v", path, status, answer)
		}
		if status, _, _ := s.do(s.key, "POST", "/v1/sandboxes/local/tabs/tab_x/"+path, "{"); status != 404 {
			t.Errorf("%s of a tab that is not there: %d", path, status)
		}
	}
}

func TestCloseReviveForget(t *testing.T) {
	s := newServer(t, nil)
	s.addTabs(1)
	c, ctx := s.client(), t.Context()
	if err := c.CloseTab(ctx, "local", "tab_000"); err != nil || !slices.Equal(s.tabs.ended, []string{"tab_000"}) {
		t.Errorf("ended %v, %v", s.tabs.ended, err)
	}
	revived, err := c.ReviveTabs(ctx, "local", "tab_a", "tab_b")
	if err != nil || len(revived) != 1 || !slices.Equal(s.tabs.revived, []string{"tab_a", "tab_b"}) {
		t.Errorf("revived %v, %v", s.tabs.revived, err)
	}
	if err := c.ForgetTabs(ctx, "local", "tab_a"); err != nil || !slices.Equal(s.tabs.forgot, []string{"tab_a"}) {
		t.Errorf("forgot %v, %v", s.tabs.forgot, err)
	}
	// No ids are all of them; an empty list is none.
	if _, err := c.ReviveTabs(ctx, "local"); err != nil || s.tabs.revived != nil {
		t.Errorf("revived %v, %v", s.tabs.revived, err)
	}
	if status, _, _ := s.do(s.key, "POST", "/v1/sandboxes/local/tabs/revive", `{"ids":[]}`); status != 200 ||
		s.tabs.revived == nil || len(s.tabs.revived) != 0 {
		t.Errorf("revived %v, %d", s.tabs.revived, status)
	}
	found, err := c.Tab(ctx, "tab_000")
	if err != nil || found.SandboxID != "local" {
		t.Errorf("found %+v, %v", found, err)
	}
}

// Pages join up in the order of the strip, even when the tab that a page ended with is closed meanwhile.
func TestPages(t *testing.T) {
	s := newServer(t, nil)
	s.addTabs(250)
	all, err := s.client().Tabs(t.Context(), "local")
	if err != nil || len(all) != 250 {
		t.Fatalf("got %d, %v", len(all), err)
	}
	if !slices.IsSortedFunc(all, func(a, b client.Tab) int { return a.Order - b.Order }) {
		t.Error("not in the order of the strip")
	}
	var seen []string
	for cursor, n := "", 0; n < 300; n++ {
		_, _, answer := s.do(s.key, "GET", "/v1/sandboxes/local/tabs?limit=7&cursor="+url.QueryEscape(cursor), "")
		items := answer["items"].([]any)
		if len(items) > 7 {
			t.Fatalf("a page of %d", len(items))
		}
		for _, it := range items {
			seen = append(seen, it.(map[string]any)["id"].(string))
		}
		next, ok := answer["nextCursor"].(string)
		if !ok {
			break
		}
		cursor = next
		last := seen[len(seen)-1]
		s.tabs.tabs = slices.DeleteFunc(s.tabs.tabs, func(t tabs.Tab) bool { return t.ID == last })
	}
	if len(seen) != 250 || len(slices.Compact(slices.Sorted(slices.Values(seen)))) != 250 {
		t.Fatalf("saw %d tabs", len(seen))
	}
	_, _, answer := s.do(s.key, "GET", "/v1/sandboxes/local/tabs?cursor=", "")
	if answer["items"] == nil {
		t.Error("items is null")
	}
}

func TestServiceErrorsReachTheCaller(t *testing.T) {
	s := newServer(t, nil)
	s.tabs.openFail = &sandbox.Error{Code: sandbox.CodeTmuxMissing, Message: "no tmux", Remedy: "apt install tmux"}
	status, _, answer := s.do(s.key, "POST", "/v1/sandboxes/local/tabs", "{}")
	if status != 409 || answer["code"] != "tmux_missing" || answer["remedy"] != "apt install tmux" {
		t.Errorf("%d %v", status, answer)
	}
	s.tabs.openFail = fmt.Errorf("secret detail")
	status, _, answer = s.do(s.key, "POST", "/v1/sandboxes/local/tabs", "{}")
	if status != 500 || answer["error"] != "Internal error" {
		t.Errorf("%d %v", status, answer)
	}
}
