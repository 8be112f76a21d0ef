package e2e

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// root is the module's directory, out where a failed test leaves its pictures, traces and logs.
const (
	root = ".."
	out  = "out"
)

// binary is the server that every test starts; see build.
var binary string

func TestMain(m *testing.M) {
	if os.Getenv(echoServerEnv) != "" {
		serveEcho()
		return
	}
	flag.Parse()
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "tabs-e2e-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.RemoveAll(out); err != nil { // of the last run
		return 0, err
	}
	binary = filepath.Join(dir, "tabs")
	defer func() { err = errors.Join(err, stopBrowser()) }()
	code = m.Run()
	return code, reportTable(code == 0)
}

// build makes the binary, assets included, once. The server races when the tests do.
var build = sync.OnceValue(func() error {
	if out, err := exec.Command("make", "-C", root, "--no-print-directory", "assets").CombinedOutput(); err != nil {
		return fmt.Errorf("make assets: %w\n%s", err, out)
	}
	args := []string{"build", "-o", binary}
	if raceEnabled {
		args = append(args, "-race")
	}
	if out, err := exec.Command("go", append(args, root+"/cmd/tabs")...).CombinedOutput(); err != nil {
		return fmt.Errorf("build server: %w\n%s", err, out)
	}
	return nil
})

// need skips the test when the machine lacks one of the programs. Under make test nothing is lacking.
func need(t testing.TB, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			lacking(t, p+" is not installed")
		}
	}
}

// lacking ends a test that cannot run here: make test, which has installed everything, fails.
func lacking(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("TABS_TEST_ALL") != "" {
		t.Fatal(what)
	}
	t.Skip(what + "; make test installs it")
}

// The browser is one for all tests; each test has contexts of its own in it.
var (
	launched struct {
		sync.Once
		driver  *playwright.Playwright
		browser playwright.Browser
		err     error
	}
	chromiumArgs = []string{"--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync"}
)

func browser(t testing.TB) playwright.Browser {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		lacking(t, "chromium is not installed")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		lacking(t, "node is not installed")
	}
	driver, err := filepath.Abs(filepath.Join(root, ".cache", "playwright"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(driver, "package", "cli.js")); err != nil {
		lacking(t, "the Playwright driver is not installed")
	}
	launched.Do(func() {
		os.Setenv("PLAYWRIGHT_NODEJS_PATH", node)
		launched.driver, launched.err = playwright.Run(&playwright.RunOptions{DriverDirectory: driver, SkipInstallBrowsers: true})
		if launched.err == nil {
			launched.browser, launched.err = launched.driver.Chromium.Launch(playwright.BrowserTypeLaunchOptions{
				ExecutablePath: &chromium, Args: chromiumArgs})
		}
	})
	if launched.err != nil {
		t.Fatalf("start browser: %v", launched.err)
	}
	return launched.browser
}

func stopBrowser() error {
	var errs []error
	if launched.browser != nil {
		errs = append(errs, launched.browser.Close())
	}
	if launched.driver != nil {
		errs = append(errs, launched.driver.Stop())
	}
	return errors.Join(errs...)
}

// artifact returns a path below out for what a failed test leaves.
func artifact(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join(out, strings.ReplaceAll(t.Name(), "/", "_"))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Error(err)
	}
	return filepath.Join(dir, name)
}
