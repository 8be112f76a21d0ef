package tmuxctl_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/browsertabs/tabs/tmuxctl"
	"github.com/browsertabs/tabs/tmuxctl/tmuxtest"
)

// FuzzQuoteThroughTmux: what is quoted comes back from a real tmux byte for byte.
func FuzzQuoteThroughTmux(f *testing.F) {
	var all []byte
	for i := range 255 {
		all = append(all, byte(i+1))
	}
	for _, seed := range []string{
		"", " ", ";", `\;`, "a ; kill-server", "#{pane_id}", "#(id)", "$HOME", "${HOME}", "~", "~root", `"`, `'`, `\`, `\\`, "%if", "%1", "{", "}",
		"a\nb", "\n", "\r\n", "#comment", "\xff", "\xff\xff;", "漢字 é 👨‍👩‍👧", "-g", "--", "\x1b[201~", "A=b", string(all), strings.Repeat("長い", 5000),
	} {
		f.Add(seed)
	}
	s := tmuxtest.Start(f)
	c := attach(f, s, s.New("quote"))
	f.Fuzz(func(t *testing.T, text string) {
		want := strings.ReplaceAll(text, "\x00", "")
		names := []string{"@quoted", "@after"}
		c.do(t, tmuxctl.Lines(tmuxctl.SetPaneOption(0, "@quoted", text), tmuxctl.SetSessionOption(0, "@after", "intact")))
		replies, err := c.Do(t.Context(), tmuxctl.Variables(0, names), 1)
		if err != nil {
			t.Fatal(err)
		}
		values, err := tmuxctl.ParseVariables(replies[0], names)
		if err != nil {
			t.Fatal(err)
		}
		if values["@quoted"] != want || values["@after"] != "intact" {
			t.Errorf("%q came back as %q", want, values["@quoted"])
		}
	})
}

// rawPane is a session whose program writes n bytes of raw input to a file, and a function that waits for them.
func rawPane(t *testing.T, n int) (*client, func() []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "got")
	s := tmuxtest.Start(t)
	c := attach(t, s, s.New("raw", "sh", "-c", fmt.Sprintf(`stty raw -echo; echo ready; head -c %d > "$0"; echo done; cat`, n), file))
	tmuxtest.Until(t, "program", func() bool { return strings.Contains(s.Tmux("capture-pane", "-p"), "ready") })
	return c, func() []byte {
		t.Helper()
		tmuxtest.Until(t, "all input", func() bool { return strings.Contains(c.outputOf(0), "done") })
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
}

// TestKeysIntact: every byte there is arrives, in order, a NUL and broken UTF-8 too.
func TestKeysIntact(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	want := make([]byte, 5000)
	for i := range want {
		want[i] = byte(rnd.Uint32())
	}
	c, wait := rawPane(t, len(want))
	for rest := want; len(rest) > 0; {
		n := min(len(rest), 1+rnd.IntN(700))
		c.Send(tmuxctl.SendKeys(0, rest[:n]))
		rest = rest[n:]
	}
	if got := wait(); !bytes.Equal(got, want) {
		t.Errorf("%d bytes arrived, not those sent", len(got))
	}
}

// TestPasteIntact: 1 MB in pieces that cut characters anywhere.
func TestPasteIntact(t *testing.T) {
	want := []byte(strings.Repeat("Zeile 漢字 \"q\" $x \\ ; é\n", 1<<20/32))
	c, wait := rawPane(t, len(want))
	for rest := want; len(rest) > 0; {
		n := min(len(rest), 16<<10-1)
		c.Send(tmuxctl.Lines(tmuxctl.AppendBuffer("paste;1", rest[:n])))
		rest = rest[n:]
	}
	c.do(t, tmuxctl.Lines(tmuxctl.PasteBuffer("paste;1", 0), tmuxctl.SetPaneOption(0, "@seq", "1")))
	if got := wait(); sha256.Sum256(got) != sha256.Sum256(want) {
		t.Errorf("%d bytes arrived, want those %d sent", len(got), len(want))
	}
	if buffers := c.do(t, tmuxctl.Lines("list-buffers")); buffers != "" {
		t.Errorf("buffers left: %s", buffers)
	}
}

// TestPasteBrackets: tmux adds the brackets when the program asked for them.
func TestPasteBrackets(t *testing.T) {
	s := tmuxtest.Start(t)
	c := attach(t, s, s.New("brackets", "sh", "-c", `printf '\033[?2004hready'; exec cat -v`))
	tmuxtest.Until(t, "program", func() bool { return strings.Contains(s.Tmux("capture-pane", "-p"), "ready") })
	c.do(t, tmuxctl.Lines(tmuxctl.AppendBuffer("b", []byte("one\n")), tmuxctl.PasteBuffer("b", 0)))
	c.do(t, tmuxctl.SendKeys(0, []byte("\n")))
	tmuxtest.Until(t, "brackets", func() bool {
		return strings.Contains(c.outputOf(0), "^[[200~one\r\n") && strings.Contains(c.outputOf(0), "^[[201~\r\n")
	})
}
