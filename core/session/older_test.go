package session_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"parley/core/llm"
	"parley/core/session"
)

// TestOlderPartsNoCallFromItsResults (LLM-03), wherever the cut falls.
func TestOlderPartsNoCallFromItsResults(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var entries []session.Entry
		add := func(b session.Body) {
			entries = append(entries, session.Entry{Seq: uint64(len(entries) + 1), Body: b})
		}
		units := rapid.SliceOfN(rapid.IntRange(0, 4), 0, 12).Draw(t, "calls of each answer")
		for i, n := range units {
			add(session.UserSaid{Text: "x"})
			answer := session.AssistantSaid{Text: "y"}
			for c := range n {
				answer.Calls = append(answer.Calls, llm.Call{ID: fmt.Sprintf("%d.%d", i, c)})
			}
			add(answer)
			for _, c := range answer.Calls {
				if rapid.Bool().Draw(t, "runs first") {
					add(session.ToolStated{Call: c.ID, State: session.Running})
				}
			}
			missing := i == len(units)-1 && n > 0 && rapid.Bool().Draw(t, "one has no result")
			for _, c := range answer.Calls[min(len(answer.Calls), map[bool]int{true: 1}[missing]):] {
				add(session.ToolStated{Call: c.ID, State: session.Done})
			}
		}
		keep := rapid.IntRange(0, 40).Draw(t, "keep")
		old := session.Older(entries, keep)
		open := map[string]bool{}
		for _, e := range old {
			switch b := e.Body.(type) {
			case session.AssistantSaid:
				for _, c := range b.Calls {
					open[c.ID] = true
				}
			case session.ToolStated:
				if b.State.Ended() {
					delete(open, b.Call)
				}
			}
		}
		if len(open) > 0 {
			t.Fatalf("the cut after %d of %d entries parts %v from their results", len(old), len(entries), open)
		}
		if len(old) > 0 && len(old) >= len(entries) {
			t.Fatalf("nothing is kept of %d entries", len(entries))
		}
		if len(entries) > 1 && keep > 0 && len(old) == 0 && len(units) > 1 {
			t.Fatalf("nothing can be summed up of %d entries", len(entries))
		}
	})
}
