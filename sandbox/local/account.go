package local

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/browsertabs/tabs/sandbox"
)

// account is a row of passwd. Package os/user does not tell the shell.
type account struct {
	name     string
	uid, gid int
	home     string
	shell    string
}

// userName is what useradd accepts, and what cannot be read as an option of getent.
var userName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}\$?$`)

// lookup finds the account that name stands for, "" for the server's own user.
func lookup(ctx context.Context, name string) (account, error) {
	self := os.Getuid()
	if name == "" {
		a, err := passwd(ctx, strconv.Itoa(self), func(a account) bool { return a.uid == self })
		if errors.Is(err, errNoAccount) { // a container may run as a uid that nobody has named
			return account{
				name: strconv.Itoa(self), uid: self, gid: os.Getgid(), home: homeOr("/"), shell: "/bin/sh",
			}, nil
		}
		return a, err
	}
	unknown := &sandbox.Error{Code: sandbox.CodeInvalidRequest, Field: "user",
		Message: fmt.Sprintf("there is no user %.64q here", name)}
	if !userName.MatchString(name) {
		return account{}, unknown
	}
	a, err := passwd(ctx, name, func(a account) bool { return a.name == name })
	if errors.Is(err, errNoAccount) {
		return account{}, unknown
	}
	if err != nil {
		return account{}, err
	}
	if a.uid != self && self != 0 {
		return account{}, &sandbox.Error{Code: sandbox.CodeNotSupported, Field: "user",
			Message: fmt.Sprintf("this server runs as an ordinary user and cannot start programs as %s", name),
			Remedy:  "su - " + name}
	}
	return a, nil
}

var errNoAccount = errors.New("no such account")

// passwd looks into /etc/passwd first, which costs nothing, then asks getent, which knows LDAP and its like.
func passwd(ctx context.Context, key string, match func(account) bool) (account, error) {
	f, err := os.Open("/etc/passwd")
	if err == nil {
		defer f.Close()
		for sc := bufio.NewScanner(f); sc.Scan(); {
			if a, ok := parseAccount(sc.Text()); ok && match(a) {
				return a, nil
			}
		}
	}
	out, err := exec.CommandContext(ctx, "getent", "passwd", key).Output()
	if ctx.Err() != nil {
		return account{}, ctx.Err()
	}
	if a, ok := parseAccount(strings.TrimSpace(string(out))); err == nil && ok && match(a) {
		return a, nil
	}
	return account{}, errNoAccount
}

func parseAccount(line string) (account, bool) {
	f := strings.Split(line, ":")
	if len(f) != 7 {
		return account{}, false
	}
	uid, err1 := strconv.Atoi(f[2])
	gid, err2 := strconv.Atoi(f[3])
	if err1 != nil || err2 != nil || uid < 0 || gid < 0 {
		return account{}, false
	}
	a := account{name: f[0], uid: uid, gid: gid, home: f[5], shell: f[6]}
	if a.home == "" {
		a.home = "/"
	}
	if a.shell == "" { // passwd(5)
		a.shell = "/bin/sh"
	}
	return a, true
}

// credential is what the kernel must be told to run as a, nil when we are a already.
func (a account) credential() (*syscall.Credential, error) {
	if a.uid == os.Getuid() {
		return nil, nil
	}
	u := &user.User{Uid: strconv.Itoa(a.uid), Gid: strconv.Itoa(a.gid), Username: a.name}
	ids, err := u.GroupIds()
	if err != nil {
		return nil, fmt.Errorf("list groups of %s: %w", a.name, err)
	}
	groups := make([]uint32, 0, len(ids))
	for _, id := range ids {
		if g, err := strconv.ParseUint(id, 10, 32); err == nil {
			groups = append(groups, uint32(g))
		}
	}
	return &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid), Groups: groups}, nil
}

const rootPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// inherited is what a program gets of the server's environment when it runs as the same user: how to find programs,
// language, and the person's desktop. Never more: the server's own environment holds its configuration and secrets.
var inherited = []string{
	"PATH", "LANG", "LANGUAGE", "TZ", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS",
	"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
}

// environ is a's environment, then extra.
func (a account) environ(extra []string) []string {
	env := []string{"HOME=" + a.home, "USER=" + a.name, "LOGNAME=" + a.name, "SHELL=" + a.shell}
	hasLocale := false
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		locale := name == "LANG" || strings.HasPrefix(name, "LC_")
		if value == "" || !(locale || a.uid == os.Getuid() && slices.Contains(inherited, name)) {
			continue
		}
		hasLocale = hasLocale || name == "LANG" || name == "LC_ALL" || name == "LC_CTYPE"
		env = append(env, kv)
	}
	if !hasLocale { // programs that see no locale draw boxes and CJK as question marks
		env = append(env, "LANG=C.UTF-8")
	}
	if a.uid != os.Getuid() || os.Getenv("PATH") == "" {
		env = append(env, "PATH="+rootPath)
	}
	return append(env, extra...)
}

func homeOr(fallback string) string {
	if h := os.Getenv("HOME"); h != "" {
		return h
	}
	return fallback
}
