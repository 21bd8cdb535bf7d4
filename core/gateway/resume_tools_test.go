package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/core/chat"
	"parley/core/llm"
	"parley/core/session"
	"parley/storage"
	"parley/tools"
)

// deaf is a tool that ignores its context for a while.
func deaf(name string, d time.Duration) *hand {
	do := &hand{name: name}
	do.do = func(context.Context, tools.Call) tools.Outcome { time.Sleep(d); return tools.Done("late") }
	return do
}

// prompt is a tool that ends as soon as it is told to.
func prompt(name string) *hand {
	do := &hand{name: name}
	do.do = func(ctx context.Context, _ tools.Call) tools.Outcome { <-ctx.Done(); return tools.Fault("told to end") }
	return do
}

// states are the places in which a turn with three calls can be caught.
func states() map[string]func(s *stack) {
	return map[string]func(s *stack){
		"asked":             func(*stack) {},
		"second asked":      func(s *stack) { s.let(1) },
		"running":           func(s *stack) { s.let(3) },
		"approved just now": func(s *stack) { id, _ := s.card(); s.accept("a", chat.Pressed{Line: "/approve " + id, Private: true}) },
		"third asked":       func(s *stack) { s.let(2) },
		"logging a result": func(s *stack) {
			id, _ := s.card()
			s.store.beforeApply(func(ops []storage.Op) error {
				if logs(ops) {
					time.Sleep(3 * time.Second)
				}
				return nil
			})
			s.accept("a", chat.Pressed{Line: "/approve " + id, Private: true})
			time.Sleep(7 * time.Second) // the answer and the start are logged by now
		},
	}
}

// let approves as many calls as that.
func (s *stack) let(n int) {
	for range n {
		id, _ := s.card()
		s.presses(ada, "a", "/approve "+id)
	}
}

// tripleModel makes three calls, and then says fine.
func tripleModel() answerFunc {
	list := append(a2z("quick", 2), a2z("slow", 3)[2])
	return inTurn(round(list...), says("fine"))
}

func TestStopInEveryStateOfACall(t *testing.T) {
	t.Parallel()
	for name, reach := range states() {
		for kind, make := range map[string]func() *hand{
			"prompt": func() *hand { return prompt("slow") }, "deaf": func() *hand { return deaf("slow", time.Hour) },
		} {
			t.Run(fmt.Sprint(name, " ", kind), func(t *testing.T) {
				t.Parallel()
				quick, slow := &hand{name: "quick"}, make()
				workshop(t, tripleModel(), []tools.Tool{quick, slow}, func(s *stack) {
					first := s.say("a", "please")
					reach(s)
					began := time.Now()
					stop := s.accept("a", private("/stop"))
					for !s.shown("a", "Stopped.") && time.Since(began) < time.Minute {
						time.Sleep(100 * time.Millisecond)
						synctest.Wait()
					}
					s.store.beforeApply(nil)
					if took := time.Since(began); took > 30*time.Second || name == "running" && took > time.Second {
						t.Errorf("stopping took %s", took)
					}
					ran := quick.ran.Load() + slow.ran.Load()
					ended := s.results("a")
					if len(ended) != 3 {
						t.Errorf("%d calls have a result: %+v", len(ended), ended)
					}
					s.wantEnds("a", session.Stopped)
					s.settled(first, stop)
					s.noCards()
					s.free()
					next := s.say("a", "hello")
					s.wantLast("a", "fine")
					time.Sleep(2 * time.Hour)
					if n := quick.ran.Load() + slow.ran.Load(); n != ran {
						t.Errorf("%d calls ran after the stop", n-ran)
					}
					s.settled(next)
				})
			})
		}
	}
}

// shown reports whether a chat shows a text.
func (s *stack) shown(chatName, text string) bool {
	for _, have := range s.screen.texts(chatName) {
		if have == text {
			return true
		}
	}
	return false
}

func TestEndInEveryStateOfACall(t *testing.T) {
	t.Parallel()
	for name, reach := range states() {
		for _, end := range []struct {
			name string
			do   func(*stack)
		}{{"kill", (*stack).crash}, {"shutdown", (*stack).restart}} {
			t.Run(name+" "+end.name, func(t *testing.T) {
				t.Parallel()
				quick, slow := &hand{name: "quick"}, &hand{name: "slow"}
				slow.do = func(ctx context.Context, _ tools.Call) tools.Outcome {
					if slow.ran.Load() == 1 {
						<-ctx.Done()
						return tools.Fault("cut off")
					}
					return tools.Done("done")
				}
				workshop(t, tripleModel(), []tools.Tool{quick, slow}, func(s *stack) {
					first := s.say("a", "please")
					reach(s)
					end.do(s)
					synctest.Wait()
					for len(s.open()) > 0 {
						s.let(1)
						time.Sleep(time.Second)
						if slow.ran.Load() == 1 && len(s.open()) == 0 {
							s.crash() // it hangs when it runs first
							synctest.Wait()
						}
					}
					again := int32(0) // what ran without leaving a result behind is asked about anew
					for _, a := range bodies[session.Asked](s, "a") {
						if a.Again && a.Call != "c2" {
							again++
						}
					}
					quick.wantRan(t, 2+again)
					slow.wantRan(t, 2)
					for id, b := range s.results("a") {
						if b.State != session.Done {
							t.Errorf("call %s ended %q: %s", id, b.State, b.Result)
						}
					}
					s.wantLast("a", "fine")
					s.wantEnds("a", session.Final)
					s.settled(first)
					s.noCards()
					s.free()
				})
			})
		}
	}
}

// TestAShutdownDoesNotWaitForPeople: what only waits goes on at the next start.
func TestAShutdownDoesNotWaitForPeople(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		model answerFunc
		list  []tools.Tool
	}{
		{"approval", wants("do", `{}`), []tools.Tool{&hand{name: "do"}}},
		{"question", wants(tools.AskUserClarification, colour), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			workshop(t, c.model, c.list, func(s *stack) {
				s.say("a", "please")
				began := time.Now()
				s.restart()
				if took := time.Since(began); took > time.Second {
					t.Errorf("stopping took %s", took)
				}
				if n := len(s.open()); n != 1 {
					t.Errorf("%d requests are open", n)
				}
				s.say("a", "/stop")
				s.free()
			})
		})
	}
}

// TestTimeIsUpInMidCommit: what was being logged when the turn's time was up is
// not logged twice.
func TestTimeIsUpInMidCommit(t *testing.T) {
	t.Parallel()
	do := deaf("do", 30*time.Second)
	arranged(t, wants("do", `{}`), func(s *stack) {
		s.tools = []tools.Tool{do}
		s.config.TurnTimeout = time.Minute
	}, func(s *stack) {
		s.rule("do", "allow")
		s.store.beforeApply(func(ops []storage.Op) error {
			if logs(ops) {
				time.Sleep(20 * time.Second)
			}
			return nil
		})
		first := s.say("a", "please")
		time.Sleep(5 * time.Minute)
		s.results("a")
		n := 0
		for _, said := range bodies[session.AssistantSaid](s, "a") {
			n += len(said.Calls)
		}
		if n != 1 {
			t.Errorf("the call is logged %d times", n)
		}
		s.settled(first)
		s.free()
	})
}

// TestAGraceThatEndsInMidCommit is the same when parley stops.
func TestAGraceThatEndsInMidCommit(t *testing.T) {
	t.Parallel()
	do := &hand{name: "do", effect: tools.ReadOnly}
	workshop(t, wants("do", `{}`), []tools.Tool{do}, func(s *stack) {
		s.rule("do", "allow")
		s.store.beforeApply(func(ops []storage.Op) error {
			if logs(ops) {
				time.Sleep(5 * time.Second)
			}
			return nil
		})
		first := s.accept("a", private("please"))
		time.Sleep(4 * time.Second) // the grace ends at 14 s, the commit of the result at 15 s
		s.restart()
		time.Sleep(time.Minute)
		s.results("a")
		s.settled(first)
		s.free()
	})
}

// TestThePreviewOfACallGoes when the next round has no words either.
func TestThePreviewOfACallGoes(t *testing.T) {
	t.Parallel()
	do := deaf("do", 5*time.Second)
	model := inTurn(round(a2z("do", 1)...), replies(llm.Reply{Calls: a2z("do", 2)[1:]}), says("fine"))
	arranged(t, model, func(s *stack) { preview(s); s.tools = []tools.Tool{do} }, func(s *stack) {
		s.rule("do", "allow")
		s.say("a", "please")
		time.Sleep(time.Minute)
		s.want("a", "fine")
		if n := len(s.screen.drafts); n > 0 {
			t.Errorf("drafts are left: %v", s.screen.drafts)
		}
	})
}

// TestAskFromWhereOneMayNot: a tool that asks while it only looks, or when its
// call is over, asks nobody.
func TestAskFromWhereOneMayNot(t *testing.T) {
	t.Parallel()
	for _, turnGoesOn := range []bool{false, true} {
		t.Run(fmt.Sprint("turn goes on ", turnGoesOn), func(t *testing.T) {
			t.Parallel()
			do := &gadget{hand: hand{name: "do"}}
			var errs [2]error
			late := func(ctx context.Context, c tools.Call) tools.Outcome {
				go func() {
					time.Sleep(time.Minute)
					_, errs[1] = c.Ask(context.WithoutCancel(ctx), tools.Question{Text: "still there?"})
					c.Progress("I am still here")
				}()
				return tools.Done("done")
			}
			do.do = late
			do.preview = func(ctx context.Context, c tools.Call) (tools.Preview, error) {
				_, errs[0] = c.Ask(ctx, tools.Question{Text: "may I look?"})
				return tools.Preview{}, nil
			}
			model := inTurn(wants("do", `{}`), slowly(time.Hour/2, says("fine")))
			if !turnGoesOn {
				model = wants("do", `{}`)
			}
			arranged(t, model, func(s *stack) { preview(s); s.tools = []tools.Tool{do} }, func(s *stack) {
				first := s.say("a", "please")
				id, _ := s.card()
				s.presses(ada, "a", "/approve "+id)
				time.Sleep(time.Hour)
				synctest.Wait()
				for i, err := range errs {
					if err == nil {
						t.Errorf("question %d was asked", i)
					}
				}
				if n := len(s.requests()); n != 1 {
					t.Errorf("%d requests were made", n)
				}
				s.settled(first)
				s.noCards()
				s.free()
				if n := len(s.screen.drafts); n > 0 || strings.Contains(strings.Join(s.screen.texts("a"), "\n"), "still here") {
					t.Errorf("a draft is left: %v\n%s", s.screen.drafts, list(s.screen.texts("a")))
				}
			})
		})
	}
}

// TestAQuestionThatNobodyWaitsFor: the tool gave up on its own question and
// ended. The card is settled.
func TestAQuestionThatNobodyWaitsFor(t *testing.T) {
	t.Parallel()
	do := &hand{name: "do"}
	do.do = func(ctx context.Context, c tools.Call) tools.Outcome {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		_, err := c.Ask(ctx, tools.Question{Text: "quick?"})
		return tools.Done(fmt.Sprint("gave up: ", err))
	}
	workshop(t, wants("do", `{}`), []tools.Tool{do}, func(s *stack) {
		s.rule("do", "allow")
		first := s.say("a", "please")
		if len(s.open()) != 1 {
			t.Fatal("nothing is asked")
		}
		time.Sleep(2 * time.Minute)
		s.wantLast("a", "result: gave up: context deadline exceeded")
		s.settled(first)
		s.noCards()
		s.free()
	})
}
