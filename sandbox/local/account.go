package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/sandbox/login"
)

// account is a login of this machine.
type account struct{ login.Account }

// lookup finds the account that name stands for, "" for the server's own user.
func lookup(ctx context.Context, name string) (account, error) {
	self := os.Getuid()
	if name == "" {
		a, err := passwd(ctx, strconv.Itoa(self), func(a login.Account) bool { return a.UID == self })
		if errors.Is(err, login.ErrNoAccount) { // a container may run as a uid that nobody has named
			return account{login.Account{
				Name: strconv.Itoa(self), UID: self, GID: os.Getgid(), Home: homeOr("/"), Shell: "/bin/sh",
			}}, nil
		}
		return a, err
	}
	unknown := &sandbox.Error{Code: sandbox.CodeInvalidRequest, Field: "user",
		Message: fmt.Sprintf("there is no user %.64q here", name)}
	if !login.ValidName(name) {
		return account{}, unknown
	}
	a, err := passwd(ctx, name, func(a login.Account) bool { return a.Name == name })
	if errors.Is(err, login.ErrNoAccount) {
		return account{}, unknown
	}
	if err != nil {
		return account{}, err
	}
	if a.UID != self && self != 0 {
		return account{}, &sandbox.Error{Code: sandbox.CodeNotSupported, Field: "user",
			Message: fmt.Sprintf("this server runs as an ordinary user and cannot start programs as %s", name),
			Remedy:  "su - " + name}
	}
	return a, nil
}

// passwd looks into /etc/passwd first, which costs nothing, then asks getent, which knows LDAP and its like.
func passwd(ctx context.Context, key string, match func(login.Account) bool) (account, error) {
	if a, err := login.Find(match); err == nil {
		return account{a}, nil
	}
	out, err := exec.CommandContext(ctx, "getent", "passwd", key).Output()
	if ctx.Err() != nil {
		return account{}, ctx.Err()
	}
	if a, ok := login.Parse(strings.TrimSpace(string(out))); err == nil && ok && match(a) {
		return account{a}, nil
	}
	return account{}, login.ErrNoAccount
}

// credential is what the kernel must be told to run as a, nil when we are a already.
func (a account) credential() (*syscall.Credential, error) {
	if a.UID == os.Getuid() {
		return nil, nil
	}
	u := &user.User{Uid: strconv.Itoa(a.UID), Gid: strconv.Itoa(a.GID), Username: a.Name}
	ids, err := u.GroupIds()
	if err != nil {
		return nil, fmt.Errorf("list groups of %s: %w", a.Name, err)
	}
	groups := make([]uint32, 0, len(ids))
	for _, id := range ids {
		if g, err := strconv.ParseUint(id, 10, 32); err == nil {
			groups = append(groups, uint32(g))
		}
	}
	return &syscall.Credential{Uid: uint32(a.UID), Gid: uint32(a.GID), Groups: groups}, nil
}

// inherited is what a program gets of the server's environment when it runs as the same user: how to find programs,
// language, and the person's desktop. Never more: the server's own environment holds its configuration and secrets.
var inherited = []string{
	"PATH", "LANG", "LANGUAGE", "TZ", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS",
	"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
}

// environ is a's environment, then extra.
func (a account) environ(extra []string) []string {
	env := []string{"HOME=" + a.Home, "USER=" + a.Name, "LOGNAME=" + a.Name, "SHELL=" + a.Shell}
	hasLocale := false
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		locale := name == "LANG" || strings.HasPrefix(name, "LC_")
		if value == "" || !(locale || a.UID == os.Getuid() && slices.Contains(inherited, name)) {
			continue
		}
		hasLocale = hasLocale || name == "LANG" || name == "LC_ALL" || name == "LC_CTYPE"
		env = append(env, kv)
	}
	if !hasLocale { // programs that see no locale draw boxes and CJK as question marks
		env = append(env, "LANG=C.UTF-8")
	}
	if a.UID != os.Getuid() || os.Getenv("PATH") == "" {
		env = append(env, "PATH="+login.RootPath)
	}
	return append(env, extra...)
}

func homeOr(fallback string) string {
	if h := os.Getenv("HOME"); h != "" {
		return h
	}
	return fallback
}
