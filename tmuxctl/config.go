package tmuxctl

import (
	"strconv"
	"strings"
)

// ConfigText is our -f file: the options a tab relies on, and the guards against a global window-size manual. userFiles
// are configurations of the user to source first; those that are missing are passed over. What they set of the options
// that a tab relies on is then set right.
func ConfigText(historyLimit int, userFiles ...string) string {
	var b strings.Builder
	b.WriteString("# Written by tabs; changes are lost.\n")
	for _, l := range defaults {
		b.WriteString(l + "\n")
	}
	b.WriteString("set-option -g history-limit " + strconv.Itoa(max(historyLimit, 0)) + "\n")
	// The guards come first as well, for what a user's file starts by itself.
	for _, l := range guards {
		b.WriteString(l + "\n")
	}
	for _, f := range userFiles {
		b.WriteString("source-file -q " + Quote(f) + "\n")
	}
	for _, l := range guards {
		b.WriteString(l + "\n")
	}
	for _, o := range sessionOptions {
		b.WriteString("set-option -g " + o.name + " " + o.value + "\n")
	}
	for _, l := range relied {
		b.WriteString(l + "\n")
	}
	return b.String()
}

// defaults are how a tab's tmux is unless the user's configuration says otherwise.
var defaults = []string{
	// xterm.js is the terminal. With tmux-256color programs send a title sequence that xterm.js prints.
	`set-option -g default-terminal xterm-256color`,
	`set-environment -g COLORTERM truecolor`,
	`set-option -s escape-time 0`,
	`set-option -g focus-events on`,
	// Not "on": tmux would answer a program's question for the clipboard with its own buffers. Programs' OSC 52
	// reaches the page in the pane's bytes anyway.
	`set-option -s set-clipboard external`,
	// The page has a tab strip; who attaches by hand gets all rows.
	`set-option -g status off`,
	// Default key bindings were parsed before our aliases were there.
	`bind-key c set-option -gu window-size \; new-window`,
	`bind-key ! set-option -gu window-size \; break-pane`,
}

// guards keep tmux (up to 3.6) from dying of a global window-size manual at the next new window, and sessions from
// ending with our client.
//
// The hook clears a global window-size when set-option gives it one that may do harm, and sets right what ends
// sessions; user options, which we set with every key, are let through first. Hooks are not run for setw and
// set-window-option, which aliases turn into set-option; and should the hook have been replaced, the aliases of the
// commands that make a window clear the value before.
var guards = []string{
	`set-option -gu window-size`,
	`set-hook -g after-set-option[9000] { if-shell -F '#{?#{m:@*,#{hook_argument_0}},0,1}' { ` +
		`if-shell -F '#{&&:#{hook_flag_g},#{&&:#{m:window-si*,#{hook_argument_0}},#{?#{m/r:^(largest|smallest|latest)$,#{hook_argument_1}},0,1}}}' ` +
		`{ set-option -gu window-size } ; ` +
		`if-shell -F '#{m/r:^(destroy-u|detach-o|exit-u),#{hook_argument_0}}' ` +
		`{ set-option -s exit-unattached off ; set-option destroy-unattached off ; set-option detach-on-destroy on } } }`,
	`set-option -s command-alias[9000] "setw=set-option -w"`,
	`set-option -s command-alias[9001] "set-window-option=set-option -w"`,
	`set-option -s command-alias[9002] "new-window=set-option -gu window-size ; new-window"`,
	`set-option -s command-alias[9003] "neww=set-option -gu window-size ; new-window"`,
	`set-option -s command-alias[9004] "new-session=set-option -gu window-size ; new-session"`,
	`set-option -s command-alias[9005] "new=set-option -gu window-size ; new-session"`,
	`set-option -s command-alias[9006] "break-pane=set-option -gu window-size ; break-pane"`,
	`set-option -s command-alias[9007] "breakp=set-option -gu window-size ; break-pane"`,
}

// relied are the server's and the windows' options that a tab relies on.
var relied = []string{
	`set-option -s exit-unattached off`,
	`set-option -s exit-empty on`,
	`set-option -gw remain-on-exit on`,
	// tmux would write "Pane is dead" over the program's last line; the page says it beside the screen.
	`set-option -gwq remain-on-exit-format ""`,
	`set-option -gw aggressive-resize off`,
	// xterm.js does not keep as history what a program clears (since tmux 3.3).
	`set-option -gwq scroll-on-clear off`,
	// At the first attach tmux shows the mistakes of a user's configuration over the pane, where our client cannot
	// see them, and keys would go to that screen instead of the program.
	`set-hook -g client-attached[9000] "if-shell -F '#{&&:#{client_control_mode},#{==:#{pane_mode},view-mode}}' 'copy-mode -q'"`,
}

// sessionOptions are the session's options that a tab relies on.
var sessionOptions = []struct{ name, value string }{
	{"destroy-unattached", "off"}, // on ends every session when our client leaves
	{"detach-on-destroy", "on"},   // off moves our client to another session
	{"lock-after-time", "0"},
}

// AssertOptions is a command that sets the options a tab relies on, and the guards, again, for what was typed into the
// tab since. Send it after attaching, and before anything that makes a window (see Command.Then).
func AssertOptions(id SessionID) Command {
	lines := append([]string(nil), guards...)
	for _, o := range sessionOptions {
		lines = append(lines, "set-option -t "+id.String()+": "+o.name+" "+o.value)
	}
	return Lines(append(lines, relied...)...)
}

// AssertWindow is a command that makes one window as a tab needs it; for windows we did not make, on %window-add. Its
// size is then kept until ResizeWindow.
func AssertWindow(id WindowID) Command {
	t := "set-option -w -t " + id.String() + " "
	return Lines(t+"window-size manual", t+"remain-on-exit on")
}
