package e2e

import (
	"bytes"
	"image/png"
	"strings"
	"testing"

	"rsc.io/qr"
)

// TestPhoneByQRCode is a person who goes on from a phone: the laptop shows a code, the phone scans it, and has the same
// terminal, over a certificate that the server made itself.
func TestPhoneByQRCode(t *testing.T) {
	s := newServer(t, "--listen", "0.0.0.0:0", "--host", "127.0.0.1", "--tls-self-signed", "--local")
	if !strings.HasPrefix(s.url, "https://127.0.0.1:") {
		t.Fatalf("printed address begins with %s", s.url)
	}
	options := phone()
	options.IsMobile, options.HasTouch, options.UserAgent, options.Viewport = nil, nil, nil, nil
	laptop := s.newDevice(options).openTabs()
	laptop.run("echo on-the-way-$((6*7))")
	laptop.visit(s.url + "/devices")
	laptop.click("[data-testid=add-device]")
	laptop.waitVisible("[data-testid=qr] svg")
	address, err := laptop.Locator("[data-testid=login-address]").InnerText()
	if err != nil {
		t.Fatal(err)
	}
	laptop.showsCode("[data-testid=qr]", address)

	d := s.newDevice(phone())
	p := d.open(strings.TrimPrefix(address, s.url))
	if err := p.Locator("[data-testid=login-button]").Tap(); err != nil {
		t.Fatal(err)
	}
	p.waitURL("/tabs")
	p.waitLive()
	p.waitText("on-the-way-42")
	if err := p.Locator("[data-testid=stage]").Tap(); err != nil {
		t.Fatal(err)
	}
	p.run("echo from the phone")

	cookies, err := d.context.Cookies()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cookies {
		if !c.Secure || !c.HttpOnly {
			t.Errorf("cookie %s under TLS: secure %v, http only %v", c.Name, c.Secure, c.HttpOnly)
		}
	}
	if _, err := laptop.Reload(); err != nil {
		t.Fatal(err)
	}
	names, err := laptop.Locator("[data-testid=device] .name").AllInnerTexts()
	if err != nil {
		t.Fatal(err)
	}
	if len(names) != 2 || !strings.Contains(strings.Join(names, " "), "iPhone") {
		t.Errorf("devices %q, want the laptop and an iPhone", names)
	}
}

// showsCode compares the picture on the screen with the code of text: a phone's camera sees nothing else.
func (p *page) showsCode(selector, text string) {
	p.t.Helper()
	shot, err := p.Locator(selector + " svg").Screenshot()
	if err != nil {
		p.t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		p.t.Fatal(err)
	}
	dark := func(x, y float64) bool {
		r, g, b, _ := img.At(img.Bounds().Min.X+int(x), img.Bounds().Min.Y+int(y)).RGBA()
		return r+g+b < 3*0x8000
	}
	for level := qr.L; level <= qr.H; level++ {
		code, err := qr.Encode(text, level)
		if err != nil {
			p.t.Fatal(err)
		}
		const quiet = 4 // modules around the code that a reader needs light
		cells := float64(code.Size + 2*quiet)
		width, height := float64(img.Bounds().Dx())/cells, float64(img.Bounds().Dy())/cells
		wrong := 0
		for y := -quiet; y < code.Size+quiet; y++ {
			for x := -quiet; x < code.Size+quiet; x++ {
				if dark((float64(x+quiet)+0.5)*width, (float64(y+quiet)+0.5)*height) != code.Black(x, y) {
					wrong++
				}
			}
		}
		if wrong == 0 {
			return
		}
		p.t.Logf("level %v: %d modules differ", level, wrong)
	}
	p.t.Errorf("the code on the screen is not that of %s", text)
}
