package outbox_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"parley/core/chat"
	"parley/core/outbox"
)

func TestGRP07FollowsAChatThatMoved(t *testing.T) {
	play(t, func(w *world) {
		var told []string
		w.opts.Moved = func(_ context.Context, from, to chat.Key) error {
			told = append(told, from.String()+" "+to.String())
			return nil
		}
		w.restart()
		w.set(once(is("deliver a#1"), chat.Relocated{To: other}))
		w.box.Typing(room, true)
		w.show(room, answer("a", "1|2|3"), answer("b", "4"))
		w.stands(room, "1")
		w.stands(other, "2 3 4")
		if len(told) != 1 || told[0] != "fake:room fake:other" {
			t.Errorf("told %q", told)
		}
		w.show(room, answer("c", "late"))
		w.stands(other, "2 3 4 late")
		w.box.Typing(room, false)
		w.log()
		w.restart()
		w.show(room, answer("d", "later"))
		w.stands(other, "2 3 4 late later")
		w.saw("deliver d#0")
	})
}

// The new chat may be in use already; what waits for either comes in order.
func TestGRP07MergesWithTheNewChat(t *testing.T) {
	play(t, func(w *world) {
		w.set(func(_ context.Context, c call) error {
			if c.key == room {
				return chat.Relocated{To: other}
			}
			return nil
		})
		w.apply(outbox.Put(room, answer("a", "1")), outbox.Put(other, answer("b", "2")), outbox.Put(room, answer("c", "3")))
		w.box.Wake(room)
		synctest.Wait()
		w.stands(other, "1 2 3")
	})
}

// What the rest of the program cannot note now is tried again.
func TestMoveIsAnnouncedFirst(t *testing.T) {
	play(t, func(w *world) {
		tries := 0
		w.opts.Moved = func(context.Context, chat.Key, chat.Key) error {
			if tries++; tries == 1 {
				panic("bug")
			}
			return nil
		}
		w.restart()
		w.set(func(_ context.Context, c call) error {
			if c.key == room {
				return chat.Relocated{To: other}
			}
			return nil
		})
		w.show(room, answer("a", "1"))
		w.stands(other, "")
		w.pass(time.Second)
		w.stands(other, "1")
	})
}

// A chat that moved in the middle of a preview takes its text along.
func TestPreviewOfAChatThatMoved(t *testing.T) {
	play(t, func(w *world) {
		w.traits.PreviewEvery = time.Second
		w.set(func(_ context.Context, c call) error {
			if c.key == room {
				return chat.Relocated{To: other}
			}
			return nil
		})
		w.box.Draft(room, "a", "1")
		w.pass(time.Second)
		w.show(room, answer("a", "1 2"))
		w.stands(room, "")
		w.stands(other, "1 2")
	})
}

func TestMovingInCirclesIsAnError(t *testing.T) {
	play(t, func(w *world) {
		w.set(func(_ context.Context, c call) error {
			return chat.Relocated{To: map[chat.Key]chat.Key{room: other, other: room}[c.key]}
		})
		w.show(room, notice("a", "1"))
		w.pass(2 * time.Minute)
		if len(w.dead()) != 1 {
			t.Errorf("%d dead letters", len(w.dead()))
		}
	})
}
