package tmuxctl_test

import (
	"testing"

	"github.com/browsertabs/tabs/tmuxctl"
	"github.com/browsertabs/tabs/tmuxctl/tmuxtest"
)

// BenchmarkKey is a key with the mark that makes input exactly-once, with our guards and without.
func BenchmarkKey(b *testing.B) {
	for name, config := range map[string]string{"guarded": tmuxctl.ConfigText(2000), "bare": ""} {
		b.Run(name, func(b *testing.B) {
			s := tmuxtest.StartWith(b, config)
			c := attach(b, s, s.New("bench"))
			cmd := tmuxctl.SendKeys(0, []byte("x")).Then(tmuxctl.Lines(tmuxctl.SetPaneOption(0, "@seq", "12345")))
			for b.Loop() {
				c.do(b, cmd)
			}
		})
	}
}
