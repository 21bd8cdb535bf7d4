package bolt

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"parley/storage"
)

// waiting mirrors the items that wait, all but their data, and holds the
// claims on them. A claim is not worth an fsync: if the process ends, so does
// whatever its owner was doing. The writer teaches it what has become durable, so it may be
// a commit behind the file, never ahead of it. Its lock may be held while a
// read transaction begins, but is never asked for inside one.
type waiting struct {
	mu     sync.Mutex
	queues map[string]*queue
}

// queue is what the memory knows of one queue, by lane and by id.
type queue struct {
	lanes map[laneID]*lane
	items map[string]*place
}

// laneID names a lane within its queue.
type laneID struct{ key, lane string }

// lane is one line, in order of arrival.
type lane struct {
	laneID
	line []*place
}

// place is where an item stands, and who has claimed it until when.
type place struct {
	storage.Item
	lane  *lane
	owner string
	until time.Time
}

// Claim implements [storage.Queue]. Which items it takes is decided in memory;
// the file is asked only for their data. An item that has just ended, so that
// the file knows and the memory does not yet, is passed over.
func (db *DB) Claim(ctx context.Context, queue, key, lane, owner string, until time.Time, limit int) ([]storage.Item, error) {
	if owner == "" {
		return nil, fmt.Errorf("claiming from queue %q: owner is empty", queue)
	}
	var taken []storage.Item
	db.waiting.mu.Lock()
	defer db.waiting.mu.Unlock()
	places := db.waiting.free(queue, laneID{key, lane}, owner, db.now(), limit)
	err := db.view(ctx, func(tx *bbolt.Tx) error {
		for _, p := range places {
			it, err := readItem(tx, queue, p.ID)
			if err != nil {
				return err
			}
			if it.State != storage.StateWaiting {
				continue // it ended a moment ago; the news is on its way
			}
			data := it.Data
			it = p.Item // of the same moment as the claim
			it.Data = data
			taken = append(taken, it)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("claiming from queue %q: %w", queue, err)
	}
	for _, p := range places {
		p.owner, p.until = owner, until
	}
	return taken, nil
}

// Release implements [storage.Queue]. It writes nothing.
func (db *DB) Release(ctx context.Context, queue, owner string, ids ...string) error {
	if err := db.ready(ctx); err != nil {
		return fmt.Errorf("releasing items of queue %q: %w", queue, err)
	}
	w := db.waiting
	w.mu.Lock()
	defer w.mu.Unlock()
	q := w.queues[queue]
	if q == nil {
		return nil
	}
	for _, id := range ids {
		if p := q.items[id]; p != nil && p.owner == owner {
			p.owner, p.until = "", zeroTime
		}
	}
	return nil
}

// Lanes implements [storage.Queue]. They come in order of key and lane.
func (db *DB) Lanes(ctx context.Context, queue string) ([]storage.Lane, error) {
	if err := db.ready(ctx); err != nil {
		return nil, fmt.Errorf("listing lanes of queue %q: %w", queue, err)
	}
	lanes := db.waiting.lanesOf(queue)
	slices.SortFunc(lanes, func(a, b storage.Lane) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Lane, b.Lane))
	})
	return lanes, nil
}

// Waiting implements [storage.Queue]. It does not touch the file.
func (db *DB) Waiting(ctx context.Context, queue, key, lane string) (int, error) {
	if err := db.ready(ctx); err != nil {
		return 0, fmt.Errorf("counting lane %q of queue %q: %w", lane, queue, err)
	}
	w := db.waiting
	w.mu.Lock()
	defer w.mu.Unlock()
	q := w.queues[queue]
	if q == nil || q.lanes[laneID{key, lane}] == nil {
		return 0, nil
	}
	return len(q.lanes[laneID{key, lane}].line), nil
}

// lanesOf counts the lanes of a queue.
func (w *waiting) lanesOf(queue string) []storage.Lane {
	w.mu.Lock()
	defer w.mu.Unlock()
	q := w.queues[queue]
	if q == nil {
		return nil
	}
	lanes := make([]storage.Lane, 0, len(q.lanes))
	for id, l := range q.lanes {
		lanes = append(lanes, storage.Lane{Key: id.key, Lane: id.lane, Count: len(l.line)})
	}
	return lanes
}

// free returns what owner may have from the head of a lane: up to the first
// item that rests or is somebody else's. The lock is held.
func (w *waiting) free(queue string, id laneID, owner string, now time.Time, limit int) []*place {
	q := w.queues[queue]
	if q == nil || q.lanes[id] == nil {
		return nil
	}
	line := q.lanes[id].line
	n := 0
	for n < min(limit, len(line)) {
		p := line[n]
		others := p.owner != "" && p.owner != owner && p.until.After(now)
		if others || p.NotFor.After(now) {
			break
		}
		n++
	}
	return line[:n]
}

// learn takes in what a commit has made durable, all of it at once.
func (w *waiting) learn(news []func(*waiting)) {
	if len(news) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range news {
		f(w)
	}
}

// enter adds an item at the end of its lane. Items come in order of arrival.
func (w *waiting) enter(name string, it storage.Item) {
	q := w.queues[name]
	if q == nil {
		q = &queue{lanes: make(map[laneID]*lane), items: make(map[string]*place)}
		w.queues[name] = q
	}
	id := laneID{it.Key, it.Lane}
	l := q.lanes[id]
	if l == nil {
		l = &lane{laneID: id}
		q.lanes[id] = l
	}
	it.Key, it.Lane = l.key, l.laneID.lane // one copy for all
	p := &place{Item: it, lane: l}
	l.line = append(l.line, p)
	q.items[it.ID] = p
}

// leave removes an item, and with the last one its lane and its queue: what
// is idle takes no memory.
func (w *waiting) leave(name, id string) {
	q := w.queues[name]
	p := q.items[id]
	delete(q.items, id)
	i, _ := slices.BinarySearchFunc(p.lane.line, p.Seq, func(p *place, seq uint64) int {
		return cmp.Compare(p.Seq, seq)
	})
	p.lane.line = slices.Delete(p.lane.line, i, i+1)
	if len(p.lane.line) == 0 {
		delete(q.lanes, p.lane.laneID)
	}
	if len(q.items) == 0 {
		delete(w.queues, name)
	}
}

// rest takes over what a Retry has changed and ends the claim.
func (w *waiting) rest(name string, it storage.Item) {
	p := w.queues[name].items[it.ID]
	p.Attempts, p.NotFor = it.Attempts, it.NotFor
	p.owner, p.until = "", zeroTime
}
