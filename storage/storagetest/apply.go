package storagetest

import (
	"context"
	"errors"
	"strings"
	"sync"

	"parley/storage"
)

// applyTrials are what holds of batches, whatever is in them.
var applyTrials = []trial{
	{"no ops are nothing", func(k *kit) { k.apply() }},
	{"what Apply returned is durable", func(k *kit) {
		k.apply(storage.Append{Stream: "s", After: 0, Entries: entries("a")},
			storage.Put{Table: "t", Key: "r", Value: []byte("v"), Rev: storage.AnyRev}, enqueue("i"))
		k.reopen()
		k.equal(k.stream("s"), "a", "stream")
		k.equal(string(k.row("t", "r").Value), "v", "row")
		k.equal(string(k.item("q", "i").Data), "data of i", "item")
	}},
	{"ops are done in order", func(k *kit) {
		k.apply(enqueue("a"), storage.Finish{Queue: "q", ID: "a"},
			storage.Put{Table: "t", Key: "r", Value: []byte("1"), Rev: storage.AnyRev},
			storage.Put{Table: "t", Key: "r", Value: []byte("2"), Rev: storage.AnyRev})
		k.equal(k.item("q", "a").State, storage.StateDone, "state")
		k.equal(string(k.row("t", "r").Value), "2", "row")
	}},
	{"on a conflict nothing of the batch happens", func(k *kit) {
		k.apply(storage.Append{Stream: "s", After: 0, Entries: entries("a")})
		k.conflict(enqueue("i"), storage.Put{Table: "t", Key: "r", Rev: storage.AnyRev},
			storage.Append{Stream: "s", After: 0, Entries: entries("b")})
		k.equal(k.listed("q", storage.Filter{}), "", "queue")
		k.equal(k.row("t", "r").Rev, storage.NewRev, "revision")
		k.equal(k.stream("s"), "a", "stream")
	}},
	{"the conditional op is judged before any is done", func(k *kit) {
		k.apply(storage.Put{Table: "t", Key: "r", Rev: storage.AnyRev},
			storage.Put{Table: "t", Key: "r", Value: []byte("v"), Rev: storage.NewRev, ID: "x"})
		k.equal(string(k.row("t", "r").Value), "v", "row")
	}},
	{"repeating a batch changes nothing", func(k *kit) {
		batch := []storage.Op{
			storage.Append{Stream: "s", After: 0, Entries: entries("a", "b")},
			storage.Append{Stream: "audit", After: storage.Anywhere, Entries: entries("a")},
			storage.Put{Table: "t", Key: "r", Value: []byte("v"), Rev: storage.AnyRev, ID: "x"},
			storage.Delete{Table: "t", Key: "gone", Rev: storage.AnyRev},
			enqueue("i"), storage.Finish{Queue: "q", ID: "i", Result: []byte("well")},
			enqueue("j"), storage.Bury{Queue: "q", ID: "j", Reason: "why"},
		}
		k.apply(batch...)
		k.apply(batch...)
		k.equal(k.stream("s")+"/"+k.stream("audit"), "a b/a", "streams")
		k.equal(k.row("t", "r").Rev, uint64(1), "revision")
		k.equal(k.listed("q", storage.Filter{State: storage.StateDone}), "i", "done")
		k.equal(k.listed("q", storage.Filter{State: storage.StateDead}), "j", "dead")
	}},
	{"a batch that breaks a rule is refused whole", refused},
	{"an Apply ends with its context", func(k *kit) {
		ctx, cancel := context.WithCancel(k.Context())
		cancel()
		k.is(k.Store.Apply(ctx, enqueue("a")), context.Canceled, "applying")
	}},
	{"Apply is safe for concurrent use", func(k *kit) {
		var wg sync.WaitGroup
		for _, name := range strings.Fields("a b c d e f g h") {
			wg.Go(func() {
				for seq := range uint64(10) {
					err := k.Store.Apply(k.Context(), storage.Append{Stream: name, After: seq, Entries: entries(name + string(rune('0'+seq)))},
						storage.Append{Stream: "all", After: storage.Anywhere, Entries: entries(name + string(rune('0'+seq)))})
					if err != nil {
						k.Error(err)
					}
				}
			})
		}
		wg.Wait()
		k.equal(len(strings.Fields(k.stream("all"))), 80, "records")
	}},
	{"of two with the same condition one wins", func(k *kit) {
		errs := make([]error, 2)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() {
				errs[i] = k.Store.Apply(k.Context(), storage.Put{Table: "t", Key: "r", Rev: storage.NewRev, ID: string(rune('a' + i))})
			})
		}
		wg.Wait()
		if errors.Is(errs[0], storage.ErrConflict) == errors.Is(errs[1], storage.ErrConflict) {
			k.Fatalf("got %v and %v", errs[0], errs[1])
		}
		k.equal(k.row("t", "r").Rev, uint64(1), "revision")
	}},
}

// refused goes through the rules; beside each bad op stands a good one that must not happen.
func refused(k *kit) {
	put := storage.Put{Table: "t", Key: "r", Rev: storage.NewRev, ID: "x"}
	for _, bad := range [][]storage.Op{
		{put, storage.Delete{Table: "t", Key: "other", Rev: 1}},
		{storage.Put{Table: "t", Key: "r", Rev: storage.NewRev}},
		{storage.Put{Key: "r", Rev: storage.AnyRev}},
		{storage.Put{Table: "t", Rev: storage.AnyRev}},
		{storage.Delete{Table: "t", Rev: storage.AnyRev}},
		{storage.Append{After: storage.Anywhere, Entries: entries("a")}},
		{storage.Append{Stream: "s", After: storage.Anywhere, Entries: entries("")}},
		{storage.Append{Stream: "s", After: 0, Entries: entries("a", "a")}},
		{storage.Enqueue{ID: "i"}}, {storage.Enqueue{Queue: "q"}},
		{storage.Update{Queue: "q"}}, {storage.Finish{Queue: "q"}}, {storage.Retry{Queue: "q"}},
		{storage.Bury{Queue: "q"}}, {storage.Revive{Queue: "q"}}, {storage.Drop{Queue: "q"}},
		{storage.Refer{Blob: "../../etc/passwd", Owner: "o"}}, {storage.Refer{Owner: "o"}},
		{storage.Unrefer{}}, {nil}, {&storage.Drop{Queue: "q", ID: "i"}},
	} {
		err := k.Store.Apply(k.Context(), append([]storage.Op{enqueue("i")}, bad...)...)
		if err == nil || errors.Is(err, storage.ErrConflict) {
			k.Fatalf("%+v: got %v, want an error that says why", bad, err)
		}
	}
	k.equal(k.listed("q", storage.Filter{}), "", "queue")
}
