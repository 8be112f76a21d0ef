package e2e

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// pictures are the accepted ones; TABS_PICTURES=1 accepts what the product shows now.
const pictures = root + "/docs/images"

// differing is how much of a picture may differ from the accepted one: a cursor, a name, an antialiased edge.
const differing = 0.03

// picture takes a picture of the page and compares it with the accepted one, so that looks cannot rot unnoticed.
func (p *page) picture(name string) {
	p.t.Helper()
	// What differs from run to run is not in a picture.
	p.eval(`() => { for (const e of document.querySelectorAll("[data-testid=rtt], time, .address")) e.style.visibility = "hidden" }`)
	shot, err := p.Screenshot(playwright.PageScreenshotOptions{Animations: playwright.ScreenshotAnimationsDisabled,
		Caret: playwright.ScreenshotCaretHide})
	if err != nil {
		p.t.Fatal(err)
	}
	path := filepath.Join(pictures, name+".png")
	if os.Getenv("TABS_PICTURES") != "" {
		if err := os.MkdirAll(pictures, 0o755); err != nil {
			p.t.Fatal(err)
		}
		if err := os.WriteFile(path, shot, 0o644); err != nil {
			p.t.Fatal(err)
		}
		return
	}
	accepted, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	if part := difference(p.t, shot, accepted); part > differing {
		if err := os.WriteFile(artifact(p.t, name+".png"), shot, 0o644); err != nil {
			p.t.Error(err)
		}
		p.t.Errorf("%.1f %% of %s looks other than %s; if that is right: TABS_PICTURES=1 go test ./e2e -run %s", 100*part, name, path, p.t.Name())
	}
}

// difference is the part of the pixels that differ clearly, 1 for pictures of different sizes.
func difference(t testing.TB, a, b []byte) float64 {
	t.Helper()
	var images [2]image.Image
	for i, data := range [][]byte{a, b} {
		var err error
		if images[i], err = png.Decode(bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
	}
	box := images[0].Bounds()
	if box != images[1].Bounds() {
		return 1
	}
	count := 0
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			r1, g1, b1, _ := images[0].At(x, y).RGBA()
			r2, g2, b2, _ := images[1].At(x, y).RGBA()
			if apart(r1, r2)+apart(g1, g2)+apart(b1, b2) > 0x6000 {
				count++
			}
		}
	}
	return float64(count) / float64(box.Dx()*box.Dy())
}

func apart(a, b uint32) uint32 { return max(a, b) - min(a, b) }

// scheme is a browser of the size of the pictures.
func scheme(s *playwright.ColorScheme) playwright.BrowserNewContextOptions {
	return playwright.BrowserNewContextOptions{Viewport: &playwright.Size{Width: 1120, Height: 640},
		DeviceScaleFactor: playwright.Float(2), ColorScheme: s, ReducedMotion: playwright.ReducedMotionReduce}
}

// TestPictures makes the pictures of docs: the main one as in the README, and each state of the page.
func TestPictures(t *testing.T) {
	need(t, "vim", "git")
	s := newServer(t)
	s.openTab()
	d := s.newDevice(scheme(playwright.ColorSchemeDark))
	p := d.open(strings.TrimPrefix(s.loginAddress(), s.url))
	if err := p.Locator("[data-testid=device]").Fill("Chromium on Linux"); err != nil {
		t.Fatal(err)
	}
	p.picture("login")
	p.click("[data-testid=login-button]")
	p.visit(s.url + "/tabs?id=local")
	p.waitLive()
	p.waitPrompt()

	project := project(t)
	p.run("cd " + project)
	p.rename(p.active(), "editor")
	p.focus()
	p.enter("clear; vim -u vimrc -i NONE ring.go")
	p.waitText("package ring")
	p.click("[data-testid=split]")
	p.waitCount("panes", 2, func() int { return len(p.panes()) })
	p.waitPrompt()
	p.run("cd " + project + "; PS1='\\[\\e[1;34m\\]~/ring\\[\\e[0m\\] $ '")
	p.enter("clear; git log --graph --oneline --decorate --color=always; go vet . && printf '\\e[32mok\\e[0m\\n'")
	p.waitText("\nok")
	second := p.openTab()
	p.rename(second, "server")
	p.run("cd /; clear")
	p.selectTab(p.list()[0].id)
	p.waitLive()
	p.waitText("\nok")
	p.sameAsTmux(s)
	p.focus()
	p.picture("tabs")
	if err := p.EmulateMedia(playwright.PageEmulateMediaOptions{ColorScheme: playwright.ColorSchemeLight}); err != nil {
		t.Fatal(err)
	}
	p.picture("tabs-light")
	if err := p.EmulateMedia(playwright.PageEmulateMediaOptions{ColorScheme: playwright.ColorSchemeDark}); err != nil {
		t.Fatal(err)
	}

	small := s.newDevice(phone()).login()
	small.visit(s.url + "/tabs?id=local&tab=" + second)
	small.waitLive()
	small.waitText("$")
	small.picture("phone")
	small.d.context.Close()

	s.pause()
	p.waitVisible("text=/Reconnecting/")
	p.eval(`() => { for (const e of document.querySelectorAll("*")) if (e.children.length === 0 && /Reconnecting in \d+ s/.test(e.textContent)) e.textContent = "Reconnecting in 3 s" }`)
	p.picture("reconnecting")
	s.resume()
	p.waitLive()

	p.eval(`() => window.tabs.open({title: "build", cwd: "/", command: ["sh", "-c", "echo compiling; echo 'ring.go:12: undefined: head'; exit 2"]})`)
	p.waitVisible("text=Exited 2")
	p.waitText("undefined: head")
	p.picture("ended")
	p.eval(`() => window.tabs.close(window.tabs.active())`)

	p.selectTab(second)
	p.waitLive()
	s.killTmux(s.tabs()[1])
	p.waitVisible("text=The terminal server of this tab ended")
	p.picture("server-gone")

	p.visit(s.url + "/devices")
	p.waitVisible("[data-testid=device]")
	p.picture("devices")
}

// project is a directory that looks the same on every machine.
func project(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(os.TempDir(), "ring") // the status bar shows it
	if _, err := os.Stat(dir); err == nil {
		t.Fatalf("%s is in the way", dir)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	files := map[string]string{
		"go.mod": "module example.org/ring\n\ngo 1.24\n",
		"vimrc":  "set nocompatible number laststatus=0 noruler shortmess+=F\nsyntax on\n",
		"ring.go": `package ring

// Ring keeps the last bytes of a stream by their offset.
type Ring struct {
	data  []byte
	start uint64 // offset of data[0]
	limit int
}

// Write adds p and forgets what is too old.
func (r *Ring) Write(p []byte) (int, error) {
	r.data = append(r.data, p...)
	if over := len(r.data) - r.limit; over > 0 {
		r.data = r.data[over:]
		r.start += uint64(over)
	}
	return len(p), nil
}

// From returns what came after offset, false when it is gone.
func (r *Ring) From(offset uint64) ([]byte, bool) {
	if offset < r.start || offset > r.start+uint64(len(r.data)) {
		return nil, false
	}
	return r.data[offset-r.start:], true
}
`,
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	git("add", "go.mod")
	git("commit", "-qm", "ring: begin")
	git("add", "ring.go")
	git("commit", "-qm", "ring: keep bytes by offset")
	git("checkout", "-qb", "limit", "HEAD~1")
	git("commit", "-qm", "ring: bound by bytes, not lines", "--allow-empty")
	git("checkout", "-q", "main")
	git("merge", "-q", "--no-ff", "-m", "ring: merge the bound", "limit")
	git("commit", "-qm", "ring: say when an offset is gone", "--allow-empty")
	return dir
}
