package tabs

import (
	"testing"
	"time"
)

func TestOpenTypeOutput(t *testing.T) {
	r := newMachine(t).boot()
	began := time.Now()
	v := r.open(OpenOptions{})
	t.Logf("opened in %v", time.Since(began))
	p := r.look(v.ID, "page0001")
	until(t, "the page is live", func() bool { return p.View(0).Snapshots > 0 })
	p.types(0, "printf '%s%s\\n' MAR KER\n")
	p.sees(0, "MARKER")
	r.shows(v.ID, "MARKER")
	t.Logf("%+v", r.get(v.ID))
}
