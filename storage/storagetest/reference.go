package storagetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"parley/storage"
)

var _ storage.Store = (*Reference)(nil)

// Reference is the contract as a program: a store in plain maps and slices,
// slow and simple, for comparison. It trusts its caller to keep the rules of
// batches, is not safe for concurrent use, and forgets everything at the end.
type Reference struct {
	now     func() time.Time
	streams map[string][]storage.Record
	trimmed map[string]uint64
	ids     map[[2]string]time.Time // stream, id of an unconditional entry -> since
	rows    map[[2]string]refRow    // table, key
	items   []*refItem              // in order of arrival
	arrived uint64
	blobs   map[string]*refBlob
	refs    map[[2]string]bool // blob, owner
}

// refRow remembers which Put wrote it.
type refRow struct {
	storage.Row
	id   string
	from uint64
}

// refItem is an item with its claim; an empty owner is none.
type refItem struct {
	storage.Item
	queue string
	owner string
	until time.Time
}

// refBlob is kept in memory, as everything here.
type refBlob struct {
	content []byte
	since   time.Time // put, or last let go by an owner
}

// NewReference returns an empty store that goes by a clock.
func NewReference(now func() time.Time) *Reference {
	return &Reference{
		now: now, streams: make(map[string][]storage.Record), trimmed: make(map[string]uint64), ids: make(map[[2]string]time.Time),
		rows: make(map[[2]string]refRow), blobs: make(map[string]*refBlob), refs: make(map[[2]string]bool),
	}
}

// DropClaims does what a restart does to an engine that keeps claims in memory.
func (s *Reference) DropClaims() {
	for _, it := range s.items {
		it.owner = ""
	}
}

// Apply implements [storage.Applier].
func (s *Reference) Apply(_ context.Context, ops ...storage.Op) error {
	stands := make([]bool, len(ops))
	for i, o := range ops {
		if storage.Conditional(o) {
			holds := false
			if holds, stands[i] = s.judge(o); !holds && !stands[i] {
				return storage.ErrConflict
			}
		}
	}
	for i, o := range ops {
		if !stands[i] {
			s.do(o)
		}
	}
	return nil
}

// judge says whether a conditional op can be done now, and whether it has been
// done already. Either is enough.
func (s *Reference) judge(o storage.Op) (holds, stands bool) {
	switch o := o.(type) {
	case storage.Append:
		have := s.streams[o.Stream]
		if o.After == uint64(len(have)) {
			return true, false
		}
		if o.After > uint64(len(have)) || len(o.Entries) == 0 {
			return false, false
		}
		if o.After < s.trimmed[o.Stream] {
			return false, false
		}
		have = have[o.After:]
		for i, e := range o.Entries {
			if i >= len(have) || have[i].ID != e.ID {
				return false, false
			}
		}
		return false, true
	case storage.Put:
		row := s.rows[[2]string{o.Table, o.Key}]
		return row.Rev == o.Rev, row.Rev > 0 && row.id == o.ID && row.from == o.Rev
	case storage.Delete:
		row := s.rows[[2]string{o.Table, o.Key}]
		return row.Rev == o.Rev, row.Rev == 0
	default:
		panic("not conditional")
	}
}

// do carries out an op whose condition, if any, has been judged.
func (s *Reference) do(o storage.Op) {
	switch o := o.(type) {
	case storage.Append:
		s.append(o)
	case storage.Trim:
		if end := uint64(len(s.streams[o.Stream])); end > 0 {
			s.trimmed[o.Stream] = max(s.trimmed[o.Stream], min(o.Through, end-1))
		}
	case storage.Put:
		at := [2]string{o.Table, o.Key}
		row := s.rows[at]
		if row.Rev > 0 && o.ID != "" && row.id == o.ID && row.from == o.Rev {
			return
		}
		s.rows[at] = refRow{storage.Row{Key: o.Key, Rev: row.Rev + 1, Value: bytes.Clone(o.Value)}, o.ID, o.Rev}
	case storage.Delete:
		delete(s.rows, [2]string{o.Table, o.Key})
	case storage.Refer:
		s.refs[[2]string{o.Blob, o.Owner}] = true
	case storage.Unrefer:
		for ref := range s.refs {
			if ref[1] == o.Owner {
				delete(s.refs, ref)
				if b := s.blobs[ref[0]]; b != nil {
					b.since = s.now()
				}
			}
		}
	default:
		s.doQueue(o)
	}
}

// append numbers records by how many there are.
func (s *Reference) append(o storage.Append) {
	for _, e := range o.Entries {
		if o.After == storage.Anywhere {
			if _, known := s.ids[[2]string{o.Stream, e.ID}]; known {
				continue
			}
			s.ids[[2]string{o.Stream, e.ID}] = s.now()
		}
		seq := uint64(len(s.streams[o.Stream]) + 1)
		s.streams[o.Stream] = append(s.streams[o.Stream], storage.Record{Seq: seq, ID: e.ID, Data: bytes.Clone(e.Data)})
	}
}

// doQueue is do for the ops of queues.
func (s *Reference) doQueue(o storage.Op) {
	switch o := o.(type) {
	case storage.Enqueue:
		if s.find(o.Queue, o.ID) != nil {
			return
		}
		it := &refItem{queue: o.Queue, Item: storage.Item{ID: o.ID, Key: o.Key, Lane: o.Lane, Data: bytes.Clone(o.Data)}}
		s.arrive(it)
		if o.Done {
			s.end(it, nil)
		}
	case storage.Update:
		if it := s.find(o.Queue, o.ID, storage.StateWaiting); it != nil {
			it.Data = bytes.Clone(o.Data)
		}
	case storage.Finish:
		s.end(s.find(o.Queue, o.ID, storage.StateWaiting, storage.StateDead), o.Result)
	case storage.Drop:
		s.end(s.find(o.Queue, o.ID, storage.StateWaiting, storage.StateDead), nil)
	case storage.Retry:
		if it := s.find(o.Queue, o.ID, storage.StateWaiting); it != nil {
			it.Attempts++
			it.NotFor, it.owner = o.At, ""
		}
	case storage.Bury:
		if it := s.find(o.Queue, o.ID, storage.StateWaiting); it != nil {
			it.State, it.Reason, it.Since, it.NotFor, it.owner = storage.StateDead, o.Reason, s.now(), time.Time{}, ""
		}
	case storage.Revive:
		if it := s.find(o.Queue, o.ID, storage.StateDead); it != nil {
			i := slices.Index(s.items, it)
			s.items = slices.Delete(s.items, i, i+1)
			it.Reason, it.Attempts = "", 0
			s.arrive(it)
		}
	default:
		panic("unknown op")
	}
}

// arrive puts an item behind all others.
func (s *Reference) arrive(it *refItem) {
	s.arrived++
	it.Seq, it.State, it.Since = s.arrived, storage.StateWaiting, s.now()
	s.items = append(s.items, it)
}

// end is Finish and Drop; nil is an item that is not there to be ended.
func (s *Reference) end(it *refItem, result []byte) {
	if it == nil {
		return
	}
	it.State, it.Result, it.Since = storage.StateDone, bytes.Clone(result), s.now()
	it.Data, it.Reason, it.NotFor, it.owner = nil, "", time.Time{}, ""
}

// find returns an item if it is in one of the states; of none given, in any.
func (s *Reference) find(queue, id string, states ...storage.State) *refItem {
	for _, it := range s.items {
		if it.queue == queue && it.ID == id && (len(states) == 0 || slices.Contains(states, it.State)) {
			return it
		}
	}
	return nil
}

// Read implements [storage.Log].
func (s *Reference) Read(_ context.Context, stream string, from uint64, limit int) ([]storage.Record, error) {
	var found []storage.Record
	for _, r := range s.left(stream) {
		if r.Seq >= from && len(found) < limit {
			found = append(found, r)
		}
	}
	return found, nil
}

// Tail implements [storage.Log].
func (s *Reference) Tail(_ context.Context, stream string, n int) ([]storage.Record, error) {
	all := s.left(stream)
	return all[max(0, len(all)-max(0, n)):], nil
}

// left is what of a stream has not been trimmed.
func (s *Reference) left(stream string) []storage.Record {
	return s.streams[stream][s.trimmed[stream]:]
}

// Get implements [storage.Table].
func (s *Reference) Get(_ context.Context, table, key string) (storage.Row, error) {
	row, found := s.rows[[2]string{table, key}]
	if !found {
		return storage.Row{}, storage.ErrNotFound
	}
	return row.Row, nil
}

// List implements [storage.Table].
func (s *Reference) List(_ context.Context, table, prefix, after string, limit int) ([]storage.Row, error) {
	var found []storage.Row
	for at, row := range s.rows {
		if at[0] == table && strings.HasPrefix(at[1], prefix) && at[1] > after {
			found = append(found, row.Row)
		}
	}
	slices.SortFunc(found, func(a, b storage.Row) int { return strings.Compare(a.Key, b.Key) })
	return found[:min(limit, len(found))], nil
}

// Claim implements [storage.Queue].
func (s *Reference) Claim(_ context.Context, queue, key, lane, owner string, until time.Time, limit int) ([]storage.Item, error) {
	var taken []storage.Item
	for _, it := range s.items {
		if it.queue != queue || it.Key != key || it.Lane != lane || it.State != storage.StateWaiting {
			continue
		}
		// The first that is not to be had ends it: order is kept.
		others := it.owner != "" && it.owner != owner && it.until.After(s.now())
		if others || it.NotFor.After(s.now()) || len(taken) >= limit {
			break
		}
		it.owner, it.until = owner, until
		taken = append(taken, it.Item)
	}
	return taken, nil
}

// Release implements [storage.Queue].
func (s *Reference) Release(_ context.Context, queue, owner string, ids ...string) error {
	for _, id := range ids {
		if it := s.find(queue, id); it != nil && it.owner == owner {
			it.owner = ""
		}
	}
	return nil
}

// Item implements [storage.Queue].
func (s *Reference) Item(_ context.Context, queue, id string) (storage.Item, error) {
	it := s.find(queue, id)
	if it == nil {
		return storage.Item{}, storage.ErrNotFound
	}
	return it.Item, nil
}

// Items implements [storage.Queue].
func (s *Reference) Items(_ context.Context, queue string, of storage.Filter, after uint64, limit int) ([]storage.Item, error) {
	if of.State == "" {
		of.State = storage.StateWaiting
	}
	var found []storage.Item
	for _, it := range s.items {
		if it.queue == queue && it.State == of.State && it.Seq > after && len(found) < limit &&
			(of.Key == "" || of.Key == it.Key) && (of.Lane == "" || of.Lane == it.Lane) {
			found = append(found, it.Item)
		}
	}
	return found, nil
}

// Lanes implements [storage.Queue].
func (s *Reference) Lanes(_ context.Context, queue string) ([]storage.Lane, error) {
	var lanes []storage.Lane
	for _, it := range s.items {
		if it.queue != queue || it.State != storage.StateWaiting {
			continue
		}
		i := slices.IndexFunc(lanes, func(l storage.Lane) bool { return l.Key == it.Key && l.Lane == it.Lane })
		if i < 0 {
			i = len(lanes)
			lanes = append(lanes, storage.Lane{Key: it.Key, Lane: it.Lane})
		}
		lanes[i].Count++
	}
	return lanes, nil
}

// Waiting implements [storage.Queue].
func (s *Reference) Waiting(_ context.Context, queue, key, lane string) (int, error) {
	n := 0
	for _, it := range s.items {
		if it.queue == queue && it.Key == key && it.Lane == lane && it.State == storage.StateWaiting {
			n++
		}
	}
	return n, nil
}

// PutBlob implements [storage.Blobs].
func (s *Reference) PutBlob(_ context.Context, r io.Reader, limit int64) (storage.BlobInfo, error) {
	content, err := io.ReadAll(r)
	switch {
	case err != nil:
		return storage.BlobInfo{}, err
	case limit <= 0:
		return storage.BlobInfo{}, fmt.Errorf("limit %d", limit)
	case int64(len(content)) > limit:
		return storage.BlobInfo{}, storage.ErrTooLarge
	}
	hash := sha256.Sum256(content)
	id := "sha256-" + hex.EncodeToString(hash[:])
	s.blobs[id] = &refBlob{content, s.now()}
	return storage.BlobInfo{ID: id, Size: int64(len(content))}, nil
}

// OpenBlob implements [storage.Blobs].
func (s *Reference) OpenBlob(_ context.Context, id string) (io.ReadSeekCloser, storage.BlobInfo, error) {
	b := s.blobs[id]
	if b == nil {
		return nil, storage.BlobInfo{}, storage.ErrNotFound
	}
	return openBlob{bytes.NewReader(b.content)}, storage.BlobInfo{ID: id, Size: int64(len(b.content))}, nil
}

// openBlob is a reader with a Close.
type openBlob struct{ *bytes.Reader }

func (openBlob) Close() error { return nil }

// Sweep implements [storage.Store].
func (s *Reference) Sweep(context.Context) error {
	over := func(since time.Time, keep time.Duration) bool { return s.now().After(since.Add(keep)) }
	s.items = slices.DeleteFunc(s.items, func(it *refItem) bool {
		return it.State == storage.StateDone && over(it.Since, storage.KeepFinished)
	})
	for at, since := range s.ids {
		if over(since, storage.KeepFinished) {
			delete(s.ids, at)
		}
	}
	kept := make(map[string]bool)
	for ref := range s.refs {
		kept[ref[0]] = true
	}
	for id, b := range s.blobs {
		if !kept[id] && over(b.since, storage.KeepBlobs) {
			delete(s.blobs, id)
		}
	}
	return nil
}

// Close implements [storage.Store]. There is nothing to close.
func (s *Reference) Close() error { return nil }
