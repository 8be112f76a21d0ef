package tmuxctl

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Version is a release of tmux: 3.3a is {3, 3, "a"}. A development build has the version it leads to.
type Version struct {
	Major, Minor int
	Suffix       string
}

func (v Version) String() string { return fmt.Sprintf("%d.%d%s", v.Major, v.Minor, v.Suffix) }

// AtLeast tells whether v is this release or newer.
func (v Version) AtLeast(major, minor int) bool {
	return v.Major > major || v.Major == major && v.Minor >= minor
}

var versionPattern = regexp.MustCompile(`^tmux (?:next-)?(\d{1,4})\.(\d{1,4})([a-z]?)`)

// ParseVersion parses what `tmux -V` prints. Builds that do not say a number, "master" and OpenBSD's own, count as
// new.
func ParseVersion(s string) (Version, error) {
	s = strings.TrimSpace(s)
	if s == "tmux master" || strings.HasPrefix(s, "tmux openbsd-") {
		return Version{Major: 99}, nil
	}
	m := versionPattern.FindStringSubmatch(s)
	if m == nil {
		return Version{}, fmt.Errorf("parse tmux version %.40q", s)
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	return Version{Major: major, Minor: minor, Suffix: m[3]}, nil
}

// Version returns the version of the tmux that Start finds: ErrMissing if there is none, ErrTooOld before 3.2. It
// needs no server.
func (s *Server) Version(ctx context.Context) (Version, error) {
	out, err := run(ctx, s.Start, []string{"tmux", "-V"})
	if err != nil {
		return Version{}, fmt.Errorf("ask tmux version: %w", err)
	}
	v, err := ParseVersion(string(out))
	if err != nil {
		return Version{}, err
	}
	if !v.AtLeast(3, 2) {
		return v, fmt.Errorf("%w: %s is there, 3.2 or newer is needed", ErrTooOld, v)
	}
	return v, nil
}
