package e2e

import (
	"fmt"
	"testing"
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
