package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/core/chat"
	"parley/core/llm"
	"parley/core/session"
	"parley/storage"
)

func TestStopEndsTheTurnAndDropsWhatWaited(t *testing.T) {
	t.Parallel()
	bubble(t, slowly(time.Minute, echo), func(s *stack) {
		one, two := s.say("a", "one"), s.say("a", "two")
		stop := s.say("a", "/stop")
		s.want("a", "Stopped. I dropped 1 message that waited.")
		s.settled(one, two, stop)
		three := s.say("a", "three")
		time.Sleep(time.Minute)
		s.want("a", "Stopped. I dropped 1 message that waited.", "re: one\n\nthree")
		s.settled(three)
		s.wantEnds("a", session.Stopped, session.Final)
		s.free()
	})
}

func TestStopKeepsWhatWasShown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		arrange func(*stack)
		model   answerFunc
		want    []string
	}{
		{"shown in a draft", drafts, starts("The answer is"), []string{"The answer is …\n\n*Stopped.*"}},
		{"shown in a message", preview, starts("The answer is"), []string{"The answer is …\n\n*Stopped.*"}},
		{"inside a block of code", preview, starts("So:\n```go\nx :="), []string{"So:\n```go\nx := …\n```\n\n*Stopped.*"}},
		{"before the first token", preview, hangs, []string{"Stopped."}},
		{"only reasoning so far", preview, func(ctx context.Context, r llm.Request, each func(llm.Delta)) (llm.Reply, error) {
			each(llm.Delta{Reasoning: "let me think"})
			return hangs(ctx, r, each)
		}, []string{"Stopped."}},
		{"only blanks so far", preview, starts(" \n"), []string{"Stopped."}},
		{"in a chat without drafts", func(*stack) {}, starts("The answer is"), []string{"Stopped."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			model, heal := healing(c.model)
			arranged(t, model, c.arrange, func(s *stack) {
				id := s.say("a", "hello")
				time.Sleep(3 * time.Second)
				stop := s.say("a", "/stop")
				s.want("a", c.want...)
				s.settled(id, stop)
				s.wantEnds("a", session.Stopped)
				s.free()
				heal()
				s.say("a", "again")
				s.want("a", append(c.want, "fine")...)
				if n := len(s.screen.drafts); n > 0 {
					t.Errorf("%d drafts are left: %v", n, s.screen.drafts)
				}
			})
		})
	}
}

func TestStopWithATicketAnswersTheTicketAndKeepsTheText(t *testing.T) {
	t.Parallel()
	arranged(t, starts("The answer is"), preview, func(s *stack) {
		id := s.say("a", "hello")
		time.Sleep(2 * time.Second)
		press := s.event(ada, "a", chat.Pressed{Line: "/stop", Private: true})
		press.Ticket = "t1"
		s.deliver(press)
		time.Sleep(time.Second)
		synctest.Wait()
		if n := s.tickets("t1"); n != 1 {
			t.Errorf("%d posts for the ticket, want 1", n)
		}
		s.settled(id, press.ID)
		if got := s.screen.texts("a"); len(got) != 2 {
			t.Errorf("the chat shows\n%s", list(got))
		}
	})
}

func TestStopBetweenRoundsRepeatsNothing(t *testing.T) {
	t.Parallel()
	// The round before is shown and logged; the next one is being prepared: a
	// long result has passed the threshold, and the older part is summed up.
	model := func(ctx context.Context, req llm.Request, each func(llm.Delta)) (llm.Reply, error) {
		if isSummary(req) {
			return hangs(ctx, req, each)
		}
		return calls("I look it up.", "c1")(ctx, req, each)
	}
	arranged(t, model, func(s *stack) {
		preview(s)
		s.main().info.Context = 400
		s.config.CompactAt = 0.9
	}, func(s *stack) {
		id := s.say("a", strings.Repeat("long ", 150))
		time.Sleep(3 * time.Second)
		stop := s.say("a", "/stop")
		s.want("a", "I look it up.", "Stopped.")
		s.settled(id, stop)
		if said := bodies[session.AssistantSaid](s, "a"); len(said) != 1 {
			t.Errorf("the log holds %d answers, want 1: %+v", len(said), said)
		}
		s.wantEnds("a", session.Stopped)
		s.free()
	})
}

// isSummary reports whether a request asks for a summary.
func isSummary(req llm.Request) bool {
	return strings.HasPrefix(req.Messages[0].Text, "You keep the memory of a conversation")
}

// TestStopAndTheAnswerAtOnce has the answer complete while the actor is taking
// the /stop off the inbox: the turn is stopped, and is not taken up again.
func TestStopAndTheAnswerAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		model answerFunc
	}{
		{"answer", after(time.Second, echo)},
		{"calls", after(time.Second, calls("I look.", "c1"))},
		{"error", after(time.Second, fails(llm.Refused))},
		{"panic", after(time.Second, panics)},
		{"blank", after(time.Second, says(""))},
		{"cut", after(time.Second, replies(llm.Reply{Text: "half", Finish: llm.FinishLength}))},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			arranged(t, c.model, func(*stack) {}, func(s *stack) {
				id := s.say("a", "hello")
				s.store.beforeClaim(func(queue, lane string) {
					if lane == session.Control {
						time.Sleep(10 * time.Second) // the answer comes meanwhile
					}
				})
				stop := s.accept("a", private("/stop"))
				time.Sleep(time.Minute)
				s.store.beforeClaim(nil)
				time.Sleep(10 * time.Minute)
				s.want("a", "Stopped.")
				s.settled(id, stop)
				s.wantEnds("a", session.Stopped)
				if n := len(s.main().requests()); n != 1 {
					t.Errorf("the model was asked %d times, want once", n)
				}
				s.free()
			})
		})
	}
}

func TestStopWhileIdleAndTwice(t *testing.T) {
	t.Parallel()
	bubble(t, slowly(time.Minute, echo), func(s *stack) {
		first := s.say("a", "/stop")
		s.want("a", "Nothing is running here.")
		s.say("a", "hello")
		two := s.event(ada, "a", private("/stop"))
		three := s.event(ada, "a", private("/stop"))
		s.deliver(two, three)
		s.want("a", "Nothing is running here.", "Stopped.", "Nothing is running here.")
		s.settled(first, two.ID, three.ID)
		s.free()
	})
}

// TestStopDropsOnlyWhatCameBefore hands over messages around a /stop in one
// batch, so that all of them are there when the actor looks.
func TestStopDropsOnlyWhatCameBefore(t *testing.T) {
	t.Parallel()
	bubble(t, slowly(time.Second, echo), func(s *stack) {
		s.say("a", "running")
		var batch []chat.Event
		for _, text := range []string{"one", "two", "/stop", "three"} {
			batch = append(batch, s.event(ada, "a", private(text)))
		}
		s.deliver(batch...)
		time.Sleep(time.Minute)
		s.want("a", "Stopped. I dropped 2 messages that waited.", "re: running\n\nthree")
		for _, ev := range batch {
			s.settled(ev.ID)
		}
		s.free()
	})
}

// TestAMessageBehindAStopInTheSameInstant: nothing runs, and a /stop and a
// message come as one batch; the /stop must not mean the message, nor the turn
// that the message begins.
func TestAMessageBehindAStopInTheSameInstant(t *testing.T) {
	t.Parallel()
	bubble(t, slowly(time.Second, echo), func(s *stack) {
		for n := range 20 {
			name := fmt.Sprintf("chat%d", n)
			s.deliver(s.event(ada, name, private("/stop")), s.event(ada, name, private("hello")))
		}
		time.Sleep(2 * time.Second)
		for n := range 20 {
			s.want(fmt.Sprintf("chat%d", n), "Nothing is running here.", "re: hello")
		}
		s.free()
	})
}

func TestStopWithdrawsWhatWasNotShown(t *testing.T) {
	t.Parallel()
	bubble(t, echo, func(s *stack) {
		s.screen.fail(func(p chat.Part) error {
			if p.Kind == chat.Answer {
				return errAway
			}
			return nil
		})
		id := s.say("a", "hello")
		stop := s.say("a", "/stop")
		time.Sleep(time.Minute)
		s.screen.fail(nil)
		time.Sleep(10 * time.Minute)
		s.want("a", "Nothing was running; I do not send the rest of my last answer.")
		s.settled(id, stop)
		s.wantEnds("a", session.Final)
		s.free()
	})
}

func TestStopDropsCommandsThatWait(t *testing.T) {
	t.Parallel()
	bubble(t, slowly(time.Minute, echo), func(s *stack) {
		one := s.say("a", "hello")
		press := s.event(ada, "a", chat.Pressed{Line: "/model main", Private: true})
		press.Ticket = "t1"
		s.deliver(press)
		stop := s.say("a", "/stop")
		time.Sleep(time.Minute)
		s.settled(one, press.ID, stop)
		if n := s.tickets("t1"); n != 1 {
			t.Errorf("the ticket of the dropped command got %d posts, want 1", n)
		}
		if picks := bodies[session.ModelPicked](s, "a"); len(picks) > 0 {
			t.Error("the dropped command ran")
		}
		s.free()
	})
}

func TestStopBeforeItWasHandledSurvivesTheKill(t *testing.T) {
	t.Parallel()
	arranged(t, starts("The answer"), preview, func(s *stack) {
		id := s.say("a", "hello")
		time.Sleep(2 * time.Second)
		s.want("a", "The answer")
		s.store.beforeClaim(func(_, lane string) {
			if lane == session.Control {
				time.Sleep(time.Hour)
			}
		})
		stop := s.accept("a", private("/stop"))
		s.crash()
		time.Sleep(time.Minute)
		s.want("a", "Stopped.")
		s.settled(id, stop)
		s.wantEnds("a", session.Stopped)
		if n := len(s.main().requests()); n != 1 {
			t.Errorf("the model was asked %d times: the turn went on before the /stop was heard", n)
		}
		s.free()
	})
}

func TestStopDuringCompact(t *testing.T) {
	t.Parallel()
	model := func(ctx context.Context, req llm.Request, each func(llm.Delta)) (llm.Reply, error) {
		if isSummary(req) {
			return hangs(ctx, req, each)
		}
		return echo(ctx, req, each)
	}
	bubble(t, model, func(s *stack) {
		s.say("a", "one")
		s.say("a", "two")
		compact := s.say("a", "/compact")
		three := s.say("a", "three")
		stop := s.say("a", "/stop")
		s.want("a", "re: one", "re: two", "I was stopped before I had summed up.", "Stopped. I dropped 1 message that waited.")
		s.settled(compact, three, stop)
		if sums := bodies[session.Summarised](s, "a"); len(sums) > 0 {
			t.Error("a summary was logged")
		}
		s.say("a", "four")
		s.wantLast("a", "re: four")
		s.free()
	})
}

// TestAFloodOfCommandsStarvesNoTurn has a new command arrive whenever one is
// taken off the inbox: the turn must get to speak all the same.
func TestAFloodOfCommandsStarvesNoTurn(t *testing.T) {
	t.Parallel()
	bubble(t, slowly(time.Second, echo), func(s *stack) {
		s.say("a", "hello")
		var left atomic.Int32
		left.Store(300)
		s.store.beforeApply(func(ops []storage.Op) error {
			ids := finishes(ops)
			if len(ids) == 0 || left.Load() == 0 {
				return nil
			}
			ev := chat.Event{ID: fmt.Sprintf("flood%d", left.Add(-1)), Key: key("a"), From: ada, Body: private("/whoami")}
			if err := s.gateway.Accept(context.Background(), chat.Cursor{}, ev); err != nil {
				t.Error(err)
			}
			time.Sleep(100 * time.Millisecond)
			return nil
		})
		s.accept("a", private("/whoami"))
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if !strings.Contains(strings.Join(s.screen.texts("a"), "|"), "re: hello") {
			t.Errorf("no answer while commands come; the chat shows\n%s", list(s.screen.texts("a")))
		}
		left.Store(0)
	})
}
