package sandbox

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSettingChecks(t *testing.T) {
	long := strings.Repeat("x", 201)
	many := make(map[string][]string)
	for i := range maxKeyCommands + 1 {
		many[strings.Repeat("c", i%40+1)+strings.Repeat("d", i/40)] = nil
	}
	tooMany, _ := json.Marshal(many)
	for name, values := range map[string]struct{ right, wrong []string }{
		"appearance":      {[]string{`"system"`, `"dark"`}, []string{`"Dark"`, `true`, `["dark"]`, `""`}},
		"lightScheme":     {[]string{`"solarized-light"`, `"one2"`}, []string{`""`, `"a b"`, `"../x"`, `"` + long + `"`, `1`}},
		"minimumContrast": {[]string{`1`, `4.5`, `21`}, []string{`0.9`, `21.1`, `"4"`, `1e999`}},
		"fontFamily": {[]string{`""`, `"JetBrains Mono, 'Fira Code'"`, `"\u6e90"`},
			[]string{`"x; color: red"`, `"}"`, `"a\nb"`, `"url(x)"`, `"` + long + `"`}},
		"fontSize":     {[]string{`6`, `13.5`, `40`}, []string{`5`, `41`, `-1`, `{}`}},
		"scrollback":   {[]string{`0`, `50000`}, []string{`50001`}},
		"copyOnSelect": {[]string{`true`, `false`}, []string{`0`, `"true"`}},
		"keys": {[]string{`{}`, `{"copy":[]}`, `{"copy":["Ctrl+Shift+KeyC","Meta+KeyC"]}`},
			[]string{`[]`, `{"copy":null}`, `{"copy":"x"}`, `{"":["x"]}`, `{"copy":["<b>"]}`, `{"copy":["1","2","3","4","5"]}`,
				`{"__proto__":[]}`, string(tooMany)}},
	} {
		for _, v := range values.right {
			if must := settingChecks[name](json.RawMessage(v)); must != "" {
				t.Errorf("%s: %s must be %s", name, v, must)
			}
		}
		for _, v := range values.wrong {
			if settingChecks[name](json.RawMessage(v)) == "" {
				t.Errorf("%s: %.80s was taken", name, v)
			}
		}
	}
}

// TestSettingsAreOnesOwn keeps the settings of users and organisations apart.
func TestSettingsAreOnesOwn(t *testing.T) {
	s, ctx := New(Config{Store: &memory{}}), t.Context()
	ada, bob, other := Actor{OrgID: "org_a", User: "ada"}, Actor{OrgID: "org_a", User: "bob"}, Actor{OrgID: "org_b", User: "ada"}
	all, err := s.ChangeSettings(ctx, ada, Settings{"fontSize": json.RawMessage(" 15 ")})
	if err != nil || string(all["fontSize"]) != "15" {
		t.Fatalf("%s, %v", all, err)
	}
	for _, a := range []Actor{bob, other, {OrgID: "org_a"}} {
		if all, err := s.Settings(ctx, a); err != nil || len(all) != 0 {
			t.Errorf("%+v has %s, %v", a, all, err)
		}
	}
	if _, err := s.ChangeSettings(ctx, Actor{}, Settings{}); code(err) != CodeUnauthorized {
		t.Errorf("nobody: %v", err)
	}
}
