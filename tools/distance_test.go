package tools_test

import (
	"testing"

	"parley/tools"
)

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "stop", 4}, {"stop", "stop", 0}, {"stpo", "stop", 2}, {"stopp", "stop", 1}, {"halt", "stop", 4}} {
		if got, back := tools.Distance(c.a, c.b), tools.Distance(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("%q and %q: %d and %d, want %d", c.a, c.b, got, back, c.want)
		}
	}
}
