package web

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/static"
	"github.com/browsertabs/tabs/web/view"
)

func TestSchemes(t *testing.T) {
	const light, dark = "not (prefers-color-scheme: dark)", "(prefers-color-scheme: dark)"
	nord := "nord"
	if !static.Built() {
		nord = "tabs-dark" // without assets no scheme is known
	}
	for settings, want := range map[string][]view.Scheme{
		`{}`:                     {{ID: "tabs-light", Media: light}, {ID: "tabs-dark", Media: dark}},
		`{"darkScheme":"nord"}`:  {{ID: "tabs-light", Media: light}, {ID: nord, Media: dark}},
		`{"appearance":"light"}`: {{ID: "tabs-light"}},
		`{"appearance":"dark","darkScheme":"nord"}`:           {{ID: nord}},
		`{"lightScheme":"of-a-newer-version","darkScheme":7}`: {{ID: "tabs-light", Media: light}, {ID: "tabs-dark", Media: dark}},
	} {
		var s sandbox.Settings
		if err := json.Unmarshal([]byte(settings), &s); err != nil {
			t.Fatal(err)
		}
		if got := schemes(s); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", settings, got, want)
		}
	}
}
