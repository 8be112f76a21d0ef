package e2e

import (
	"testing"
	"time"
)

// pollFor calls ok until it says true, and fails the test with what it last said when that takes too long. It returns
// how long it took, for tests with a time in them.
func pollFor(t testing.TB, limit time.Duration, what string, ok func() (done bool, saw any)) time.Duration {
	t.Helper()
	start := time.Now()
	for {
		done, saw := ok()
		took := time.Since(start)
		if done {
			return took
		}
		if took > limit {
			t.Fatalf("%s: not within %v; last saw:\n%v", what, limit, saw)
		}
		time.Sleep(30 * time.Millisecond) // between two looks, not in place of one
	}
}
