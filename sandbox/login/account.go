package login

import (
	"bufio"
	"errors"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// RootPath is the PATH of whoever has no other.
const RootPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// ErrNoAccount says that passwd has no such row.
var ErrNoAccount = errors.New("no such account")

// Account is a row of passwd. Package os/user does not tell the shell.
type Account struct {
	Name     string
	UID, GID int
	Home     string
	Shell    string
}

var name = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}\$?$`)

// ValidName reports whether s is what useradd accepts, and so cannot be read as an option of another program.
func ValidName(s string) bool { return name.MatchString(s) }

// Parse reads a line of passwd.
func Parse(line string) (Account, bool) {
	f := strings.Split(line, ":")
	if len(f) != 7 {
		return Account{}, false
	}
	uid, err1 := strconv.Atoi(f[2])
	gid, err2 := strconv.Atoi(f[3])
	if err1 != nil || err2 != nil || uid < 0 || gid < 0 {
		return Account{}, false
	}
	a := Account{Name: f[0], UID: uid, GID: gid, Home: f[5], Shell: f[6]}
	if a.Home == "" {
		a.Home = "/"
	}
	if a.Shell == "" { // passwd(5)
		a.Shell = "/bin/sh"
	}
	return a, true
}

// Find returns the first account of /etc/passwd that matches, or ErrNoAccount.
func Find(match func(Account) bool) (Account, error) {
	found, err := Account{}, ErrNoAccount
	eachLine("/etc/passwd", func(line string) bool {
		a, ok := Parse(line)
		if ok && match(a) {
			found, err = a, nil
		}
		return err != nil
	})
	return found, err
}

// Groups are the groups of /etc/group that a is in, its own first.
func (a Account) Groups() []uint32 {
	groups := []uint32{uint32(a.GID)}
	eachLine("/etc/group", func(line string) bool {
		f := strings.Split(line, ":")
		if len(f) != 4 || !slices.Contains(strings.Split(f[3], ","), a.Name) {
			return true
		}
		if gid, err := strconv.ParseUint(f[2], 10, 32); err == nil && !slices.Contains(groups, uint32(gid)) {
			groups = append(groups, uint32(gid))
		}
		return true
	})
	return groups
}

// eachLine calls f with the lines of a file until it returns false. A file that cannot be read has none.
func eachLine(path string, f func(string) bool) {
	file, err := os.Open(path)
	if err != nil {
		return
	}
	defer file.Close()
	for sc := bufio.NewScanner(file); sc.Scan(); {
		if !f(sc.Text()) {
			return
		}
	}
}
