// Package tabs holds no code: its tests keep the shape of the tree, as docs/STYLE.md describes it.
package tabs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/browsertabs/tabs/"

// mayImport lists, for a package and those below it, which of our packages it may import beside those below itself.
// The longest match counts. A package that is missing here may import none.
var mayImport = map[string][]string{
	"cmd/tabs":              {"web", "terminal", "tmuxctl", "sandbox", "client", "static"},
	"cmd/pt":                {"client"},
	"e2e":                   {"client"}, // it sees the product as its users do
	"web":                   {"terminal", "sandbox", "client", "static"},
	"web/view":              {"static"},
	"sandbox/sqlite":        {"sandbox", "terminal/tabs"},
	"sandbox/local":         {"sandbox"},
	"sandbox/runc":          {"sandbox"},
	"sandbox/runc/agent":    {"sandbox/login"}, // becomes PID 1 of a sandbox: as little as possible
	"sandbox/image":         {"sandbox"},
	"sandbox/login":         {"sandbox/login"},
	"sandbox/sandboxtest":   {"sandbox"},
	"cmd/init":              {"sandbox/runc/agent"},
	"terminal/tabs":         {"terminal", "tmuxctl", "sandbox"},
	"terminal/terminaltest": {"terminal", "tmuxctl"},
	"tmuxctl/tmuxtest":      {"tmuxctl"},
}

// noHTTP are the packages into which net/http may not come, not even through another package.
var noHTTP = []string{"terminal", "terminal/tabs", "tmuxctl", "sandbox", "sandbox/local", "sandbox/runc", "sandbox/runc/agent", "sandbox/image"}

// webOnly are modules for package web and those below it alone.
var webOnly = []string{"github.com/labstack/echo/", "github.com/a-h/templ", "github.com/gorilla/"}

// testOnly are modules that no binary may hold.
var testOnly = []string{"github.com/playwright-community/", "github.com/rogpeppe/go-internal", "go.uber.org/goleak", "github.com/evanw/esbuild"}

type goPackage struct {
	ImportPath, Dir        string
	GoFiles, Imports, Deps []string
}

// name is the path below the module, "." for its root.
func (p goPackage) name() string {
	if p.ImportPath+"/" == module {
		return "."
	}
	return strings.TrimPrefix(p.ImportPath, module)
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,Imports,Deps", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p goPackage
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 8 {
		t.Fatalf("go list found only %d packages", len(all))
	}
	return all
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		name := p.name()
		for _, imported := range p.Imports {
			if ours, ok := strings.CutPrefix(imported, module); ok && !allowed(name, ours) {
				t.Errorf("%s imports %s; mayImport in this test says what it may", name, ours)
			}
			if !within(name, "web") && hasAnyPrefix(imported, webOnly) {
				t.Errorf("%s imports %s: for web alone", name, imported)
			}
		}
		if slices.Contains(noHTTP, name) && slices.Contains(p.Deps, "net/http") {
			t.Errorf("%s imports net/http, itself or through another package", name)
		}
		for _, dep := range p.Deps {
			if (within(name, "cmd/tabs") || within(name, "cmd/pt")) && hasAnyPrefix(dep, testOnly) {
				t.Errorf("%s holds %s: for tests and builds alone", name, dep)
			}
		}
	}
}

func allowed(importer, imported string) bool {
	if within(imported, importer) {
		return true
	}
	rule := importer
	for mayImport[rule] == nil && rule != "." {
		rule = filepath.Dir(rule)
	}
	return within(imported, rule) || slices.ContainsFunc(mayImport[rule], func(prefix string) bool { return within(imported, prefix) })
}

// within reports whether a package is parent or below it.
func within(name, parent string) bool {
	return name == parent || strings.HasPrefix(name, parent+"/")
}

func hasAnyPrefix(s string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

func TestPackageComments(t *testing.T) {
	for _, p := range packages(t) {
		if len(p.GoFiles) == 0 {
			continue
		}
		var with []string
		for _, file := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if f.Doc.Text() != "" {
				with = append(with, file)
			}
		}
		if len(with) != 1 {
			t.Errorf("%s has %d package comments %v, want 1", p.name(), len(with), with)
		}
	}
}

// TestTemplatesFresh fails when a committed _templ.go is not what its .templ makes: run make generate.
func TestTemplatesFresh(t *testing.T) {
	const dir = "web/view"
	templates, err := filepath.Glob(filepath.Join(dir, "*.templ"))
	if err != nil || len(templates) == 0 {
		t.Fatalf("found templates %v, error %v", templates, err)
	}
	fresh := t.TempDir()
	for _, path := range templates {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(fresh, filepath.Base(path)), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("go", "tool", "templ", "generate", "-path", fresh).CombinedOutput(); err != nil {
		t.Fatalf("templ generate: %v\n%s", err, out)
	}
	want, got := generated(t, fresh), generated(t, dir)
	for name := range want {
		if want[name] != got[name] {
			t.Errorf("%s/%s is not what its template makes: make generate", dir, name)
		}
		delete(got, name)
	}
	for name := range got {
		t.Errorf("%s/%s has no template", dir, name)
	}
}

// generated returns the _templ.go files of a directory by name.
func generated(t *testing.T, dir string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*_templ.go"))
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(path)] = string(text)
	}
	return files
}

// TestWireTwins fails when terminal/wire.go, static/src/wire.ts and docs/PROTOCOL.md say different things about frames.
func TestWireTwins(t *testing.T) {
	goText, tsText, doc := readText(t, "terminal/wire.go"), readText(t, "static/src/wire.ts"), readText(t, "docs/PROTOCOL.md")
	inGo := map[string]map[string]string{
		"frame":        matches(goText, `(?m)^\tframe(\w+)\s*=\s*(0x\w+)`),
		"snapshotFlag": matches(goText, `(?m)^\tsnapshot(\w+)\s*=\s*(\d+)$`),
		"pasteFlag":    matches(goText, `(?m)^\tpaste(\w+)\s*=\s*(\d+)$`),
		"closeCode":    byValue(matches(goText, `(?m)^\tClose(\w+)\s*=\s*(\d{4})\b`)),
	}
	for object, want := range inGo {
		body := regexp.MustCompile(`(?s)export const ` + object + ` = \{(.*?)\}`).FindStringSubmatch(tsText)
		if body == nil || len(want) == 0 {
			t.Errorf("%s: found %d constants in wire.go, object in wire.ts: %v", object, len(want), body != nil)
			continue
		}
		got := matches(body[1], `(\w+): (\w+)`)
		if object == "closeCode" { // their names tell the same in other words
			got = byValue(got)
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: wire.ts has %v, wire.go %v", object, got, want)
		}
	}

	_, table, _ := strings.Cut(doc, "## Binary frames")
	frames, closes, _ := strings.Cut(table, "## Close codes")
	if got, want := matches(frames, "\\| `(0x[0-9a-f]+)` (\\w+)"), flip(inGo["frame"]); !maps.Equal(got, want) {
		t.Errorf("frames: PROTOCOL.md has %v, wire.go %v", got, want)
	}
	documented := make(map[string]string)
	for _, code := range regexp.MustCompile(`\b[14]\d{3}\b`).FindAllString(closes, -1) {
		documented[code] = ""
	}
	if !maps.Equal(documented, inGo["closeCode"]) {
		t.Errorf("close codes: PROTOCOL.md has %v, wire.go %v", documented, inGo["closeCode"])
	}
}

// TestSettingTwins fails when sandbox/settings.go and static/src/settings.ts know different settings.
func TestSettingTwins(t *testing.T) {
	_, goTable, _ := strings.Cut(readText(t, "sandbox/settings.go"), "var settingChecks")
	goTable, _, _ = strings.Cut(goTable, "\n}")
	_, tsTable, _ := strings.Cut(readText(t, "static/src/settings.ts"), "export const settings = {")
	tsTable, _, _ = strings.Cut(tsTable, "\n}")
	inGo, inTS := make(map[string]string), make(map[string]string)
	for _, m := range regexp.MustCompile(`(?m)^\t"(\w+)":\s*(number|oneOf|\w+)(?:\((.*)\))?,$`).FindAllStringSubmatch(goTable, -1) {
		inGo[m[1]] = m[2]
		if m[2] == "number" || m[2] == "oneOf" {
			inGo[m[1]] += " " + m[3]
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^  (\w+)(?:: (\w+)\((.*)\))?,$`).FindAllStringSubmatch(tsTable, -1) {
		switch m[2] {
		case "number": // the default comes first
			_, bounds, _ := strings.Cut(m[3], ", ")
			inTS[m[1]] = "number " + bounds
		case "oneOf":
			inTS[m[1]] = "oneOf " + m[3]
		default:
			inTS[m[1]] = cmp.Or(m[2], m[1])
		}
	}
	if len(inGo) < 10 || !maps.Equal(inGo, inTS) {
		t.Errorf("settings.go has %v\nsettings.ts has %v", inGo, inTS)
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// matches returns a pattern's first group, with a small first letter, to its second.
func matches(text, pattern string) map[string]string {
	found := make(map[string]string)
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		found[strings.ToLower(m[1][:1])+m[1][1:]] = m[2]
	}
	return found
}

func byValue(m map[string]string) map[string]string {
	values := make(map[string]string)
	for _, v := range m {
		values[v] = ""
	}
	return values
}

func flip(m map[string]string) map[string]string {
	flipped := make(map[string]string)
	for k, v := range m {
		flipped[v] = k
	}
	return flipped
}

// TestCasesAreTested fails when docs/CASES.md names a test that is not there.
func TestCasesAreTested(t *testing.T) {
	var code strings.Builder
	paths, err := filepath.Glob("e2e/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		code.WriteString(readText(t, path))
	}
	names := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(readText(t, "docs/CASES.md"), -1)
	if len(names) < 20 {
		t.Errorf("docs/CASES.md names only %d tests", len(names))
	}
	for _, name := range names {
		if !strings.Contains(code.String(), "func "+name[1]+"(t *testing.T)") {
			t.Errorf("docs/CASES.md names %s, which e2e does not have", name[1])
		}
	}
}
