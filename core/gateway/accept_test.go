package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/core/access"
	"parley/core/chat"
	"parley/core/gateway"
	"parley/core/session"
	"parley/storage"
)

func TestAnEventIsTakenOnce(t *testing.T) {
	t.Parallel()
	bubble(t, echo, func(s *stack) {
		ev := s.event(ada, "a", private("hello"))
		s.deliver(ev, ev)
		s.deliver(ev)
		synctest.Wait()
		s.deliver(ev)
		s.restart()
		s.deliver(ev)
		s.crash()
		s.deliver(ev, ev)
		time.Sleep(6 * 24 * time.Hour)
		s.deliver(ev)
		s.want("a", "re: hello")
		s.settled(ev.ID)
		s.free()
	})
}

// TestAnEventTwiceAtOnce: two connections hand over the same event in the same
// instant, each before the other's is stored (DUP-01, DUP-02).
func TestAnEventTwiceAtOnce(t *testing.T) {
	t.Parallel()
	bubble(t, echo, func(s *stack) {
		s.store.beforeApply(func([]storage.Op) error { time.Sleep(time.Second); return nil })
		hello, secret := s.event(ada, "a", private("hello")), s.event(eve, "e", private("let me in"))
		other := s.event(eve, "e", private("please"))
		var all sync.WaitGroup
		for _, ev := range []chat.Event{hello, hello, hello, secret, secret, other, other} {
			all.Go(func() { s.deliver(ev) })
		}
		all.Wait()
		s.store.beforeApply(nil)
		time.Sleep(time.Minute)
		s.want("a", "re: hello")
		code := regexp.MustCompile("`/pair ([^`]+)`")
		got := s.screen.texts("e")
		if len(got) != 1 {
			s.t.Fatalf("the stranger reads\n%s", list(got))
		}
		shown := code.FindStringSubmatch(got[0])
		pending, err := s.gateway.Pairings(s.t.Context())
		if err != nil || len(pending) != 1 || shown == nil || shown[1] != pending[0].Code {
			t.Errorf("the code that was shown is not the one that counts: %q, %v, %v", got[0], pending, err)
		}
	})
}

func TestARefusalIsRememberedToo(t *testing.T) {
	t.Parallel()
	bubble(t, echo, func(s *stack) {
		ev := s.event(eve, "e", private("let me in"))
		s.deliver(ev, ev)
		s.deliver(ev)
		s.restart()
		s.deliver(ev)
		time.Sleep(time.Hour) // the code runs out
		s.deliver(ev)
		synctest.Wait()
		if got := s.screen.texts("e"); len(got) != 1 || !strings.Contains(got[0], "pairing code") {
			t.Errorf("the stranger reads\n%s", list(got))
		}
		s.settled(ev.ID)
		s.free()
	})
}

func TestTheCursorMovesInTheSameCommit(t *testing.T) {
	t.Parallel()
	bubble(t, echo, func(s *stack) {
		at := chat.Cursor{Name: "fake/offset", Value: "7"}
		ev := s.event(ada, "a", private("hello"))
		if err := s.gateway.Accept(s.t.Context(), at, ev); err != nil {
			s.t.Fatal(err)
		}
		together := slices.ContainsFunc(s.store.commits(), func(ops []storage.Op) bool {
			cursor, event := false, false
			for _, op := range ops {
				switch op := op.(type) {
				case storage.Put:
					cursor = cursor || op.Table == "cursors" && op.Key == at.Name
				case storage.Enqueue:
					event = event || op.ID == ev.ID
				}
			}
			return cursor && event
		})
		if !together {
			t.Error("the event and the cursor are not in one commit")
		}
		broken := errors.New("disk full")
		s.store.beforeApply(func([]storage.Op) error { return broken })
		later := chat.Cursor{Name: "fake/offset", Value: "8"}
		if err := s.gateway.Accept(s.t.Context(), later, s.event(ada, "b", private("lost"))); !errors.Is(err, broken) {
			t.Errorf("Accept on a full disk: %v", err)
		}
		s.store.beforeApply(nil)
		s.restart()
		cursors, err := s.gateway.Cursors(s.t.Context(), "fake/")
		if err != nil || !slices.Equal(cursors, []chat.Cursor{at}) {
			t.Errorf("cursors %v, %v", cursors, err)
		}
		if err := s.gateway.Accept(s.t.Context(), later); err != nil {
			t.Errorf("a cursor alone: %v", err)
		}
		if err := s.gateway.Accept(s.t.Context(), chat.Cursor{}); err != nil {
			t.Errorf("nothing at all: %v", err)
		}
		s.want("b")
	})
}

func TestAFullLane(t *testing.T) {
	t.Parallel()
	full := fmt.Sprintf("There are %d messages waiting in this chat, so I did not take this one. Send it again when I have caught up, or say /stop to drop what waits.", gateway.LaneSize)
	model, heal := healing(hangs)
	bubble(t, model, func(s *stack) {
		s.say("a", "running")
		var flood []chat.Event
		for n := range gateway.LaneSize + 5 {
			flood = append(flood, s.event(ada, "a", private(fmt.Sprint(n))))
		}
		s.deliver(flood[:150]...)
		s.deliver(flood[140:]...) // some of them again
		s.want("a", full)
		s.say("a", "one more")
		s.want("a", full)
		s.say("b", "/whoami") // neither another chat nor the other lane
		if len(s.screen.texts("b")) != 1 {
			t.Error("another chat is held up")
		}
		heal()
		s.say("a", "/stop")
		s.want("a", full, "Stopped. I dropped 200 messages that waited.")
		s.say("a", "again")
		s.wantLast("a", "fine")
		for _, ev := range flood[:gateway.LaneSize+1] {
			s.settled(ev.ID)
		}
		s.deliver(flood...)
		s.wantLast("a", "fine") // what was refused is known
		s.free()
	})
}

// TestAFullLaneIsToldAgain when it was emptied in between, and when telling
// failed.
func TestAFullLaneIsToldAgain(t *testing.T) {
	t.Parallel()
	bubble(t, hangs, func(s *stack) {
		fill := func() {
			s.say("a", "running")
			for range gateway.LaneSize {
				s.accept("a", private("x"))
			}
		}
		fill()
		s.store.beforeApply(func([]storage.Op) error { return errors.New("disk full") })
		lost := s.event(ada, "a", private("lost"))
		if err := s.gateway.Accept(s.t.Context(), chat.Cursor{}, lost); err == nil {
			s.t.Fatal("accepted on a full disk")
		}
		s.store.beforeApply(nil)
		s.deliver(lost)
		synctest.Wait()
		if n := len(s.screen.texts("a")); n != 1 {
			t.Errorf("told %d times, want once", n)
		}
		s.say("a", "/stop")
		fill()
		s.accept("a", private("too much"))
		synctest.Wait()
		if n := len(s.screen.texts("a")); n != 3 {
			t.Errorf("told %d times in all with the stop, want 3:\n%s", n, list(s.screen.texts("a")))
		}
		press := s.event(ada, "a", chat.Pressed{Line: "/model main", Private: true})
		press.Ticket = "t1"
		s.deliver(press)
		synctest.Wait()
		if n := s.tickets("t1"); n != 1 {
			t.Errorf("the ticket of a refused press got %d posts, want 1", n)
		}
	})
}

// TestMalformedEvents are passed over: they can neither be stored nor hold up
// what comes with them, and a restart is not hurt by them.
func TestMalformedEvents(t *testing.T) {
	t.Parallel()
	bubble(t, echo, func(s *stack) {
		good := func() chat.Event { return s.event(ada, "bad", private("bad")) }
		list := map[string]func(*chat.Event){
			"no id":        func(ev *chat.Event) { ev.ID = "" },
			"no chat":      func(ev *chat.Event) { ev.Key = chat.Key{} },
			"half a chat":  func(ev *chat.Event) { ev.Key.Chat = "" },
			"no adapter":   func(ev *chat.Event) { ev.Key.Adapter = "" },
			"odd adapter":  func(ev *chat.Event) { ev.Key.Adapter = "a:b" },
			"no body":      func(ev *chat.Event) { ev.Body = nil },
			"from parley":  func(ev *chat.Event) { ev.From.ID = "parley:gateway" },
			"long id":      func(ev *chat.Event) { ev.ID = strings.Repeat("x", 8190) },
			"long chat":    func(ev *chat.Event) { ev.Key.Chat = strings.Repeat("x", 8190) },
			"long ticket":  func(ev *chat.Event) { ev.Ticket = strings.Repeat("x", 8190) },
			"id is binary": func(ev *chat.Event) { ev.ID = "x\xff" },
		}
		batch := []chat.Event{s.event(ada, "a", private("first"))}
		for _, spoil := range list {
			ev := good()
			spoil(&ev)
			batch = append(batch, ev)
		}
		batch = append(batch, s.event(ada, "a", private("second")))
		if err := s.gateway.Accept(s.t.Context(), chat.Cursor{Name: "c", Value: "1"}, batch...); err != nil {
			s.t.Fatalf("a batch with malformed events: %v", err)
		}
		s.want("a", "re: first", "re: second")
		s.want("bad")
		s.restart()
		s.say("a", "third")
		s.wantLast("a", "re: third")
	})
}

func TestTextsOfAllKinds(t *testing.T) {
	t.Parallel()
	bubble(t, echo, func(s *stack) {
		for _, text := range []string{"\xff\xfe", "a\x00b", "\u202eevil", strings.Repeat("🙂", 10000), "/", "//", "/etc/passwd", "see /stop", "\n/\n"} {
			id := s.say("a", text)
			s.settled(id)
		}
		s.free()
	})
}

func TestUnknownPeople(t *testing.T) {
	t.Parallel()
	bubble(t, echo, func(s *stack) {
		hi := s.acceptFrom(eve, "e", private("hello"))
		who := s.acceptFrom(eve, "e", private("/whoami"))
		stop := s.acceptFrom(eve, "e", private("/stop"))
		help := s.acceptFrom(eve, "e", private("/help"))
		synctest.Wait()
		got := s.screen.texts("e")
		if len(got) != 3 || !strings.Contains(got[0], "pairing code") || !strings.Contains(got[1], "fake:3") {
			s.t.Fatalf("the stranger reads\n%s", list(got))
		}
		if strings.Contains(got[2], "/stop") || !strings.Contains(got[2], "`/claim CODE`") {
			t.Errorf("/help for a stranger: %q", got[2])
		}
		s.settled(hi, who, help)
		if n := len(s.settlements()[stop]); n != 0 {
			t.Errorf("/stop of a stranger was answered %d times", n)
		}
		if n := len(s.main().requests()); n != 0 {
			t.Error("a stranger reached the model")
		}
		code := regexp.MustCompile("`/pair ([^`]+)`").FindStringSubmatch(got[0])[1]
		s.say("a", "/pair "+code)
		s.wantLast("e", "You have been let in: you are a member here now. /help lists what you can do.")
		s.acceptFrom(eve, "e", private("thanks"))
		s.wantLast("e", "re: thanks")
		s.free()
	})
}

func TestGroupsThatAreNotAllowed(t *testing.T) {
	t.Parallel()
	bubble(t, echo, func(s *stack) {
		s.acceptFrom(bob, "elsewhere", called("hello"))
		s.accept("group", chat.Said{Text: "not for you"})
		s.accept("group", chat.Said{Text: "/stop@otherbot"})
		s.accept("group", chat.Said{Text: "/stop@otherbot", Addressed: true}) // it is ours by name
		synctest.Wait()
		s.want("elsewhere")
		s.want("group", "Nothing is running here.")
		s.accept("group", chat.Said{Text: "/mention always"})
		synctest.Wait()
		s.accept("group", chat.Said{Text: "now?"})
		s.accept("group", chat.Said{Text: "/start@otherbot"})
		s.accept("group", chat.Said{Text: "/stop@otherbot"})
		synctest.Wait()
		got := s.screen.texts("group")
		if len(got) != 3 || got[2] != "re: [Ada] now?" {
			t.Errorf("the group reads\n%s", list(got))
		}
		s.free()
	})
}

// TestAccessIsTakenBack while a turn runs, while messages wait, and in the
// chats of others.
func TestAccessIsTakenBack(t *testing.T) {
	t.Parallel()
	arranged(t, slowly(time.Minute, echo), func(s *stack) { s.access.DM = access.Allowlist }, func(s *stack) {
		s.say("a", "/role fake:2 member")
		s.say("a", "/role fake:3 member")
		mine := s.say("a", "mine")
		group := s.accept("group", called("ours"))
		inGroup := s.acceptFrom(bob, "group", called("and mine"))
		running := s.acceptFrom(bob, "b", private("running"))
		waits := s.acceptFrom(bob, "b", private("waits"))
		other := s.acceptFrom(eve, "e", private("other"))
		time.Sleep(time.Second)
		role := s.say("a", "/role fake:2 none")
		late := s.acceptFrom(bob, "b", private("late"))
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if got := s.screen.texts("b"); len(got) != 2 || got[0] != "Stopped. I dropped 1 message that waited." || !strings.Contains(got[1], "taken away") {
			t.Errorf("Bob reads\n%s", list(got))
		}
		s.want("group", "Nothing was running. I dropped 1 message that waited.", "re: [Ada] ours")
		s.want("e", "re: other")
		s.wantLast("a", "re: mine")
		s.settled(mine, group, inGroup, running, waits, other, role, late)
		s.free()
	})
}

// TestAccessTakenBackFromTheCommandLine does the same.
func TestAccessTakenBackFromTheCommandLine(t *testing.T) {
	t.Parallel()
	bubble(t, slowly(time.Minute, echo), func(s *stack) {
		s.say("a", "/role fake:2 member")
		id := s.acceptFrom(bob, "b", private("running"))
		synctest.Wait()
		if _, err := s.gateway.Remove(s.t.Context(), bob.ID); err != nil {
			s.t.Fatal(err)
		}
		s.want("b", "Stopped.")
		s.settled(id)
		if _, err := s.gateway.Remove(s.t.Context(), bob.ID); !errors.Is(err, gateway.ErrRefused) {
			t.Errorf("removing twice: %v", err)
		}
		s.free()
	})
}

// TestAccessIsTakenBackWhileATurnBegins: the message was accepted, and its
// turn began, between the look at who is busy and the commit.
func TestAccessIsTakenBackWhileATurnBegins(t *testing.T) {
	t.Parallel()
	bubble(t, slowly(time.Hour, echo), func(s *stack) {
		s.say("a", "/role fake:2 member")
		var once atomic.Bool
		s.store.beforeApply(func(ops []storage.Op) error {
			role := slices.ContainsFunc(ops, func(op storage.Op) bool {
				put, ok := op.(storage.Put)
				return ok && put.Table == "access_roster"
			})
			if role && once.CompareAndSwap(false, true) {
				ev := chat.Event{ID: "sly", Key: key("b"), From: bob, Body: private("quick")}
				if err := s.gateway.Accept(context.Background(), chat.Cursor{}, ev); err != nil {
					t.Error(err)
				}
				time.Sleep(time.Second)
			}
			return nil
		})
		s.accept("a", private("/role fake:2 none"))
		time.Sleep(time.Minute)
		s.want("b", "Stopped.")
		s.settled("sly")
		s.free()
	})
}

func TestAMessageOfSomebodyWhoIsGoneIsDismissed(t *testing.T) {
	t.Parallel()
	bubble(t, echo, func(s *stack) {
		// Accepted by an earlier process, whose configuration still had him.
		ev := s.event(bob, "b", private("hello"))
		s.enqueue(ev)
		s.want("b", "You may no longer talk to me here, so I did not read your message. An owner can let you in again.")
		s.settled(ev.ID)
		if n := len(s.main().requests()); n > 0 {
			t.Error("it reached the model")
		}
		s.free()
	})
}

// TestRevocationLeavesOthersAlone: an answer that is not shown yet stays, when
// access of somebody else is taken back.
func TestRevocationLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	bubble(t, inTurn(calls("I look.", "c1"), slowly(time.Minute, echo)), func(s *stack) {
		s.say("a", "/role fake:2 member")
		s.screen.fail(func(p chat.Part) error {
			if p.Kind == chat.Answer {
				return errAway
			}
			return nil
		})
		id := s.say("a", "hello")
		s.say("b", "/role fake:2 none")
		s.screen.fail(nil)
		time.Sleep(10 * time.Minute)
		got := s.screen.texts("a")
		if !slices.Equal(got[1:], []string{"I look.", "re:"}) {
			t.Errorf("the chat shows\n%s", list(got))
		}
		s.settled(id)
		s.wantEnds("a", session.Final)
	})
}
