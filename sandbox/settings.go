package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Settings are what a person set up, by name; what is not there has its default, which only the page knows. In a change,
// nil is the default.
type Settings map[string]json.RawMessage

// settingChecks has every setting there is, and what it may be: the twin of the table in static/src/settings.ts.
var settingChecks = map[string]func(json.RawMessage) string{
	"appearance":      oneOf("system", "light", "dark"),
	"lightScheme":     text(40, `^[a-z0-9-]+$`),
	"darkScheme":      text(40, `^[a-z0-9-]+$`),
	"minimumContrast": number(1, 21),
	"fontFamily":      text(200, `^[\pL\pN ,._'"-]*$`),
	"fontSize":        number(6, 40),
	"lineHeight":      number(1, 2),
	"cursorStyle":     oneOf("block", "bar", "underline"),
	"cursorBlink":     boolean,
	"padding":         number(0, 40),
	"scrollback":      number(0, 50_000),
	"statusBar":       boolean,
	"screenReader":    boolean,
	"copyOnSelect":    boolean,
	"keyPreset":       oneOf("default", "vscode", "iterm2", "tmux"),
	"keys":            keys,
	"optionAsMeta":    boolean,
	"visualBell":      boolean,
	"audibleBell":     boolean,
	"notifications":   boolean,
	"quiet":           boolean,
}

// Settings returns what the actor has set up.
func (s *Service) Settings(ctx context.Context, a Actor) (Settings, error) {
	if err := s.authorize(a, VerbSettings, object{orgID: a.OrgID}); err != nil {
		return nil, err
	}
	all, err := s.c.Store.Settings(ctx, a.OrgID, a.User)
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	return all, nil
}

// ChangeSettings changes what is in changes, all or nothing, and returns what there is then.
func (s *Service) ChangeSettings(ctx context.Context, a Actor, changes Settings) (Settings, error) {
	if err := s.authorize(a, VerbSettings, object{orgID: a.OrgID}); err != nil {
		return nil, err
	}
	checked := make(Settings, len(changes))
	for name, value := range changes {
		check := settingChecks[name]
		if check == nil {
			return nil, &Error{Code: CodeUnknownField, Field: name,
				Message: fmt.Sprintf("there is no setting %.80q; known are %s", name,
					strings.Join(slices.Sorted(maps.Keys(settingChecks)), ", "))}
		}
		if value == nil || string(value) == "null" {
			checked[name] = nil
			continue
		}
		if must := check(value); must != "" {
			return nil, &Error{Code: CodeInvalidRequest, Field: name, Message: fmt.Sprintf("%s must be %s", name, must)}
		}
		var b bytes.Buffer
		if err := json.Compact(&b, value); err != nil {
			return nil, fmt.Errorf("write setting %s: %w", name, err)
		}
		checked[name] = b.Bytes()
	}
	if err := s.c.Store.ChangeSettings(ctx, a.OrgID, a.User, checked); err != nil {
		return nil, fmt.Errorf("write settings: %w", err)
	}
	return s.Settings(ctx, a)
}

// The checks answer what a value must be; "": it is.

func boolean(v json.RawMessage) string {
	var b bool
	if json.Unmarshal(v, &b) != nil {
		return "true or false"
	}
	return ""
}

func number(least, most float64) func(json.RawMessage) string {
	return func(v json.RawMessage) string {
		var n float64
		if json.Unmarshal(v, &n) != nil || n < least || n > most {
			return fmt.Sprintf("a number from %g to %g", least, most)
		}
		return ""
	}
}

func oneOf(values ...string) func(json.RawMessage) string {
	return func(v json.RawMessage) string {
		var s string
		if json.Unmarshal(v, &s) != nil || !slices.Contains(values, s) {
			return "one of " + strings.Join(values, ", ")
		}
		return ""
	}
}

func text(maxChars int, pattern string) func(json.RawMessage) string {
	form := regexp.MustCompile(pattern)
	return func(v json.RawMessage) string {
		var s string
		if json.Unmarshal(v, &s) != nil || utf8.RuneCountInString(s) > maxChars || !form.MatchString(s) {
			return fmt.Sprintf("a text of at most %d characters that matches %s", maxChars, pattern)
		}
		return ""
	}
}

const (
	maxKeyCommands = 100
	maxKeysEach    = 4
)

var (
	commandForm  = regexp.MustCompile(`^[A-Za-z0-9]{1,40}$`)
	shortcutForm = regexp.MustCompile(`^[A-Za-z0-9+ ]{1,80}$`)
)

// keys checks the shortcuts that a person gave to commands. Which commands and keys there are, the page knows.
func keys(v json.RawMessage) string {
	must := fmt.Sprintf("an object of at most %d commands, each with a list of at most %d shortcuts such as \"Ctrl+Shift+KeyT\"",
		maxKeyCommands, maxKeysEach)
	var all map[string][]string
	if json.Unmarshal(v, &all) != nil || all == nil || len(all) > maxKeyCommands {
		return must
	}
	for command, shortcuts := range all {
		if !commandForm.MatchString(command) || shortcuts == nil || len(shortcuts) > maxKeysEach {
			return must
		}
		for _, s := range shortcuts {
			if !shortcutForm.MatchString(s) {
				return must
			}
		}
	}
	return ""
}
