package view

import (
	"strings"
	"testing"
)

func TestTitleParts(t *testing.T) {
	for _, tt := range []struct{ title, head, tail string }{
		{"", "", ""},
		{"build", "build", ""},
		{"exactly sixteen!", "exactly sixteen!", ""},
		{"a title that is long", "a title that", " is long"},
		{strings.Repeat("é", 20), strings.Repeat("é", 12), strings.Repeat("é", 8)},
	} {
		if head, tail := titleParts(tt.title); head != tt.head || tail != tt.tail {
			t.Errorf("titleParts(%q) = %q, %q; want %q, %q", tt.title, head, tail, tt.head, tt.tail)
		}
	}
}
