package e2e

import (
	"fmt"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// patchSettings changes settings of the person as the page does.
func (p *page) patchSettings(changes map[string]any) {
	p.t.Helper()
	status := p.eval(`async (changes) => (await fetch(document.body.dataset.base + "/v1/settings", {method: "PATCH", body: JSON.stringify(changes),
		headers: {"Content-Type": "application/json", "X-Tabs-Token": document.body.dataset.token}})).status`, changes)
	if toInt(status) != 200 {
		p.t.Fatalf("change settings %v: status %v", changes, status)
	}
}

// fontSize is that of the drawn text.
func (p *page) fontSize() string {
	p.t.Helper()
	return fmt.Sprint(p.eval(`() => { const rows = document.querySelector(".view:not([hidden]) .xterm-rows"); return rows ? getComputedStyle(rows).fontSize : "" }`))
}

func (p *page) waitFontSize(want string) {
	p.t.Helper()
	pollFor(p.t, patience, "font size "+want, func() (bool, any) { got := p.fontSize(); return got == want, got })
}

// TestSettingsFollow changes a setting on one device: every open page follows, also one that was away, and a device that
// has its own keeps it.
func TestSettingsFollow(t *testing.T) {
	s := newServer(t)
	desk := s.newPage()
	phone := s.newPage()
	phone.openTab() // of its own size
	desk.waitFontSize("13px")
	phone.waitFontSize("13px")
	desk.patchSettings(map[string]any{"fontSize": 17})
	desk.waitFontSize("17px")
	phone.waitFontSize("17px")

	phone.focus()
	phone.press("Control+Equal")
	phone.waitFontSize("18px")
	desk.patchSettings(map[string]any{"fontSize": 15})
	desk.waitFontSize("15px")
	if got := phone.fontSize(); got != "18px" {
		t.Errorf("a device with its own font size follows another: %s", got)
	}
	phone.visit(phone.URL())
	phone.waitLive()
	phone.waitFontSize("18px")
	phone.press("Control+Digit0") // back to what is set everywhere
	phone.waitFontSize("15px")

	s.stop()
	s.restart()
	desk.waitLive()
	phone.visit(phone.URL())
	phone.waitLive()
	phone.waitFontSize("15px")
}

// color is a computed colour of the first element of a selector.
func (p *page) color(selector, property string) string {
	p.t.Helper()
	return fmt.Sprint(p.eval(`([selector, property]) => getComputedStyle(document.querySelector(selector))[property]`, []any{selector, property}))
}

func (p *page) waitColor(selector, property, want string) {
	p.t.Helper()
	pollFor(p.t, patience, selector+" "+property, func() (bool, any) {
		got := p.color(selector, property)
		return got == want, got
	})
}

// TestLooks changes how things look in the settings dialog: at once, without a reload, in another open page too, and from
// the first paint of the next one.
func TestLooks(t *testing.T) {
	s := newServer(t)
	dark := scheme(playwright.ColorSchemeDark)
	p := s.newPage(dark)
	other := s.newPage(dark)
	other.openTab() // of its own size
	p.run("printf 'x%.0s' 1 2 3")
	p.eval(`() => { window.notReloaded = true }`)
	p.waitColor(".stage", "backgroundColor", "rgb(20, 22, 27)")

	p.focus()
	p.press("Control+Comma")
	p.waitVisible("[data-testid=settings]")
	p.click("[data-testid=setting-darkScheme] [data-value=nord]")
	for _, page := range []*page{p, other} {
		page.waitColor(".stage", "backgroundColor", "rgb(46, 52, 64)")
		page.waitColor(".view:not([hidden]) .xterm-rows", "color", "rgb(216, 222, 233)")
	}
	p.picture("settings")

	cols, _ := p.size()
	set := func(name, value string) {
		t.Helper()
		if err := p.Locator("[data-testid=setting-" + name + "]").Fill(value); err != nil {
			t.Fatal(err)
		}
		p.press("Tab")
	}
	set("fontSize", "20")
	for _, page := range []*page{p, other} {
		page.waitFontSize("20px")
	}
	pollFor(t, patience, "fewer columns", func() (bool, any) { now, _ := p.size(); return now < cols, now })
	set("padding", "24")
	other.waitColor(".stage", "paddingLeft", "48px")
	set("fontSize", "900")
	p.waitFontSize("40px") // the most there is
	p.click("[data-testid=reset-fontSize]")
	other.waitFontSize("13px")

	// This device alone.
	p.click("[data-testid=settings] [data-value=device]")
	p.click("[data-testid=setting-appearance] [data-value=light]")
	p.waitColor(".stage", "backgroundColor", "rgb(251, 250, 247)")
	p.waitVisible("[data-setting=appearance] .badge")
	if got := other.color(".stage", "backgroundColor"); got != "rgb(46, 52, 64)" {
		t.Errorf("another device follows what is this one's own: %s", got)
	}
	p.press("Escape")
	p.waitHidden("[data-testid=settings]")
	p.run("true") // the focus is back in the terminal
	if p.eval(`() => window.notReloaded`) != true {
		t.Error("the page was loaded anew")
	}

	// Without scripts the next page has the colours all the same.
	plain, err := other.d.context.NewPage()
	if err != nil {
		t.Fatal(err)
	}
	if err := plain.Route("**/*.js", func(r playwright.Route) { _ = r.Abort() }); err != nil {
		t.Fatal(err)
	}
	if _, err := plain.Goto(s.url + "/tabs?id=local"); err != nil {
		t.Fatal(err)
	}
	got, err := plain.Evaluate(`() => getComputedStyle(document.querySelector(".stage")).backgroundColor`)
	if err != nil || got != "rgb(46, 52, 64)" {
		t.Errorf("the first paint has background %v (%v)", got, err)
	}
}
