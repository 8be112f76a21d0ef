package e2e

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// paste gives the page a text as the clipboard would.
func (p *page) paste(text string) {
	p.t.Helper()
	p.focus()
	p.eval(`text => {
		const data = new DataTransfer();
		data.setData("text/plain", text);
		document.activeElement.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
	}`, text)
}

// megabyte is 1 MB of text, CJK in it, without line breaks.
func megabyte() string {
	const unit = "0123456789 abcdefghij 漢字かな交じり文。"
	return strings.Repeat(unit, 1<<20/len(unit))
}

// TestLargePaste is microsoft/vscode#38137 and Eugeny/tabby#10341: large pastes were cut short.
func TestLargePaste(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	text := megabyte()
	file := filepath.Join(s.dir, "pasted")
	p.enter(fmt.Sprintf("stty raw -echo; printf '%%8s%%s\\r\\n' '' ready; head -c %d > %s; stty sane; printf '%%8s%%s\\n' '' got-it", len(text), file))
	p.waitText("        ready")
	p.paste(text)
	took := p.waitTextFor("        got-it", patience)
	t.Logf("1 MB arrived after %v", took)
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if sha256.Sum256(got) != sha256.Sum256([]byte(text)) {
		t.Errorf("%d bytes arrived that are not the %d pasted", len(got), len(text))
	}
	if state := p.state(); state != "live" {
		t.Errorf("state %s after a large paste", state)
	}
}

// TestPasteIntoVim pastes what a program asked to get in brackets.
func TestPasteIntoVim(t *testing.T) {
	need(t, "vim")
	s := newServer(t)
	p := s.newPage()
	file := filepath.Join(s.dir, "pasted")
	p.enter("vim -N -u NONE -i NONE " + file)
	p.waitText("~")
	p.keys("i")
	p.waitText("INSERT")
	line := "if (x) { 漢字 }\t"
	text := strings.Repeat(line+"\n", 2000)
	p.paste(text)
	p.waitText("漢字")
	p.press("Escape")
	p.keys(":wq")
	p.press("Enter")
	p.waitPrompt()
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := text + "\n"; string(got) != want && string(got) != text {
		t.Errorf("%d bytes arrived of %d", len(got), len(text))
	}
}

// TestPasteEndsNoBrackets pastes a text that ends its own brackets and goes on with a command.
func TestPasteEndsNoBrackets(t *testing.T) {
	s := newServer(t)
	p := s.newPage()
	file := filepath.Join(s.dir, "attacked")
	p.run("true") // the next prompt asks for brackets
	p.paste("echo harmless\x1b[201~\ntouch " + file + "\n")
	p.waitText("harmless")
	p.keys("x") // shown behind the whole pasted text when the shell has only been given it
	p.waitText("attacked\nx")
	if _, err := os.Stat(file); err == nil {
		t.Error("the pasted text ran a command")
	}
}
