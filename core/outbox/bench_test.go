package outbox_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"parley/core/chat"
	"parley/core/outbox"
	"parley/storage/bolt"
)

// counter is a platform that shows everything at once.
type counter struct {
	*fake
	shown *sync.WaitGroup
}

func (c counter) Render(_ chat.Key, p chat.Post) ([]chat.Part, error) {
	return []chat.Part{{Text: p.Text}}, nil
}

func (c counter) Deliver(context.Context, chat.Key, chat.Part) ([]chat.MessageID, error) {
	c.shown.Done()
	return []chat.MessageID{"m"}, nil
}

// BenchmarkPosts shows 5 posts in each of 200 chats at once, on the real
// store, each post put in a commit of its own.
func BenchmarkPosts(b *testing.B) {
	const chats, posts = 200, 5
	db, err := bolt.Open(filepath.Join(b.TempDir(), "parley.db"), bolt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	var shown sync.WaitGroup
	box := outbox.New(db, map[string]chat.Adapter{"fake": counter{newFake(), &shown}}, outbox.Options{})
	ctx, end := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- box.Run(ctx) }()
	round := 0
	b.ReportAllocs()
	for b.Loop() {
		round++
		shown.Add(chats * posts)
		var putting sync.WaitGroup
		for c := range chats {
			putting.Go(func() {
				k := chat.Key{Adapter: "fake", Chat: fmt.Sprint(c)}
				for p := range posts {
					id := fmt.Sprintf("%d/%d/%d", round, c, p)
					if err := db.Apply(ctx, outbox.Put(k, answer(id, "an answer of some length, as answers are"))); err != nil {
						b.Error(err)
					}
					box.Wake(k)
				}
			})
		}
		putting.Wait()
		shown.Wait()
	}
	b.ReportMetric(float64(chats*posts*round)/b.Elapsed().Seconds(), "posts/s")
	end()
	if err := <-ended; err != nil {
		b.Error(err)
	}
}
