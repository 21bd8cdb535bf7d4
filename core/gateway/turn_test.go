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

	"parley/core/chat"
	"parley/core/llm"
	"parley/core/session"
)

func TestAnswer(t *testing.T) {
	t.Parallel()
	bubble(t, echo, func(s *stack) {
		id := s.say("a", "hello")
		s.want("a", "re: hello")
		s.settled(id)
		s.wantEnds("a", session.Final)
		s.free()
	})
}

func TestOrderWithinAChatAndIndependenceBetween(t *testing.T) {
	t.Parallel()
	bubble(t, slowly(time.Second, echo), func(s *stack) {
		for _, text := range []string{"1", "2", "3"} {
			for _, chatName := range []string{"a", "b", "c"} {
				s.say(chatName, text)
			}
		}
		s.want("a")
		time.Sleep(time.Second + time.Millisecond)
		for _, chatName := range []string{"a", "b", "c"} {
			s.want(chatName, "re: 1")
		}
		time.Sleep(2 * time.Second)
		for _, chatName := range []string{"a", "b", "c"} {
			s.want(chatName, "re: 1", "re: 2", "re: 3")
		}
		s.free()
	})
}

func TestAHangingChatDelaysNoOther(t *testing.T) {
	t.Parallel()
	model := func(ctx context.Context, req llm.Request, each func(llm.Delta)) (llm.Reply, error) {
		if strings.Contains(lastWords(req), "hang") {
			return hangs(ctx, req, each)
		}
		return echo(ctx, req, each)
	}
	bubble(t, model, func(s *stack) {
		s.say("a", "hang")
		s.say("b", "hello")
		s.want("b", "re: hello")
		s.want("a")
	})
}

// TestEveryWayOut is what a turn promises however it ends: it says why, names
// its event once, leaves the session free, and the next message runs as if
// nothing had been (CTL-04).
func TestEveryWayOut(t *testing.T) {
	t.Parallel()
	const lost = "Something went wrong inside parley, and this answer is lost. The log says what."
	cases := []struct {
		name  string
		model answerFunc
		says  string // what the person reads, or a part of it
		how   session.How
	}{
		{"answer", says("yes"), "yes", session.Final},
		{"panic", panics, lost, session.Broken},
		{"panic in mid-stream", inTurn(func(_ context.Context, _ llm.Request, each func(llm.Delta)) (llm.Reply, error) {
			each(llm.Delta{Text: "half"})
			panic("at half")
		}), lost, session.Broken},
		{"other error", func(context.Context, llm.Request, func(llm.Delta)) (llm.Reply, error) {
			return llm.Reply{}, fmt.Errorf("some other error")
		}, "is in trouble", session.Broken},
		{"nothing to say", says(" \n"), "The model had nothing to say", session.Broken},
		{"time", hangs, "I gave up: this took longer than 1h0m0s.", session.Exhausted},
		{"rounds", endless(), "I stopped after 50 rounds without coming to an end. Say \"go on\" if I should.", session.Exhausted},
	}
	for _, kind := range []llm.Kind{llm.Unreachable, llm.Silent, llm.Cut, llm.Refused, llm.Missing, llm.Limited,
		llm.Spent, llm.Overloaded, llm.Garbage, llm.TooLong, llm.NoVision, llm.Bad, "a new kind"} {
		want := (&llm.Error{Kind: kind, Model: "main"}).Sentence()
		cases = append(cases, struct {
			name  string
			model answerFunc
			says  string
			how   session.How
		}{string(kind), fails(kind), want, session.Broken})
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			model, heal := healing(c.model)
			arranged(t, model, preview, func(s *stack) {
				first := s.say("a", "hello")
				time.Sleep(2 * time.Hour)
				synctest.Wait()
				texts := s.screen.texts("a")
				if len(texts) != 1 || !strings.Contains(texts[0], c.says) {
					s.t.Fatalf("the chat shows\n%s\nwant one message with %q", list(texts), c.says)
				}
				s.settled(first)
				s.wantEnds("a", c.how)
				s.free()
				heal()
				second := s.say("a", "and now?")
				s.wantLast("a", "fine")
				s.settled(first, second)
				s.wantEnds("a", c.how, session.Final)
				s.free()
			})
		})
	}
}

// healing is a model that answers well once it is healed.
func healing(ill answerFunc) (model answerFunc, heal func()) {
	var good atomic.Bool
	return func(ctx context.Context, req llm.Request, each func(llm.Delta)) (llm.Reply, error) {
		if good.Load() {
			return says("fine")(ctx, req, each)
		}
		return ill(ctx, req, each)
	}, func() { good.Store(true) }
}

// preview has the chats show answers as they come.
func preview(s *stack) {
	s.screen.traits.Edits = true
	s.screen.traits.PreviewEvery = time.Second
}

// drafts has the chats show answers as they come, as drafts.
func drafts(s *stack) {
	s.screen.traits.Drafts = true
	s.screen.traits.PreviewEvery = time.Second
}

// badFront is a gateway with mistakes.
type badFront struct {
	session.Front
	present func(session.Happening) bool // panics for these
	run     bool                         // panics in Run
}

func (f badFront) Present(s session.Scene, h session.Happening) []chat.Post {
	if f.present != nil && f.present(h) {
		panic("cannot present")
	}
	return f.Front.Present(s, h)
}

func (f badFront) Run(ctx context.Context, ev chat.Event, s session.Scene) (session.Effect, error) {
	if f.run {
		panic("cannot run")
	}
	return f.Front.Run(ctx, ev, s)
}

func TestAPanicWhilePresentingEndsTheTurnAllTheSame(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		bad   func(session.Happening) bool
		model answerFunc
		says  string
	}{
		{"the answer", func(h session.Happening) bool { _, ok := h.(session.Spoke); return ok }, echo, "re: hello"},
		{"a failure", func(session.Happening) bool { return true }, fails(llm.Refused),
			"Something went wrong inside parley, and this answer is lost. The log says what."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			arranged(t, c.model, func(s *stack) {
				s.front = func(f session.Front) session.Front { return badFront{Front: f, present: c.bad} }
			}, func(s *stack) {
				id := s.say("a", "hello")
				time.Sleep(time.Minute)
				s.want("a", c.says)
				s.settled(id)
				s.ends("a")
				s.free()
			})
		})
	}
}

func TestAPanicInACommandIsToldWithAReference(t *testing.T) {
	t.Parallel()
	arranged(t, echo, func(s *stack) {
		s.front = func(f session.Front) session.Front { return badFront{Front: f, run: true} }
	}, func(s *stack) {
		id := s.say("a", "/help")
		texts := s.screen.texts("a")
		if len(texts) != 1 || !strings.HasPrefix(texts[0], "Something went wrong, and the command did nothing (ref ") {
			t.Errorf("the chat shows\n%s", list(texts))
		}
		s.settled(id)
		s.say("a", "hello")
		s.wantLast("a", "re: hello")
		s.free()
	})
}

func TestWordsThatShowNothingAreNoAnswer(t *testing.T) {
	t.Parallel()
	bubble(t, inTurn(says("\u200b\ufeff\u2060"), says("now")), func(s *stack) {
		s.say("a", "hello")
		s.want("a", "now")
	})
}

func TestAMessageWithoutTextIsNoBlankRow(t *testing.T) {
	t.Parallel()
	bubble(t, says("yes"), func(s *stack) {
		s.say("a", "")
		s.say("a", " \n ")
		s.say("a", "\u200b")
		s.say("a", string([]byte{0xff, 0xfe, 'x'}))
		s.want("a", "yes", "yes", "yes", "yes")
		s.free()
	})
}

func TestAnAlbumIsOneMessage(t *testing.T) {
	t.Parallel()
	bubble(t, says("nice"), func(s *stack) {
		picture := func(name, album string) chat.Event {
			return s.event(ada, "a", chat.Said{
				Private: true, Addressed: true, Album: album, Files: []chat.File{{Name: name, Type: "image/png", Remote: name}},
			})
		}
		one, two, three := picture("1.png", "x"), picture("2.png", "x"), picture("3.png", "y")
		s.deliver(one, two, three)
		s.want("a", "nice", "nice")
		s.settled(one.ID, two.ID, three.ID)
		if text := lastWords(s.main().requests()[0]); !strings.Contains(text, "1.png") || !strings.Contains(text, "2.png") {
			t.Errorf("the first prompt ends with %q", text)
		}
	})
}

// TestAPlainTurnCostsThreeCommits before its answer is on the way: accepted;
// taken into the log and off the inbox; answered and in the outbox.
func TestAPlainTurnCostsThreeCommits(t *testing.T) {
	t.Parallel()
	bubble(t, echo, func(s *stack) {
		s.say("a", "hello")
		before := len(s.store.commits())
		s.say("a", "again")
		var kinds []string
		for _, ops := range s.store.commits()[before:] {
			switch {
			case logs(ops) && len(finishes(ops)) > 0:
				kinds = append(kinds, "taken")
			case logs(ops):
				kinds = append(kinds, "answered")
			default:
				kinds = append(kinds, fmt.Sprintf("%T", ops[0]))
			}
		}
		if want := []string{"storage.Enqueue", "taken", "answered", "storage.Finish"}; !slices.Equal(kinds, want) {
			t.Errorf("the commits are %v, want %v", kinds, want)
		}
	})
}
