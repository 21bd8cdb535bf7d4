package gateway_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/storage"
	"parley/storage/bolt"
)

// disk is the real store with a test's hands on it.
type disk struct {
	*bolt.DB
	t    testing.TB
	dead atomic.Bool // nothing is written any more, like by a killed process

	blind bool // keeps no book of commits

	mu      sync.Mutex
	applied [][]storage.Op
	lives   int // commits until it dies, 0: it does not
	onDeath func()
	onApply func([]storage.Op) error // before each commit; may sleep
	onClaim func(queue, lane string) // before each claim; may sleep
}

func (d *disk) Apply(ctx context.Context, ops ...storage.Op) error {
	conditional := 0
	for _, op := range ops {
		if storage.Conditional(op) {
			conditional++
		}
	}
	if conditional > 1 {
		d.t.Errorf("%d conditional ops in one commit: %v", conditional, ops)
	}
	d.mu.Lock()
	before := d.onApply
	d.mu.Unlock()
	if before != nil {
		if err := before(ops); err != nil {
			return err
		}
	}
	if d.dead.Load() {
		return storage.ErrClosed
	}
	err := d.DB.Apply(ctx, ops...)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.blind {
		d.applied = append(d.applied, ops)
	}
	if d.lives == 0 {
		return nil
	}
	if d.lives--; d.lives > 0 {
		return nil
	}
	d.dead.Store(true) // the commit stands, and nobody hears of it
	d.onDeath()
	return storage.ErrClosed
}

// dieAfter has the process die right behind the nth commit from now on.
func (d *disk) dieAfter(n int, onDeath func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lives, d.onDeath = n, onDeath
}

func (d *disk) Claim(ctx context.Context, queue, key, lane, owner string, until time.Time, limit int) ([]storage.Item, error) {
	d.mu.Lock()
	before := d.onClaim
	d.mu.Unlock()
	if before != nil {
		before(queue, lane)
	}
	return d.DB.Claim(ctx, queue, key, lane, owner, until, limit)
}

// beforeApply has f called before each commit from now on.
func (d *disk) beforeApply(f func([]storage.Op) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.onApply = f
}

// beforeClaim has f called before each claim from now on.
func (d *disk) beforeClaim(f func(queue, lane string)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.onClaim = f
}

// commits returns what was committed so far.
func (d *disk) commits() [][]storage.Op {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([][]storage.Op(nil), d.applied...)
}

// logs reports whether a batch appends to a log.
func logs(ops []storage.Op) bool {
	for _, op := range ops {
		if _, ok := op.(storage.Append); ok {
			return true
		}
	}
	return false
}

// finishes returns the events that a batch takes off the inbox.
func finishes(ops []storage.Op) []string {
	var ids []string
	for _, op := range ops {
		if f, ok := op.(storage.Finish); ok && f.Queue == "inbox" {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

// reopen opens the store of a process that has ended. The caller closes it.
func reopen(t testing.TB, path string) *disk {
	t.Helper()
	db, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &disk{DB: db, t: t}
}
