package outbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"parley/core/chat"
	"parley/core/outbox"
	"parley/storage"
)

func TestShowsAPostWithReceipt(t *testing.T) {
	play(t, func(w *world) {
		w.show(room, answer("a", "hello"))
		w.saw("deliver a#0")
		if got := w.receipt("a"); got != "[[m1]]" {
			t.Errorf("receipt %s", got)
		}
		w.show(room, answer("a", "again"))
		w.saw()
		if n := w.box.Lines(); n != 0 {
			t.Errorf("%d lines live without work", n)
		}
		if n, err := w.box.Waiting(t.Context()); n != 0 || err != nil {
			t.Errorf("%d wait, %v", n, err)
		}
	})
}

func TestStampsPartsOfAPost(t *testing.T) {
	play(t, func(w *world) {
		p := answer("a", "x|y")
		p.Answers = []string{"event"}
		w.show(room, p)
		calls := w.log()
		if len(calls) != 2 {
			t.Fatalf("%d calls", len(calls))
		}
		first, last := calls[0].part, calls[1].part
		if first.Last || first.Answers != nil || first.Post != "a" {
			t.Errorf("first part %+v", first)
		}
		if !last.Last || !slices.Equal(last.Answers, []string{"event"}) {
			t.Errorf("last part %+v", last)
		}
	})
}

// What the store holds while a part is on its way is what a restart finds.
func TestStoresBeforeItGoesOn(t *testing.T) {
	type stored struct {
		Parts []chat.Part        `json:"parts"`
		Shown [][]chat.MessageID `json:"shown"`
	}
	play(t, func(w *world) {
		w.set(func(ctx context.Context, c call) error {
			item, err := w.shelf.Item(ctx, "outbox", "a")
			var s stored
			if err != nil || json.Unmarshal(item.Data, &s) != nil {
				t.Errorf("reading item: %v", err)
			}
			before := map[string]int{"a#0": 0, "a#1": 1, "a#2": 2}[c.part.ID]
			if len(s.Parts) != 3 || len(s.Shown) != before {
				t.Errorf("%s goes out with %d parts stored and %d receipts", c, len(s.Parts), len(s.Shown))
			}
			return nil
		})
		w.show(room, answer("a", "x|y|z"))
		w.stands(room, "x y z")
	})
}

func TestBeginsWithAllThatWaits(t *testing.T) {
	play(t, func(w *world) {
		w.stop()
		w.apply(outbox.Put(room, answer("a", "1")), outbox.Put(other, answer("b", "2")))
		w.start()
		w.stands(room, "1")
		w.stands(other, "2")
	})
}

func TestRunTwiceIsAnError(t *testing.T) {
	play(t, func(w *world) {
		if err := w.box.Run(t.Context()); err == nil {
			t.Error("no error")
		}
	})
}

func TestRunFailsWithoutAStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		s.die()
		box := outbox.New(s, nil, outbox.Options{})
		if err := box.Run(t.Context()); !errors.Is(err, storage.ErrClosed) {
			t.Errorf("Run: %v", err)
		}
	})
}

// gate holds calls until it is opened.
func gate(match func(call) bool) (before func(context.Context, call) error, open func()) {
	c := make(chan struct{})
	return func(ctx context.Context, got call) error {
		if !match(got) {
			return nil
		}
		select {
		case <-c:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}, func() { close(c) }
}

func TestLanesOvertakeBetweenPosts(t *testing.T) {
	play(t, func(w *world) {
		before, open := gate(is("deliver a#0"))
		w.set(before)
		w.show(room, answer("a", "1|2"), answer("b", "3"))
		w.show(room, notice("n", "n"), chat.Post{ID: "c", Kind: chat.Card, Text: "c"}, chat.Post{ID: "t", Ticket: "x", Text: "t"})
		open()
		synctest.Wait()
		w.saw("deliver a#0", "deliver a#1", "deliver t#0", "deliver n#0", "deliver c#0", "deliver b#0")
	})
}

func TestChatsDoNotWaitForEachOther(t *testing.T) {
	play(t, func(w *world) {
		before, open := gate(func(c call) bool { return c.key == room })
		w.set(before)
		w.show(room, answer("a", "1"))
		w.show(other, answer("b", "2"))
		w.stands(room, "")
		w.stands(other, "2")
		open()
	})
}

func TestLanesDoNotWaitForEachOther(t *testing.T) {
	play(t, func(w *world) {
		w.set(once(is("deliver a#0"), errors.New("503")))
		w.show(room, answer("a", "1|2"))
		w.show(room, notice("n", "n"))
		w.saw("deliver a#0", "deliver n#0")
		w.pass(time.Second)
		w.saw("deliver a#0 unsure", "deliver a#1")
	})
}

func TestStopLetsCallsEnd(t *testing.T) {
	play(t, func(w *world) {
		w.set(func(ctx context.Context, c call) error {
			time.Sleep(4 * time.Second)
			return ctx.Err()
		})
		w.show(room, answer("a", "1|2"))
		w.restart()
		w.saw("deliver a#0", "deliver a#1 unsure")
		w.pass(4 * time.Second)
		w.stands(room, "1 2")
	})
}

func TestStopEndsCallsAfterTheGrace(t *testing.T) {
	play(t, func(w *world) {
		before, _ := gate(verb("deliver"))
		w.set(before)
		w.show(room, answer("a", "1"))
		start := time.Now()
		w.stop()
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("stopped after %s of virtual time", took)
		}
		w.set(nil)
		w.start()
		w.saw("deliver a#0", "deliver a#0 unsure")
	})
}

// A receipt that the store does not take is offered again, and the part is
// not.
func TestStoreTroubleShowsNothingTwice(t *testing.T) {
	play(t, func(w *world) {
		fails := 3
		w.show(room)
		w.put(room, answer("a", "1"))
		w.shelf.mu.Lock()
		w.shelf.broken = func() error {
			if fails--; fails >= 0 {
				return errors.New("disk is full")
			}
			return nil
		}
		w.shelf.mu.Unlock()
		w.pass(time.Minute)
		w.saw("deliver a#0")
		if got := w.receipt("a"); got != "[[m1]]" {
			t.Errorf("receipt %s", got)
		}
	})
}

func TestWithoutButtonsTheLinesAreTyped(t *testing.T) {
	play(t, func(w *world) {
		w.traits.Buttons = false
		w.show(room, chat.Post{ID: "c", Kind: chat.Card, Text: "Run it?\n", Buttons: [][]chat.Button{
			{{Label: "Approve", Line: "/approve k7f3"}},
			{{Label: "Reject", Line: "/reject k7f3", Prompt: "why"}, {Label: "Odd", Line: "/answer k7f3 `x`"}},
		}})
		w.stands(room, "Run it?\n\n1. Approve: `/approve k7f3`\n2. Reject: `/reject k7f3 …` (why)\n3. Odd: `` /answer k7f3 `x` ``")
	})
}

func TestUnknownAdapterKeepsItsPosts(t *testing.T) {
	play(t, func(w *world) {
		w.show(chat.Key{Adapter: "gone", Chat: "1"}, answer("a", "1"))
		if n, _ := w.box.Waiting(t.Context()); n != 1 {
			t.Errorf("%d wait", n)
		}
	})
}
