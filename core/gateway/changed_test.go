package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"

	"parley/core/session"
	"parley/tools"
)

// TestACallThatChangedAcrossARestart is asked about anew, and the old card is
// settled.
func TestACallThatChangedAcrossARestart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(g *gadget)
	}{
		{"schema", func(g *gadget) {
			g.spec = func() tools.Spec {
				s := g.hand.Spec()
				s.Schema = json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"force":{"type":"boolean"}},"additionalProperties":false}`)
				return s
			}
		}},
		{"source", func(g *gadget) {
			g.spec = func() tools.Spec { s := g.hand.Spec(); s.Source = "plugin/evil"; return s }
		}},
		{"target", func(g *gadget) {
			g.target = func(json.RawMessage) (string, bool) { return "/somewhere/else", true }
		}},
	} {
		for _, early := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, " approved before ", early), func(t *testing.T) {
				t.Parallel()
				do := &gadget{hand: hand{name: "do"}}
				workshop(t, wants("do", `{"text":"x"}`), nil, func(s *stack) {
					first := s.say("a", "please") // there is no such tool yet
					s.sources = []tools.Source{tools.SourceFunc(func(context.Context, tools.Scope) []tools.Tool { return []tools.Tool{do} })}
					s.restart()
					s.say("a", "/new")
					second := s.say("a", "please")
					id, _ := s.card()
					if early {
						window := s.window
						s.store.dieAfter(2, func() { window.dead.Store(true) })
						s.presses(ada, "a", "/approve "+id)
						c.change(do)
						s.crash()
					} else {
						s.kill()
						c.change(do)
						s.start()
						synctest.Wait()
						s.presses(ada, "a", "/approve "+id)
						s.wantIn("a", "is asked about anew")
					}
					do.wantRan(t, 0)
					again, _ := s.card()
					if again == id {
						t.Fatal("the call is not asked about anew")
					}
					if n := len(s.open()); n != 1 {
						t.Errorf("%d requests are open", n)
					}
					s.presses(ada, "a", "/approve "+again)
					do.wantRan(t, 1)
					s.settled(first, second)
					s.noCards()
					s.free()
				})
			})
		}
	}
}

func TestARuleThatCameBehindTheCard(t *testing.T) {
	t.Parallel()
	for _, restarts := range []bool{false, true} {
		for _, action := range []string{"deny", "allow"} {
			t.Run(fmt.Sprint(action, " restart ", restarts), func(t *testing.T) {
				t.Parallel()
				do := &hand{name: "do"}
				gated(t, do, func(s *stack) {
					first := s.say("a", "please")
					id, _ := s.card()
					s.rule("do", action)
					if restarts {
						s.crash()
						synctest.Wait()
					}
					s.presses(ada, "a", "/approve "+id)
					if action == "deny" {
						do.wantRan(t, 0)
						if restarts { // it cannot even be found any more
							s.wantResult("a", "c1", session.Failed, "There is no tool")
						} else {
							s.wantResult("a", "c1", session.Rejected, "Not allowed, and nothing was run")
						}
					} else {
						do.wantRan(t, 1)
					}
					s.settled(first)
					s.noCards()
					s.free()
				})
			})
		}
	}
}
