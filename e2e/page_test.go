package e2e

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"

	"github.com/browsertabs/tabs/client"
)

// patience is how long a test waits for what has no time promised, on a machine that is busy with other tests.
const patience = 2 * time.Minute

// device is one browser with a cookie jar of its own.
type device struct {
	t       testing.TB
	s       *server
	context playwright.BrowserContext
	base    string // the address it reaches the server by

	mu       sync.Mutex // protects following
	problems []string   // what no page may do: uncaught errors, violations of the CSP, requests to elsewhere
}

// newDevice returns a browser that is not logged in. It leaves a trace and pictures when the test fails.
func (s *server) newDevice(options ...playwright.BrowserNewContextOptions) *device {
	return s.newDeviceAt(s.url, options...)
}

// newDeviceAt is newDevice behind a proxy.
func (s *server) newDeviceAt(base string, options ...playwright.BrowserNewContextOptions) *device {
	s.t.Helper()
	options = append([]playwright.BrowserNewContextOptions{{Viewport: &playwright.Size{Width: 1000, Height: 640}}}, options...)
	context, err := browser(s.t).NewContext(options[len(options)-1])
	if err != nil {
		s.t.Fatal(err)
	}
	d := &device{t: s.t, s: s, context: context, base: base}
	context.SetDefaultTimeout(float64(patience.Milliseconds()))
	context.OnRequest(func(r playwright.Request) {
		if u, err := url.Parse(r.URL()); err == nil && !strings.HasPrefix(r.URL(), base) && u.Scheme != "data" && u.Scheme != "blob" {
			d.problem("request to elsewhere: " + r.URL())
		}
	})
	context.OnWebError(func(e playwright.WebError) { d.problem("uncaught: " + e.Error().Error()) })
	context.OnConsole(func(m playwright.ConsoleMessage) {
		if strings.Contains(m.Text(), "Content Security Policy") {
			d.problem(m.Text())
		}
	})
	// Pictures of every step would slow down what is tested; TABS_TRACE=1 takes them.
	every := playwright.Bool(os.Getenv("TABS_TRACE") != "")
	if err := context.Tracing().Start(playwright.TracingStartOptions{Snapshots: every, Screenshots: every}); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(d.close)
	return d
}

func (d *device) problem(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.problems = append(d.problems, text)
}

var artifacts atomic.Int64 // tells the devices of a test apart

func (d *device) close() {
	d.mu.Lock()
	for _, p := range d.problems {
		d.t.Error(p)
	}
	d.mu.Unlock()
	if d.t.Failed() {
		n := artifacts.Add(1)
		for i, p := range d.context.Pages() {
			path := artifact(d.t, fmt.Sprintf("page-%d-%d.png", n, i))
			if _, err := p.Screenshot(playwright.PageScreenshotOptions{Path: &path, Timeout: playwright.Float(5000)}); err != nil {
				d.t.Log(err)
			}
		}
		if err := d.context.Tracing().Stop(artifact(d.t, fmt.Sprintf("trace-%d.zip", n))); err != nil {
			d.t.Log(err)
		}
	}
	if err := d.context.Close(); err != nil {
		d.t.Log(err)
	}
}

// page is a browser tab with the product in it.
type page struct {
	playwright.Page
	t testing.TB
	d *device
}

// open opens an address below the base in a new browser tab.
func (d *device) open(path string) *page {
	d.t.Helper()
	p, err := d.context.NewPage()
	if err != nil {
		d.t.Fatal(err)
	}
	page := &page{Page: p, t: d.t, d: d}
	page.visit(d.base + path)
	return page
}

func (p *page) visit(address string) {
	p.t.Helper()
	if _, err := p.Goto(address); err != nil {
		p.t.Fatal(err)
	}
}

// login opens the printed address and presses its button.
func (d *device) login() *page {
	d.t.Helper()
	page := d.open(strings.TrimPrefix(d.s.loginAddress(), d.s.url))
	page.click("[data-testid=login-button]")
	return page
}

// shell is a shell without anybody's settings: those of the machine's user may take a minute, and change what is typed.
var shell = client.NewTab{Command: []string{"bash", "--noprofile", "--norc"}, Cwd: "/tmp", Env: map[string]string{"PS1": "$ ", "HISTFILE": ""}}

// openTab opens a tab with a plain shell, in panes and windows made in it too.
func (s *server) openTab() client.Tab {
	s.t.Helper()
	tab, err := s.api().OpenTab(s.t.Context(), "local", shell)
	if err != nil {
		s.t.Fatal(err)
	}
	s.tmux(tab, "set-option", "-g", "default-command", strings.Join(shell.Command, " "))
	return tab
}

// openTabs logs in, and waits for the shell of the first tab; without a tab it makes one.
func (d *device) openTabs() *page {
	d.t.Helper()
	if len(d.s.tabs()) == 0 {
		d.s.openTab()
	}
	p := d.login()
	p.visit(d.base + "/tabs?id=local")
	p.waitLive()
	p.waitPrompt()
	return p
}

// newPage is the shortest way to a terminal: a new device, logged in, at its shell.
func (s *server) newPage(options ...playwright.BrowserNewContextOptions) *page {
	s.t.Helper()
	return s.newDevice(options...).openTabs()
}

func (p *page) click(selector string) {
	p.t.Helper()
	if err := p.Locator(selector).Click(); err != nil {
		p.t.Fatal(err)
	}
}

// eval runs JavaScript in the page: an expression, or a function that is given arg.
func (p *page) eval(script string, arg ...any) any {
	p.t.Helper()
	v, err := p.Evaluate(script, arg...)
	if err != nil {
		p.t.Fatalf("evaluate %s: %v", script, err)
	}
	return v
}

// tryEval is eval for a moment at which the page may be on its way to another.
func (p *page) tryEval(script string, arg ...any) (any, error) { return p.Evaluate(script, arg...) }

// state is that of a pane: connecting, live, reconnecting, ended; or what kept it from being known.
func (p *page) state() string {
	v, err := p.tryEval(`() => window.tabs?.pane()?.state ?? "no pane"`)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(v)
}

func (p *page) waitState(want string, limit time.Duration) time.Duration {
	p.t.Helper()
	return pollFor(p.t, limit, "state "+want, func() (bool, any) {
		got := p.state()
		return got == want, got
	})
}

func (p *page) waitLive() {
	p.t.Helper()
	p.waitState("live", patience)
}

// lines are the visible rows of the active pane, without what is blank at their ends.
func (p *page) lines() []string {
	p.t.Helper()
	return stringsOf(p.eval(`() => window.tabs.pane()?.lines() ?? []`))
}

// scrollback are all rows of the active pane.
func (p *page) scrollback() []string {
	p.t.Helper()
	return stringsOf(p.eval(`() => window.tabs.pane()?.scrollback() ?? []`))
}

func (p *page) screen() string { return strings.TrimRight(strings.Join(p.lines(), "\n"), "\n") }

func stringsOf(v any) []string {
	list, _ := v.([]any)
	rows := make([]string, len(list))
	for i, row := range list {
		rows[i] = strings.TrimRight(fmt.Sprint(row), " ")
	}
	return rows
}

// size is that of the active pane, in cells.
func (p *page) size() (cols, rows int) {
	p.t.Helper()
	v, _ := p.eval(`() => { const x = window.tabs.pane(); return x ? [x.cols, x.rows] : [0, 0] }`).([]any)
	return toInt(v[0]), toInt(v[1])
}

func toInt(v any) int {
	switch n := v.(type) {
	case int:
		return n
	case float64:
		return int(n)
	}
	return -1
}

func (p *page) focus() { p.eval(`() => window.tabs.focus()`) }

// keys types text as a keyboard does, one key after another.
func (p *page) keys(text string) {
	p.t.Helper()
	if err := p.Keyboard().Type(text); err != nil {
		p.t.Fatal(err)
	}
}

// press presses a key or a chord: "Enter", "Control+C".
func (p *page) press(key string) {
	p.t.Helper()
	if err := p.Keyboard().Press(key); err != nil {
		p.t.Fatal(err)
	}
}

// enter types a command and Enter.
func (p *page) enter(command string) {
	p.t.Helper()
	p.focus()
	p.keys(command)
	p.press("Enter")
}

// waitText waits for a text on the screen. What is typed shows too: wait for something that the echo does not hold.
func (p *page) waitText(text string) time.Duration {
	p.t.Helper()
	return p.waitTextFor(text, patience)
}

func (p *page) waitTextFor(text string, limit time.Duration) time.Duration {
	p.t.Helper()
	return pollFor(p.t, limit, fmt.Sprintf("text %q", text), func() (bool, any) {
		screen := p.screen()
		return strings.Contains(screen, text), screen
	})
}

var marks atomic.Int64

// run types a command and waits until the shell has finished it; it returns what it printed, as far as it is on the
// screen. The echo cannot look like the mark that ends it.
func (p *page) run(command string) []string {
	p.t.Helper()
	mark := fmt.Sprintf("done-%d", marks.Add(1))
	p.enter(fmt.Sprintf("%s; printf '%%8s%%s\\n' '' %s", command, mark))
	p.waitText("        " + mark)
	lines := p.lines()
	end, begin := -1, -1
	for i, line := range lines {
		switch {
		case line == "        "+mark:
			end = i
		case strings.Contains(line, mark):
			begin = i
		}
	}
	if end < 0 || begin > end {
		return nil
	}
	return lines[begin+1 : end]
}

// quiet gives a login shell a short prompt, and keeps what tests type out of its history.
func (p *page) quiet() {
	p.t.Helper()
	p.waitPromptFor(loginPatience)
	p.run("unset HISTFILE; PS1='$ '; cd /tmp")
}

func (p *page) waitPrompt() {
	p.t.Helper()
	p.waitPromptFor(patience)
}

// loginPatience is for a login shell: what people have in their profiles may wait a minute for a lock.
const loginPatience = 3 * time.Minute

func (p *page) waitPromptFor(limit time.Duration) {
	p.t.Helper()
	pollFor(p.t, limit, "a prompt", func() (bool, any) {
		screen := p.screen()
		return strings.HasSuffix(screen, "$") || strings.HasSuffix(screen, "#"), screen
	})
}

// The strip.

func tabSelector(id string) string { return fmt.Sprintf("[data-tab=%q]", id) }

// rename gives a tab a title as a person does: a double click, the name, Enter.
func (p *page) rename(id, title string) {
	p.t.Helper()
	if err := p.Locator(tabSelector(id) + " .title").Dblclick(); err != nil {
		p.t.Fatal(err)
	}
	p.press("Control+A")
	p.keys(title)
	p.press("Enter")
	pollFor(p.t, patience, "title "+title, func() (bool, any) {
		list := p.list()
		return slices.ContainsFunc(list, func(tab tabInfo) bool { return tab.id == id && tab.title == title }), list
	})
}

func (p *page) closeButton(id string) {
	p.t.Helper()
	if err := p.Locator(tabSelector(id)).Hover(); err != nil { // it shows on hover
		p.t.Fatal(err)
	}
	p.click(tabSelector(id) + " .tab-close")
}

// Looking at the page.

func (p *page) count(selector string) int {
	p.t.Helper()
	n, err := p.Locator(selector).Count()
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

func (p *page) waitVisible(selector string) {
	p.t.Helper()
	if err := p.Locator(selector).First().WaitFor(playwright.LocatorWaitForOptions{Timeout: playwright.Float(float64(patience.Milliseconds()))}); err != nil {
		p.t.Fatalf("wait for %s: %v", selector, err)
	}
}

func (p *page) waitHidden(selector string) {
	p.t.Helper()
	if err := p.Locator(selector).WaitFor(playwright.LocatorWaitForOptions{State: playwright.WaitForSelectorStateHidden,
		Timeout: playwright.Float(float64(patience.Milliseconds()))}); err != nil {
		p.t.Fatalf("wait until %s is gone: %v", selector, err)
	}
}

func (p *page) waitURL(path string) {
	p.t.Helper()
	pollFor(p.t, patience, "address "+path, func() (bool, any) {
		return strings.HasPrefix(p.URL(), p.d.base+path), p.URL()
	})
}

// confirm answers a question with the button that does something.
func (p *page) confirm() {
	p.t.Helper()
	p.click("[data-testid=act]")
}

func (p *page) box(selector string) *playwright.Rect {
	p.t.Helper()
	box, err := p.Locator(selector).First().BoundingBox()
	if err != nil || box == nil {
		p.t.Fatalf("place of %s: %v", selector, err)
	}
	return box
}

// drag moves the mouse with its button down, in steps, as a hand does.
func (p *page) drag(x1, y1, x2, y2 float64) {
	p.t.Helper()
	m := p.Mouse()
	for _, err := range []error{m.Move(x1, y1), m.Down(), m.Move(x1+6, y1+2, playwright.MouseMoveOptions{Steps: playwright.Int(2)}),
		m.Move(x2, y2, playwright.MouseMoveOptions{Steps: playwright.Int(12)}), m.Up()} {
		if err != nil {
			p.t.Fatal(err)
		}
	}
}

// tabInfo is an entry of window.tabs.list().
type tabInfo struct {
	id, title string
	active    bool
}

func (p *page) list() []tabInfo {
	p.t.Helper()
	rows, _ := p.eval(`() => window.tabs.list()`).([]any)
	tabs := make([]tabInfo, len(rows))
	for i, row := range rows {
		m, _ := row.(map[string]any)
		tabs[i] = tabInfo{id: fmt.Sprint(m["id"]), title: fmt.Sprint(m["title"]), active: m["active"] == true}
	}
	return tabs
}

func (p *page) active() string { return fmt.Sprint(p.eval(`() => window.tabs.active()`)) }

// openTab opens one more tab by the page's surface and waits for its shell.
func (p *page) openTab() string {
	p.t.Helper()
	id := fmt.Sprint(p.eval(`options => window.tabs.open(options)`,
		map[string]any{"command": shell.Command, "cwd": shell.Cwd, "env": map[string]any{"PS1": "$ ", "HISTFILE": ""}}))
	p.waitLive()
	p.waitPrompt()
	return id
}

func (p *page) selectTab(id string) {
	p.t.Helper()
	p.eval(`id => window.tabs.select(id)`, id)
}

// panes are the pane ids of the shown tab.
func (p *page) panes() []string {
	p.t.Helper()
	list, _ := p.eval(`() => window.tabs.panes()`).([]any)
	ids := make([]string, len(list))
	for i, id := range list {
		ids[i] = fmt.Sprint(id)
	}
	return ids
}

func (p *page) waitCount(what string, want int, count func() int) {
	p.t.Helper()
	pollFor(p.t, patience, fmt.Sprintf("%d %s", want, what), func() (bool, any) {
		got := count()
		return got == want, got
	})
}
