package web_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/sandbox/sqlite"
	"github.com/browsertabs/tabs/web"
	"github.com/browsertabs/tabs/web/api"
)

// TestEveryRouteHasItsClass walks the router, and asks every route that is not public as a stranger.
func TestEveryRouteHasItsClass(t *testing.T) {
	db, err := sqlite.Open(context.Background(), filepath.Join(t.TempDir(), "db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	log := slog.New(slog.DiscardHandler)
	domain := sandbox.New(sandbox.Config{Store: db, Local: true})
	a := api.New(api.Config{Log: log, Sandboxes: domain})
	defer a.Close(context.Background())
	s, err := web.New(web.Deps{Log: log, Sandboxes: domain, Store: db, OrgID: "org_x", Hosts: []string{"localhost"}, API: a.Routes()})
	if err != nil {
		t.Fatal(err)
	}
	// What a stranger may ask. A new name here is a decision.
	public := []string{"GET /", "GET /login", "POST /login", "GET /static/*", "GET /healthz"}
	routes := s.Handler().(*echo.Echo).Routes()
	if len(routes) < 20 {
		t.Fatalf("the router has only %d routes", len(routes))
	}
	param := regexp.MustCompile(`:[a-z]+`)
	for _, r := range routes {
		if r.Method == echo.RouteNotFound || slices.Contains(public, strings.Replace(r.Method, "HEAD", "GET", 1)+" "+r.Path) {
			continue
		}
		req := httptest.NewRequest(r.Method, param.ReplaceAllString(r.Path, "local"), nil)
		req.Host = "localhost"
		rec := httptest.NewRecorder()
		s.Handler().ServeHTTP(rec, req)
		resp := rec.Result()
		body, _ := io.ReadAll(resp.Body)
		toLogin := resp.StatusCode == http.StatusSeeOther && strings.HasPrefix(resp.Header.Get("Location"), "/login")
		if resp.StatusCode != http.StatusUnauthorized && !toLogin {
			t.Errorf("%s %s lets a stranger in: status %d: %.100s", r.Method, r.Path, resp.StatusCode, body)
		}
	}
}
