package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestLoginAddressWorksOnce(t *testing.T) {
	s := newServer(t)
	address := s.loginAddress()

	// A chat program that fetches the address to show a preview must not use it up.
	for range 2 {
		resp, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if len(resp.Cookies()) > 0 {
			t.Errorf("opening the address alone set a cookie: %v", resp.Cookies())
		}
	}

	p := s.newDevice().open(strings.TrimPrefix(address, s.url))
	p.click("[data-testid=login-button]")
	p.waitURL("/tabs")
	p.waitLive()

	again := s.newDevice().open(strings.TrimPrefix(address, s.url))
	again.click("[data-testid=login-button]")
	again.waitVisible("[data-testid=error]")
	again.visit(s.url + "/tabs?id=local")
	again.waitURL("/login")
}

func TestLoginGoesOnWhereOneWanted(t *testing.T) {
	s := newServer(t)
	p := s.newDevice().open("/tabs?id=local")
	p.waitURL("/login")
	if err := p.Locator("[data-testid=key]").Fill("pt_live_nonsense"); err != nil {
		t.Fatal(err)
	}
	p.click("[data-testid=login-button]")
	p.waitVisible("[data-testid=error]")
	if err := p.Locator("[data-testid=key]").Fill(s.key()); err != nil {
		t.Fatal(err)
	}
	p.click("[data-testid=login-button]")
	p.waitURL("/tabs?id=local")
	p.waitLive()
}

// TestLogoutClosesSockets logs a device out from another one, which must cut its terminals off at once.
func TestLogoutClosesSockets(t *testing.T) {
	s := newServer(t)
	lost := s.newPage()
	devices := s.newPage()
	devices.visit(s.url + "/devices")
	devices.waitCount("devices", 2, func() int { return devices.count("[data-testid=device]") })
	devices.click("[data-testid=device][data-current=false] [data-testid=logout-device]")
	devices.confirm()
	pollFor(t, 3*time.Second, "the other device's terminal is cut off", func() (bool, any) {
		state := lost.state()
		return state != "live", state
	})
	lost.waitVisible("text=logged out")
	lost.visit(s.url + "/tabs?id=local")
	lost.waitURL("/login")
	if got := len(s.tabs()); got != 1 {
		t.Errorf("%d tabs after a logout, want the 1 there was", got)
	}
}

func TestUnknownSandbox(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	var first string
	for _, id := range []string{"nope", "sbx_01KAAAAAAAAAAAAAAAAAAAAAAA", "%2e%2e"} {
		resp, err := p.Goto(s.url + "/tabs?id=" + id)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Status() != http.StatusNotFound {
			t.Errorf("id %s: status %d, want 404", id, resp.Status())
		}
		text, err := p.Locator("main").InnerText()
		if err != nil {
			t.Fatal(err)
		}
		text, _, _ = strings.Cut(text, "Details") // the request's id differs
		if first == "" {
			first = text
		}
		if text != first {
			t.Errorf("id %s: page says %q, another unknown id %q", id, text, first)
		}
	}
}
