package storagetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/storage"
)

// histories drives the store and a Reference with the same random calls and
// compares every answer. The names are few, so that calls meet each other.
func histories(t *testing.T, open func(t *testing.T) Harness) {
	rapid.Check(t, func(rt *rapid.T) {
		h := open(t)
		p := &pair{Harness: h, model: NewReference(h.Clock.Now), ctx: t.Context()}
		defer func() { _ = p.Store.Close() }()
		rt.Repeat(map[string]func(*rapid.T){
			"apply": p.apply, "again": p.again, "claim": p.claim, "release": p.release,
			"blob": p.blob, "clock": p.clock, "sweep": p.sweep, "reopen": p.reopen,
			"": p.compare,
		})
	})
}

// pair is a store and what it should be like.
type pair struct {
	Harness
	model *Reference
	ctx   context.Context
	last  []storage.Op // the batch that was applied last
	blobs []string     // every id that was ever given out
}

// apply makes up a batch that breaks no rule, and applies it to both.
func (p *pair) apply(t *rapid.T) {
	n := rapid.IntRange(1, 4).Draw(t, "ops")
	p.last = nil
	conditional := false
	for range n {
		o := p.op(t)
		if storage.Conditional(o) && conditional {
			continue
		}
		conditional = conditional || storage.Conditional(o)
		p.last = append(p.last, o)
	}
	p.both(t)
}

// again repeats the last batch, as one does that has not heard of its end.
func (p *pair) again(t *rapid.T) {
	if p.last == nil {
		t.Skip("nothing to repeat")
	}
	p.both(t)
}

// both applies the last batch to both, which have to agree about conflicts.
func (p *pair) both(t *rapid.T) {
	got, want := p.Store.Apply(p.ctx, p.last...), p.model.Apply(p.ctx, p.last...)
	if (want == nil) != (got == nil) || want != nil && !errors.Is(got, want) {
		t.Fatalf("applying %+v: got %v, want %v", p.last, got, want)
	}
}

// op makes up an op. Conditions are chosen near what holds, so that they hold
// about as often as not.
func (p *pair) op(t *rapid.T) storage.Op {
	stream, id := pick(t, "stream", "s", "s2"), pick(t, "id", "1", "2", "3", "4", "5")
	table, queue := pick(t, "table", "t", "t2"), pick(t, "queue", "q", "q2")
	data := []byte(pick(t, "data", "", "a", "b", strings.Repeat("long", 300)))
	rev := rapid.SampledFrom([]uint64{storage.AnyRev, storage.AnyRev, 0, 1, 2}).Draw(t, "rev")
	switch rapid.IntRange(0, 14).Draw(t, "kind") {
	case 0:
		return storage.Append{Stream: stream, After: storage.Anywhere, Entries: []storage.Entry{{ID: id, Data: data}, {ID: "x" + id}}}
	case 1:
		end := uint64(len(p.model.streams[stream]))
		after := rapid.Uint64Range(max(end, 2)-2, end+1).Draw(t, "after")
		return storage.Append{Stream: stream, After: after, Entries: []storage.Entry{{ID: "c" + id, Data: data}, {ID: "d" + id}}}
	case 2, 3:
		return storage.Put{Table: table, Key: "row" + id, Value: data, Rev: rev, ID: pick(t, "by", "i", "j")}
	case 4:
		return storage.Delete{Table: table, Key: "row" + id, Rev: rev}
	case 5, 6:
		return storage.Enqueue{Queue: queue, ID: id, Key: pick(t, "key", "", "k"), Lane: pick(t, "lane", "", "l"), Data: data, Done: rapid.IntRange(0, 9).Draw(t, "done") == 0}
	case 7:
		return storage.Update{Queue: queue, ID: id, Data: data}
	case 8:
		return storage.Finish{Queue: queue, ID: id, Result: data}
	case 9:
		return storage.Retry{Queue: queue, ID: id, At: p.Clock.Now().Add(rapid.SampledFrom([]time.Duration{-time.Hour, 0, time.Hour}).Draw(t, "rest"))}
	case 10:
		return storage.Bury{Queue: queue, ID: id, Reason: "reason " + id}
	case 11:
		return storage.Revive{Queue: queue, ID: id}
	case 12:
		return storage.Drop{Queue: queue, ID: id}
	case 13:
		end := uint64(len(p.model.streams[stream]))
		return storage.Trim{Stream: stream, Through: rapid.Uint64Range(0, end+1).Draw(t, "through")}
	default:
		owner := pick(t, "owner", "o", "o2")
		if len(p.blobs) == 0 || rapid.Bool().Draw(t, "unrefer") {
			return storage.Unrefer{Owner: owner}
		}
		return storage.Refer{Blob: pick(t, "blob", p.blobs...), Owner: owner}
	}
}

// claim claims for one of two owners, for a time that clock may pass.
func (p *pair) claim(t *rapid.T) {
	queue, key, lane := pick(t, "queue", "q", "q2"), pick(t, "key", "", "k"), pick(t, "lane", "", "l")
	owner, limit := pick(t, "owner", "o", "o2"), rapid.IntRange(0, 3).Draw(t, "limit")
	until := p.Clock.Now().Add(rapid.SampledFrom([]time.Duration{time.Minute, 2 * time.Hour}).Draw(t, "for"))
	got, err := p.Store.Claim(p.ctx, queue, key, lane, owner, until, limit)
	want, _ := p.model.Claim(p.ctx, queue, key, lane, owner, until, limit)
	same(t, "claimed", show(got), show(want), err)
}

// release gives back what may or may not be held.
func (p *pair) release(t *rapid.T) {
	queue, owner, id := pick(t, "queue", "q", "q2"), pick(t, "owner", "o", "o2"), pick(t, "id", "1", "2", "3")
	_ = p.model.Release(p.ctx, queue, owner, id, "unknown")
	same(t, "released", "", "", p.Store.Release(p.ctx, queue, owner, id, "unknown"))
}

// blob puts one of a few contents, so that the same come again.
func (p *pair) blob(t *rapid.T) {
	content := pick(t, "content", "", "red", "green", "blue")
	got, err := p.Store.PutBlob(p.ctx, strings.NewReader(content), 100)
	want, _ := p.model.PutBlob(p.ctx, strings.NewReader(content), 100)
	same(t, "put", fmt.Sprint(got), fmt.Sprint(want), err)
	if !slices.Contains(p.blobs, want.ID) {
		p.blobs = append(p.blobs, want.ID)
	}
}

// clock moves by amounts that never add up to a keeping time to the second.
func (p *pair) clock(t *rapid.T) {
	p.Clock.Move(rapid.SampledFrom([]time.Duration{
		time.Second, time.Hour + time.Second, 3*24*time.Hour + time.Second, 8 * 24 * time.Hour, 31 * 24 * time.Hour,
	}).Draw(t, "by"))
}

// sweep lets both forget; what they still know, compare sees.
func (p *pair) sweep(t *rapid.T) {
	_ = p.model.Sweep(p.ctx)
	same(t, "swept", "", "", p.Store.Sweep(p.ctx))
}

// reopen restarts the store; the reference only loses what a restart may lose.
func (p *pair) reopen(*rapid.T) {
	p.Store = p.Reopen()
	if !p.KeepsClaims {
		p.model.DropClaims()
	}
}

// compare reads everything there is, in more than one way.
func (p *pair) compare(t *rapid.T) {
	limit := rapid.SampledFrom([]int{0, 1, 2, 100}).Draw(t, "limit")
	for _, stream := range []string{"s", "s2", "none"} {
		from := rapid.Uint64Range(0, 4).Draw(t, "from")
		got, err := p.Store.Read(p.ctx, stream, from, limit)
		want, _ := p.model.Read(p.ctx, stream, from, limit)
		same(t, "read", fmt.Sprint(got), fmt.Sprint(want), err)
		got, err = p.Store.Tail(p.ctx, stream, limit)
		want, _ = p.model.Tail(p.ctx, stream, limit)
		same(t, "tail", fmt.Sprint(got), fmt.Sprint(want), err)
	}
	for _, table := range []string{"t", "t2", "none"} {
		prefix, after := pick(t, "prefix", "", "row", "row2"), pick(t, "after", "", "row1", "row3", "x")
		got, err := p.Store.List(p.ctx, table, prefix, after, limit)
		want, _ := p.model.List(p.ctx, table, prefix, after, limit)
		same(t, "list", fmt.Sprint(got), fmt.Sprint(want), err)
	}
	for _, queue := range []string{"q", "q2", "none"} {
		p.compareQueue(t, queue, limit)
	}
	for _, id := range p.blobs {
		got, err := readBlob(p.ctx, p.Store, id)
		want, wantErr := readBlob(p.ctx, p.model, id)
		if errors.Is(wantErr, storage.ErrNotFound) && errors.Is(err, storage.ErrNotFound) {
			continue
		}
		same(t, "blob", got, want, errors.Join(err, wantErr))
	}
}

// compareQueue reads a queue by state, by id and by lane.
func (p *pair) compareQueue(t *rapid.T, queue string, limit int) {
	for _, state := range []storage.State{"", storage.StateWaiting, storage.StateDone, storage.StateDead} {
		of := storage.Filter{State: state, Key: pick(t, "key", "", "k"), Lane: pick(t, "lane", "", "l")}
		got, err := p.Store.Items(p.ctx, queue, of, 0, limit)
		want, _ := p.model.Items(p.ctx, queue, of, 0, limit)
		same(t, "items", show(got), show(want), err)
		if len(got) == 0 {
			continue
		}
		// The two number differently; each continues behind its own first.
		got, err = p.Store.Items(p.ctx, queue, of, got[0].Seq, limit)
		want, _ = p.model.Items(p.ctx, queue, of, want[0].Seq, limit)
		same(t, "items after", show(got), show(want), err)
	}
	for _, id := range []string{"1", "2", "3", "4", "5"} {
		got, err := p.Store.Item(p.ctx, queue, id)
		want, wantErr := p.model.Item(p.ctx, queue, id)
		if errors.Is(wantErr, storage.ErrNotFound) && errors.Is(err, storage.ErrNotFound) {
			continue
		}
		same(t, "item", show([]storage.Item{got}), show([]storage.Item{want}), errors.Join(err, wantErr))
	}
	lanes, err := p.Store.Lanes(p.ctx, queue)
	want, _ := p.model.Lanes(p.ctx, queue)
	for _, l := range want {
		n, err := p.Store.Waiting(p.ctx, queue, l.Key, l.Lane)
		same(t, "waiting", fmt.Sprint(n), fmt.Sprint(l.Count), err)
		if !slices.Contains(lanes, l) {
			t.Fatalf("lanes %v of %s lack %v", lanes, queue, l)
		}
	}
	same(t, "lanes", fmt.Sprint(len(lanes)), fmt.Sprint(len(want)), err)
}

// same fails on an error or a difference.
func same(t *rapid.T, what, got, want string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if got != want {
		t.Fatalf("%s:\ngot  %s\nwant %s", what, got, want)
	}
}

// show writes out all of an item but its number, and that numbers rise.
func show(items []storage.Item) string {
	var b strings.Builder
	var last uint64
	for _, it := range items {
		if it.Seq <= last {
			return fmt.Sprintf("item %s has number %d after %d", it.ID, it.Seq, last)
		}
		last = it.Seq
		fmt.Fprintf(&b, "[%s %q %q %s %q %q %q %d %v %v]", it.ID, it.Key, it.Lane, it.State, it.Data, it.Result,
			it.Reason, it.Attempts, it.Since.UTC(), it.NotFor.UTC())
	}
	return b.String()
}

// pick chooses one of a few words.
func pick(t *rapid.T, what string, from ...string) string {
	return rapid.SampledFrom(from).Draw(t, what)
}
