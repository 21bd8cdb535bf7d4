package llm_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"parley/core/llm"
)

// TestThinkAnyCut builds texts of tags and what stands around them, and checks
// that where they are cut makes no difference.
func TestThinkAnyCut(t *testing.T) {
	word := rapid.SampledFrom([]string{"<think>", "</think>", "<THINKING>", "</thinking>", "<final>", "</final>", "[THINK]", "[/THINK]",
		"\n", "\n\n", " ", "`", "```", "~~~", "<", "a", "plan", " tags ", "é", "◁think▷", "◁/think▷", "\r\n", "</th"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(word, 0, 14).Draw(t, "text"), "")
		typed, calls := rapid.Bool().Draw(t, "typed"), rapid.Bool().Draw(t, "calls")
		want, hidden := llm.Think([]string{text}, typed, calls, nil)
		s := &shown{}
		got, gone := llm.Think(cut(text, rapid.IntRange(0, 1<<20).Draw(t, "seed")), typed, calls, s.take)
		if got != want || gone != hidden {
			t.Fatalf("%q: in pieces %q and %q, whole %q and %q", text, got, gone, want, hidden)
		}
		if s.text.String() != want {
			t.Fatalf("%q: streamed %q, said %q", text, s.text.String(), want)
		}
	})
}
