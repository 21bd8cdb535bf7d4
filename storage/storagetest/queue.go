package storagetest

import (
	"fmt"
	"strings"
	"time"

	"parley/storage"
)

// queueTrials are what holds of items, claims apart.
var queueTrials = []trial{
	{"an item keeps what it was given", func(k *kit) {
		k.apply(enqueue("a"))
		k.reopen()
		it := k.item("q", "a")
		k.equal(words(it.Key, it.Lane, it.State, string(it.Data), it.Attempts), "k l waiting data of a 0", "item")
		k.equal(it.Since.Equal(k.Clock.Now()) && it.NotFor.IsZero(), true, "times")
		_, err := k.Store.Item(k.Context(), "q", "b")
		k.is(err, storage.ErrNotFound, "reading")
		_, err = k.Store.Item(k.Context(), "other", "a")
		k.is(err, storage.ErrNotFound, "reading")
	}},
	{"an id is taken once, in any state", func(k *kit) {
		end := map[string]storage.Op{
			"waiting": enqueue("other"), "done": storage.Finish{Queue: "q", ID: "done"},
			"dead": storage.Bury{Queue: "q", ID: "dead"}, "dropped": storage.Drop{Queue: "q", ID: "dropped"},
		}
		for id, op := range end {
			k.apply(enqueue(id), op)
			was := k.item("q", id)
			k.apply(storage.Enqueue{Queue: "q", ID: id, Key: "k", Lane: "l", Data: []byte("again")})
			k.equal(show([]storage.Item{k.item("q", id)}), show([]storage.Item{was}), id)
		}
	}},
	{"Done is known at once and never waits", func(k *kit) {
		o := enqueue("a")
		o.Done = true
		k.apply(o)
		k.apply(enqueue("a"))
		k.equal(k.item("q", "a").State, storage.StateDone, "state")
		k.equal(k.waiting("k", "l"), 0, "waiting")
	}},
	{"Update replaces the data in its place", func(k *kit) {
		k.apply(enqueue("a"), enqueue("b"), storage.Update{Queue: "q", ID: "a", Data: []byte("new")})
		k.equal(string(k.item("q", "a").Data), "new", "data")
		k.equal(k.listed("q", storage.Filter{}), "a b", "order")
	}},
	{"ops on what is in another state, or unknown, do nothing", leftAlone},
	{"Finish keeps the result", func(k *kit) {
		k.apply(enqueue("a"), enqueue("b"), storage.Bury{Queue: "q", ID: "b", Reason: "why"})
		k.Clock.Move(time.Hour)
		k.apply(storage.Finish{Queue: "q", ID: "a", Result: []byte("well")}, storage.Finish{Queue: "q", ID: "b"})
		k.reopen()
		it := k.item("q", "a")
		k.equal(words(it.State, string(it.Result), string(it.Data)), "done well ", "item")
		k.equal(it.Since.Equal(k.Clock.Now()), true, "since")
		k.equal(k.item("q", "b").Reason, "", "reason")
	}},
	{"Bury keeps data and reason until Revive", func(k *kit) {
		k.apply(enqueue("a"), enqueue("b"), storage.Retry{Queue: "q", ID: "a"}, storage.Bury{Queue: "q", ID: "a", Reason: "why"})
		k.Clock.Move(100 * 24 * time.Hour)
		k.sweep()
		it := k.item("q", "a")
		k.equal(words(it.State, it.Reason, string(it.Data), it.Attempts), "dead why data of a 1", "item")
		k.apply(storage.Revive{Queue: "q", ID: "a"})
		it = k.item("q", "a")
		k.equal(words(it.State, it.Reason, string(it.Data), it.Attempts), "waiting  data of a 0", "item")
		k.equal(it.Since.Equal(k.Clock.Now()), true, "since")
		k.equal(k.listed("q", storage.Filter{}), "b a", "order")
	}},
	{"Drop leaves no result", func(k *kit) {
		k.apply(enqueue("a"), enqueue("b"), storage.Bury{Queue: "q", ID: "b"},
			storage.Drop{Queue: "q", ID: "a"}, storage.Drop{Queue: "q", ID: "b"})
		for _, id := range []string{"a", "b"} {
			it := k.item("q", id)
			k.equal(words(it.State, len(it.Result), len(it.Data)), "done 0 0", id)
		}
	}},
	{"items are listed by state, key and lane", listings},
	{"lanes are counted", func(k *kit) {
		k.equal(k.waiting("k", "l"), 0, "waiting")
		for i, at := range []string{"k l", "k l", "k2 l", "k l2"} {
			var key, lane string
			_, _ = fmt.Sscan(at, &key, &lane)
			k.apply(storage.Enqueue{Queue: "q", ID: fmt.Sprint(i), Key: key, Lane: lane})
		}
		k.equal(k.waiting("k", "l"), 2, "waiting")
		k.apply(storage.Finish{Queue: "q", ID: "0"}, storage.Bury{Queue: "q", ID: "2"})
		for range 2 {
			k.equal(k.waiting("k", "l"), 1, "waiting")
			k.equal(k.waiting("k2", "l"), 0, "waiting")
			lanes, err := k.Store.Lanes(k.Context(), "q")
			k.noError(err, "listing lanes")
			k.equal(len(lanes), 2, "lanes")
			k.reopen()
		}
		k.apply(storage.Revive{Queue: "q", ID: "2"})
		k.equal(k.waiting("k2", "l"), 1, "waiting")
	}},
	{"finished ids are known for KeepFinished and then swept", func(k *kit) {
		k.apply(enqueue("a"), enqueue("b"), storage.Finish{Queue: "q", ID: "a"})
		k.Clock.Move(storage.KeepFinished)
		k.sweep()
		k.apply(enqueue("a"))
		k.equal(k.item("q", "a").State, storage.StateDone, "state")
		k.Clock.Move(time.Second)
		k.sweep()
		_, err := k.Store.Item(k.Context(), "q", "a")
		k.is(err, storage.ErrNotFound, "reading")
		k.equal(k.listed("q", storage.Filter{}), "b", "waiting")
		k.equal(k.listed("q", storage.Filter{State: storage.StateDone}), "", "done")
	}},
	{"many are swept", func(k *kit) {
		for i := range 30 {
			var ops []storage.Op
			for j := range 20 {
				o := enqueue(fmt.Sprint(i, "-", j))
				o.Done = true
				ops = append(ops, o)
			}
			k.apply(ops...)
		}
		k.Clock.Move(storage.KeepFinished + time.Second)
		k.sweep()
		k.equal(k.listed("q", storage.Filter{State: storage.StateDone}), "", "done")
	}},
}

// words writes values out with spaces between them.
func words(values ...any) string { return strings.TrimSuffix(fmt.Sprintln(values...), "\n") }

// waiting counts a lane.
func (k *kit) waiting(key, lane string) int {
	k.Helper()
	n, err := k.Store.Waiting(k.Context(), "q", key, lane)
	k.noError(err, "counting")
	return n
}

// leftAlone tries every op on items in the states that it is not meant for.
func leftAlone(k *kit) {
	k.apply(enqueue("waiting"), enqueue("done"), storage.Finish{Queue: "q", ID: "done", Result: []byte("well")},
		enqueue("dead"), storage.Bury{Queue: "q", ID: "dead", Reason: "why"})
	for id, ops := range map[string][]storage.Op{
		"waiting": {storage.Revive{Queue: "q", ID: "waiting"}},
		"done": {storage.Update{Queue: "q", ID: "done"}, storage.Finish{Queue: "q", ID: "done"}, storage.Retry{Queue: "q", ID: "done"},
			storage.Bury{Queue: "q", ID: "done"}, storage.Revive{Queue: "q", ID: "done"}, storage.Drop{Queue: "q", ID: "done"}},
		"dead": {storage.Update{Queue: "q", ID: "dead"}, storage.Retry{Queue: "q", ID: "dead"}, storage.Bury{Queue: "q", ID: "dead"}},
	} {
		was := show([]storage.Item{k.item("q", id)})
		for _, o := range ops {
			k.apply(o)
			k.equal(show([]storage.Item{k.item("q", id)}), was, fmt.Sprintf("after %T", o))
		}
	}
	for _, o := range []storage.Op{storage.Update{Queue: "q", ID: "u"}, storage.Finish{Queue: "q", ID: "u"}, storage.Retry{Queue: "q", ID: "u"},
		storage.Bury{Queue: "q", ID: "u"}, storage.Revive{Queue: "q", ID: "u"}, storage.Drop{Queue: "q", ID: "u"}} {
		k.apply(o)
		_, err := k.Store.Item(k.Context(), "q", "u")
		k.is(err, storage.ErrNotFound, fmt.Sprintf("reading after %T", o))
	}
}

// listings asks for items in every way.
func listings(k *kit) {
	for i, at := range [][2]string{{"k", "l"}, {"k", "m"}, {"j", "l"}, {"k", "l"}} {
		k.apply(storage.Enqueue{Queue: "q", ID: fmt.Sprint("w", i), Key: at[0], Lane: at[1]},
			storage.Enqueue{Queue: "q", ID: fmt.Sprint("d", i), Key: at[0], Lane: at[1], Done: true},
			storage.Enqueue{Queue: "other", ID: fmt.Sprint("o", i), Key: at[0], Lane: at[1]})
	}
	k.apply(storage.Bury{Queue: "q", ID: "w3"})
	for _, c := range []struct {
		of   storage.Filter
		want string
	}{
		{storage.Filter{}, "w0 w1 w2"},
		{storage.Filter{Key: "k"}, "w0 w1"},
		{storage.Filter{Lane: "l"}, "w0 w2"},
		{storage.Filter{Key: "j", Lane: "m"}, ""},
		{storage.Filter{State: storage.StateWaiting, Key: "k", Lane: "m"}, "w1"},
		{storage.Filter{State: storage.StateDone, Lane: "l"}, "d0 d2 d3"},
		{storage.Filter{State: storage.StateDead}, "w3"},
	} {
		k.equal(k.listed("q", c.of), c.want, fmt.Sprintf("items of %+v", c.of))
	}
	items, err := k.Store.Items(k.Context(), "q", storage.Filter{}, k.item("q", "w0").Seq, 1)
	k.noError(err, "listing")
	k.equal(ids(items), "w1", "items after the first, limit 1")
}
