package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/core/access"
	"parley/core/chat"
	"parley/core/policy"
	"parley/core/session"
	"parley/tools"
)

func policyRule(tool, action string) policy.Rule {
	return policy.Rule{Tool: tool, Action: policy.Action(action), Priority: 5}
}

// gated runs a test of one tool that needs approval, in Ada's private chat.
func gated(t *testing.T, do *hand, test func(s *stack)) {
	t.Helper()
	workshop(t, wants(do.name, `{"text":"x"}`), []tools.Tool{do}, test)
}

// crew makes Bob an admin and Eve a member, and has both known in private.
func (s *stack) crew() {
	s.t.Helper()
	s.say("a", "/role fake:2 admin")
	s.say("a", "/role fake:3 member")
	s.tells(bob, "b", "/whoami")
	s.tells(eve, "e", "/whoami")
}

func TestApproveInEveryWayAcrossAKill(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		end  func(*stack, string) []string // returns events
	}{
		{"pressed behind the kill", func(s *stack, id string) []string {
			s.crash()
			return []string{s.presses(ada, "a", "/approve "+id)}
		}},
		{"typed behind the kill", func(s *stack, id string) []string {
			s.crash()
			return []string{s.say("a", "/approve "+id)}
		}},
		{"pressed before the kill and handed over again", func(s *stack, id string) []string {
			press := s.event(ada, "a", chat.Pressed{Line: "/approve " + id, Private: true})
			s.diesWith(press)
			s.deliver(press)
			return []string{press.ID}
		}},
		{"typed before the kill, pressed behind it", func(s *stack, id string) []string {
			typed := s.event(ada, "a", private("/approve "+id))
			s.diesWith(typed)
			return []string{typed.ID, s.presses(ada, "a", "/approve "+id)}
		}},
		{"answered and dead before anybody heard", func(s *stack, id string) []string {
			s.store.beforeClaim(nil)
			window := s.window
			s.store.dieAfter(2, func() { window.dead.Store(true) }) // accepted; settled
			press := s.event(ada, "a", chat.Pressed{Line: "/approve " + id, Private: true})
			s.deliver(press)
			s.crash()
			return []string{press.ID}
		}},
		{"heard and dead before it ran", func(s *stack, id string) []string {
			window := s.window
			s.store.dieAfter(3, func() { window.dead.Store(true) }) // accepted; settled; answered
			press := s.event(ada, "a", chat.Pressed{Line: "/approve " + id, Private: true})
			s.deliver(press)
			s.crash()
			return []string{press.ID}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			do := &hand{name: "do"}
			gated(t, do, func(s *stack) {
				first := s.say("a", "please")
				id, _ := s.card()
				events := c.end(s, id)
				do.wantRan(t, 1)
				s.settled(append(events, first)...)
				s.wantResult("a", "c1", session.Done, `did {"text":"x"}`)
				s.shows("a", "**Approved** by Ada")
				s.noCards()
				s.free()
			})
		})
	}
}

// TestASpentApproval: an approval is for one run. A call that may do harm twice
// is asked about again each time that it was cut off (the third time too).
func TestASpentApproval(t *testing.T) {
	t.Parallel()
	do := &hand{name: "do"}
	do.do = func(ctx context.Context, _ tools.Call) tools.Outcome { <-ctx.Done(); return tools.Fault("cut off") }
	gated(t, do, func(s *stack) {
		first := s.say("a", "please")
		for n := range int32(4) {
			do.wantRan(t, n)
			id, _ := s.card()
			if n > 0 {
				s.shows("a", "This was interrupted while it ran")
			}
			s.presses(ada, "a", "/approve "+id)
			do.wantRan(t, n+1)
			if n == 3 {
				break
			}
			s.crash()
		}
		s.say("a", "/stop")
		s.settled(first)
		s.noCards()
		s.free()
	})
}

func TestInterruptedCallsRunAgainByTheirEffect(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		effect tools.Effect
		rule   string
		asks   bool
	}{
		{tools.Once, "allow", true}, {tools.Repeatable, "allow", false}, {tools.ReadOnly, "allow", false},
		{tools.Once, "require", true}, {tools.Repeatable, "require", true},
	} {
		for _, end := range []struct {
			name string
			do   func(*stack)
		}{{"kill", (*stack).crash}, {"shutdown", (*stack).restart}} {
			t.Run(fmt.Sprintf("%q %s %s", c.effect, c.rule, end.name), func(t *testing.T) {
				t.Parallel()
				do := &hand{name: "do", effect: c.effect}
				do.do = func(ctx context.Context, _ tools.Call) tools.Outcome {
					if do.ran.Load() == 1 {
						<-ctx.Done()
						return tools.Fault("cut off")
					}
					return tools.Done("done")
				}
				gated(t, do, func(s *stack) {
					s.rule("do", c.rule)
					first := s.say("a", "please")
					if c.rule == "require" {
						id, _ := s.card()
						s.presses(ada, "a", "/approve "+id)
					}
					do.wantRan(t, 1)
					end.do(s)
					if c.asks {
						do.wantRan(t, 1)
						id, _ := s.card()
						s.presses(ada, "a", "/approve "+id)
					}
					do.wantRan(t, 2)
					s.wantResult("a", "c1", session.Done, "done")
					s.wantLast("a", "result: done")
					s.settled(first)
					s.noCards()
					s.free()
				})
			})
		}
	}
}

// TestACallThatKillsTheProcess each time it runs is given up, though every run
// is logged.
func TestACallThatKillsTheProcess(t *testing.T) {
	t.Parallel()
	do := &hand{name: "do", effect: tools.ReadOnly}
	do.do = func(ctx context.Context, _ tools.Call) tools.Outcome { <-ctx.Done(); return tools.Fault("dead") }
	gated(t, do, func(s *stack) {
		s.rule("do", "allow")
		first := s.say("a", "please")
		for range 10 {
			s.crash()
		}
		if n := do.ran.Load(); n > 4 {
			t.Errorf("it ran %d times", n)
		}
		s.wantLast("a", tooOften)
		s.settled(first)
		s.results("a")
		s.free()
	})
}

func TestWaitingForPeopleIsNoAttempt(t *testing.T) {
	t.Parallel()
	do := &hand{name: "do"}
	gated(t, do, func(s *stack) {
		first := s.say("a", "please")
		for range 8 {
			s.crash()
		}
		id, _ := s.card()
		s.presses(ada, "a", "/approve "+id)
		do.wantRan(t, 1)
		s.settled(first)
		s.free()
	})
}

// TestPeopleMayTakeTheirTime: a turn may take an hour, and people a day.
func TestPeopleMayTakeTheirTime(t *testing.T) {
	t.Parallel()
	do := &hand{name: "do"}
	gated(t, do, func(s *stack) {
		first := s.say("a", "please")
		time.Sleep(23 * time.Hour)
		id, _ := s.card()
		s.presses(ada, "a", "/approve "+id)
		do.wantRan(t, 1)
		s.wantLast("a", `result: did {"text":"x"}`)
		s.settled(first)
		s.free()
	})
}

func TestATurnStillEndsWhenItsTimeIsUp(t *testing.T) {
	t.Parallel()
	do := &hand{name: "do"}
	do.do = func(ctx context.Context, _ tools.Call) tools.Outcome { <-ctx.Done(); return tools.Fault("too long") }
	gated(t, do, func(s *stack) {
		first := s.say("a", "please")
		time.Sleep(10 * time.Hour)
		id, _ := s.card()
		s.presses(ada, "a", "/approve "+id)
		time.Sleep(59 * time.Minute)
		if n := len(bodies[session.TurnEnded](s, "a")); n != 0 {
			t.Error("the time of people was counted")
		}
		time.Sleep(2 * time.Minute)
		s.wantIn("a", "this took longer than 1h0m0s")
		s.settled(first)
		s.free()
	})
}

func TestApproveTwiceAtOnceFromTwoChats(t *testing.T) {
	t.Parallel()
	do := &hand{name: "do"}
	gated(t, do, func(s *stack) {
		s.crew()
		first := s.tells(eve, "e", "please")
		s.shows("e", "Waiting for approval")
		id, _ := s.card()
		one := s.event(ada, "a", chat.Pressed{Line: "/approve " + id, Private: true})
		two := s.event(bob, "b", chat.Pressed{Line: "/approve " + id, Private: true})
		go s.deliver(one)
		go s.deliver(two)
		do.wantRan(t, 1)
		s.settled(first, one.ID, two.ID)
		s.noCards()
		s.free()
		loser, winner := "b", "Ada"
		if strings.Contains(s.screen.texts("a")[len(s.screen.texts("a"))-1], "was already") {
			loser, winner = "a", "Bob"
		}
		s.wantIn(loser, "was already approved by "+winner)
		s.shows("e", "**Approved** by "+winner)
	})
}

func TestWhoMayNotApprove(t *testing.T) {
	t.Parallel()
	do := &hand{name: "do"}
	gated(t, do, func(s *stack) {
		s.crew()
		first := s.tells(eve, "e", "please")
		id, _ := s.card()
		no := s.presses(eve, "e", "/approve "+id)
		s.wantIn("e", "You are not among those who may decide")
		s.tells(eve, "e", "/approve "+id)
		do.wantRan(t, 0)
		s.settled(no)
		// Bob is demoted between the card and his press.
		s.say("a", "/role fake:2 member")
		late := s.presses(bob, "b", "/approve "+id)
		s.wantIn("b", "You may not approve or reject any more")
		do.wantRan(t, 0)
		// Nobody who is not known gets anywhere.
		stranger := chat.User{ID: "fake:9", Name: "Mallory"}
		s.presses(stranger, "m", "/approve "+id)
		do.wantRan(t, 0)
		yes := s.presses(ada, "a", "/approve "+id)
		do.wantRan(t, 1)
		s.settled(first, late, yes)
		s.noCards()
		s.free()
	})
}

// TestApproveInAGroup: everybody sees the card, those who may approve decide,
// and a refusal goes to who pressed alone (APR-05).
func TestApproveInAGroup(t *testing.T) {
	t.Parallel()
	do := &hand{name: "do"}
	gated(t, do, func(s *stack) {
		s.crew()
		first := s.acceptFrom(ada, "group", called("please"))
		id, _ := s.card()
		before := len(s.screen.texts("group"))
		no := s.presses(eve, "group", "/approve "+id)
		do.wantRan(t, 0)
		if n := len(s.screen.texts("group")); n != before {
			t.Errorf("the group reads the refusal:\n%s", list(s.screen.texts("group")))
		}
		s.wantIn("e", "You are not among those who may decide")
		yes := s.presses(bob, "group", "/approve "+id)
		do.wantRan(t, 1)
		s.settled(first, no, yes)
		s.noCards()
		s.free()
	})
}

// TestNobodyCanBeAsked: no approver can be reached, so nobody is said to have
// been asked.
func TestNobodyCanBeAsked(t *testing.T) {
	t.Parallel()
	do := &hand{name: "do"}
	arranged(t, wants("do", `{}`), func(s *stack) {
		s.tools = []tools.Tool{do}
	}, func(s *stack) {
		ch, err := s.who.SetRole(s.t.Context(), chat.User{ID: access.CLI}, string(bob.ID), "member")
		if err == nil {
			err = s.store.Apply(s.t.Context(), ch.Ops...)
		}
		if err != nil {
			t.Fatal(err)
		}
		first := s.tells(bob, "b", "please")
		s.wantIn("b", "there is nobody who may give it")
		do.wantRan(t, 0)
		s.settled(first)
		s.noCards()
		s.free()
	})
}

func TestTheRightSentenceForEveryOldId(t *testing.T) {
	t.Parallel()
	do := &hand{name: "do"}
	gated(t, do, func(s *stack) {
		try := func(line, part string) {
			t.Helper()
			ran := do.ran.Load()
			for _, ev := range []string{s.say("a", line), s.presses(ada, "a", line)} {
				s.wantIn("a", part)
				s.settled(ev)
			}
			do.wantRan(t, ran)
		}
		try("/approve zzzzzz", "There is no request")
		try("/approve", "Which one?")
		try("/approve nothing-like-it", "is not the id of a request")
		s.say("a", "please")
		id, _ := s.card()
		try("/answer "+id+" yes", "asks for an approval")
		try("/approve "+id+" for ever", "I do not understand")
		try("/approve "+id+" 15m server", "is of no MCP server")
		do.wantRan(t, 0)
		s.say("a", "/approve "+id)
		do.wantRan(t, 1)
		try("/approve "+id, "was already approved by you")
		try("/reject "+id+" no", "was already approved by you")
		s.say("a", "/new")
		s.say("a", "please")
		id, _ = s.card()
		s.say("a", "/reject "+id)
		try("/approve "+id, "was already rejected by you")
		s.say("a", "/new")
		s.say("a", "please")
		id, _ = s.card()
		s.say("a", "/stop")
		try("/approve "+id, "is not asked any more")
		s.say("a", "/new")
		s.say("a", "please")
		id, _ = s.card()
		time.Sleep(25 * time.Hour)
		s.shows("a", "**Rejected**, since nobody decided in time")
		s.wantIn("a", "nobody decided in time, which counts as a rejection")
		try("/approve "+id, "which counts as a rejection. Nothing was run")
		do.wantRan(t, 1)
		s.noCards()
		s.free()
	})
}

// TestTheFileChangedBehindTheCard: what the approver saw is what the tool gets
// told, also behind a restart.
func TestTheFileChangedBehindTheCard(t *testing.T) {
	t.Parallel()
	for _, restarts := range []bool{false, true} {
		t.Run(fmt.Sprint("restart ", restarts), func(t *testing.T) {
			t.Parallel()
			state := "one"
			do := &gadget{hand: hand{name: "do"}}
			do.preview = func(context.Context, tools.Call) (tools.Preview, error) {
				return tools.Preview{Kind: tools.PreviewDiff, Text: "+x", State: state}, nil
			}
			do.do = func(_ context.Context, c tools.Call) tools.Outcome {
				if c.Reach.State != state {
					return tools.Fault("the file has changed since a person looked")
				}
				return tools.Done("written")
			}
			workshop(t, wants("do", `{"text":"x"}`), []tools.Tool{do}, func(s *stack) {
				s.say("a", "please")
				id, _ := s.card()
				state = "two"
				if restarts {
					s.crash()
				}
				s.presses(ada, "a", "/approve "+id)
				s.wantResult("a", "c1", session.Failed, "the file has changed")
				s.free()
			})
		})
	}
}

func TestTheTruthAboutANote(t *testing.T) {
	t.Parallel()
	do := &gadget{hand: hand{name: "do"}}
	do.preview = func(context.Context, tools.Call) (tools.Preview, error) {
		return tools.Preview{}, errors.New("there is no such file; list the directory first")
	}
	workshop(t, wants("do", `{"text":"x"}`), []tools.Tool{do}, func(s *stack) {
		first := s.say("a", "please")
		s.wantResult("a", "c1", session.Failed, "there is no such file; list the directory first")
		s.wantLast("a", "result: Nothing was run: there is no such file; list the directory first")
		s.settled(first)
		s.noCards()
		s.free()
	})
}
