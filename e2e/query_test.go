package e2e

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/browsertabs/tabs/client"
)

// queries are what programs ask terminals, each with what begins the only right answer.
var queries = []struct{ name, ask, answer string }{
	{"DA1", `\033[c`, "\x1b[?"},
	{"DA2", `\033[>c`, "\x1b[>"},
	{"DSR", `\033[6n`, "\x1b["},
	{"DECRQM", `\033[?2026$p`, "\x1b[?2026;"},
	{"OSC 4", `\033]4;1;?\033\\`, "\x1b]4;"}, // tmux 3.3a answers itself, and leaves out the number
	{"OSC 10", `\033]10;?\033\\`, "\x1b]10;rgb:"},
	{"OSC 11", `\033]11;?\033\\`, "\x1b]11;rgb:"},
	{"OSC 12", `\033]12;?\033\\`, "\x1b]12;rgb:"},
	{"kitty", `\033[?u`, "\x1b[?"},
	{"XTGETTCAP", `\033P+q544e\033\\`, "\x1bP"},
	{"DECRQSS", `\033P$qm\033\\`, "\x1bP"},
	{"XTVERSION", `\033[>q`, "\x1bP>|"},
	{"14t", `\033[14t`, "\x1b[4;"},
	{"16t", `\033[16t`, "\x1b[6;"},
	{"18t", `\033[18t`, "\x1b[8;"},
}

// TestQueriesAnsweredOnce is can1357/oh-my-pi#2042, fish, neovim and crossterm: answered twice, or never. Each query is
// followed by DSR 5 as a sentinel, which must come after the answer, and with nothing else before it.
func TestQueriesAnsweredOnce(t *testing.T) {
	need(t, "python3")
	s := newServer(t)
	script := filepath.Join(s.dir, "ask.py")
	if err := os.WriteFile(script, []byte(askScript), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, viewers := range []int{0, 1, 3} {
		t.Run(fmt.Sprint(viewers), func(t *testing.T) {
			gate, result := filepath.Join(s.dir, fmt.Sprint("gate", viewers)), filepath.Join(s.dir, fmt.Sprint("answers", viewers))
			command := []string{"python3", script, gate, result}
			for _, q := range queries {
				command = append(command, q.ask)
			}
			tab, err := s.api().OpenTab(t.Context(), "local", client.NewTab{Command: command})
			if err != nil {
				t.Fatal(err)
			}
			for range viewers {
				p := s.newDevice().login()
				p.visit(s.url + "/tabs?id=local&tab=" + tab.ID)
				p.waitLive()
			}
			if err := os.WriteFile(gate, nil, 0o644); err != nil {
				t.Fatal(err)
			}
			pollFor(t, 60*time.Second, "the program has asked", func() (bool, any) { _, err := os.Stat(result); return err == nil, err })
			text, err := os.ReadFile(result)
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(string(text), "\n") {
				got, err := hex.DecodeString(line)
				if err != nil {
					t.Fatal(err)
				}
				// tmux answers the sentinel itself, at once. Colours it answers too, and programs rely on their order.
				answer, sentinel := strings.ReplaceAll(string(got), "\x1b[0n", ""), strings.Count(string(got), "\x1b[0n")
				if q := queries[i]; sentinel != 1 || !strings.HasPrefix(answer, q.answer) ||
					strings.Count(answer, "\x1b[")+strings.Count(answer, "\x1b]")+strings.Count(answer, "\x1bP") != 1 ||
					strings.HasPrefix(q.name, "OSC") && !strings.HasSuffix(string(got), "\x1b[0n") {
					t.Errorf("%s: answered %q, want one answer that begins %q, and the sentinel", q.name, got, q.answer)
				}
			}
			if err := s.api().CloseTab(t.Context(), "local", tab.ID); err != nil {
				t.Error(err)
			}
		})
	}
}

// askScript waits for a file, asks each query with the sentinel behind it, and writes what came back, in hex.
const askScript = `
import os, select, sys, termios, time, tty
gate, result, queries = sys.argv[1], sys.argv[2], sys.argv[3:]
fd = os.open("/dev/tty", os.O_RDWR)
tty.setraw(fd)
while not os.path.exists(gate):
    time.sleep(0.02)
answers = []
for query in queries:
    os.write(fd, query.encode().decode("unicode_escape").encode("latin1") + b"\x1b[5n")
    got, end, quiet = b"", time.time() + 3, 0
    while time.time() < end and quiet < 0.4:
        if select.select([fd], [], [], 0.05)[0]:
            got, quiet = got + os.read(fd, 4096), 0
        elif b"\x1b[0n" in got:
            quiet += 0.05
    answers.append(got.hex())
with open(result + ".part", "w") as f:
    f.write("\n".join(answers))
os.rename(result + ".part", result)
time.sleep(1000)
`
