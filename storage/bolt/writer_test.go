package bolt_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"parley/storage"
	"parley/storage/bolt"
)

// held keeps the writer busy until the returned function is called, so that
// what is applied meanwhile gathers.
func held(t *testing.T, db *bolt.DB) (release func()) {
	t.Helper()
	begun, gate, done := make(chan bool), make(chan bool), make(chan error)
	go func() {
		done <- bolt.Do(context.Background(), db, func() error {
			close(begun)
			<-gate
			return nil
		})
	}()
	<-begun
	return sync.OnceFunc(func() {
		close(gate)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// queued waits until so many requests have gathered.
func queued(db *bolt.DB, n int) {
	for bolt.Queued(db) < n {
		runtime.Gosched()
	}
}

func TestWritersShareACommit(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "parley.db"), bolt.Options{})
	release := held(t, db)
	const n = 200
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if err := db.Apply(t.Context(), pieces(fmt.Sprint(i))...); err != nil {
				t.Error(err)
			}
		})
	}
	queued(db, n)
	release()
	wg.Wait()
	if got := bolt.Commits(db); got != 1 {
		t.Errorf("%d batches took %d commits, want 1", n, got)
	}
	if n, err := db.Waiting(t.Context(), "q", "k", "l"); n != 200 || err != nil {
		t.Errorf("%d items wait: %v", n, err)
	}
}

func TestNothingToWriteIsNoCommit(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "parley.db"), bolt.Options{})
	put := storage.Put{Table: "t", Key: "r", Rev: storage.NewRev, ID: "x"}
	apply(t, db, put)
	apply(t, db, put)
	put.ID = "y"
	if err := db.Apply(t.Context(), put); !errors.Is(err, storage.ErrConflict) {
		t.Fatal(err)
	}
	if got := bolt.Commits(db); got != 1 {
		t.Errorf("%d commits, want 1", got)
	}
}

// One request of a commit conflicts, one fails, one panics; the others go on.
func TestTheCulpritFailsAlone(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "parley.db"), bolt.Options{})
	apply(t, db, storage.Put{Table: "t", Key: "r", Rev: storage.AnyRev})
	release := held(t, db)
	broken := errors.New("broken")
	calls := []func() error{
		func() error { return db.Apply(t.Context(), pieces("a")...) },
		func() error {
			return db.Apply(t.Context(), append(pieces("b")[2:], storage.Put{Table: "t", Key: "r", Rev: 7, ID: "x"})...)
		},
		func() error { return bolt.Do(t.Context(), db, func() error { return broken }) },
		func() error { return bolt.Do(t.Context(), db, func() error { panic(errors.New("boom")) }) },
		func() error { return db.Apply(t.Context(), pieces("c")...) },
	}
	errs := make([]error, len(calls))
	var wg sync.WaitGroup
	for i, call := range calls {
		wg.Go(func() { errs[i] = call() })
		queued(db, i+1)
	}
	release()
	wg.Wait()
	if errs[0] != nil || errs[4] != nil {
		t.Errorf("the innocent: %v, %v", errs[0], errs[4])
	}
	if !errors.Is(errs[1], storage.ErrConflict) || !errors.Is(errs[2], broken) {
		t.Errorf("the others: %v, %v", errs[1], errs[2])
	}
	if errs[3] == nil || !strings.Contains(errs[3].Error(), "panic: boom") || errors.Is(errs[3], bolt.ErrDamaged) {
		t.Errorf("the one that panics: %v", errs[3])
	}
	items, err := db.Items(t.Context(), "q", storage.Filter{}, 0, 9)
	if err != nil || len(items) != 2 || items[0].ID != "a" || items[1].ID != "c" {
		t.Errorf("got %v, %v", items, err)
	}
	apply(t, db, pieces("d")...)
}

// An Apply that ends while it is queued says so, and does not happen here,
// since the writer has not begun it.
func TestContextEndsWhileQueued(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "parley.db"), bolt.Options{})
	release := held(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error)
	go func() { errs <- db.Apply(ctx, pieces("a")...) }()
	queued(db, 1)
	cancel()
	if err := <-errs; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	release()
	apply(t, db, pieces("b")...)
	if _, err := db.Item(t.Context(), "q", "a"); !errors.Is(err, storage.ErrNotFound) {
		t.Error(err)
	}
}

// When the queue is full Apply blocks, and its context ends it.
func TestFullQueueBlocks(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "parley.db"), bolt.Options{})
	release := held(t, db)
	var wg sync.WaitGroup
	for i := range bolt.MaxQueued {
		wg.Go(func() {
			if err := db.Apply(t.Context(), storage.Put{Table: "t", Key: fmt.Sprint(i), Rev: storage.AnyRev}); err != nil {
				t.Error(err)
			}
		})
	}
	queued(db, bolt.MaxQueued)
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error)
	go func() { errs <- db.Apply(ctx, pieces("late")...) }()
	select {
	case err := <-errs:
		t.Errorf("the queue is full and Apply returns %v", err)
	default:
	}
	cancel()
	if err := <-errs; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	release()
	wg.Wait()
}
