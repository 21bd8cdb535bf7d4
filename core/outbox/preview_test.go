package outbox_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"parley/core/chat"
	"parley/core/outbox"
)

func TestPreviewBecomesThePost(t *testing.T) {
	play(t, func(w *world) {
		w.traits.PreviewEvery = time.Second
		w.box.Draft(room, "a", "on")
		synctest.Wait()
		w.box.Draft(room, "a", "one t")
		w.box.Draft(room, "a", "one tw")
		synctest.Wait()
		w.saw("deliver a#preview")
		w.pass(time.Second)
		w.saw("edit m1 one tw")
		w.show(room, answer("a", "one two|three"))
		w.saw("edit m1 one two", "deliver a#1")
		w.stands(room, "one two three")
		if got := w.receipt("a"); got != "[[m1] [m2]]" {
			t.Errorf("receipt %s", got)
		}
		w.box.Draft(room, "a", "late")
		w.pass(time.Minute)
		w.saw()
		if n := w.box.Lines(); n != 0 {
			t.Errorf("%d lines live", n)
		}
	})
}

func TestSTR02PreviewThatShowsAllNeedsNoEdit(t *testing.T) {
	play(t, func(w *world) {
		w.traits.PreviewEvery = time.Second
		w.box.Draft(room, "a", "done")
		synctest.Wait()
		w.box.Draft(room, "a", "done")
		w.pass(time.Second)
		w.show(room, answer("a", "done"))
		w.saw("deliver a#preview")
		w.stands(room, "done")
	})
}

func TestPreviewIsRenderedUnderTheEditLimit(t *testing.T) {
	play(t, func(w *world) {
		w.traits.PreviewEvery = time.Second
		w.box.Draft(room, "a", "1|2")
		synctest.Wait()
		w.show(room, answer("a", "1|2|3"))
		for _, p := range w.rendered {
			if p.Replaces != "a" {
				t.Errorf("rendered %+v", p)
			}
		}
		w.stands(room, "1 2 3")
	})
}

func TestPreviewIsTakenBack(t *testing.T) {
	play(t, func(w *world) {
		w.traits.PreviewEvery = time.Second
		w.box.Draft(room, "a", "one")
		synctest.Wait()
		w.box.Draft(room, "a", "")
		synctest.Wait()
		w.saw("deliver a#preview", "delete m1")
		w.stands(room, "")
	})
}

func TestDraftsAreSignals(t *testing.T) {
	play(t, func(w *world) {
		w.traits.PreviewEvery, w.traits.Drafts = time.Second, true
		for _, text := range []string{"1", "2", "3"} {
			w.box.Draft(room, "a", text)
			synctest.Wait()
		}
		w.pass(time.Second)
		w.saw("draft 1", "draft 3")
		w.box.Draft(room, "a", "4")
		w.show(room, answer("a", "5"))
		w.pass(time.Minute)
		w.saw("deliver a#0")
		w.box.Draft(room, "b", "1")
		synctest.Wait()
		w.box.Draft(room, "b", "")
		w.pass(time.Minute)
		w.saw("draft 1", "draft ")
	})
}

func TestNoPreviewWhereThereIsNone(t *testing.T) {
	for name, traits := range map[string]chat.Traits{
		"no pace":  {Edits: true, Drafts: true},
		"no means": {PreviewEvery: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(w *world) {
				w.traits = traits
				w.box.Draft(room, "a", "1")
				w.pass(time.Minute)
				w.saw()
			})
		})
	}
}

// A post waits for a preview call that is under way, for no other.
func TestPostGoesBeforePreviews(t *testing.T) {
	play(t, func(w *world) {
		w.traits.PreviewEvery = time.Second
		before, open := gate(is("deliver a#preview"))
		w.set(before)
		w.box.Draft(room, "a", "1")
		synctest.Wait()
		w.box.Draft(room, "other", "x")
		synctest.Wait()
		w.show(room, answer("a", "2"), answer("b", "3"))
		w.stands(room, "")
		open()
		synctest.Wait()
		w.stands(room, "2 3")
	})
}

func TestPreviewSurvivesARestart(t *testing.T) {
	tests := map[string]func(w *world){
		"in order": func(w *world) { w.restart() },
		"kill":     func(w *world) { w.kill() },
		"idle":     func(w *world) { w.pass(time.Hour) },
	}
	for name, end := range tests {
		t.Run(name, func(t *testing.T) {
			play(t, func(w *world) {
				w.traits.PreviewEvery = time.Second
				w.box.Draft(room, "a", "1")
				synctest.Wait()
				end(w)
				w.box.Draft(room, "a", "1 2")
				synctest.Wait()
				w.saw("deliver a#preview", "edit m1 1 2")
				end(w)
				w.show(room, answer("a", "1 2 3"))
				w.saw("edit m1 1 2 3")
			})
		})
	}
}

// A preview in flight at a kill is settled by asking the platform again; the
// post then takes it over.
func TestPreviewInFlightAtAKill(t *testing.T) {
	play(t, func(w *world) {
		w.traits.PreviewEvery = time.Second
		w.set(func(context.Context, call) error { w.shelf.die(); return nil })
		w.box.Draft(room, "a", "1")
		synctest.Wait()
		w.set(nil)
		w.kill()
		w.show(room, answer("a", "1 2"))
		w.saw("deliver a#preview", "deliver a#preview unsure", "edit m2 1 2")
	})
}

func TestPreviewOfUnknownFateIsSettled(t *testing.T) {
	play(t, func(w *world) {
		w.traits.PreviewEvery = time.Second
		w.set(once(is("deliver a#preview"), errAnswer))
		w.box.Draft(room, "a", "1")
		w.pass(time.Second)
		w.box.Draft(room, "a", "1 2")
		w.pass(3 * time.Second)
		w.saw("deliver a#preview", "deliver a#preview unsure", "edit m1 1 2")
	})
}

func TestRefusedPreviewIsGivenUp(t *testing.T) {
	play(t, func(w *world) {
		w.traits.PreviewEvery = time.Second
		w.set(once(is("deliver a#preview"), errNever))
		w.box.Draft(room, "a", "1")
		synctest.Wait()
		w.box.Draft(room, "a", "1 2")
		w.pass(500 * time.Millisecond)
		w.show(room, answer("a", "1 2 3"))
		w.saw("deliver a#preview", "deliver a#0")
	})
}

func TestPreviewThatIsGoneIsSentAnew(t *testing.T) {
	play(t, func(w *world) {
		w.traits.PreviewEvery = time.Second
		w.box.Draft(room, "a", "1")
		synctest.Wait()
		_ = w.fake.Delete(t.Context(), room, "m1")
		w.log()
		w.show(room, answer("a", "1 2"))
		w.saw("edit m1 1 2", "deliver a#0", "delete m1")
		w.stands(room, "1 2")
	})
}

// All chats of an adapter together stay below the rate for previews, and a
// post does not wait for it.
func TestPreviewsShareTheRateOfAPlatform(t *testing.T) {
	play(t, func(w *world) {
		w.traits.PreviewEvery, w.traits.Drafts = time.Second, true
		for i := range 60 {
			w.box.Draft(chat.Key{Adapter: "fake", Chat: fmt.Sprint(i)}, fmt.Sprint("p", i), "x")
		}
		synctest.Wait()
		if n := len(w.log()); n != 15 {
			t.Errorf("%d previews at once", n)
		}
		w.show(room, answer("a", "1"))
		w.saw("deliver a#0")
		w.pass(time.Second)
		if n := len(w.log()); n != 15 {
			t.Errorf("%d previews in a second", n)
		}
		w.pass(time.Minute)
	})
}

func TestDraftNeverBlocks(t *testing.T) {
	play(t, func(w *world) {
		w.traits.PreviewEvery = time.Second
		before, open := gate(verb("deliver"))
		w.set(before)
		for i := range 1000 {
			w.box.Draft(room, "a", fmt.Sprint(i))
		}
		synctest.Wait()
		open()
		w.pass(time.Second)
		w.stands(room, "999")
	})
}

func TestTypingIsRepeated(t *testing.T) {
	play(t, func(w *world) {
		w.box.Typing(room, false)
		w.box.Typing(room, true)
		w.box.Typing(room, true)
		w.pass(8 * time.Second)
		w.saw("typing", "typing", "typing")
		w.box.Typing(room, false)
		w.pass(time.Minute)
		w.saw()
		if n := w.box.Lines(); n != 0 {
			t.Errorf("%d lines live", n)
		}
	})
}

func TestTypingIsHeldWithTheChat(t *testing.T) {
	play(t, func(w *world) {
		w.set(once(verb("typing"), chat.RetryAfter(20*time.Second)))
		w.box.Typing(room, true)
		synctest.Wait()
		w.show(room, answer("a", "1"))
		w.pass(19 * time.Second)
		w.saw("typing")
		w.pass(time.Second)
		w.saw("deliver a#0")
		w.box.Typing(room, false)
		w.pass(2 * time.Minute)
	})
}

func TestPostDoesNotWaitForTyping(t *testing.T) {
	play(t, func(w *world) {
		before, open := gate(verb("typing"))
		w.set(before)
		w.box.Typing(room, true)
		synctest.Wait()
		w.show(room, answer("a", "1"))
		w.saw("typing", "deliver a#0")
		open()
		w.box.Typing(room, false)
	})
}

func TestNoTypingWhereThereIsNone(t *testing.T) {
	play(t, func(w *world) {
		w.traits.Typing = false
		w.box.Typing(room, true)
		w.pass(time.Minute)
		w.saw()
	})
}

func TestWithdraw(t *testing.T) {
	play(t, func(w *world) {
		w.traits.PreviewEvery = time.Second
		w.box.Draft(room, "b", "pre")
		synctest.Wait()
		w.show(room, notice("old", "card"))
		before, open := gate(is("deliver a#1"))
		w.set(before)
		a, b := answer("a", "1|2|3"), answer("b", "4")
		b.Answers = []string{"e1", "e2"}
		settled := replacing("old", notice("s", "settled"))
		settled.Turn = "t1"
		w.show(room, a, b, answer("x", "5"))
		w.show(room, settled)
		w.apply(outbox.Put(room, chat.Post{ID: "later", Text: "6", Turn: "t2"}))
		got, err := w.box.Withdraw(t.Context(), room, "t1")
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got.Posts, got.Answers, len(got.Ops)) != "[a b x] [e1 e2] 3" {
			t.Errorf("withdrawn %+v", got)
		}
		w.apply(got.Ops...)
		w.box.Wake(room)
		synctest.Wait()
		w.stands(room, "pre card 1")
		open()
		w.pass(time.Second)
		w.stands(room, "settled 1 2 6")
	})
}

func TestWithdrawNothing(t *testing.T) {
	play(t, func(w *world) {
		got, err := w.box.Withdraw(t.Context(), room, "")
		if err != nil || len(got.Ops) != 0 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// A preview whose post was withdrawn just before a kill goes at the start.
func TestForsakenPreviewGoesAtTheStart(t *testing.T) {
	play(t, func(w *world) {
		w.traits.PreviewEvery = time.Second
		w.box.Draft(room, "a", "pre")
		synctest.Wait()
		w.set(always(is("edit m1 final"), chat.RetryAfter(time.Hour)))
		w.show(room, answer("a", "final"))
		got, _ := w.box.Withdraw(t.Context(), room, "t1")
		w.apply(got.Ops...)
		w.kill()
		w.stands(room, "")
	})
}
