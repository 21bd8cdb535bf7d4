package gateway_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/core/chat"
	"parley/core/session"
)

func TestEditsAndDeletionsOfWhatWaits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		body func(waiting string) chat.Body
		from chat.User
		want []string
	}{
		{"edited", func(m string) chat.Body { return chat.Edited{Message: chat.MessageID(m), Text: "TWO"} }, ada, []string{"re: one", "re: TWO", "re: three"}},
		{"deleted", func(m string) chat.Body { return chat.Deleted{Message: chat.MessageID(m)} }, ada, []string{"re: one", "re: three"}},
		{"deleted by nobody in particular", func(m string) chat.Body { return chat.Deleted{Message: chat.MessageID(m)} }, chat.User{}, []string{"re: one", "re: three"}},
		{"unknown", func(string) chat.Body { return chat.Edited{Message: "m0", Text: "no"} }, ada, []string{"re: one", "re: two", "re: three"}},
		{"no message", func(string) chat.Body { return chat.Deleted{} }, ada, []string{"re: one", "re: two", "re: three"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, slowly(time.Minute, echo), func(s *stack) {
				one, two, three := s.say("a", "one"), s.say("a", "two"), s.say("a", "three")
				s.acceptFrom(c.from, "a", c.body(two))
				time.Sleep(10 * time.Minute)
				s.want("a", c.want...)
				s.settled(one, three)
				s.free()
				for _, u := range bodies[session.UserSaid](s, "a") {
					if u.Text == "two" && c.want[1] != "re: two" {
						t.Error("the log holds what was taken back")
					}
				}
			})
		})
	}
}

func TestEditedTwiceThenDeleted(t *testing.T) {
	t.Parallel()
	bubble(t, slowly(time.Minute, echo), func(s *stack) {
		s.say("a", "one")
		two := chat.MessageID(s.say("a", "two"))
		s.accept("a", chat.Edited{Message: two, Text: "2"})
		s.accept("a", chat.Edited{Message: two, Text: "zwei"})
		time.Sleep(5 * time.Minute)
		s.want("a", "re: one", "re: zwei")
		s.say("a", "three")
		four := chat.MessageID(s.say("a", "four"))
		s.accept("a", chat.Edited{Message: four, Text: "4"})
		s.accept("a", chat.Deleted{Message: four})
		time.Sleep(5 * time.Minute)
		s.want("a", "re: one", "re: zwei", "re: three")
		s.free()
	})
}

// TestEditOfATakenMessage is told at the next round boundary while the turn
// runs, and only noted when it is over.
func TestEditOfATakenMessage(t *testing.T) {
	t.Parallel()
	bubble(t, slowly(time.Minute, inTurn(calls("", "c1"), echo)), func(s *stack) {
		one := chat.MessageID(s.say("a", "one"))
		s.accept("a", chat.Edited{Message: one, Text: "ONE"})
		time.Sleep(5 * time.Minute)
		s.want("a", `re: (Ada edited an earlier message, from "one" to: ONE)`)

		s.accept("a", chat.Edited{Message: one, Text: "1"})
		s.accept("a", chat.Deleted{Message: one})
		s.accept("a", chat.Edited{Message: "m0", Text: "unknown"})
		time.Sleep(5 * time.Minute)
		if n := len(s.main().requests()); n != 2 {
			t.Errorf("asked %d times: a late edit started a turn", n)
		}
		var notes []string
		for _, b := range bodies[session.Noted](s, "a") {
			notes = append(notes, b.Text)
		}
		if len(notes) != 3 || notes[2] != `Ada deleted an earlier message: "one"` {
			t.Errorf("the notes are %q", notes)
		}
		s.say("a", "two")
		time.Sleep(5 * time.Minute)
		if got := s.screen.texts("a"); !strings.HasSuffix(got[len(got)-1], "\n\ntwo") || !strings.Contains(got[len(got)-1], "deleted an earlier") {
			t.Errorf("the chat shows\n%s", list(got))
		}
		s.free()
	})
}

func TestADeletionByNobodyIsNoRefusal(t *testing.T) {
	t.Parallel()
	bubble(t, slowly(time.Minute, inTurn(calls("", "c1"), echo)), func(s *stack) {
		one := chat.MessageID(s.say("a", "one"))
		s.acceptFrom(chat.User{}, "a", chat.Deleted{Message: one})
		time.Sleep(5 * time.Minute)
		s.want("a", `re: (somebody deleted an earlier message: "one")`)
		s.free()
	})
}

// TestAnEditAcrossACommand: the message waits before the command, its edit
// came after it.
func TestAnEditAcrossACommand(t *testing.T) {
	t.Parallel()
	bubble(t, slowly(time.Minute, echo), func(s *stack) {
		s.say("a", "one")
		two := chat.MessageID(s.say("a", "two"))
		s.say("a", "/clear")
		s.accept("a", chat.Edited{Message: two, Text: "TWO"})
		time.Sleep(10 * time.Minute)
		if got := s.screen.texts("a"); !slices.Contains(got, "re: TWO") || slices.Contains(got, "re: two") {
			t.Errorf("the chat shows\n%s", list(got))
		}
		s.free()
	})
}

// TestOtherEvents start nothing and leave nothing behind.
func TestOtherEvents(t *testing.T) {
	t.Parallel()
	bubble(t, echo, func(s *stack) {
		s.say("a", "hello")
		for _, b := range []chat.Body{
			chat.Located{Latitude: 1, Longitude: 2}, chat.Joined{Title: "x"}, chat.Moved{To: key("b")},
			chat.Edited{Message: "m9"}, chat.Deleted{Message: "m9"},
		} {
			if _, joined := b.(chat.Joined); !joined {
				s.accept("a", b)
			}
			s.accept("group", b)
		}
		synctest.Wait()
		s.want("a", "re: hello")
		s.free()
		if n := len(s.main().requests()); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}
