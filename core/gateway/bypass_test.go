package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/core/llm"
	"parley/core/policy"
	"parley/tools"
)

// TestWhatAnApprovalLetsThrough for a while, and when that ends.
func TestWhatAnApprovalLetsThrough(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reply      string
		other      bool // lets another tool of the category through
		plain      bool // lets a tool without a category through
		afterHour  bool
		afterNew   bool
		afterStart bool
	}{
		{reply: ""}, {reply: "once"},
		{reply: "15m"}, {reply: "session", afterHour: true},
		{reply: "session category", other: true, afterHour: true},
		{reply: "15m all", other: true, plain: true},
		{reply: "session all", other: true, plain: true, afterHour: true},
	} {
		t.Run("approve "+c.reply, func(t *testing.T) {
			t.Parallel()
			do, other := &hand{name: "do"}, &hand{name: "other"}
			plain, never := &gadget{hand: hand{name: "plain"}}, &gadget{hand: hand{name: "never"}}
			plain.spec = func() tools.Spec { s := plain.hand.Spec(); s.Category = ""; return s }
			never.target = func(json.RawMessage) (string, bool) { return "/etc/passwd", true }
			model := func(_ context.Context, req llm.Request, _ func(llm.Delta)) (llm.Reply, error) {
				n := len(req.Messages)
				if lastWords(req) == "" {
					return llm.Reply{Text: "so: " + bare(req.Messages[n-2].Text)}, nil
				}
				words := strings.Fields(lastWords(req))
				return llm.Reply{Calls: []llm.Call{{ID: fmt.Sprint("c", n), Name: words[len(words)-1], Args: json.RawMessage(`{}`)}}}, nil
			}
			arranged(t, model, func(s *stack) {
				s.tools = []tools.Tool{do, other, plain, never}
				s.rules = []policy.Rule{{Tool: "never", Path: "/etc/*", Action: policy.Deny}}
			}, func(s *stack) {
				// through says whether a call runs without asking.
				through := func(name string, want bool, when string) {
					t.Helper()
					s.say("a", name)
					if got := len(s.open()) == 0; got != want {
						t.Errorf("%s: %s goes through: %v, want %v", when, name, got, want)
					}
					s.say("a", "/stop")
				}
				s.say("a", "do")
				id, _ := s.card()
				s.say("a", strings.TrimSpace("/approve "+id+" "+c.reply))
				do.wantRan(t, 1)
				long := c.reply != "" && c.reply != "once"
				through("do", long, "at once")
				through("other", c.other, "at once")
				through("plain", c.plain, "at once")
				s.say("a", "never")
				s.wantIn("a", "Not allowed, and nothing was run")
				never.wantRan(t, 0)
				time.Sleep(time.Hour)
				through("do", c.afterHour, "an hour later")
				through("other", c.afterHour && c.other, "an hour later")
				s.tells(ada, "z", "do") // another conversation
				if len(s.open()) != 1 {
					t.Error("another conversation is let through")
				}
				s.tells(ada, "z", "/stop")
				s.restart()
				through("do", false, "after a restart")
				s.say("a", "do")
				id, _ = s.card()
				s.say("a", "/approve "+id+" session all")
				s.say("a", "/new")
				through("do", false, "after /new")
				s.free()
			})
		})
	}
}
