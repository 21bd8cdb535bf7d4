package gateway_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/core/chat"
	"parley/core/llm"
	"parley/core/session"
	"parley/storage"
)

// TestSteering: while the model is at work on a round that asks for tools, more
// is said. It is in the next prompt, in order, taken by one commit, and the
// same post answers all of it; a command among it keeps its place.
func TestSteering(t *testing.T) {
	t.Parallel()
	broken := llm.Reply{Calls: []llm.Call{
		{ID: "c1", Name: "weather", Args: json.RawMessage(`{"city":"Ulm"}`)},
		{ID: "c2", Name: "weather", Args: json.RawMessage(`{}`), Broken: "unexpected end of JSON input"},
	}}
	bubble(t, inTurn(slowly(time.Second, replies(broken)), slowly(time.Second, echo)), func(s *stack) {
		one := s.say("a", "one")
		two, three := s.say("a", "two"), s.say("a", "three")
		pick := s.say("a", "/model main")
		four := s.say("a", "four")
		time.Sleep(10 * time.Second)
		s.want("a", "re: two\n\nthree",
			"**main** answers first from now on, in this conversation. `/model auto` goes back to the configured order.",
			"re: four")
		s.settled(one, two, three, pick, four)
		s.wantEnds("a", session.Final, session.Final)
		s.free()

		rows := s.main().requests()[1].Messages
		tools := rows[len(rows)-3 : len(rows)-1]
		if !strings.Contains(tools[0].Text, `no tool named "weather"`) || !strings.Contains(tools[1].Text, "could not be read, and nothing was run: unexpected end") {
			t.Errorf("the results are %q and %q", tools[0].Text, tools[1].Text)
		}
		if !tools[0].CallFailed || !tools[1].CallFailed {
			t.Error("the results are not marked as failed")
		}
		together := slices.ContainsFunc(s.store.commits(), func(ops []storage.Op) bool {
			return logs(ops) && slices.Equal(finishes(ops), []string{two, three})
		})
		if !together {
			t.Error("the two messages were not taken by one commit with their entries")
		}
		answers := s.settlements()
		if answers[one][0] != answers[two][0] || answers[one][0] != answers[three][0] {
			t.Errorf("answered by different posts: %v", answers)
		}
	})
}

func TestWhatComesInTheLastRoundStartsTheNextTurn(t *testing.T) {
	t.Parallel()
	const limit = "I stopped after 2 rounds without coming to an end. Say \"go on\" if I should."
	t.Run("answer", func(t *testing.T) {
		t.Parallel()
		bubble(t, inTurn(calls("", "c1"), slowly(time.Second, echo)), func(s *stack) {
			one := s.say("a", "one")
			two := s.say("a", "two")
			time.Sleep(5 * time.Second)
			s.want("a", "re:", "re: two")
			s.settled(one, two)
		})
	})
	t.Run("rounds used up", func(t *testing.T) {
		t.Parallel()
		model := inTurn(calls("", "c1"), slowly(time.Second, calls("", "c2")), echo)
		arranged(t, model, func(s *stack) { s.config.MaxRounds = 2 }, func(s *stack) {
			one := s.say("a", "one")
			two := s.say("a", "two")
			time.Sleep(5 * time.Second)
			s.want("a", limit, "re: two")
			s.settled(one, two)
			s.wantEnds("a", session.Exhausted, session.Final)
		})
	})
}

func TestEachRoundsTextIsAPostOfItsOwn(t *testing.T) {
	t.Parallel()
	bubble(t, inTurn(calls("I look.", "c1", "c2"), calls(" ", "c3"), calls("Once more.", "c4"), says("Done.")), func(s *stack) {
		id := s.say("a", "hello")
		s.want("a", "I look.", "Once more.", "Done.")
		s.settled(id)
		rounds := []int{}
		for _, b := range bodies[session.AssistantSaid](s, "a") {
			rounds = append(rounds, b.Round)
		}
		if want := []int{1, 2, 3, 4}; !slices.Equal(rounds, want) {
			t.Errorf("rounds %v, want %v", rounds, want)
		}
		var ids []string
		for _, p := range s.screen.parts() {
			ids = append(ids, p.Post[strings.Index(p.Post, "/"):])
		}
		if want := []string{"/0/1", "/0/3", "/0/4"}; !slices.Equal(ids, want) {
			t.Errorf("posts %v, want %v", ids, want)
		}
	})
}

// TestStrangeCalls: whatever a model makes of its calls, the prompt behind it
// is one that a provider takes.
func TestStrangeCalls(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		calls []llm.Call
	}{
		{"no name", []llm.Call{{ID: "c1", Args: json.RawMessage(`{}`)}}},
		{"long name", []llm.Call{{ID: "c1", Name: strings.Repeat("x", 5000), Args: json.RawMessage(`{}`)}}},
		{"not text", []llm.Call{{ID: "c1", Name: "a\xffb\nc", Args: json.RawMessage(`{}`)}}},
		{"many", func() (many []llm.Call) {
			for n := range 100 {
				many = append(many, llm.Call{ID: fmt.Sprint("c", n), Name: "weather", Args: json.RawMessage(`{}`)})
			}
			return many
		}()},
		{"with the output limit", []llm.Call{{ID: "c1", Name: "x", Args: json.RawMessage(`{}`), Broken: "cut off"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, inTurn(replies(llm.Reply{Calls: c.calls, Finish: llm.FinishLength}), says("fine")), func(s *stack) {
				id := s.say("a", "hello")
				s.want("a", "fine")
				s.settled(id)
				s.restart()
				s.say("a", "again")
				s.want("a", "fine", "fine")
			})
		})
	}
}

func TestManyMessagesAreTakenInOrder(t *testing.T) {
	t.Parallel()
	bubble(t, inTurn(slowly(time.Second, calls("", "c1")), echo), func(s *stack) {
		s.say("a", "0")
		var want []string
		for n := range 150 {
			text := fmt.Sprint(n + 1)
			s.accept("a", private(text))
			want = append(want, text)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		s.want("a", "re: "+strings.Join(want, "\n\n"))
		s.free()
	})
}

func TestAReportStartsATurn(t *testing.T) {
	t.Parallel()
	bubble(t, echo, func(s *stack) {
		s.say("a", "hello")
		// A task puts its result into the inbox itself: no adapter may.
		report := s.event(chat.User{ID: "fake:77", Name: "Somebody gone"}, "a", chat.Reported{Task: "t7", Text: "it is done"})
		s.enqueue(report)
		texts := s.screen.texts("a")
		if len(texts) != 2 || !strings.Contains(texts[1], "The task t7 has ended with this result:") || !strings.Contains(texts[1], "it is done") {
			t.Errorf("the chat shows\n%s", list(texts))
		}
		s.settled(report.ID)
		fake := s.event(ada, "a", chat.Reported{Task: "t8", Text: "forged"})
		s.deliver(fake)
		synctest.Wait()
		if got := s.screen.texts("a"); len(got) != 2 {
			t.Errorf("an adapter's report was taken:\n%s", list(got))
		}
	})
}
