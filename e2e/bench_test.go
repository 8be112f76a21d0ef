package e2e

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkTabs measures what docs/BENCHMARKS.md lists, each line against a baseline of the same run. Counts are fixed;
// with TABS_BENCH_QUICK they are small, for work on the benchmarks themselves.
func BenchmarkTabs(b *testing.B) {
	for _, bench := range []struct {
		name string
		run  func(*testing.B)
	}{
		{"Echo", benchEcho},
		{"Keydown", benchKeydown},
		{"Cat", benchCat},
		{"Interrupt", benchInterrupt},
		{"Stall", benchStall},
		{"FloodElsewhere", benchFloodElsewhere},
		{"Reload", benchReload},
		{"Paste", benchPaste},
		{"Search", benchSearch},
		{"FirstLoad", benchFirstLoad},
		{"Idle", benchIdle},
		{"Many", benchMany},
	} {
		b.Run(bench.name, bench.run)
	}
}

// measure is a line of the table.
type measure struct {
	what     string
	baseline string // what it is compared with, and its value
	ours     string
	against  string // the ratio or the difference
	goal     string // "" for a line that is there to compare with
	ok       bool
}

func (m measure) verdict() string {
	switch {
	case m.goal == "":
		return ""
	case m.ok:
		return "yes"
	}
	return "**no**"
}

var table []measure

// record adds a line to the table, and to what go test prints.
func record(b *testing.B, m measure) {
	b.Helper()
	table = append(table, m)
	fmt.Printf("%s: %s, ours %s (%s), goal %s: %s\n", m.what, m.baseline, m.ours, m.against, m.goal, m.verdict())
}

func quick() bool { return os.Getenv("TABS_BENCH_QUICK") != "" }

// count is how often something is measured.
func count(full, short int) int {
	if quick() {
		return short
	}
	return full
}

func span(full, short time.Duration) time.Duration {
	if quick() {
		return short
	}
	return full
}

// percentile returns the smallest sample that p percent of all samples do not exceed.
func percentile[T cmp.Ordered](samples []T, p float64) T {
	s := slices.Sorted(slices.Values(samples))
	return s[max(0, int(math.Ceil(float64(len(s))*p/100))-1)]
}

func median[T cmp.Ordered](samples []T) T { return percentile(samples, 50) }

func ms(d time.Duration) string {
	n := float64(d) / float64(time.Millisecond)
	switch {
	case math.Abs(n) < 10:
		return fmt.Sprintf("%.2f ms", n)
	case math.Abs(n) < 1000:
		return fmt.Sprintf("%.0f ms", n)
	}
	return fmt.Sprintf("%.2f s", n/1000)
}

func kb(bytes int) string {
	if n := math.Abs(float64(bytes)); n >= 1e6 {
		return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
	}
	return fmt.Sprintf("%d KB", bytes/1000)
}

func signed(text string) string {
	if strings.HasPrefix(text, "-") {
		return text
	}
	return "+" + text
}

// writeTable writes the table as Markdown, its columns aligned.
func writeTable(w io.Writer) {
	rows := [][]string{{"measure", "baseline", "ours", "ratio or difference", "goal", "ok?"}}
	for _, m := range table {
		rows = append(rows, []string{m.what, m.baseline, m.ours, m.against, m.goal, m.verdict()})
	}
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], len([]rune(cell)))
		}
	}
	line := func(row []string) {
		for i, cell := range row {
			fmt.Fprintf(w, "| %-*s ", width[i], cell)
		}
		fmt.Fprintln(w, "|")
	}
	line(rows[0])
	rule := make([]string, len(width))
	for i, n := range width {
		rule[i] = strings.Repeat("-", n)
	}
	line(rule)
	for _, row := range rows[1:] {
		line(row)
	}
}

// machine says what was measured on.
func machine() string {
	run := func(name string, args ...string) string {
		text, _ := exec.Command(name, args...).Output()
		return strings.TrimSpace(string(text))
	}
	find := func(path, pattern string) string {
		text, _ := os.ReadFile(path)
		if m := regexp.MustCompile(pattern).FindSubmatch(text); m != nil {
			return string(m[1])
		}
		return "unknown"
	}
	return fmt.Sprintf("%s, commit %s, %s cores of %s, %s GB, Linux %s, %s, %s, load before %s.",
		time.Now().UTC().Format("2006-01-02 15:04 UTC"), run("git", "describe", "--always", "--dirty"),
		run("nproc"), find("/proc/cpuinfo", `model name\s*: (.*)`), find("/proc/meminfo", `MemTotal:\s*(\d+)\d{6} kB`),
		run("uname", "-r"), run("tmux", "-V"), run("chromium", "--version"), loadBefore)
}

var loadBefore = func() string {
	text, _ := os.ReadFile("/proc/loadavg")
	load, _, _ := strings.Cut(string(text), " ")
	return load
}()

const (
	tableBegin = "<!-- make bench writes what follows -->\n"
	tableEnd   = "<!-- make bench wrote what precedes -->\n"
)

// reportTable prints the table and, when it is complete and TABS_BENCH_DOC names a document, puts it there.
func reportTable(complete bool) error {
	if len(table) == 0 {
		return nil
	}
	var text strings.Builder
	fmt.Fprintf(&text, "\n%s\n\n", machine())
	writeTable(&text)
	fmt.Print(text.String())
	doc := os.Getenv("TABS_BENCH_DOC")
	if doc == "" || !complete || quick() {
		return nil
	}
	old, err := os.ReadFile(doc)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(old), tableBegin)
	_, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		return fmt.Errorf("%s has no place for the table", doc)
	}
	return os.WriteFile(doc, []byte(before+tableBegin+text.String()+"\n"+tableEnd+after), 0o644)
}

// coloured writes a file of n lines as a compiler prints them, about 80 columns each.
func coloured(b *testing.B, path string, n int) {
	b.Helper()
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "\x1b[1;3%dmsrc/module%03d/file.c:%d:\x1b[0m \x1b[3%dmwarning\x1b[m: line %05d of this history, 漢字 and all\r\n",
			i%7+1, i%311, i, i*5%7+1, i)
	}
	writeFile(b, path, text.String())
}

func writeFile(b *testing.B, path, text string) {
	b.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
}
