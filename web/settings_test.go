package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/browsertabs/tabs/sandbox"
)

const settingsPath = "/v1/settings"

func TestSettings(t *testing.T) {
	f := newFixture(t)
	b, other := f.newBrowser().login(), f.newBrowser().login()
	want := func(a answer, body string) {
		t.Helper()
		if a.status != http.StatusOK || strings.TrimSpace(a.body) != body {
			t.Errorf("status %d, %s, want %s", a.status, a.body, body)
		}
	}
	want(b.get(settingsPath), `{"settings":{}}`)
	want(b.do(http.MethodPatch, settingsPath, `{"fontSize": 15, "keys": {"copy": []}}`), `{"settings":{"fontSize":15,"keys":{"copy":[]}}}`)
	want(other.do(http.MethodPatch, settingsPath, `{"copyOnSelect":true, "keys":null}`), `{"settings":{"copyOnSelect":true,"fontSize":15}}`)
	want(b.do(http.MethodPatch, settingsPath, `{}`), `{"settings":{"copyOnSelect":true,"fontSize":15}}`)

	for body, code := range map[string]string{
		`{"fontSize":20, "colour":"red"}`: sandbox.CodeUnknownField,
		`{"FontSize":20}`:                 sandbox.CodeUnknownField,
		`{"fontSize":1000}`:               sandbox.CodeInvalidRequest,
		`{"fontSize":"20"}`:               sandbox.CodeInvalidRequest,
		`{"fontSize":20`:                  sandbox.CodeInvalidRequest,
		`{"fontFamily":"` + strings.Repeat("x", maxSettingsBytes) + `"}`: codeTooLarge,
	} {
		if a := b.do(http.MethodPatch, settingsPath, body); errorCode(t, a) != code {
			t.Errorf("%.60s: status %d, %s, want %s", body, a.status, a.body, code)
		}
	}
	if a := b.do(http.MethodPatch, settingsPath, `{"fontSize":20,"lineHeight":9}`); !strings.Contains(a.body, `"field":"lineHeight"`) {
		t.Errorf("a wrong value does not name its setting: %s", a.body)
	}
	// What was refused changed nothing.
	want(b.get(settingsPath), `{"settings":{"copyOnSelect":true,"fontSize":15}}`)

	for name, headers := range map[string][]string{
		"another site":     {"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"},
		"no proof":         {"Origin", "-", "Sec-Fetch-Site", "-"},
		"no page token":    {tokenHeader, "-"},
		"other page token": {tokenHeader, other.pageToken},
	} {
		if a := b.do(http.MethodPatch, settingsPath, `{"fontSize":20}`, headers...); a.status != http.StatusForbidden {
			t.Errorf("%s: status %d", name, a.status)
		}
	}
	if a := f.newBrowser().get(settingsPath); a.status != http.StatusUnauthorized {
		t.Errorf("without a login: status %d", a.status)
	}
}

// TestSettingsReachPages changes a setting on one device and by a key, and looks at what open pages are told.
func TestSettingsReachPages(t *testing.T) {
	f := newFixture(t)
	b := f.newBrowser().login()
	open := []*clientSocket{b.open(watchPath), f.newBrowser().login().open(watchPath)}
	for _, c := range open {
		c.want(`{"protocol":1,"type":"welcome","version":"v1"}`)
		c.want(`{"settings":{},"type":"settings"}`)
		if _, err := c.read(); err != nil { // the tabs
			t.Fatal(err)
		}
	}
	b.do(http.MethodPatch, settingsPath, `{"appearance":"dark"}`)
	for _, c := range open {
		c.want(`{"settings":{"appearance":"dark"},"type":"settings"}`)
	}
	f.newBrowser().do(http.MethodPatch, settingsPath, `{"appearance":null}`, "Authorization", "Bearer "+f.key)
	for _, c := range open {
		c.want(`{"settings":{},"type":"settings"}`)
	}
}
