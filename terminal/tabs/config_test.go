package tabs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUserConfigs: people's configurations, as the user's own with the setting on, and typed live; then our server
// restarts. Every tab lives, its history too.
func TestUserConfigs(t *testing.T) {
	for _, line := range []string{
		"set -g destroy-unattached on",
		"set -g detach-on-destroy off",
		"set -g window-size manual",
		"setw -g window-size manual",
		"set -g remain-on-exit off",
		"set -g default-command 'exec bash -l'",
		"set -g default-shell /bin/sh",
		"set -g status off",
		"set -g status on",
		"set -g mouse on",
		"setw -g aggressive-resize on",
		"set -s exit-unattached on",
		"set -g base-index 1 ; setw -g pane-base-index 1 ; set -g renumber-windows on",
		"set-hook -g session-created 'display-message hi' ; set-hook -g client-attached 'refresh-client'",
		"set -g update-environment 'DISPLAY SSH_AUTH_SOCK' ; run-shell true",
		"set -g default-terminal screen-256color ; set -g set-titles on ; set -g automatic-rename off",
		"bind-key -n C-b new-window ; unbind-key -a -T root",
		"no-such-command here",
	} {
		t.Run(strings.ReplaceAll(line, "/", "_"), func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			conf := filepath.Join(m.home, ".tmux.conf")
			os.WriteFile(conf, []byte(strings.ReplaceAll(line, " ; ", "\n")+"\n"), 0o644)
			os.WriteFile(filepath.Join(m.home, ".bash_profile"), []byte("PS1='> '\n"), 0o644)
			m.config.UserConfig = true
			r := m.boot()
			ids := []string{r.open(OpenOptions{}).ID, r.open(OpenOptions{Command: []string{"bash", "-i"}}).ID}
			for i, id := range ids {
				r.tmux(id, "send-keys", "-t", "tab:", fmt.Sprintf("seq 1 100; echo mark''er%d", i), "Enter")
				r.shows(id, fmt.Sprintf("marker%d", i))
			}
			// Typed live, and reloaded. A line with a mistake may fail, and harms nothing.
			typed := "tmux " + strings.ReplaceAll(line, " ; ", " \\; ")
			for _, id := range ids {
				r.tmux(id, "send-keys", "-t", "tab:", typed+"; tmux source-file "+conf+"; echo typ''ed", "Enter")
				r.shows(id, "typed")
				r.tmux(id, "new-window", "-d", "-t", "tab:", "cat")
			}
			r.shutDown()
			r = m.boot()
			list := r.list()
			if len(list) != 2 {
				t.Fatalf("tabs %+v", list)
			}
			for i, id := range ids {
				until(t, "it is attached", func() bool { return r.get(id).Size.Cols == 80 })
				if v := r.get(id); v.State != StateLive {
					t.Errorf("tab %+v", v)
				}
				r.tmux(id, "send-keys", "-t", "tab:", "echo al''ive", "Enter")
				r.shows(id, "alive")
				for _, text := range []string{"\n1\n2\n", fmt.Sprintf("marker%d", i)} {
					if !strings.Contains(r.screen(id), text) {
						t.Errorf("%q is not in the history", text)
					}
				}
				// As many new tabs and windows as one likes.
				r.open(OpenOptions{})
				r.tmux(id, "new-window", "-t", "tab:")
			}
			if n := len(r.list()); n != 4 {
				t.Errorf("%d tabs, want 4", n)
			}
		})
	}
}

// TestLearn reads recorded answers of tmux to our probes.
func TestLearn(t *testing.T) {
	report := func(cols ...int) (s string) {
		for _, c := range cols {
			s += fmt.Sprintf("\x1b[1;%dR", c)
		}
		return s
	}
	f, err := tmuxFacts{}.learn([]byte(report(3, 2, 3, 5) + "\x1b]11;rgb:1010/1212/1414\x1b\\\x1b[?1;2c"))
	if err != nil || !f.widths.ZWJ || f.widths.VS16 || !f.widths.Flags || f.widths.SkinTones || !f.answers.Colors || f.answers.Modes {
		t.Errorf("%+v, %v", f, err)
	}
	f, err = tmuxFacts{}.learn([]byte(report(3, 3, 3, 3) + "\x1b[?2026;2$y\x1b[?0u\x1bP1+r544e=78\x1b\\\x1bP1$r0m\x1b\\\x1b[4;24;80t\x1b[?1;2c"))
	if err != nil || !f.widths.VS16 || !f.widths.SkinTones || f.answers.Colors || !f.answers.Modes || !f.answers.Kitty ||
		!f.answers.Termcap || !f.answers.Settings || !f.answers.Pixels {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := (tmuxFacts{}).learn([]byte("nothing")); err == nil {
		t.Error("no answers are taken for some")
	}
}

// TestProbeIsKept: the next start of our server does not try again.
func TestProbeIsKept(t *testing.T) {
	m := newMachine(t)
	r := m.boot()
	r.open(OpenOptions{})
	files, _ := filepath.Glob(filepath.Join(m.dir, "probe-*"))
	if len(files) != 1 {
		t.Fatalf("probes %q", files)
	}
	if left, _ := filepath.Glob(filepath.Join(m.dir, "probe.*")); len(left) != 0 {
		t.Errorf("left %q", left)
	}
	b, err := r.box(t.Context(), "local")
	if err != nil {
		t.Fatal(err)
	}
	facts, err := b.tmux(t.Context(), b.account(""), m.dir)
	if err != nil || !facts.answers.Colors || facts.answers.Pixels {
		t.Errorf("%+v, %v; tmux 3.3a answers for colours that are set, and not for pixels", facts, err)
	}
}
