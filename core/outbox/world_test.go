package outbox_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"parley/core/chat"
	"parley/core/outbox"
	"parley/storage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The chats of the tests.
var (
	room    = chat.Key{Adapter: "fake", Chat: "room"}
	other   = chat.Key{Adapter: "fake", Chat: "other"}
	private = chat.Key{Adapter: "fake", Chat: "private"}
	ada     = chat.User{ID: "fake:ada"}
)

// world is an outbox over a fake platform in virtual time.
type world struct {
	*fake
	t     *testing.T
	shelf *shelf
	opts  outbox.Options
	box   *outbox.Outbox
	end   context.CancelFunc
	ended chan error
}

// play runs a test in a bubble with a running outbox, unless set says
// otherwise, and ends it cleanly.
func play(t *testing.T, do func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{fake: newFake(), t: t, shelf: newShelf()}
		w.start()
		do(w)
		w.stop()
		if w.overlap {
			t.Error("two calls for one chat at once")
		}
		if n := w.box.Lines(); n != 0 && !w.shelf.dead {
			t.Logf("%d lines ended with work left", n)
		}
	})
}

// start begins a process over what the store holds.
func (w *world) start() {
	ctx, end := context.WithCancel(context.Background())
	w.end, w.ended = end, make(chan error, 1)
	w.box = outbox.New(w.shelf, map[string]chat.Adapter{"fake": w.fake}, w.opts)
	go func() { w.ended <- w.box.Run(ctx) }()
	synctest.Wait()
}

func (w *world) stop() {
	w.t.Helper()
	w.end()
	if err := <-w.ended; err != nil {
		w.t.Errorf("Run: %v", err)
	}
}

// restart ends the process in order, with other options if given.
func (w *world) restart(o ...outbox.Options) {
	w.stop()
	for _, o := range o {
		w.opts = o
	}
	w.start()
}

// kill ends the process so that nothing of it reaches the store any more, and
// begins another.
func (w *world) kill() {
	w.shelf.die()
	w.stop()
	w.shelf.reborn()
	w.start()
}

// put puts posts into a chat without waiting for them.
func (w *world) put(k chat.Key, posts ...chat.Post) {
	w.t.Helper()
	var ops []storage.Op
	for _, p := range posts {
		ops = append(ops, outbox.Put(k, p))
	}
	w.apply(ops...)
	w.box.Wake(k)
}

func (w *world) apply(ops ...storage.Op) {
	w.t.Helper()
	if err := w.shelf.Apply(w.t.Context(), ops...); err != nil {
		w.t.Fatalf("applying: %v", err)
	}
}

// show puts posts and waits until nothing more happens now.
func (w *world) show(k chat.Key, posts ...chat.Post) {
	w.t.Helper()
	w.put(k, posts...)
	synctest.Wait()
}

// pass lets virtual time go by.
func (w *world) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// saw checks the calls since the last look.
func (w *world) saw(want ...string) {
	w.t.Helper()
	var got []string
	for _, c := range w.log() {
		got = append(got, c.String())
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		w.t.Errorf("calls\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// stands checks what is on the screen of a chat.
func (w *world) stands(k chat.Key, want string) {
	w.t.Helper()
	if got := w.on(k); got != want {
		w.t.Errorf("screen of %s shows %q, want %q", k, got, want)
	}
}

// receipt returns the message ids of a post, "none" if there is no receipt.
func (w *world) receipt(post string) string {
	w.t.Helper()
	r, ok, err := w.box.Receipt(w.t.Context(), post)
	if err != nil {
		w.t.Fatalf("Receipt(%q): %v", post, err)
	}
	if !ok {
		return "none"
	}
	return fmt.Sprint(r.Messages)
}

func (w *world) dead() []outbox.Letter {
	w.t.Helper()
	dead, err := w.box.Dead(w.t.Context())
	if err != nil {
		w.t.Fatalf("Dead: %v", err)
	}
	return dead
}

// once fails the first call that match likes.
func once(match func(call) bool, err error) func(context.Context, call) error {
	done := false
	return func(_ context.Context, c call) error {
		if done || !match(c) {
			return nil
		}
		done = true
		return err
	}
}

// always fails each call that match likes.
func always(match func(call) bool, err error) func(context.Context, call) error {
	return func(_ context.Context, c call) error {
		if match(c) {
			return err
		}
		return nil
	}
}

// is matches a call by its String.
func is(want string) func(call) bool {
	return func(c call) bool { return c.String() == want }
}

// verb matches a call by what it does.
func verb(want string) func(call) bool {
	return func(c call) bool { return c.verb == want }
}

func answer(id, text string) chat.Post { return chat.Post{ID: id, Text: text, Turn: "t1"} }

func notice(id, text string) chat.Post { return chat.Post{ID: id, Text: text, Kind: chat.Notice} }
