package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/core/chat"
	"parley/core/llm"
	"parley/core/session"
	"parley/storage"
)

func TestRestartGoesOn(t *testing.T) {
	t.Parallel()
	bubble(t, slowly(time.Minute, echo), func(s *stack) {
		id := s.say("a", "one")
		s.restart()
		time.Sleep(2 * time.Minute)
		s.want("a", "re: one")
		s.settled(id)
		s.wantEnds("a", session.Final)
		s.free()
	})
}

func TestAShutdownWaitsForTheAnswer(t *testing.T) {
	t.Parallel()
	bubble(t, slowly(3*time.Second, echo), func(s *stack) {
		id := s.say("a", "one")
		s.restart()
		s.want("a", "re: one")
		s.settled(id)
		if n := len(s.main().requests()); n != 1 {
			t.Errorf("the model was asked %d times, want once", n)
		}
	})
}

func TestAShutdownStopsBetweenRounds(t *testing.T) {
	t.Parallel()
	bubble(t, slowly(4*time.Second, endless()), func(s *stack) {
		s.say("a", "one")
		before := time.Now()
		s.stop()
		if took := time.Since(before); took > 5*time.Second {
			t.Errorf("stopping took %s, longer than the round", took)
		}
		s.start()
		if n := len(bodies[session.Suspended](s, "a")); n != 1 {
			t.Errorf("suspended %d times, want once", n)
		}
		s.say("a", "/stop")
		s.free()
	})
}

// TestAShutdownIsNoAttempt restarts in good order more often than a turn may
// be tried.
func TestAShutdownIsNoAttempt(t *testing.T) {
	t.Parallel()
	model, heal := healing(hangs)
	bubble(t, model, func(s *stack) {
		id := s.say("a", "one")
		for range 8 {
			s.restart()
			synctest.Wait()
		}
		s.want("a")
		heal()
		s.restart()
		s.want("a", "fine")
		s.settled(id)
		s.wantEnds("a", session.Final)
	})
}

const tooOften = "I tried three times to answer this, and each time parley was ended before I could. I leave it here; please ask again."

func TestThreeAttempts(t *testing.T) {
	t.Parallel()
	model, heal := healing(starts("It kills"))
	arranged(t, model, preview, func(s *stack) {
		one := s.say("a", "one")
		two := s.say("a", "two")
		for tries := 1; tries <= 3; tries++ {
			time.Sleep(2 * time.Second)
			s.want("a", "It kills")
			if n := len(s.main().requests()); n != tries {
				s.t.Fatalf("the model was asked %d times, want %d", n, tries)
			}
			if tries == 3 {
				heal()
			}
			s.crash()
		}
		time.Sleep(time.Minute)
		s.want("a", tooOften, "fine")
		s.settled(one, two)
		s.wantEnds("a", session.Broken, session.Final)
		s.free()
	})
}

// TestProgressStartsTheCountAnew: a turn that gets somewhere each time may die
// as often as it likes.
func TestProgressStartsTheCountAnew(t *testing.T) {
	t.Parallel()
	bubble(t, slowly(time.Second, endless()), func(s *stack) {
		id := s.say("a", "one")
		for range 6 {
			time.Sleep(1500 * time.Millisecond)
			s.crash()
			synctest.Wait()
		}
		s.want("a")
		if n := len(bodies[session.AssistantSaid](s, "a")); n < 6 {
			t.Errorf("%d rounds were logged, want at least 6", n)
		}
		stop := s.say("a", "/stop")
		s.settled(id, stop)
		s.free()
	})
}

func TestSteeredMessagesSurviveTheKill(t *testing.T) {
	t.Parallel()
	model := inTurn(slowly(time.Second, calls("I look.", "c1")), hangs, echo)
	bubble(t, model, func(s *stack) {
		one, two := s.say("a", "one"), s.say("a", "two")
		time.Sleep(2 * time.Second)
		three := s.say("a", "three") // after the boundary
		s.crash()
		s.want("a", "I look.", "re: two", "re: three")
		s.settled(one, two, three)
		s.wantEnds("a", session.Final, session.Final)
		s.free()
	})
}

// TestCallsOfADeadProcessGetTheirResult: a process died while a call ran
// (LLM-01). The result that it lost is stored, and the provider gets one.
func TestCallsOfADeadProcessGetTheirResult(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, done string }{{"both lost", ""}, {"one lost", "c1"}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, inTurn(hangs, says("fine")), func(s *stack) {
				id := s.say("a", "look it up")
				s.kill()
				s.store = reopen(t, s.path)
				var entries []storage.Entry
				add := func(kind string, body any) {
					data, _ := json.Marshal(map[string]any{"at": time.Now(), "kind": kind, "body": body})
					entries = append(entries, storage.Entry{ID: fmt.Sprint("old", len(entries)), Data: data})
				}
				turn := bodies[session.TurnStarted](s, "a")[0].Turn
				add("assistant said", session.AssistantSaid{Turn: turn, Round: 1, Finish: llm.FinishCalls, Calls: []llm.Call{
					{ID: "c1", Name: "weather", Args: json.RawMessage(`{}`)}, {ID: "c2", Name: "weather", Args: json.RawMessage(`{}`)},
				}})
				add("tool", session.ToolStated{Call: "c1", Name: "weather", State: session.Running})
				if c.done != "" {
					add("tool", session.ToolStated{Call: c.done, Name: "weather", State: session.Done, Result: "sunny"})
				}
				stream := "session/" + turn[:strings.Index(turn, ".")]
				if err := s.store.Apply(s.t.Context(), storage.Append{Stream: stream, After: storage.Anywhere, Entries: entries}); err != nil {
					s.t.Fatal(err)
				}
				if err := s.store.Close(); err != nil {
					s.t.Fatal(err)
				}
				s.start()
				s.want("a", "fine")
				s.settled(id)
				var lost int
				for _, b := range bodies[session.ToolStated](s, "a") {
					if b.State == session.Failed && strings.Contains(b.Result, "no tool named") {
						lost++
					}
				}
				if want := 2 - len(c.done)/2; lost != want {
					t.Errorf("%d results were stored in place of lost ones, want %d", lost, want)
				}
				s.free()
			})
		})
	}
}

// TestTheSamePreviewAfterARestart: a turn that is taken up again goes on
// editing the message in which its answer had begun.
func TestTheSamePreviewAfterARestart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		end  func(*stack)
	}{{"shutdown", (*stack).restart}, {"kill", (*stack).crash}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			model := inTurn(starts("The ans"), slowly(5*time.Second, says("The answer is 42.")))
			arranged(t, model, preview, func(s *stack) {
				id := s.say("a", "hello")
				time.Sleep(2 * time.Second)
				s.want("a", "The ans")
				before := s.screen.in("a")[0].id
				c.end(s)
				time.Sleep(time.Minute)
				s.want("a", "The answer is 42.")
				if after := s.screen.in("a")[0].id; after != before {
					t.Errorf("the answer is message %s, the preview was %s", after, before)
				}
				if len(s.screen.gone) > 0 {
					t.Errorf("messages were deleted: %v", s.screen.gone)
				}
				s.settled(id)
			})
		})
	}
}

// TestAPreviewOfADeadProcessDoesNotStay when the turn ends without that
// answer.
func TestAPreviewOfADeadProcessDoesNotStay(t *testing.T) {
	t.Parallel()
	const refused = "The model \"main\" refused the key. Check api_key in the configuration, and that the key may use this model."
	for _, c := range []struct {
		name  string
		model answerFunc
		says  string
	}{
		{"it fails", fails(llm.Refused), refused},
		{"it is stopped", hangs, "Stopped."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			arranged(t, inTurn(starts("The ans"), c.model), preview, func(s *stack) {
				s.say("a", "hello")
				time.Sleep(2 * time.Second)
				s.want("a", "The ans")
				s.crash()
				synctest.Wait()
				if c.says == "Stopped." {
					s.say("a", "/stop")
				}
				time.Sleep(time.Minute)
				s.want("a", c.says)
				s.free()
			})
		})
	}
}

// TestIdleConversationsLeaveMemory and come back as they were (STO-05).
func TestIdleConversationsLeaveMemory(t *testing.T) {
	t.Parallel()
	paid := func(ctx context.Context, req llm.Request, each func(llm.Delta)) (llm.Reply, error) {
		r, err := echo(ctx, req, each)
		r.Usage, r.Cost = llm.Usage{Input: 100, Output: 10}, 0.25
		return r, err
	}
	arranged(t, paid, func(s *stack) {
		s.models = append(s.models, script("other", paid))
	}, func(s *stack) {
		s.say("a", "one")
		s.say("a", "/model other")
		s.say("a", "two")
		s.say("b", "/help") // a conversation that never began
		if n := s.host.Live(); n != 2 {
			t.Errorf("%d conversations in memory, want 2", n)
		}
		time.Sleep(s.config.Idle + time.Second)
		synctest.Wait()
		if n := s.host.Live(); n != 0 {
			t.Errorf("%d conversations in memory after they were idle, want none", n)
		}
		s.say("a", "three")
		if reqs := s.models[1].(*scripted).requests(); len(reqs) != 2 || len(reqs[1].Messages) != 6 {
			t.Errorf("the picked model does not remember: %s", written(reqs[len(reqs)-1]))
		}
		s.say("a", "/cost")
		s.wantLast("a", "What this conversation has cost so far:\n\n"+
			"- **main**: 1 request, 100 tokens in (0 of them cached), 10 out, $0.25\n"+
			"- **other**: 2 requests, 200 tokens in (0 of them cached), 20 out, $0.50\n"+
			"\nTogether $0.75.")
	})
}

func TestABusyConversationDoesNotLeaveMemory(t *testing.T) {
	t.Parallel()
	bubble(t, slowly(50*time.Minute, echo), func(s *stack) {
		s.say("a", "one")
		time.Sleep(40 * time.Minute)
		if n := s.host.Live(); n != 1 {
			t.Errorf("%d conversations in memory, want 1", n)
		}
		time.Sleep(11 * time.Minute)
		s.want("a", "re: one")
	})
}

// TestWakeAtEveryMoment: being told of work is fine before, during and after a
// run, and while the conversation leaves.
func TestWakeAtEveryMoment(t *testing.T) {
	t.Parallel()
	arranged(t, echo, func(s *stack) { s.config.Idle = 10 * time.Millisecond }, func(s *stack) {
		for n := range 50 {
			var both sync.WaitGroup
			both.Go(func() { time.Sleep(10 * time.Millisecond); s.host.Wake(key("a")) })
			s.accept("a", private(fmt.Sprint(n)))
			both.Wait()
			time.Sleep(20 * time.Millisecond)
			synctest.Wait()
			if got := len(s.screen.texts("a")); got != n+1 {
				s.t.Fatalf("%d answers after %d messages", got, n+1)
			}
		}
		host, accept := s.host, s.gateway
		s.stop()
		host.Wake(key("a"))
		if n := host.Live(); n != 0 {
			t.Errorf("%d conversations in memory after the end", n)
		}
		if err := accept.Accept(s.t.Context(), chat.Cursor{}, s.event(ada, "a", private("late"))); err == nil {
			t.Error("a message was accepted without a store")
		}
		s.start()
	})
}

// TestMessagesAcceptedBeforeTheHostRuns are answered when it does.
func TestMessagesAcceptedBeforeTheHostRuns(t *testing.T) {
	t.Parallel()
	bubble(t, echo, func(s *stack) {
		s.stop()
		s.store = reopen(t, s.path)
		s.enqueueOnly(s.event(ada, "a", private("early")))
		if err := s.store.Close(); err != nil {
			s.t.Fatal(err)
		}
		s.start()
		s.want("a", "re: early")
	})
}

func TestAHostThatIsToldToStopAtOnce(t *testing.T) {
	t.Parallel()
	bubble(t, echo, func(s *stack) {
		ctx, cancel := context.WithCancel(s.t.Context())
		cancel()
		host := session.New(session.Parts{
			Store: s.store, Outbox: s.box, Models: llm.NewPool(s.models, llm.Options{}), Front: s.gateway, Config: s.config,
		})
		if err := host.Run(ctx); err != nil {
			t.Errorf("Run with an ended context: %v", err)
		}
	})
}
