package tools_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"parley/tools"
)

func TestLabel(t *testing.T) {
	flag, family := "🇩🇪", "👩\u200d👩\u200d👧"
	for _, c := range []struct {
		text string
		n    tools.Length
		want string
	}{
		{"", 60, ""},
		{"read notes/plan.md", 60, "read notes/plan.md"},
		{"a\nb\r\n\tc\u2028d", 60, "a b c d"},
		{"a\x1b[31mb\x00\u202ec\u200b", 60, "a[31mbc"},
		{"abcdef", 6, "abcdef"},
		{"abcdefg", 6, "abcde…"},
		{"abcd efg", 6, "abcd…"},
		{"äöüäöü", 4, "äöü…"},
		{"e\u0301e\u0301e\u0301", 4, "e\u0301…"},
		{flag + flag + flag, 5, flag + flag + "…"},
		{flag + flag + flag, 4, flag + "…"},
		{"x" + family + "y", 6, "x…"},
		{"ab👍🏽cd", 4, "ab…"},
		{"ab❤\ufe0fcd", 4, "ab…"},
		{"a\xffb", 60, "a\ufffdb"},
		{"abc", 1, "…"},
		{"abc", 0, ""},
		{strings.Repeat(" ", 10_000) + "x", 10, "…"},
		{family, 60, family},
	} {
		if got := tools.Label(c.text, c.n); got != c.want {
			t.Errorf("Label(%q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
	}
}

func TestLabelProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z ]{0,40}`),
			rapid.SampledFrom([]string{"\n", "🇩🇪", "👩\u200d👧", "e\u0301", "👍🏽", "\x00", "\xff", "\u202e"}))
		text := strings.Join(rapid.SliceOfN(piece, 0, 30).Draw(t, "text"), "")
		n := tools.Length(rapid.IntRange(0, 130).Draw(t, "length"))
		label := tools.Label(text, n)
		switch {
		case !utf8.ValidString(label):
			t.Fatalf("not UTF-8: %q", label)
		case utf8.RuneCountInString(label) > int(n):
			t.Fatalf("%q has more than %d characters", label, n)
		case strings.ContainsFunc(label, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u202e' }):
			t.Fatalf("%q has what a line must not have", label)
		case label != strings.TrimSpace(label):
			t.Fatalf("%q begins or ends with a space", label)
		case n > 0 && tools.Label(label, n) != label:
			t.Fatalf("%q is not the label of itself", label)
		}
		stem, cut := strings.CutSuffix(label, "…")
		if cut && !strings.Contains(text, "…") && bases(stem) > 8 { // one character longer than all is split
			rest := strings.TrimPrefix(tools.Label(text, 1_000_000), stem)
			if r, _ := utf8.DecodeRuneInString(rest); unicode.Is(unicode.M, r) {
				t.Fatalf("%q was cut before a mark", label)
			}
		}
	})
}

// bases counts the runes that begin a character.
func bases(s string) (n int) {
	for _, r := range s {
		if !unicode.Is(unicode.M, r) {
			n++
		}
	}
	return n
}
