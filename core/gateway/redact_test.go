package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"parley/core/session"
	"parley/tools"
)

// TestNothingTellsASecret: whatever a tool says, to the model or to people, goes
// through the same sieve.
func TestNothingTellsASecret(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	for _, refuses := range []bool{false, true} {
		do := &gadget{hand: hand{name: "do"}}
		do.describe = func(json.RawMessage) string { return "log in with " + secret }
		do.preview = func(context.Context, tools.Call) (tools.Preview, error) {
			if refuses {
				return tools.Preview{}, errors.New("no, " + secret)
			}
			return tools.Preview{Kind: tools.PreviewCommand, Text: "login " + secret, Where: "/" + secret}, nil
		}
		do.do = func(ctx context.Context, c tools.Call) tools.Outcome {
			c.Progress("using " + secret)
			time.Sleep(3 * time.Second)
			_, err := c.Ask(ctx, tools.Question{Title: secret, Text: "Is it " + secret + "?"})
			return tools.Outcome{Text: secret, Say: "it was " + secret, State: map[bool]tools.State{true: tools.Failed}[err != nil]}
		}
		arranged(t, wants("do", `{}`), func(s *stack) {
			s.tools = []tools.Tool{do}
			s.redact = func(text string) string { return strings.ReplaceAll(text, secret, "•••") }
			preview(s)
		}, func(s *stack) {
			look := func() {
				t.Helper()
				for _, p := range s.screen.parts() {
					if strings.Contains(p.Text, secret) {
						t.Errorf("the chat shows %q", p.Text)
					}
				}
			}
			first := s.say("a", "please")
			if !refuses {
				look()
				id, _ := s.card()
				s.presses(ada, "a", "/approve "+id)
				time.Sleep(2 * time.Second)
				look()
				time.Sleep(2 * time.Second)
				s.say("a", "yes")
				s.wantResult("a", "c1", session.Done, "•••")
			}
			look()
			for _, b := range s.results("a") {
				if strings.Contains(b.Result+b.Label, secret) {
					t.Errorf("the log holds %+v", b)
				}
			}
			audit, err := session.ReadAudit(s.t.Context(), s.store, 100)
			if text, _ := json.Marshal(audit); err != nil || strings.Contains(string(text), secret) {
				t.Errorf("the audit stream holds %s, %v", text, err)
			}
			s.settled(first)
			s.free()
		})
	}
}
