package outbox_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"parley/core/chat"
	"parley/core/outbox"
)

// replacing makes a post that replaces another.
func replacing(old string, p chat.Post) chat.Post {
	p.Replaces = old
	return p
}

func TestReplacesByEdit(t *testing.T) {
	tests := map[string]struct {
		old, new string
		want     []string
		receipt  string
	}{
		"one by one":    {"1", "x", []string{"edit m1 x"}, "[[m1]]"},
		"same":          {"1", "1", nil, "[[m1]]"},
		"more":          {"1", "x|y", []string{"edit m1 x", "deliver b#1"}, "[[m1] [m2]]"},
		"fewer":         {"1|2|3", "x", []string{"edit m1 x", "delete m2", "delete m3"}, "[[m1]]"},
		"only one edit": {"1|2", "1|y", []string{"edit m2 y"}, "[[m1] [m2]]"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			play(t, func(w *world) {
				w.show(room, notice("a", test.old))
				w.log()
				w.show(room, replacing("a", notice("b", test.new)))
				w.saw(test.want...)
				if got := w.receipt("b"); got != test.receipt {
					t.Errorf("receipt %s, want %s", got, test.receipt)
				}
			})
		})
	}
}

// The adapter learns from Replaces that the edit limit holds, and that it does
// not when nothing is edited.
func TestRenderLearnsOfEdits(t *testing.T) {
	play(t, func(w *world) {
		w.show(room, notice("a", "1"))
		w.show(room, replacing("a", notice("b", "2")))
		w.show(room, replacing("unknown", notice("c", "3")))
		for i, want := range []string{"", "a", ""} {
			if got := w.rendered[i].Replaces; got != want {
				t.Errorf("post %d rendered as replacing %q, want %q", i, got, want)
			}
		}
	})
}

func TestReplacesInAChain(t *testing.T) {
	play(t, func(w *world) {
		w.show(room, notice("a", "1|2"))
		w.show(room, replacing("a", notice("b", "3|4|5")))
		w.show(room, replacing("b", notice("c", "6")))
		w.stands(room, "6")
		if got := w.receipt("c"); got != "[[m1]]" {
			t.Errorf("receipt %s", got)
		}
	})
}

// What was never begun is dropped, and what it would have taken over and
// settled passes on.
func TestUnshownOriginalIsDropped(t *testing.T) {
	play(t, func(w *world) {
		w.show(room, notice("a", "1"))
		before, open := gate(is("deliver x#0"))
		w.set(before)
		w.show(room, notice("x", "busy"))
		b := replacing("a", notice("b", "2"))
		b.Answers = []string{"e1"}
		w.show(room, b, replacing("b", answer("c", "3")))
		open()
		synctest.Wait()
		w.stands(room, "3 busy")
		w.log()
		w.show(room, replacing("c", notice("d", "4")))
		w.saw("edit m1 4")
		if got := w.receipt("b"); got != "none" {
			t.Errorf("b has receipt %s", got)
		}
		if r, ok, _ := w.box.Receipt(t.Context(), "c"); !ok || len(r.Parts[0].Answers) != 1 {
			t.Errorf("c settles %v", r.Parts)
		}
	})
}

func TestOriginalInFlightIsAwaited(t *testing.T) {
	play(t, func(w *world) {
		w.set(once(is("deliver a#1"), errAnswer))
		w.show(room, answer("a", "1|2"))
		w.show(room, replacing("a", notice("b", "3")), notice("c", "behind"))
		w.stands(room, "1")
		w.pass(time.Second)
		w.stands(room, "3 behind")
	})
}

// An original that may have arrived is not dropped but settled first.
func TestOriginalOfUnknownFateIsAwaited(t *testing.T) {
	play(t, func(w *world) {
		w.set(once(is("deliver a#0"), errAnswer))
		w.show(room, answer("a", "1"))
		w.show(room, replacing("a", notice("b", "3")))
		w.pass(time.Second)
		w.saw("deliver a#0", "deliver a#0 unsure", "edit m1 3")
	})
}

func TestDeadOriginalIsOutdated(t *testing.T) {
	play(t, func(w *world) {
		w.set(always(is2("a#1"), errNever))
		w.show(room, notice("a", "1|2"))
		w.show(room, replacing("a", notice("b", "3")))
		w.stands(room, "3 Part of this answer could not be shown.")
		if len(w.dead()) != 0 {
			t.Error("the dead letter is still there")
		}
	})
}

func TestRefusedEditIsSentAnew(t *testing.T) {
	play(t, func(w *world) {
		w.show(room, notice("a", "1|2|3"))
		w.log()
		w.set(once(is("edit m2 y"), errNever))
		w.show(room, replacing("a", notice("b", "x|y|z")))
		w.saw("edit m1 x", "edit m2 y", "deliver b#1", "deliver b#2", "delete m2", "delete m3")
		w.stands(room, "x y z")
	})
}

func TestOldMessageThatCannotBeDeletedStays(t *testing.T) {
	play(t, func(w *world) {
		w.show(room, notice("a", "1"))
		w.set(func(_ context.Context, c call) error {
			if c.verb != "deliver" {
				return errNever
			}
			return nil
		})
		w.show(room, replacing("a", notice("b", "2")))
		w.stands(room, "1 2")
		if got := w.receipt("b"); got != "[[m2]]" {
			t.Errorf("receipt %s", got)
		}
	})
}

func TestFailingEditIsSentAnewInTheEnd(t *testing.T) {
	play(t, func(w *world) {
		w.show(room, notice("a", "1"))
		w.set(always(verb("edit"), errAnswer))
		w.show(room, replacing("a", notice("b", "2")))
		w.pass(2 * time.Minute)
		w.stands(room, "2")
		if len(w.dead()) != 0 {
			t.Error("dead letter")
		}
	})
}

// An Only card that went to a private chat is settled there.
func TestReplacesFollowsToThePrivateChat(t *testing.T) {
	play(t, func(w *world) {
		w.traits.Ephemeral = false
		w.private = map[chat.Key]bool{private: true}
		w.opts.PrivateChat = func(context.Context, chat.UserID) (chat.Key, bool) { return private, true }
		w.restart()
		w.show(room, only("a", "1"))
		w.show(room, replacing("a", only("b", "2")))
		w.stands(private, "2")
		w.stands(room, "")
	})
}

// The preview of a post that was dropped for a later one belongs to that one,
// also at the next start, when forsaken previews go.
func TestPreviewOfADroppedOriginalIsInherited(t *testing.T) {
	play(t, func(w *world) {
		w.traits.PreviewEvery = time.Second
		w.box.Draft(room, "a", "1")
		synctest.Wait()
		open := make(chan struct{})
		w.set(func(_ context.Context, c call) error {
			switch c.part.ID {
			case "x#0":
				<-open
			case "b#1":
				return errAnswer
			}
			return nil
		})
		w.show(room, notice("x", "busy"))
		w.show(room, answer("a", "1"), replacing("a", answer("b", "2|3")))
		close(open)
		synctest.Wait()
		w.stands(room, "2 busy")
		w.kill()
		w.stands(room, "2 busy")
		w.set(nil)
		w.pass(time.Minute)
		w.stands(room, "2 busy 3")
	})
}

// Posts that name each other must not wait for each other.
func TestReplacingEachOther(t *testing.T) {
	play(t, func(w *world) {
		w.stop()
		w.apply(
			outbox.Put(room, replacing("b", answer("a", "1"))),
			outbox.Put(room, replacing("a", notice("b", "2"))),
		)
		w.start()
		w.pass(time.Second)
		if n, _ := w.box.Waiting(t.Context()); n != 0 {
			t.Errorf("%d wait", n)
		}
	})
}
