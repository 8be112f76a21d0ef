package tabs

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/terminal"
	"github.com/browsertabs/tabs/tmuxctl"
)

const (
	maxCommandBytes = 64 << 10 // all arguments, or all variables, together
	maxPathBytes    = 4096
	// readyTimeout bounds how long Open waits for the first state of a session that it has made.
	readyTimeout = 5 * time.Second
)

var defaultSize = terminal.Size{Cols: 80, Rows: 24}

// Open starts a session and shows it as a tab.
func (s *Service) Open(ctx context.Context, sandboxID string, o OpenOptions) (Tab, error) {
	if err := o.check(); err != nil {
		return Tab{}, err
	}
	b, err := s.box(ctx, sandboxID)
	if err != nil {
		return Tab{}, err
	}
	order, err := b.reserve()
	if err != nil {
		return Tab{}, err
	}
	defer b.release()
	t := &tab{
		box: b, id: sandbox.NewID("tab"), user: o.User, title: o.Title, order: order,
		created: time.Now().UTC().Truncate(time.Millisecond),
	}
	if o.Plain {
		err = t.openPlain(ctx, o)
	} else {
		err = t.open(ctx, o, nil)
	}
	if err != nil {
		return Tab{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return t.viewLocked(), nil
}

// reserve counts a tab that is about to be opened, and gives it its place.
func (b *box) reserve() (order int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.tabs)+b.opening >= maxTabs {
		return 0, &sandbox.Error{Code: sandbox.CodeQuotaExceeded,
			Message: fmt.Sprintf("this sandbox has %d tabs, which is the most it may have: close one first", maxTabs)}
	}
	order = b.nextOrderLocked() + b.opening
	b.opening++
	return order, nil
}

func (b *box) release() {
	b.mu.Lock()
	b.opening--
	b.mu.Unlock()
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// check refuses what tmux or the kernel would garble or refuse without saying why, and fills in what is not set.
func (o *OpenOptions) check() (err error) {
	if o.Title, err = checkTitle(o.Title); err != nil {
		return err
	}
	if o.Cwd != "" && (!strings.HasPrefix(o.Cwd, "/") || len(o.Cwd) > maxPathBytes || !printable(o.Cwd)) {
		return invalid("cwd", "cwd is an absolute path without control characters")
	}
	total := 0
	for _, a := range o.Command {
		if total += len(a) + 1; strings.ContainsRune(a, 0) {
			return invalid("command", "an argument cannot hold a NUL")
		}
	}
	if len(o.Command) > 0 && o.Command[0] == "" || total > maxCommandBytes {
		return invalid("command", fmt.Sprintf("command is a program and its arguments, at most %d bytes", maxCommandBytes))
	}
	total = 0
	for k, v := range o.Env {
		if total += len(k) + len(v) + 2; !envName.MatchString(k) || strings.ContainsRune(v, 0) {
			return invalid("env", fmt.Sprintf("%.60q is no variable that can be set", k))
		}
	}
	if total > maxCommandBytes {
		return invalid("env", fmt.Sprintf("env has at most %d bytes", maxCommandBytes))
	}
	if o.Size == (terminal.Size{}) {
		o.Size = defaultSize
	}
	if o.Size != o.Size.Clamp() {
		return invalid("cols", fmt.Sprintf("a size of %s is out of bounds", o.Size))
	}
	return nil
}

func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// open starts the tab's session on a tmux server of its own. lines, if any, are shown above a fresh login shell.
func (t *tab) open(ctx context.Context, o OpenOptions, lines []byte) error {
	b := t.box
	acc := b.account(t.user)
	dir, err := b.s.c.Provider.RuntimeDir(ctx, b.id, t.user)
	if err != nil {
		return err
	}
	facts, err := b.tmux(ctx, acc, dir)
	if err != nil {
		return err
	}
	if err := b.prepare(ctx, acc, dir, o.Cwd); err != nil {
		return err
	}
	t.host = b.host(acc, dir, t.id)
	n := tmuxctl.NewSession{
		Name: sessionName, Cwd: o.Cwd, Cols: o.Size.Cols, Rows: o.Size.Rows, Env: o.Env, Command: o.Command,
		Options: t.options(),
	}
	if len(o.Command) > 0 {
		n.Command = append([]string{"sh", "-c", commandScript, "sh"}, o.Command...)
		n.Options[commandOption] = firstRunes(path.Base(o.Command[0]), maxTitleRunes)
	}
	if lines != nil {
		file := t.host.server.Socket + ".lines"
		if _, _, err := acc.run(ctx, string(lines), `umask 077; cat > "$1"`, file); err != nil {
			return err
		}
		n.Command = []string{"sh", "-c", reviveScript, "sh", file}
	}
	if t.session, err = t.host.server.NewSession(ctx, n); err != nil {
		t.undo()
		return fmt.Errorf("open tab: %w", err)
	}
	if lines != nil {
		// A pane option of the first pane alone: what is started beside it is known by itself.
		_, err = t.host.server.Run(ctx, "set-option", "-p", "-t", t.session.String()+":", loginOption, "1")
		if err != nil {
			t.undo()
			return fmt.Errorf("open tab: %w", err)
		}
	}
	t.attachTo(facts)
	if err := b.add(t); err != nil {
		t.undo()
		return err
	}
	if err := t.awaitReady(ctx); err != nil {
		return err
	}
	return t.put(ctx, lines)
}

// awaitReady returns when the tab's first state is known, or is not to come soon.
func (t *tab) awaitReady(ctx context.Context) error {
	select {
	case <-t.ready:
	case <-t.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(readyTimeout):
	}
	return nil
}

// commandScript runs a command and stays a moment longer. tmux closes a pane as soon as it learns that its program has
// ended, and loses what it has not read by then; with a busy machine that was all of it in 4 of 30 tries of "echo".
// The trap keeps Ctrl-C for the command alone to decide on; the command itself does not inherit it.
const commandScript = `trap : INT QUIT; "$@"; code=$?; sleep 0.1 2>/dev/null || sleep 1; exit $code`

// reviveScript shows the saved lines and becomes the login shell.
const reviveScript = `cat "$1"; rm -f "$1"; exec "${SHELL:-/bin/sh}" -l`

// undo ends what a failed open has begun.
func (t *tab) undo() {
	t.box.s.background(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, attachTimeout)
		defer cancel()
		t.host.kill(ctx, t.session) // an error: there is none
		t.host.gone(ctx)
	})
}

// end ends exactly this tab.
func (b *box) end(ctx context.Context, t *tab) error {
	b.mu.Lock()
	before := t.reason
	t.reason = GoneClosed
	b.mu.Unlock()
	if t.host == nil {
		t.endPlain()
		return t.wait(ctx)
	}
	src := t.src.(*source)
	src.expected.Store(true)
	var pids []string
	out, err := t.host.server.Run(ctx, "list-panes", "-s", "-t", t.session.String()+":", "-F", "#{pane_pid}")
	if err == nil {
		pids = strings.Fields(string(out))
	}
	if err := t.host.kill(ctx, t.session); err != nil {
		// No server, or one that answers nobody: then there is nothing left to end once it is out of the way.
		if t.host.alive(ctx, t.session) == nil {
			b.mu.Lock()
			t.reason = before
			b.mu.Unlock()
			src.expected.Store(false)
			return fmt.Errorf("end tab: %w", err)
		}
	}
	if err := t.wait(ctx); err != nil {
		return err
	}
	if len(pids) == 0 {
		return nil
	}
	if _, _, err := t.host.acc.run(ctx, "", killScript, pids...); err != nil {
		return fmt.Errorf("end programs of tab: %w", err)
	}
	return nil
}

// killScript waits a second for the processes of the sessions (of processes, one for each pane) given as arguments,
// which tmux has hung up, and kills those that stay.
const killScript = `
sessions=" $* "
left() {
	for f in /proc/[0-9]*/stat; do
		{ read -r line < "$f"; } 2>/dev/null || continue
		set -- ${line##*) }
		case $1 in Z|X) continue ;; esac
		case $sessions in *" $4 "*) pid=${f#/proc/}; echo "${pid%/stat}" ;; esac
	done
}
n=0
while pids=$(left); [ -n "$pids" ]; do
	[ $n -lt 5 ] || { kill -9 $pids 2>/dev/null; exit 0; }
	n=$((n + 1))
	sleep 0.2 2>/dev/null || sleep 1
done
`

func (t *tab) wait(ctx context.Context) error {
	select {
	case <-t.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.box.s.ctx.Done():
		return errClosed
	}
}

// busyScript prints the name of the program in front of the shell whose pid is $1, if it is another process: a script
// run by bash looks like the bash that runs it.
const busyScript = `
read -r line < "/proc/$1/stat" && set -- "$1" ${line##*) } && [ "$7" -gt 0 ] && [ "$7" != "$1" ] &&
	tr '\0' ' ' < "/proc/$7/cmdline"
exit 0`

// findBusy tells a shell that runs a script from an idle one, which tmux cannot.
func (t *tab) findBusy(ctx context.Context) {
	b := t.box
	b.mu.Lock()
	p, shell := t.seen.active, t.seen.shell
	b.mu.Unlock()
	busy := ""
	if p.login && !p.Dead && p.pid > 0 && p.Command == shell {
		out, _, err := t.host.acc.run(ctx, "", busyScript, fmt.Sprint(p.pid))
		if err != nil {
			return // gone meanwhile
		}
		busy, _ = checkTitle(firstRunes(strings.Join(strings.Fields(out), " "), maxTitleRunes))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if t.busy != busy {
		t.busy = busy
		t.watchForegroundLocked()
		b.changedLocked(t)
	}
}

func firstRunes(s string, n int) string {
	r := []rune(s)
	return string(r[:min(len(r), n)])
}
