package gateway_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/core/llm"
	"parley/core/session"
)

// summing is a model that sums up in one way and talks in another.
func summing(sum, talk answerFunc) answerFunc {
	return func(ctx context.Context, req llm.Request, each func(llm.Delta)) (llm.Reply, error) {
		if isSummary(req) {
			return sum(ctx, req, each)
		}
		return talk(ctx, req, each)
	}
}

// summaries lists the requests for a summary.
func (m *scripted) summaries() []llm.Request {
	return slices.DeleteFunc(m.requests(), func(r llm.Request) bool { return !isSummary(r) })
}

func TestCompactKeepsTheNewestRawAndFoldsTheOldIn(t *testing.T) {
	t.Parallel()
	arranged(t, summing(inTurn(says("first summary"), says("second summary")), echo), func(s *stack) { s.config.KeepRaw = 2 }, func(s *stack) {
		for _, text := range []string{"one", "two", "three"} {
			s.say("a", text)
		}
		id := s.say("a", "/compact")
		s.settled(id)
		if got := s.screen.texts("a"); !strings.HasPrefix(got[len(got)-1], "Summed up: about ") {
			t.Errorf("the chat shows\n%s", list(got))
		}
		sum := last(s.main().summaries()[0])
		for _, want := range []string{"Ada: one", "Assistant: re: one", "Ada: two", "Assistant: re: two"} {
			if !strings.Contains(sum, want) {
				t.Errorf("the summary is made without %q: %q", want, sum)
			}
		}
		if strings.Contains(sum, "three") {
			t.Errorf("the newest is summed up: %q", sum)
		}
		check := func(summary string) {
			t.Helper()
			s.say("a", "four")
			reqs := s.main().requests()
			rows := reqs[len(reqs)-1].Messages
			if !strings.Contains(rows[1].Text, summary) || !strings.HasSuffix(rows[1].Text, "\n\nthree") {
				t.Errorf("the prompt is\n%s", written(reqs[len(reqs)-1]))
			}
		}
		check("first summary")
		s.crash() // right after
		check("first summary")
		s.say("a", "/compact")
		if text := last(s.main().summaries()[1]); !strings.Contains(text, "The summary so far:") || !strings.Contains(text, "first summary") {
			t.Errorf("the old summary is not folded in: %q", text)
		}
		s.restart()
		s.say("a", "five")
		reqs := s.main().requests()
		if text := reqs[len(reqs)-1].Messages[1].Text; !strings.Contains(text, "second summary") || strings.Contains(text, "first") {
			t.Errorf("the prompt begins with %q", text)
		}
		s.free()
	})
}

func TestCompactWithNothingToSumUp(t *testing.T) {
	t.Parallel()
	bubble(t, echo, func(s *stack) {
		one := s.say("a", "/compact")
		s.want("a", "There is nothing to sum up yet.")
		s.say("a", "/model main")
		two := s.say("a", "/compact")
		s.wantLast("a", "There is nothing older to sum up.")
		s.settled(one, two)
		s.free()
	})
}

// TestCompactFails: it says so, and nothing is lost.
func TestCompactFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		sum  answerFunc
		says string
	}{
		{"error", fails(llm.Refused), (&llm.Error{Kind: llm.Refused, Model: "main"}).Sentence()},
		{"blank", says("\n"), "The model gave an empty summary, so I left everything as it was."},
		{"panic", panics, "Something went wrong inside parley, and this answer is lost. The log says what."},
		{"time", hangs, "I gave up: this took longer than 1h0m0s."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, summing(c.sum, echo), func(s *stack) {
				s.say("a", "one")
				s.say("a", "two")
				id := s.say("a", "/compact")
				time.Sleep(2 * time.Hour)
				s.wantLast("a", c.says)
				s.settled(id)
				s.say("a", "three")
				reqs := s.main().requests()
				if n := len(reqs[len(reqs)-1].Messages); n != 6 {
					t.Errorf("the prompt has %d rows, want 6", n)
				}
				s.free()
			})
		})
	}
}

// TestThreshold: a prompt that would pass the configured share of the context
// is shortened before it is sent.
func TestThreshold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		sum  answerFunc
		fine bool
	}{
		{"summed up", says("short"), true},
		{"the summary fails", fails(llm.Bad), false},
		{"the summary is blank", says(""), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var rounds atomic.Int32
			talk := func(ctx context.Context, req llm.Request, each func(llm.Delta)) (llm.Reply, error) {
				if strings.Contains(lastWords(req), "work") && rounds.Add(1) < 4 {
					return calls("", fmt.Sprint("c", rounds.Load()))(ctx, req, each)
				}
				return says("ok")(ctx, req, each)
			}
			arranged(t, summing(c.sum, talk), func(s *stack) {
				s.main().info.Context = 2000
				weak := script("weak", summing(c.sum, echo))
				weak.info.Strength, weak.info.Context = "low", 2000
				s.models = append(s.models, weak)
				s.config.SummaryBy = "low"
				s.config.KeepRaw = 4
			}, func(s *stack) {
				for range 5 {
					s.say("a", strings.Repeat("word ", 300))
				}
				s.say("a", "work")
				s.say("a", "done")
				s.wantLast("a", "ok")
				if n := len(s.main().summaries()); n > 0 && c.fine {
					t.Errorf("the main model made %d summaries", n)
				}
				sums := len(s.models[1].(*scripted).summaries())
				if c.fine != (len(bodies[session.Summarised](s, "a")) > 0) || sums == 0 {
					t.Errorf("%d summaries asked for, %d logged", sums, len(bodies[session.Summarised](s, "a")))
				}
				// A turn that failed to sum up once does not try with every round.
				if !c.fine && sums > 7 {
					t.Errorf("the summary was asked for %d times in 7 turns", sums)
				}
				s.free()
			})
		})
	}
}

// TestTheProviderCountsTheThreshold: what was estimated is corrected by what
// the provider counted.
func TestTheProviderCountsTheThreshold(t *testing.T) {
	t.Parallel()
	talk := replies(llm.Reply{Text: "ok", Usage: llm.Usage{Input: 90_000}})
	bubble(t, summing(says("short"), talk), func(s *stack) {
		s.say("a", "one")
		s.say("a", "two")
		if n := len(bodies[session.Summarised](s, "a")); n != 1 {
			t.Errorf("%d summaries, want 1: the next prompt passes 80 %% by the provider's count", n)
		}
	})
}

func TestTooLong(t *testing.T) {
	t.Parallel()
	tooLong := fails(llm.TooLong)
	sentence := (&llm.Error{Kind: llm.TooLong, Model: "main"}).Sentence()
	for _, c := range []struct {
		name  string
		model answerFunc
		want  string
		asked int // for an answer to the last message
	}{
		{"fits when shortened", summing(says("short"), inTurn(echo, echo, tooLong, says("ok"))), "ok", 2},
		{"does not fit then", summing(says("short"), inTurn(echo, echo, tooLong)), sentence, 2},
		{"cannot be shortened", summing(fails(llm.Refused), inTurn(echo, echo, tooLong)), sentence, 1},
		{"the summary is blank", summing(says(" "), inTurn(echo, echo, tooLong)), sentence, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, c.model, func(s *stack) {
				s.say("a", "one")
				s.say("a", "two")
				id := s.say("a", "three")
				s.wantLast("a", c.want)
				s.settled(id)
				if n := len(s.main().requests()) - len(s.main().summaries()) - 2; n != c.asked {
					t.Errorf("asked %d times, want %d", n, c.asked)
				}
				s.free()
			})
		})
	}
}

func TestALongTranscriptIsSummedUpInChunks(t *testing.T) {
	t.Parallel()
	bubble(t, summing(inTurn(says("part one"), says("part two"), says("part three")), echo), func(s *stack) {
		s.main().info.Context = 4000 // 8,000 bytes a chunk
		s.config.CompactAt = 0
		s.restart()
		for n := range 5 {
			s.say("a", fmt.Sprint(n, " ", strings.Repeat("word ", 600)))
		}
		s.say("a", "/compact")
		sums := s.main().summaries()
		if len(sums) < 3 {
			s.t.Fatalf("%d chunks, want at least 3", len(sums))
		}
		for i, want := range []string{"", "part one", "part two"} {
			text := last(sums[i])
			if has := strings.Contains(text, "The summary so far:"); has != (want != "") || !strings.Contains(text, want) {
				t.Errorf("chunk %d is asked for with %.200q", i+1, text)
			}
		}
	})
}

// TestCompactInMidTurn cuts behind the start of the open turn; a process that
// dies then must find the turn again.
func TestCompactInMidTurn(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	talk := func(ctx context.Context, req llm.Request, each func(llm.Delta)) (llm.Reply, error) {
		n := asked.Add(1)
		switch {
		case n <= 6:
			return calls(strings.Repeat("looking ", 60), fmt.Sprint("c", n))(ctx, req, each)
		case n == 7:
			return hangs(ctx, req, each)
		default:
			return says("found")(ctx, req, each)
		}
	}
	arranged(t, summing(says("they look for it"), talk), func(s *stack) {
		s.main().info.Context = 700
		s.config.KeepRaw = 2
	}, func(s *stack) {
		id := s.say("a", "find it")
		if len(bodies[session.Summarised](s, "a")) == 0 {
			s.t.Fatal("nothing was summed up")
		}
		s.crash()
		s.wantLast("a", "found")
		s.settled(id)
		s.wantEnds("a", session.Final)
		s.free()
	})
}

func TestCompactAcrossAKill(t *testing.T) {
	t.Parallel()
	bubble(t, summing(inTurn(hangs, says("short")), echo), func(s *stack) {
		s.say("a", "one")
		s.say("a", "two")
		id := s.say("a", "/compact")
		s.crash()
		synctest.Wait()
		if got := s.screen.texts("a"); len(got) != 3 || !strings.HasPrefix(got[2], "Summed up:") {
			t.Errorf("the chat shows\n%s", list(got))
		}
		s.settled(id)
		s.free()
	})
}

func TestCompactAcrossAShutdown(t *testing.T) {
	t.Parallel()
	bubble(t, summing(inTurn(hangs, says("short")), echo), func(s *stack) {
		s.say("a", "one")
		s.say("a", "two")
		id := s.say("a", "/compact")
		s.restart()
		synctest.Wait()
		if got := s.screen.texts("a"); len(got) != 3 || !strings.HasPrefix(got[2], "Summed up:") {
			t.Errorf("the chat shows\n%s", list(got))
		}
		s.settled(id)
	})
}

func TestClearAndNew(t *testing.T) {
	t.Parallel()
	arranged(t, echo, func(s *stack) { s.models = append(s.models, script("other", echo)) }, func(s *stack) {
		rows := func() int {
			s.say("a", "x")
			reqs := append(s.main().requests(), s.models[1].(*scripted).requests()...)
			return len(reqs[len(reqs)-1].Messages)
		}
		s.say("a", "/model other")
		rows()
		rows()
		s.say("a", "/clear")
		s.wantLast("a", "Forgotten. The settings of this conversation stay.")
		if n := rows(); n != 2 {
			t.Errorf("%d rows behind /clear, want 2", n)
		}
		s.restart()
		if n := rows(); n != 4 {
			t.Errorf("%d rows behind /clear and a restart, want 4", n)
		}
		other := len(s.models[1].(*scripted).requests())
		if other != 4 {
			t.Errorf("the model that was picked answered %d times, want 4", other)
		}
		s.say("a", "/new")
		s.wantLast("a", "A new conversation. I remember nothing of the one before.")
		s.say("a", "y")
		if reqs := s.main().requests(); len(reqs) != 1 || len(reqs[0].Messages) != 2 {
			t.Error("/new keeps something")
		}
		s.free()
	})
}
