package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/core/chat"
	"parley/storage"
)

var (
	errAnswer = errors.New("503 from the platform")
	errLost   = &net.OpError{Op: "dial", Err: errors.New("no route to host")}
	errNever  = fmt.Errorf("bot was kicked: %w", chat.ErrPermanent)
)

// The wait is exactly as long as asked for, in the whole chat; then the same
// part again, not as a repetition; then one message a second until a minute
// passed without another wait.
func TestSTR01WaitsExactlyAsAsked(t *testing.T) {
	play(t, func(w *world) {
		w.set(once(is("deliver a#0"), chat.RetryAfter(33*time.Second)))
		w.show(room, answer("a", "1|2|3"))
		w.show(room, notice("n", "n"))
		w.show(other, answer("b", "not held"))
		w.stands(other, "not held")
		w.pass(33*time.Second - 1)
		w.saw("deliver a#0", "deliver b#0")
		w.pass(1)
		w.saw("deliver n#0")
		w.pass(3 * time.Second)
		w.saw("deliver a#0", "deliver a#1", "deliver a#2")
		w.pass(time.Minute)
		w.show(room, answer("c", "1|2|3"))
		w.saw("deliver c#0", "deliver c#1", "deliver c#2")
	})
}

func TestSTR01PreviewsCollapseWhileHeld(t *testing.T) {
	play(t, func(w *world) {
		w.traits.PreviewEvery = time.Second
		w.box.Draft(room, "a", "one")
		w.pass(time.Second)
		w.set(once(is("edit m1 two"), chat.RetryAfter(33*time.Second)))
		for _, text := range []string{"two", "three", "four", "five"} {
			w.box.Draft(room, "a", text)
			w.pass(time.Second)
		}
		w.saw("deliver a#preview", "edit m1 two")
		w.pass(29 * time.Second)
		w.saw("edit m1 five")
		w.show(room, answer("a", "five and more"))
		w.pass(time.Second)
		w.stands(room, "five and more")
	})
}

func TestAmbiguousErrorMakesUnsure(t *testing.T) {
	play(t, func(w *world) {
		w.set(once(is("deliver a#1"), errAnswer))
		w.show(room, answer("a", "1|2|3"))
		w.pass(2 * time.Second)
		w.saw("deliver a#0", "deliver a#1", "deliver a#1 unsure", "deliver a#2")
	})
}

func TestPatienceEndsAfterTwoMinutesOfAnswers(t *testing.T) {
	play(t, func(w *world) {
		w.set(always(is2("a#0"), errAnswer))
		w.show(room, answer("a", "1|2"), answer("b", "3"))
		w.pass(2*time.Minute - 1)
		if n := len(w.dead()); n != 0 {
			t.Error("dead too early")
		}
		w.stands(room, "")
		w.pass(1)
		dead := w.dead()
		if len(dead) != 1 || dead[0].ID != "a" || !strings.Contains(dead[0].Reason, "503") {
			t.Fatalf("dead letters %+v", dead)
		}
		w.stands(room, "Part of this answer could not be shown. 3")
	})
}

// Waiting as told wears no patience, however long it is.
func TestHoldWearsNoPatience(t *testing.T) {
	play(t, func(w *world) {
		ends := []error{errAnswer, chat.RetryAfter(10 * time.Minute), errAnswer}
		w.set(func(context.Context, call) error {
			if len(ends) == 0 {
				return nil
			}
			end := ends[0]
			ends = ends[1:]
			return end
		})
		w.show(room, answer("a", "1"))
		w.pass(12 * time.Minute)
		w.stands(room, "1")
	})
}

// is2 matches a delivery of a part, sure or not.
func is2(part string) func(call) bool {
	return func(c call) bool { return c.verb == "deliver" && c.part.ID == part }
}

func TestOutageLosesNothing(t *testing.T) {
	for name, err := range map[string]error{
		"no route": errLost,
		"wrapped":  fmt.Errorf("sending: %w", errLost),
		"too slow": context.DeadlineExceeded,
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(w *world) {
				w.set(always(verb("deliver"), err))
				w.show(room, answer("a", "1|2"))
				w.pass(24 * time.Hour)
				if len(w.dead()) != 0 {
					t.Fatal("lost in an outage")
				}
				w.set(nil)
				w.pass(time.Minute)
				w.stands(room, "1 2")
			})
		})
	}
}

// A part that cuts the connection each time while others get through is not
// waited for without end.
func TestConnectionErrorsCountWhileThePlatformAnswers(t *testing.T) {
	play(t, func(w *world) {
		w.set(always(is2("a#0"), errLost))
		w.show(room, answer("a", "poison"), answer("b", "next"))
		for i := range 30 {
			w.pass(10 * time.Second)
			w.show(other, answer(fmt.Sprint("o", i), "x"))
		}
		if len(w.dead()) != 1 {
			t.Errorf("%d dead letters", len(w.dead()))
		}
		w.stands(room, "Part of this answer could not be shown. next")
	})
}

func TestEachCallHasALimit(t *testing.T) {
	play(t, func(w *world) {
		w.set(func(ctx context.Context, c call) error {
			if c.part.Unsure {
				return nil
			}
			<-ctx.Done()
			return errors.New("gave up in my own words")
		})
		w.show(room, answer("a", "1"))
		w.pass(time.Minute)
		w.saw("deliver a#0")
		w.pass(time.Second)
		w.saw("deliver a#0 unsure")
	})
}

func TestLargeFilesGetMoreTime(t *testing.T) {
	play(t, func(w *world) {
		w.set(func(ctx context.Context, c call) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(2 * time.Minute):
				return nil
			}
		})
		p := answer("a", "1")
		p.Files = []chat.File{{Name: "film", Size: 8 << 20}}
		w.show(room, p)
		w.pass(2 * time.Minute)
		w.saw("deliver a#0")
		w.stands(room, "1")
	})
}

func TestPanicOfAnAdapterIsAnError(t *testing.T) {
	play(t, func(w *world) {
		panics := true
		w.set(func(context.Context, call) error {
			if panics {
				panics = false
				panic("bug")
			}
			return nil
		})
		w.show(room, answer("a", "1"))
		w.pass(time.Second)
		w.saw("deliver a#0", "deliver a#0 unsure")
	})
}

func TestRefusedPartMakesADeadLetter(t *testing.T) {
	tests := map[string]struct {
		post   chat.Post
		refuse string
		screen string
	}{
		"answer, nothing shown": {answer("a", "1|2"), "a#0", "Part of this answer could not be shown."},
		"answer, half shown":    {answer("a", "1|2|3"), "a#1", "1 Part of this answer could not be shown."},
		"notice, nothing shown": {notice("a", "1|2"), "a#0", ""},
		"notice, half shown":    {notice("a", "1|2"), "a#1", "1 Part of this answer could not be shown."},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			play(t, func(w *world) {
				w.set(always(is2(test.refuse), errNever))
				w.show(room, test.post)
				w.stands(room, test.screen)
				if dead := w.dead(); len(dead) != 1 || !strings.Contains(dead[0].Reason, "kicked") {
					t.Errorf("dead letters %+v", dead)
				}
			})
		})
	}
}

func TestApologiesDoNotLoop(t *testing.T) {
	play(t, func(w *world) {
		w.set(always(verb("deliver"), errNever))
		w.show(room, answer("a", "1"))
		w.pass(time.Hour)
		w.saw("deliver a#0", "deliver a/sorry#0")
		if len(w.dead()) != 1 {
			t.Errorf("%d dead letters", len(w.dead()))
		}
	})
}

func TestUnrenderablePostIsADeadLetter(t *testing.T) {
	tests := map[string]func(chat.Key, chat.Post) ([]chat.Part, error){
		"error": func(chat.Key, chat.Post) ([]chat.Part, error) { return nil, errAnswer },
		"panic": func(chat.Key, chat.Post) ([]chat.Part, error) { panic("bug") },
		"none":  func(chat.Key, chat.Post) ([]chat.Part, error) { return nil, nil },
		"markup": func(chat.Key, chat.Post) ([]chat.Part, error) {
			return []chat.Part{{Text: "x", Markup: []byte("{")}}, nil
		},
	}
	for name, render := range tests {
		t.Run(name, func(t *testing.T) {
			play(t, func(w *world) {
				w.render = render
				w.show(room, notice("n", "x"))
				if len(w.dead()) != 1 {
					t.Errorf("%d dead letters", len(w.dead()))
				}
				w.saw()
			})
		})
	}
}

func TestUnreadablePostIsADeadLetter(t *testing.T) {
	play(t, func(w *world) {
		w.apply(storage.Enqueue{Queue: "outbox", ID: "x", Key: room.String(), Lane: "answer", Data: []byte("{")})
		w.show(room, answer("a", "1"))
		w.stands(room, "1")
		if dead := w.dead(); len(dead) != 1 || dead[0].ID != "x" {
			t.Errorf("dead letters %+v", dead)
		}
	})
}

func TestDeadLetterIsRevivedAtTheNextPart(t *testing.T) {
	play(t, func(w *world) {
		w.set(always(is2("a#1"), errNever))
		w.show(room, notice("a", "1|2|3"))
		w.log()
		w.set(nil)
		if err := w.box.Revive(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		w.saw("deliver a#1", "deliver a#2")
		if err := w.box.Revive(t.Context(), "a"); err == nil {
			t.Error("reviving twice is no error")
		}
		if err := w.box.Drop(t.Context(), "never heard of"); err == nil {
			t.Error("dropping nothing is no error")
		}
	})
}

func TestDeadLetterOfUnknownFateIsUnsureWhenRevived(t *testing.T) {
	play(t, func(w *world) {
		w.set(always(is2("a#0"), errAnswer))
		w.show(room, notice("a", "1"))
		w.pass(2 * time.Minute)
		w.log()
		w.set(nil)
		if err := w.box.Revive(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		w.saw("deliver a#0 unsure")
	})
}

func TestDroppedDeadLetterIsGone(t *testing.T) {
	play(t, func(w *world) {
		w.set(always(is2("a#0"), errNever))
		w.show(room, notice("a", "1"))
		if err := w.box.Drop(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if len(w.dead()) != 0 {
			t.Error("still there")
		}
	})
}

// The reply to a slash command whose token ran out is shown as a message.
func TestDeadTicketIsNotNeeded(t *testing.T) {
	play(t, func(w *world) {
		w.set(always(func(c call) bool { return c.part.Ticket != "" }, errNever))
		w.show(room, chat.Post{ID: "a", Ticket: "x", Text: "1|2", Kind: chat.Notice})
		w.saw("deliver a#0", "deliver a#0", "deliver a#1")
		w.stands(room, "1 2")
	})
}

func only(id, text string) chat.Post {
	return chat.Post{ID: id, Text: text, Kind: chat.Notice, For: ada, Only: true, Ticket: "x", ReplyTo: "m9"}
}

func TestOnlyGoesToThePrivateChat(t *testing.T) {
	tests := map[string]struct {
		prepare func(w *world)
		room    string
		private string
		receipt string
	}{
		"ephemeral":  {func(w *world) {}, "1", "", "[[m1]]"},
		"private":    {func(w *world) { w.traits.Ephemeral, w.traits.Private = false, true }, "1", "", "[[m1]]"},
		"group":      {func(w *world) { w.traits.Ephemeral = false }, "", "1", "[[m1]]"},
		"dead":       {func(w *world) { w.set(once(is("deliver a#0"), errNever)) }, "", "1", "[[m1]]"},
		"nowhere":    {func(w *world) { w.traits.Ephemeral = false; w.opts.PrivateChat = nil; w.restart() }, "", "", "[]"},
		"unwelcome":  {func(w *world) { w.traits.Ephemeral = false; w.set(always(verb("deliver"), errNever)) }, "", "", "[]"},
		"same after": {func(w *world) { w.traits.Ephemeral = false; w.opts.PrivateChat = itself; w.restart() }, "1", "", "[[m1]]"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			play(t, func(w *world) {
				w.private = map[chat.Key]bool{private: true}
				w.opts.PrivateChat = func(_ context.Context, u chat.UserID) (chat.Key, bool) { return private, u == ada.ID }
				w.restart()
				test.prepare(w)
				w.show(room, only("a", "1"))
				w.stands(room, test.room)
				w.stands(private, test.private)
				if got := w.receipt("a"); got != test.receipt {
					t.Errorf("receipt %s, want %s", got, test.receipt)
				}
				if n := len(w.dead()); n != 0 {
					t.Errorf("%d dead letters", n)
				}
			})
		})
	}
}

func itself(context.Context, chat.UserID) (chat.Key, bool) { return room, true }

func TestFindings(t *testing.T) {
	play(t, func(w *world) {
		says := func() string {
			var all []string
			for _, f := range w.box.Findings(t.Context()) {
				all = append(all, string(f.Level)+" "+f.Says)
			}
			return strings.Join(all, "\n")
		}
		if got := says(); got != "ok No post waits." {
			t.Errorf("idle: %s", got)
		}
		w.set(func(_ context.Context, c call) error {
			switch c.part.Post {
			case "dead":
				return errNever
			case "held":
				return chat.RetryAfter(time.Hour)
			default:
				return errLost
			}
		})
		w.show(chat.Key{Adapter: "gone", Chat: "1"}, notice("x", "x"))
		w.show(room, notice("dead", "x"), notice("held", "x"))
		w.show(other, notice("lost", "x"))
		w.pass(3 * time.Minute)
		want := "warn 3 posts wait, the oldest for 3m0s.\n" +
			"warn 1 post waits for adapter \"gone\", which is not configured.\n" +
			"warn fake asks to wait in 1 chat.\n" +
			"warn fake fails in 1 chat, at last with: dial: no route to host.\n" +
			"warn 1 post could not be shown, the last one because: bot was kicked: permanent."
		if got := says(); got != want {
			t.Errorf("findings\n%s\nwant\n%s", got, want)
		}
	})
}
