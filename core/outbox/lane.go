package outbox

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"parley/storage"
)

// waiting is one item as far as the order of work needs it.
type waiting struct {
	id, key, lane string
	seq           uint64
	replaces      []string
	begun         bool          // parts of it are shown
	limit         time.Duration // how long a call for it may take
}

// lane is how the head of a lane fares.
type lane struct {
	trouble
	post  string // the head
	sure  bool   // what became of its parts is known
	begun bool   // it is between two parts
	await string // it waits for this post to be through
	taken bool   // it is claimed
	miss  int    // how often it could not be claimed
}

// load reads what waits. If the store cannot tell it tries again in a second.
func (l *line) load(next *alarm) bool {
	var items []waiting
	for _, k := range l.box.sources(l.key) {
		err := l.box.eachItem(l.life.commits, storage.Filter{Key: k.String()}, func(it storage.Item) {
			items = append(items, l.waits(it))
		})
		if err != nil {
			l.log.Error().Err(err).Msg("reading outbox")
			next.by(l.now().Add(time.Second))
			l.gone = l.gone || errors.Is(err, storage.ErrClosed)
			return false
		}
	}
	slices.SortFunc(items, func(a, b waiting) int { return cmp.Compare(a.seq, b.seq) })
	l.items, l.stale = items, false
	l.dropIdleLanes()
	l.takeBackWithdrawn()
	return true
}

func (l *line) waits(it storage.Item) waiting {
	w := waiting{id: it.ID, key: it.Key, lane: it.Lane, seq: it.Seq}
	rec, err := decodeRecord(it)
	if err == nil { // else the attempt to show it will tell
		w.replaces, w.begun = rec.targets(), len(rec.Shown) > 0
	}
	w.limit = l.limit(rec.Post.Files)
	return w
}

func (l *line) dropIdleLanes() {
	for name := range l.lanes {
		if _, busy := l.head(name); !busy {
			delete(l.lanes, name)
		}
	}
}

// head returns the first item of a lane.
func (l *line) head(name string) (waiting, bool) {
	for _, w := range l.items {
		if w.lane == name {
			return w, true
		}
	}
	return waiting{}, false
}

// find returns a waiting item by its id.
func (l *line) find(id string) (waiting, bool) {
	i := slices.IndexFunc(l.items, func(w waiting) bool { return w.id == id })
	if i < 0 {
		return waiting{}, false
	}
	return l.items[i], true
}

// through forgets an item that waits no more.
func (l *line) through(id string) {
	l.items = slices.DeleteFunc(l.items, func(w waiting) bool { return w.id == id })
	l.previews.forget(id)
	l.dropIdleLanes()
}

// laneOf returns how the lane of a head fares.
func (l *line) laneOf(w waiting) *lane {
	ln := l.lanes[w.lane]
	if ln == nil || ln.post != w.id {
		ln = &lane{post: w.id, begun: w.begun}
		if l.lanes == nil {
			l.lanes = make(map[string]*lane)
		}
		l.lanes[w.lane] = ln
	}
	return ln
}

// pick chooses the head to work on: one that is between two parts, else a
// ticket, else a card or notice, else an answer; the oldest of equals.
func (l *line) pick(now time.Time, next *alarm) (waiting, bool) {
	best, rank := waiting{}, 0
	seen := make(map[string]bool, 4)
	for _, w := range l.items {
		if seen[w.lane] {
			continue
		}
		seen[w.lane] = true
		ln := l.laneOf(w)
		if _, waits := l.find(ln.await); waits {
			continue
		}
		if now.Before(ln.until) {
			next.by(ln.until)
			continue
		}
		if r := ln.rank(w); r > rank {
			best, rank = w, r
		}
	}
	if rank == 0 {
		return best, false
	}
	if at := l.pace.next(now); at.After(now) {
		next.by(at)
		return best, false
	}
	return best, true
}

func (ln *lane) rank(w waiting) int {
	switch {
	case ln.begun:
		return 4
	case w.lane == laneAnswer:
		return 1
	case w.lane == laneNotice:
		return 2
	default:
		return 3
	}
}

// freshen lets an item be claimed again that could not be a moment ago.
func (ln *lane) freshen() {
	if ln.miss > 0 {
		ln.miss, ln.until = 0, time.Time{}
	}
}
