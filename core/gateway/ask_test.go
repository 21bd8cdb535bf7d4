package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/core/chat"
	"parley/core/llm"
	"parley/core/session"
	"parley/tools"
)

const colour = `{"title":"colour","question":"Which colour?","suggestions":["red","blue"]}`

// asked runs a test in which the agent asks Ada for a colour.
func asked(t *testing.T, test func(s *stack)) {
	t.Helper()
	workshop(t, wants(tools.AskUserClarification, colour), nil, test)
}

func TestAnAnswerInEveryWay(t *testing.T) {
	t.Parallel()
	for _, restarts := range []string{"", "kill", "shutdown"} {
		for _, c := range []struct {
			name, answer string
			do           func(s *stack, id string) string
		}{
			{"typed", "green", func(s *stack, _ string) string { return s.say("a", "green") }},
			{"typed choice", "blue", func(s *stack, _ string) string { return s.say("a", " BLUE ") }},
			{"typed number", "blue", func(s *stack, _ string) string { return s.say("a", "#2") }},
			{"button", "red", func(s *stack, id string) string { return s.presses(ada, "a", "/answer "+id+" #1") }},
			{"command", "a dark\nred", func(s *stack, id string) string { return s.say("a", "/answer "+id+" a dark\nred") }},
			{"code", "```\nx\n```", func(s *stack, _ string) string { return s.say("a", "```\nx\n```") }},
			{"declined", "Ada declined to answer: none of your business", func(s *stack, id string) string {
				return s.say("a", "/reject "+id+" none of your business")
			}},
		} {
			t.Run(c.name+" "+restarts, func(t *testing.T) {
				t.Parallel()
				asked(t, func(s *stack) {
					first := s.say("a", "paint it")
					id, _ := s.card()
					switch restarts {
					case "kill":
						s.crash()
						synctest.Wait()
					case "shutdown":
						s.restart()
						synctest.Wait()
					}
					ev := c.do(s, id)
					s.wantLast("a", "result: Ada answered: "+c.answer)
					s.settled(first, ev)
					s.noCards()
					s.free()
					if n := len(s.requests()); n != 1 {
						t.Errorf("%d requests were made", n)
					}
				})
			})
		}
	}
}

// TestAnAnswerAcrossAKill counts once, however often it is handed over.
func TestAnAnswerAcrossAKill(t *testing.T) {
	t.Parallel()
	for commits := 1; commits <= 4; commits++ {
		t.Run(fmt.Sprint("commit ", commits), func(t *testing.T) {
			t.Parallel()
			asked(t, func(s *stack) {
				first := s.say("a", "paint it")
				s.card()
				window := s.window
				s.store.dieAfter(commits, func() { window.dead.Store(true) })
				ev := s.event(ada, "a", private("green"))
				_ = s.gateway.Accept(s.t.Context(), chat.Cursor{}, ev)
				s.crash()
				s.deliver(ev)
				s.wantLast("a", "result: Ada answered: green")
				s.settled(first, ev.ID)
				s.noCards()
				s.free()
			})
		})
	}
}

// TestOneMessageAnswers and what is said after it is said to the agent: neither
// is lost.
func TestOneMessageAnswers(t *testing.T) {
	t.Parallel()
	for _, batch := range []bool{false, true} {
		t.Run(fmt.Sprint("in one batch ", batch), func(t *testing.T) {
			t.Parallel()
			asked(t, func(s *stack) {
				first := s.say("a", "paint it")
				s.card()
				one, two := s.event(ada, "a", private("green")), s.event(ada, "a", private("and make it shine"))
				if batch {
					s.deliver(one, two)
				} else {
					s.deliver(one)
					s.deliver(two)
				}
				synctest.Wait()
				s.settled(first, one.ID, two.ID)
				said := bodies[session.UserSaid](s, "a")
				if n := len(said); n != 2 || said[1].Text != "and make it shine" {
					t.Errorf("the log holds %+v", said)
				}
				s.noCards()
				s.free()
			})
		})
	}
}

// TestWhatFollowsAStopIsNoAnswer: the stop takes the question back (CTL-04).
func TestWhatFollowsAStopIsNoAnswer(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"/stop", "/new"} {
		for _, batch := range []bool{false, true} {
			t.Run(fmt.Sprint(line, " in one batch ", batch), func(t *testing.T) {
				t.Parallel()
				model := func(ctx context.Context, req llm.Request, each func(llm.Delta)) (llm.Reply, error) {
					if strings.Contains(lastWords(req), "what is the time") {
						return llm.Reply{Text: "noon"}, nil
					}
					return wants(tools.AskUserClarification, colour)(ctx, req, each)
				}
				workshop(t, model, nil, func(s *stack) {
					first := s.say("a", "paint it")
					s.card()
					stop, next := s.event(ada, "a", private(line)), s.event(ada, "a", private("what is the time"))
					if batch {
						s.deliver(stop, next)
					} else {
						s.deliver(stop)
						s.deliver(next)
					}
					s.wantLast("a", "noon")
					s.shows("a", "**No longer asked**")
					s.settled(first, stop.ID, next.ID)
					s.noCards()
					s.free()
				})
			})
		}
	}
}

func TestWhatIsNoAnswer(t *testing.T) {
	t.Parallel()
	t.Run("said before the card was shown", func(t *testing.T) {
		t.Parallel()
		asked(t, func(s *stack) {
			s.screen.fail(func(p chat.Part) error {
				if p.Kind == chat.Card {
					return errAway
				}
				return nil
			})
			first := s.say("a", "paint it")
			second := s.say("a", "hello?")
			s.screen.fail(nil)
			time.Sleep(5 * time.Minute)
			s.card()
			s.shows("a", "I read this next")
			answer := s.say("a", "green")
			s.settled(first, second, answer)
			if said := bodies[session.UserSaid](s, "a"); len(said) != 2 || said[1].Text != "hello?" {
				t.Errorf("the log holds %+v", said)
			}
			s.noCards()
			s.free()
		})
	})
	t.Run("another person", func(t *testing.T) {
		t.Parallel()
		asked(t, func(s *stack) {
			s.crew()
			first := s.acceptFrom(ada, "group", called("paint it"))
			s.card()
			other := s.acceptFrom(bob, "group", called("green"))
			synctest.Wait()
			if len(s.open()) != 1 {
				t.Error("Bob has answered for Ada")
			}
			id, _ := s.card()
			press := s.presses(bob, "group", "/answer "+id+" #1")
			if len(s.open()) != 1 {
				t.Error("Bob has answered for Ada")
			}
			own := s.acceptFrom(ada, "group", called("blue"))
			synctest.Wait()
			s.shows("group", "**Answered** by Ada")
			s.settled(first, other, press, own)
			s.noCards()
			s.free()
		})
	})
	t.Run("a picture", func(t *testing.T) {
		t.Parallel()
		asked(t, func(s *stack) {
			first := s.say("a", "paint it")
			s.card()
			said := private("like this")
			said.Files = []chat.File{{Name: "x.png", Type: "image/png", Size: 3}}
			picture := s.accept("a", said)
			s.wantIn("a", "I read this next")
			own := s.say("a", "blue")
			s.settled(first, picture, own)
			if said := bodies[session.UserSaid](s, "a"); len(said) != 2 || len(said[1].Files) != 1 {
				t.Errorf("the log holds %+v", said)
			}
			s.noCards()
			s.free()
		})
	})
	t.Run("an edit, a deletion and a reaction of nobody", func(t *testing.T) {
		t.Parallel()
		asked(t, func(s *stack) {
			first := s.say("a", "paint it")
			s.card()
			before := len(s.screen.texts("a"))
			s.accept("a", chat.Edited{Message: chat.MessageID(first), Text: "paint it now"})
			s.accept("a", chat.Deleted{Message: "m0"})
			synctest.Wait()
			if n := len(s.screen.texts("a")); n != before {
				t.Errorf("the chat shows\n%s", list(s.screen.texts("a")))
			}
			s.say("a", "blue")
			s.noCards()
			s.free()
		})
	})
}

// TestAMessageWhileTheTurnWaits is acknowledged once, also across a restart,
// and read next.
func TestAMessageWhileTheTurnWaits(t *testing.T) {
	t.Parallel()
	do := &hand{name: "do"}
	gated(t, do, func(s *stack) {
		first := s.say("a", "please")
		later := s.say("a", "and then?")
		s.say("a", "/status")
		s.crash()
		synctest.Wait()
		n := 0
		for _, text := range s.screen.texts("a") {
			n += strings.Count(text, "I read this next")
		}
		if n != 1 {
			t.Errorf("it was acknowledged %d times:\n%s", n, list(s.screen.texts("a")))
		}
		id, _ := s.card()
		s.presses(ada, "a", "/approve "+id)
		s.settled(first, later)
		s.free()
	})
}

// pair is a tool that asks two things at once.
func pair() *hand {
	do := &hand{name: "pair", effect: tools.Repeatable}
	do.do = func(ctx context.Context, call tools.Call) tools.Outcome {
		var all sync.WaitGroup
		said := make([]string, 2)
		for i, what := range []string{"colour", "size"} {
			all.Go(func() {
				a, err := call.Ask(ctx, tools.Question{Title: what, Text: "Which " + what + "?"})
				said[i] = fmt.Sprint(what, "=", a.Text, " ", err)
			})
		}
		all.Wait()
		return tools.Done(strings.Join(said, ", "))
	}
	return do
}

func TestTwoQuestionsAtOnce(t *testing.T) {
	t.Parallel()
	for _, restarts := range []bool{false, true} {
		t.Run(fmt.Sprint("restart ", restarts), func(t *testing.T) {
			t.Parallel()
			workshop(t, wants("pair", `{}`), []tools.Tool{pair()}, func(s *stack) {
				s.rule("pair", "allow")
				first := s.say("a", "please")
				if n := len(s.open()); n != 2 {
					t.Fatalf("%d questions are open", n)
				}
				// A message that quotes no card is not guessed at.
				typed := s.say("a", "green")
				if n := len(s.open()); n != 2 {
					t.Fatalf("%d questions are open", n)
				}
				s.wantIn("a", "I have asked you more than one thing here")
				if n := strings.Count(strings.Join(s.screen.texts("a"), "\n"), "I read this next"); n != 0 {
					t.Error("it is acknowledged twice")
				}
				if restarts {
					s.crash()
					synctest.Wait()
				}
				// A reply to a card is.
				reply := func(what, text string) string {
					for _, l := range s.screen.in("a") {
						if strings.Contains(l.part.Text, "Which "+what) {
							said := private(text)
							said.Quoted = &chat.Quote{Message: l.id, Text: l.part.Text}
							return s.accept("a", said)
						}
					}
					t.Fatal("no such card")
					return ""
				}
				one := reply("size", "large")
				if n := len(s.open()); n != 1 {
					t.Fatalf("%d questions are open", n)
				}
				two := reply("colour", "red")
				s.shows("a", "result: colour=red <nil>, size=large <nil>")
				s.settled(first, typed, one, two)
				s.noCards()
				s.free()
			})
		})
	}
}

// TestTheSameQuestionTwice is two questions, also behind a restart.
func TestTheSameQuestionTwice(t *testing.T) {
	t.Parallel()
	for _, at := range []int{0, 1, 2} {
		t.Run(fmt.Sprint("restart at ", at), func(t *testing.T) {
			t.Parallel()
			do := &hand{name: "twice", effect: tools.Repeatable}
			do.do = func(ctx context.Context, call tools.Call) tools.Outcome {
				one, _ := call.Ask(ctx, tools.Question{Text: "Go on?"})
				two, err := call.Ask(ctx, tools.Question{Text: "Go on?"})
				return tools.Done(fmt.Sprint(one.Text, " ", two.Text, " ", err))
			}
			workshop(t, wants("twice", `{}`), []tools.Tool{do}, func(s *stack) {
				s.rule("twice", "allow")
				first := s.say("a", "please")
				for i, text := range []string{"yes", "no"} {
					if at == i+1 {
						s.crash()
						synctest.Wait()
					}
					if n := len(s.open()); n != 1 {
						t.Fatalf("%d questions are open before answer %d", n, i+1)
					}
					s.say("a", text)
				}
				s.wantLast("a", "result: yes no <nil>")
				s.settled(first)
				s.noCards()
				s.free()
			})
		})
	}
}

func TestQuestionsOpenWhen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		do   func(s *stack)
		says string
	}{
		{"stop", func(s *stack) { s.say("a", "/stop") }, "Stopped."},
		{"new", func(s *stack) { s.say("a", "/new") }, "A new conversation."},
		{"new behind a message", func(s *stack) { s.tells(bob, "a", "hm"); s.say("a", "/new") }, "A new conversation."},
		{"expiry", func(s *stack) { time.Sleep(25 * time.Hour) }, "result: Nobody answered in time."},
		{"stop behind a kill", func(s *stack) { s.crash(); s.say("a", "/stop") }, "Stopped."},
		{"stop across a kill", func(s *stack) { s.diesWith(s.event(ada, "a", private("/stop"))) }, "Stopped."},
		{"expiry while dead", func(s *stack) { s.kill(); time.Sleep(25 * time.Hour); s.start() }, "result: Nobody answered in time."},
	} {
		for _, pairs := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, " two ", pairs), func(t *testing.T) {
				t.Parallel()
				model, list := wants(tools.AskUserClarification, colour), []tools.Tool(nil)
				if pairs {
					model, list = wants("pair", `{}`), []tools.Tool{pair()}
				}
				workshop(t, model, list, func(s *stack) {
					s.say("a", "/role fake:2 member")
					if pairs {
						s.rule("pair", "allow")
					}
					first := s.say("a", "paint it")
					n := len(s.open())
					if pairs && n == 2 { // the newest is answered, the other is not
						s.say("a", "/answer "+s.open()[1]+" large")
						n = len(s.open()) + 1
					}
					if want := 1 + len(list); n != want {
						t.Fatalf("%d questions are open, want %d", n, want)
					}
					c.do(s)
					if !pairs || !strings.Contains(c.name, "expiry") {
						s.shows("a", c.says)
					}
					s.settled(first)
					s.noCards()
					s.free()
					s.say("a", "/new")
					again := s.say("a", "paint it")
					if len(s.open()) == 0 {
						t.Error("the next turn does not ask")
					}
					s.say("a", "/stop")
					s.settled(again)
				})
			})
		}
	}
}

func TestAPersonWhoIsRemovedIsNotAskedAnyMore(t *testing.T) {
	t.Parallel()
	asked(t, func(s *stack) {
		s.crew()
		first := s.tells(eve, "e", "paint it")
		id, _ := s.card()
		s.say("a", "/role fake:3 none")
		synctest.Wait()
		s.shows("e", "**No longer asked**")
		s.settled(first)
		s.noCards()
		s.free()
		s.presses(eve, "e", "/answer "+id+" #1")
		s.results("e")
	})
}
