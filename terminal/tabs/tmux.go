package tabs

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/browsertabs/tabs/terminal"
	"github.com/browsertabs/tabs/tmuxctl"
)

// configFile is the tmux configuration in a runtime directory, for every tmux server there.
const configFile = "tmux.conf"

// DefaultPalette is the page's dark theme.
var DefaultPalette = terminal.Palette{
	Foreground: "#d9dde5", Background: "#14161b", Cursor: "#e8ebf0",
	Colors: [16]string{
		"#2a2e37", "#ff7a70", "#7dcf8c", "#e0b663", "#7ab3ff", "#d29bf2", "#6bcdd6", "#c6ccd6",
		"#8f97a5", "#ff9b93", "#a1e3ad", "#f2d08a", "#a5ccff", "#e3bef9", "#97e3e9", "#f4f6f9",
	},
}

// config is the text of configFile. The colours come first, so that the user's own file may change them.
func (s *Service) config(home string) string {
	var b strings.Builder
	p := s.c.Palette
	if p.Foreground != "" && p.Background != "" {
		fmt.Fprintf(&b, "set-option -gwq window-style \"fg=%s,bg=%s\"\n", p.Foreground, p.Background)
	}
	if p.Cursor != "" {
		fmt.Fprintf(&b, "set-option -gwq cursor-colour \"%s\"\n", p.Cursor)
		// tmux 3.3a gives a pane its cursor's colour only when the option is set, not when the pane is made.
		for _, h := range []string{"new-session", "new-window", "split-window"} {
			fmt.Fprintf(&b, "set-hook -g after-%s[9001] 'set-option -gwqF cursor-colour \"#{cursor-colour}\"'\n", h)
		}
	}
	for i, c := range p.Colors {
		if c != "" {
			fmt.Fprintf(&b, "set-option -gwq pane-colours[%d] \"%s\"\n", i, c)
		}
	}
	var files []string
	if s.c.UserConfig && home != "" {
		files = []string{"/etc/tmux.conf", home + "/.tmux.conf", home + "/.config/tmux/tmux.conf"}
	}
	b.WriteString(tmuxctl.ConfigText(s.c.HistoryLines, files...))
	return b.String()
}

// prepareScript writes stdin to $1 unless it is there, and tells whether one can work in $2.
const prepareScript = `
umask 077
new=$1.$$
cat > "$new" && mv -f "$new" "$1" || exit 3
[ -z "$2" ] || cd "$2" 2>/dev/null || exit 4`

// prepare makes the configuration file and checks a working directory: tmux would silently use another.
func (b *box) prepare(ctx context.Context, acc *account, dir, cwd string) error {
	home := ""
	if b.s.c.UserConfig {
		out, _, err := acc.run(ctx, "", `printf %s "$HOME"`)
		if err != nil {
			return err
		}
		home = out
	}
	_, code, err := acc.run(ctx, b.s.config(home), prepareScript, dir+"/"+configFile, cwd)
	switch {
	case code == 4:
		return invalid("cwd", fmt.Sprintf("cannot work in directory %.200q", cwd))
	case err != nil:
		return fmt.Errorf("write tmux configuration: %w", err)
	case code != 0:
		return fmt.Errorf("write tmux configuration: exit %d", code)
	}
	return nil
}

// tmuxFacts is what a tmux does, found by trying it once.
type tmuxFacts struct {
	widths  terminal.Widths
	answers terminal.Answers
}

// Probes: a cluster is two wide characters where it is joined into one, else it moves the cursor further.
const (
	probeZWJ  = "\U0001F469\u200D\U0001F680" // woman, ZWJ, rocket
	probeVS16 = "\u2764\uFE0F"               // heart, VS16
	probeFlag = "\U0001F1E9\U0001F1EA"       // D, E
	probeSkin = "\U0001F44D\U0001F3FD"       // thumbs up, medium
)

// probeInput is what a program in a throw-away pane prints: each cluster, then a question for the cursor's column; each
// question that this tmux may answer; and last one that every tmux answers.
func probeInput() string {
	var b strings.Builder
	for _, cluster := range []string{probeZWJ, probeVS16, probeFlag, probeSkin} {
		b.WriteString("\r\x1b[K" + cluster + "\x1b[6n")
	}
	b.WriteString("\x1b]11;?\x1b\\" + "\x1b[?2026$p" + "\x1b[?u" + "\x1bP+q544e\x1b\\" + "\x1bP$qm\x1b\\" + "\x1b[14t" + "\x1b[c")
	return b.String()
}

// probeScript runs a program in a throw-away tmux server that prints what is in $2 and keeps what it is answered. The
// answer, in hex, is kept in $3 for the next start of our server. A program that reads nothing for 0.3 s has it all.
// The program is given to tmux as arguments, since the user's shell may be anything, such as nologin. What a script that
// was killed has left is removed first.
const probeScript = `
umask 077
for old in "$1".*; do
	[ -d "$old" ] && ! kill -0 "${old##*.}" 2>/dev/null || continue
	tmux -S "$old/s" kill-server 2>/dev/null
	rm -rf "$old"
done
if [ -s "$3" ]; then cat "$3"; exit; fi
work=$1.$$
mkdir "$work" && cat > "$work/in" || exit 3
trap 'tmux -S "$work/s" kill-server 2>/dev/null; rm -rf "$work"' EXIT
tmux -u -S "$work/s" -f "$2" new-session -d -x 80 -y 24 \
	sh -c "stty raw -echo min 0 time 3; cat '$work/in'; cat > '$work/out'; tmux -S '$work/s' wait-for -S done" \; wait-for done || exit 4
od -An -v -tx1 < "$work/out" > "$work/hex" && mv -f "$work/hex" "$3" && cat "$3"`

// probe learns what this tmux does.
func (b *box) probe(ctx context.Context, acc *account, dir string, version tmuxctl.Version) (tmuxFacts, error) {
	facts := tmuxFacts{answers: terminal.Answers{Palette: b.s.c.Palette}}
	if err := b.prepare(ctx, acc, dir, ""); err != nil {
		return facts, err
	}
	out, code, err := acc.run(ctx, probeInput(), probeScript, dir+"/probe", dir+"/"+configFile, dir+"/probe-"+version.String())
	if err != nil || code != 0 {
		return facts, fmt.Errorf("try tmux %s: exit %d: %w", version, code, err)
	}
	answer, err := hex.DecodeString(strings.Join(strings.Fields(out), ""))
	if err != nil {
		return facts, fmt.Errorf("try tmux %s: %w", version, err)
	}
	return facts.learn(answer)
}

var cursorReport = regexp.MustCompile(`\x1b\[\d+;(\d+)R`)

// learn reads what tmux answered to probeInput.
func (f tmuxFacts) learn(answer []byte) (tmuxFacts, error) {
	reports := cursorReport.FindAllSubmatch(answer, -1)
	if len(reports) != 4 {
		return f, fmt.Errorf("tmux told the cursor %d times of 4: %.200q", len(reports), answer)
	}
	var joined [4]bool
	for i, r := range reports {
		col, _ := strconv.Atoi(string(r[1]))
		joined[i] = col == 3 // one character of two columns
	}
	f.widths = terminal.Widths{ZWJ: joined[0], VS16: joined[1], Flags: joined[2], SkinTones: joined[3]}
	has := func(s string) bool { return bytes.Contains(answer, []byte(s)) }
	f.answers.Colors = has("\x1b]11;")
	f.answers.Modes = has("$y")
	f.answers.Kitty = regexp.MustCompile(`\x1b\[\?\d+u`).Match(answer)
	f.answers.Termcap = has("+r")
	f.answers.Settings = has("$r")
	f.answers.Pixels = has("\x1b[4;")
	return f, nil
}
