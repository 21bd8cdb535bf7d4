package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
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

var errDisk = errors.New("disk full")

// TestABrokenDiskIsWaitedOut, at whichever commit of a turn it breaks.
func TestABrokenDiskIsWaitedOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		hits func([]storage.Op) bool
	}{
		{"taking messages", func(ops []storage.Op) bool { return logs(ops) && len(finishes(ops)) > 0 }},
		{"anything of the log", logs},
		{"commands", func(ops []storage.Op) bool { return !logs(ops) && len(finishes(ops)) > 0 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, inTurn(calls("I look.", "c1"), says("fine")), func(s *stack) {
				var failed atomic.Int32
				s.store.beforeApply(func(ops []storage.Op) error {
					if c.hits(ops) {
						failed.Add(1)
						return errDisk
					}
					return nil
				})
				one, two := s.accept("a", private("hello")), s.accept("a", private("/status"))
				time.Sleep(5 * time.Minute)
				s.store.beforeApply(nil)
				time.Sleep(time.Minute)
				if got := s.screen.texts("a"); !slices.Contains(got, "I look.") || !slices.Contains(got, "fine") || len(got) != 3 {
					t.Errorf("the chat shows\n%s", list(got))
				}
				if failed.Load() == 0 {
					t.Error("the disk never failed")
				}
				s.settled(one, two)
				s.wantEnds("a", session.Final)
				s.free()
			})
		})
	}
}

// TestABrokenDiskDoesNotHoldUpTheEnd: parley gives up when its time is over,
// and the next process goes on.
func TestABrokenDiskDoesNotHoldUpTheEnd(t *testing.T) {
	t.Parallel()
	bubble(t, slowly(time.Second, says("fine")), func(s *stack) {
		id := s.say("a", "hello")
		s.store.beforeApply(func([]storage.Op) error { return errDisk })
		time.Sleep(time.Minute)
		before := time.Now()
		s.restart()
		if took := time.Since(before); took > 2*s.config.Grace {
			t.Errorf("the end took %s", took)
		}
		time.Sleep(time.Minute)
		s.want("a", "fine")
		s.settled(id)
		s.free()
	})
}

// TestASecondWriterIsFencedOff: somebody else wrote to the log while a turn
// ran. Nothing is written over; the conversation is read anew and goes on.
func TestASecondWriterIsFencedOff(t *testing.T) {
	t.Parallel()
	bubble(t, slowly(time.Minute, echo), func(s *stack) {
		id := s.say("a", "hello")
		turn := bodies[session.TurnStarted](s, "a")[0].Turn
		data, _ := json.Marshal(map[string]any{"at": time.Now(), "kind": "noted", "body": session.Noted{Text: "from elsewhere"}})
		err := s.store.Apply(s.t.Context(), storage.Append{
			Stream: "session/" + turn[:strings.Index(turn, ".")], After: storage.Anywhere,
			Entries: []storage.Entry{{ID: "elsewhere", Data: data}},
		})
		if err != nil {
			s.t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		s.want("a", "re: hello\n\n(from elsewhere)")
		s.settled(id)
		s.wantEnds("a", session.Final)
		s.free()
	})
}

// moody is a front that panics where nothing catches it but the actor's own
// guard.
type moody struct {
	session.Front
	ill func(chat.Event) bool
}

func (f moody) Command(ev chat.Event) bool {
	if f.ill(ev) {
		panic("cannot tell")
	}
	return f.Front.Command(ev)
}

// TestAConversationThatFailsOverAndOver delays no other, hears /stop all the
// same, and does not hold up the end.
func TestAConversationThatFailsOverAndOver(t *testing.T) {
	t.Parallel()
	arranged(t, echo, func(s *stack) {
		s.front = func(f session.Front) session.Front {
			return moody{f, func(ev chat.Event) bool {
				said, ok := ev.Body.(chat.Said)
				return ok && said.Text == "poison"
			}}
		}
	}, func(s *stack) {
		poison, behind := s.accept("a", private("poison")), s.accept("a", private("behind"))
		time.Sleep(10 * time.Minute)
		s.say("b", "hello")
		s.want("b", "re: hello")
		s.want("a")
		before := time.Now()
		s.restart()
		if took := time.Since(before); took > time.Second {
			t.Errorf("the end took %s", took)
		}
		stop := s.say("a", "/stop")
		time.Sleep(2 * time.Minute)
		s.want("a", "Nothing was running. I dropped 2 messages that waited.")
		s.settled(poison, behind, stop)
		s.say("a", "well?")
		time.Sleep(2 * time.Minute)
		s.wantLast("a", "re: well?")
		s.free()
	})
}

// TestATurnBesideAFailingActorIsEnded: the actor fails while its turn runs; the
// turn does not go on without it.
func TestATurnBesideAFailingActorIsEnded(t *testing.T) {
	t.Parallel()
	var running atomic.Int32
	model := slowly(time.Minute, endless())
	arranged(t, func(ctx context.Context, req llm.Request, each func(llm.Delta)) (llm.Reply, error) {
		if running.Add(1) > 1 {
			t.Error("two turns of one conversation ask at once")
		}
		defer running.Add(-1)
		return model(ctx, req, each)
	}, func(s *stack) {
		s.config.MaxRounds = 3
		s.front = func(f session.Front) session.Front {
			return moody{f, func(ev chat.Event) bool {
				said, ok := ev.Body.(chat.Said)
				return ok && said.Text == "poison" && running.Load() == 0
			}}
		}
	}, func(s *stack) {
		id := s.say("a", "hello")
		poison := s.accept("a", private("poison"))
		time.Sleep(30 * time.Minute)
		stop := s.say("a", "/stop")
		time.Sleep(10 * time.Minute)
		s.settled(id, poison, stop)
		s.ends("a")
		s.free()
	})
}

// TestAnUnreadableEventIsSetAside and holds up nothing.
func TestAnUnreadableEventIsSetAside(t *testing.T) {
	t.Parallel()
	bubble(t, echo, func(s *stack) {
		for _, lane := range []string{session.Control, session.Messages} {
			err := s.store.Apply(s.t.Context(), storage.Enqueue{
				Queue: session.Inbox, ID: "torn/" + lane, Key: key("a").String(), Lane: lane, Data: []byte(`{"kind":"of a later version"}`),
			})
			if err != nil {
				s.t.Fatal(err)
			}
		}
		s.say("a", "hello")
		s.want("a", "re: hello")
		dead, err := s.store.Items(s.t.Context(), session.Inbox, storage.Filter{State: storage.StateDead}, 0, 10)
		if err != nil || len(dead) != 2 || !strings.Contains(dead[0].Reason, "of a later version") {
			t.Errorf("set aside: %+v, %v", dead, err)
		}
		s.free()
	})
}

// TestManyCommands of all kinds at once are all answered, in order.
func TestManyCommands(t *testing.T) {
	t.Parallel()
	bubble(t, echo, func(s *stack) {
		var batch []chat.Event
		for n := range 190 {
			line := []string{"/model main", "/clear", "/new", "/model auto", "/compact"}[n%5]
			batch = append(batch, s.event(ada, "a", private(line)))
		}
		for range 190 {
			batch = append(batch, s.event(ada, "a", private("/whoami")))
		}
		s.deliver(batch...)
		synctest.Wait()
		if got := len(s.screen.texts("a")); got != len(batch) {
			t.Errorf("%d replies to %d commands", got, len(batch))
		}
		var ids []string
		for _, ev := range batch {
			ids = append(ids, ev.ID)
		}
		s.settled(ids...)
		s.free()
	})
}
