package oracle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/browsertabs/tabs/tmuxctl"
)

// shell is the shell of the tab under test, driven from outside so that the terminal under test plays no part in it.
type shell struct {
	t      *testing.T
	ctx    context.Context
	tmux   *tmuxctl.Server
	pane   tmuxctl.PaneID
	dir    string // its directory
	rnd    *rand.Rand
	settle func(what string) // compares every viewer with tmux once all is still

	marks    int
	overflow bool // more lines than the history limit were printed
}

// keys types literally.
func (s *shell) keys(keys string) {
	s.t.Helper()
	for len(keys) > 0 {
		n := min(len(keys), 200)
		s.run("send-keys", "-t", s.pane.String(), "-l", "--", strings.TrimSuffix(keys[:n], ";")+strings.Repeat(`\;`, n-len(strings.TrimSuffix(keys[:n], ";"))))
		keys = keys[n:]
	}
}

// key presses a key that tmux has a name for.
func (s *shell) key(name string) {
	s.t.Helper()
	s.run("send-keys", "-t", s.pane.String(), name)
}

func (s *shell) run(args ...string) string {
	s.t.Helper()
	out, err := s.tmux.Run(s.ctx, args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(out)
}

// line runs a command line and waits until it has ended.
func (s *shell) line(line string) {
	s.t.Helper()
	s.start(line)
	s.ended()
}

// start types a command line; ended waits for it.
func (s *shell) start(line string) {
	s.t.Helper()
	s.marks++
	s.keys(line + "; printf 'done%s\\n' -" + strconv.Itoa(s.marks))
	s.key("Enter")
}

func (s *shell) ended() {
	s.t.Helper()
	s.wait("done-" + strconv.Itoa(s.marks) + `(\D|$)`)
}

// wait waits until the screen shows something.
func (s *shell) wait(pattern string) {
	s.t.Helper()
	re := regexp.MustCompile(pattern)
	deadline := time.Now().Add(time.Minute)
	for {
		screen := s.run("capture-pane", "-pJ", "-S", "-100", "-t", s.pane.String())
		if re.MatchString(screen) {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("screen never shows %s; it shows:\n%s", pattern, screen)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// file writes a file into the shell's directory.
func (s *shell) file(name, content string) string {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return name
}

// cat prints bytes, in one go or in pieces.
func (s *shell) cat(content string) {
	s.t.Helper()
	s.marks++
	name := s.file(fmt.Sprintf("out%d", s.marks), content)
	if s.rnd.IntN(3) == 0 {
		s.line("dd status=none bs=" + strconv.Itoa(1+s.rnd.IntN(700)) + " if=" + name)
		return
	}
	s.line("cat " + name)
}

// lines prints lines with one write each: tmux 3.3a forgets a zero-width joiner where what it reads in one go ends, and
// nothing tells us where that is.
func (s *shell) lines(content string) {
	s.t.Helper()
	s.marks++
	name := s.file(fmt.Sprintf("out%d", s.marks), content)
	s.line(`while IFS= read -r l; do printf '%s\n' "$l"; done < ` + name)
}

func (s *shell) pick(of ...string) string { return of[s.rnd.IntN(len(of))] }

// between returns a number from a to b.
func (s *shell) between(a, b int) int { return a + s.rnd.IntN(b-a+1) }

// capture is what tmux says the pane shows.
type capture struct {
	Cols, Rows, X, Y int
	Alternate        bool
	History          int
	Text             string
}

func (s *shell) capture() (capture, error) {
	const format = "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{alternate_on} #{history_size}"
	out, err := s.tmux.Run(s.ctx, "display-message", "-p", "-t", s.pane.String(), format, ";",
		"capture-pane", "-peN", "-S", "-", "-t", s.pane.String())
	if err != nil {
		return capture{}, err
	}
	head, text, _ := strings.Cut(string(out), "\n")
	var c capture
	var alternate int
	if _, err := fmt.Sscan(head, &c.Cols, &c.Rows, &c.X, &c.Y, &alternate, &c.History); err != nil {
		return c, fmt.Errorf("read %q: %w", head, err)
	}
	c.Alternate, c.Text = alternate != 0, text
	return c, nil
}
