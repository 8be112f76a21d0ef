package api

import (
	"errors"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/browsertabs/tabs/client"
	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/terminal"
)

const (
	maxTitleChars = 200
	maxUserBytes  = 64
	maxPathBytes  = 4096
	maxOrder      = 1_000_000
	maxTabIDs     = 1000
	// tmux takes at most 16 KiB in one message from its command line, in which command and environment travel together
	// with our own options.
	maxCommandBytes = 12 << 10
)

// The bounds of a size are the terminal's own.
var (
	minSize = terminal.Size{Cols: -1, Rows: -1}.Clamp()
	maxSize = terminal.Size{Cols: 1 << 30, Rows: 1 << 30}.Clamp()
)

var (
	envName  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	userName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*\$?$`)
)

func checkNewTab(n *client.NewTab, f fields) error {
	var err error
	if n.Title, err = checkTitle(n.Title); err != nil {
		return err
	}
	if n.User != "" && (len(n.User) > maxUserBytes || !userName.MatchString(n.User)) {
		return invalid("user", "user must be a user name of at most %d letters, digits, dots, dashes and underscores", maxUserBytes)
	}
	if n.Cwd != "" && (!path.IsAbs(n.Cwd) || len(n.Cwd) > maxPathBytes || !isText(n.Cwd)) {
		return invalid("cwd", "cwd must be an absolute path of at most %d bytes", maxPathBytes)
	}
	if err := checkCommand(n, f); err != nil {
		return err
	}
	return checkSize(n, f)
}

func checkCommand(n *client.NewTab, f fields) error {
	total := 0
	for i, arg := range n.Command {
		if strings.ContainsRune(arg, 0) {
			return invalid("command", "command must not hold NUL characters")
		}
		if i == 0 && arg == "" {
			return invalid("command", "command must begin with the name of a program")
		}
		total += len(arg) + 1
	}
	for name, value := range n.Env {
		if !envName.MatchString(name) {
			return invalid("env", "%.80q is not the name of an environment variable", name)
		}
		if strings.ContainsRune(value, 0) {
			return invalid("env", "the value of %s must not hold NUL characters", name)
		}
		total += len(name) + len(value) + 2
	}
	if total > maxCommandBytes {
		return invalid(cmpField(f, "command", "env"), "command and env must have at most %d bytes together; put more into a file",
			maxCommandBytes)
	}
	return nil
}

func checkSize(n *client.NewTab, f fields) error {
	_, cols := f["cols"]
	_, rows := f["rows"]
	if !cols && !rows {
		return nil
	}
	if !cols || !rows {
		return invalid(cmpField(f, "cols", "rows"), "cols and rows must be given together")
	}
	if n.Cols < minSize.Cols || n.Cols > maxSize.Cols {
		return invalid("cols", "cols must be from %d to %d", minSize.Cols, maxSize.Cols)
	}
	if n.Rows < minSize.Rows || n.Rows > maxSize.Rows {
		return invalid("rows", "rows must be from %d to %d", minSize.Rows, maxSize.Rows)
	}
	return nil
}

// cmpField is the first of names that the request has.
func cmpField(f fields, names ...string) string {
	for _, name := range names {
		if _, ok := f[name]; ok {
			return name
		}
	}
	return names[0]
}

func checkTabUpdate(u *client.TabUpdate, f fields) error {
	if len(f) == 0 {
		return invalid("title", "give a title, an order, or both")
	}
	if f.null("title") { // no title of a person's
		u.Title = new(string)
	}
	if u.Title != nil {
		title, err := checkTitle(*u.Title)
		if err != nil {
			return err
		}
		u.Title = &title
	}
	if f.null("order") || u.Order != nil && (*u.Order < 0 || *u.Order > maxOrder) {
		return invalid("order", "order must be from 0 to %d", maxOrder)
	}
	return nil
}

// checkTitle refuses what would break a line, a terminal or the direction of the text around a title.
func checkTitle(s string) (string, error) {
	s = strings.TrimSpace(s)
	if utf8.RuneCountInString(s) > maxTitleChars {
		return "", invalid("title", "title must have at most %d characters", maxTitleChars)
	}
	if !isText(s) {
		return "", invalid("title", "title must not hold control characters")
	}
	return s, nil
}

// isText tells whether s is free of control characters, line separators and marks that turn the direction of text.
func isText(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
	})
}

func checkTabIDs(body client.TabIDs, f fields) error {
	if f.null("ids") {
		return invalid("ids", "ids must be a list of tab ids; leave it out for all")
	}
	if len(body.IDs) > maxTabIDs {
		return invalid("ids", "ids must have at most %d entries", maxTabIDs)
	}
	return nil
}

func isNotFound(err error) bool {
	var e *sandbox.Error
	return errors.As(err, &e) && e.Code == sandbox.CodeNotFound
}
