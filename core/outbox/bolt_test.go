package outbox_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"

	"parley/core/chat"
	"parley/core/outbox"
	"parley/storage/bolt"
)

// The same on the real store, closed and opened again in the middle.
func TestOnTheRealStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		session := func(work func(put func(chat.Key, chat.Post))) {
			db, err := bolt.Open(path, bolt.Options{})
			if err != nil {
				t.Fatal(err)
			}
			box := outbox.New(db, map[string]chat.Adapter{"fake": f}, outbox.Options{})
			ctx, end := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- box.Run(ctx) }()
			work(func(k chat.Key, p chat.Post) {
				if err := db.Apply(ctx, outbox.Put(k, p)); err != nil {
					t.Error(err)
				}
				box.Wake(k)
			})
			synctest.Wait()
			end()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
		session(func(put func(chat.Key, chat.Post)) {
			f.set(always(is2("p2#1"), chat.RetryAfter(3600e9)))
			for i := range 4 {
				put(room, answer(fmt.Sprintf("p%d", i), fmt.Sprintf("%d.0|%d.1", i, i)))
			}
		})
		f.set(nil)
		session(func(put func(chat.Key, chat.Post)) {
			put(room, chat.Post{ID: "edit", Text: "edited", Replaces: "p0"})
		})
		if got := f.on(room); got != "edited 1.0 1.1 2.0 2.1 3.0 3.1" {
			t.Errorf("screen %q", got)
		}
	})
}
