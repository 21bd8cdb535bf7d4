package bolt_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/storage"
	"parley/storage/bolt"
)

// BenchmarkApply is what accepting a message costs: an item of 1 KiB enters
// the inbox and the platform's cursor moves, in one durable step.
func BenchmarkApply(b *testing.B) {
	for _, writers := range []int{1, 16, 128} {
		b.Run(fmt.Sprint("writers=", writers), func(b *testing.B) {
			db := open(b, filepath.Join(b.TempDir(), "parley.db"), bolt.Options{})
			data := make([]byte, 1024)
			var next atomic.Int64
			var wg sync.WaitGroup
			b.ResetTimer()
			for w := range writers {
				wg.Go(func() {
					key := fmt.Sprint("chat", w)
					for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
						apply(b, db,
							storage.Enqueue{Queue: "inbox", ID: fmt.Sprint("event", i), Key: key, Data: data},
							storage.Put{Table: "cursors", Key: "bot", Value: []byte(fmt.Sprint(i)), Rev: storage.AnyRev})
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/float64(bolt.Commits(db)), "applies/commit")
		})
	}
}

// BenchmarkQueueTurn is the life of a message: accepted, claimed, moved into
// the log, in two durable steps.
func BenchmarkQueueTurn(b *testing.B) {
	db := open(b, filepath.Join(b.TempDir(), "parley.db"), bolt.Options{})
	data := make([]byte, 1024)
	for i := range uint64(b.N) {
		id := fmt.Sprint("event", i)
		apply(b, db, storage.Enqueue{Queue: "inbox", ID: id, Key: "chat", Data: data})
		items, err := db.Claim(b.Context(), "inbox", "chat", "", "me", time.Now().Add(time.Minute), 10)
		if err != nil || len(items) != 1 {
			b.Fatal(items, err)
		}
		apply(b, db,
			storage.Append{Stream: "chat", After: i, Entries: []storage.Entry{{ID: id, Data: items[0].Data}}},
			storage.Finish{Queue: "inbox", ID: id})
	}
}

// BenchmarkWaiting is the question that is asked most.
func BenchmarkWaiting(b *testing.B) {
	db := open(b, filepath.Join(b.TempDir(), "parley.db"), bolt.Options{})
	for i := range 100 {
		apply(b, db, storage.Enqueue{Queue: "inbox", ID: fmt.Sprint(i), Key: "chat"})
	}
	for b.Loop() {
		if n, err := db.Waiting(b.Context(), "inbox", "chat", ""); n != 100 {
			b.Fatal(n, err)
		}
	}
}

// BenchmarkOpen opens and closes a store of 20,000 finished items and 100 that
// wait: after a clean close, and after a kill, when every page is inspected.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "parley.db")
	db := open(b, path, bolt.Options{})
	for i := range 100 {
		ops := []storage.Op{storage.Enqueue{Queue: "q", ID: fmt.Sprint(i), Data: make([]byte, 1024)}}
		for j := range 200 {
			id := fmt.Sprint(i, "-", j)
			ops = append(ops, storage.Enqueue{Queue: "q", ID: id, Done: true},
				storage.Append{Stream: "s", After: storage.Anywhere, Entries: []storage.Entry{{ID: id, Data: make([]byte, 1024)}}})
		}
		apply(b, db, ops...)
	}
	for _, clean := range []bool{true, false} {
		b.Run(fmt.Sprint("clean=", clean), func(b *testing.B) {
			for b.Loop() {
				if err := db.Close(); err != nil {
					b.Fatal(err)
				}
				if !clean {
					if err := os.Chtimes(path, time.Time{}, time.Now()); err != nil {
						b.Fatal(err)
					}
				}
				db = open(b, path, bolt.Options{})
			}
		})
	}
}
