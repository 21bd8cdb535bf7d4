package bolt

import (
	"context"
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"parley/storage"
)

// Item implements [storage.Queue].
func (db *DB) Item(ctx context.Context, queue, id string) (storage.Item, error) {
	var found storage.Item
	err := db.view(ctx, func(tx *bbolt.Tx) error {
		var err error
		found, err = readItem(tx, queue, id)
		if err == nil && found.State == "" {
			return storage.ErrNotFound
		}
		return err
	})
	if err != nil {
		return storage.Item{}, fmt.Errorf("reading item %q of queue %q: %w", id, queue, err)
	}
	return found, nil
}

// Items implements [storage.Queue]. It passes over what the filter does not
// pick without reading it, which is cheap but not free.
func (db *DB) Items(ctx context.Context, queue string, of storage.Filter, after uint64, limit int) ([]storage.Item, error) {
	if of.State == "" {
		of.State = storage.StateWaiting
	}
	var found []storage.Item
	err := db.view(ctx, func(tx *bbolt.Tx) error {
		if after++; after == 0 {
			return nil // nothing comes after the last number there is
		}
		from := orderKey(queue, of.State, after)
		return walk(ctx, tx, inOrder, from[:len(from)-8], from, func(_, v []byte) (bool, error) {
			if len(found) >= limit {
				return false, nil
			}
			id, match := decodeOrder(v, of)
			if !match {
				return true, nil
			}
			it, err := readItem(tx, queue, id)
			found = append(found, it)
			return true, err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("listing queue %q: %w", queue, err)
	}
	return found, nil
}

// enqueue lets an item in, unless its id is known: this is where redelivered
// events end.
func (b *batch) enqueue(o storage.Enqueue) error {
	was, err := readItem(b.tx, o.Queue, o.ID)
	if err != nil || was.State != "" {
		return err
	}
	is := storage.Item{ID: o.ID, Key: o.Key, Lane: o.Lane, State: storage.StateWaiting, Data: o.Data, Since: b.now}
	if o.Done {
		is.State, is.Data = storage.StateDone, nil
	}
	return b.arrive(o.Queue, was, is)
}

// update replaces the data and nothing else; neither place nor claim moves.
func (b *batch) update(o storage.Update) error {
	was, err := readItem(b.tx, o.Queue, o.ID)
	if err != nil || was.State != storage.StateWaiting {
		return err
	}
	is := was
	is.Data = o.Data
	return b.move(o.Queue, was, is)
}

// end finishes or drops. The id and the result stay, so that a redelivery is
// known; the data, which may be large, does not.
func (b *batch) end(queue, id string, result []byte) error {
	was, err := readItem(b.tx, queue, id)
	if err != nil || was.State == "" || was.State == storage.StateDone {
		return err
	}
	is := was
	is.State, is.Since, is.Result = storage.StateDone, b.now, result
	is.Data, is.Reason, is.NotFor = nil, "", zeroTime
	return b.move(queue, was, is)
}

// retry counts an attempt and lets the item rest in its place, where it holds
// up its lane. That the claim ends, the memory learns by announce.
func (b *batch) retry(o storage.Retry) error {
	was, err := readItem(b.tx, o.Queue, o.ID)
	if err != nil || was.State != storage.StateWaiting {
		return err
	}
	is := was
	is.Attempts++
	is.NotFor = o.At
	return b.move(o.Queue, was, is)
}

// bury takes an item out of its lane and keeps it, data and all, without an
// expiry: a person has to look at it.
func (b *batch) bury(o storage.Bury) error {
	was, err := readItem(b.tx, o.Queue, o.ID)
	if err != nil || was.State != storage.StateWaiting {
		return err
	}
	is := was
	is.State, is.Since, is.Reason, is.NotFor = storage.StateDead, b.now, o.Reason, zeroTime
	return b.move(o.Queue, was, is)
}

// revive lets a dead item in again, last in its lane.
func (b *batch) revive(o storage.Revive) error {
	was, err := readItem(b.tx, o.Queue, o.ID)
	if err != nil || was.State != storage.StateDead {
		return err
	}
	is := was
	is.State, is.Since, is.Reason, is.Attempts = storage.StateWaiting, b.now, "", 0
	return b.arrive(o.Queue, was, is)
}

// arrive moves an item to the end of the queue. One counter serves all queues;
// it rises in the commit that uses the number.
func (b *batch) arrive(queue string, was, is storage.Item) error {
	seq, err := b.tx.Bucket([]byte(inItems)).NextSequence()
	if err != nil {
		return fmt.Errorf("numbering an item: %w", err)
	}
	is.Seq = seq
	return b.move(queue, was, is)
}

// move is the only place where an item changes: its value, its place in the
// order, its expiry, and what the memory knows of it.
func (b *batch) move(queue string, was, is storage.Item) error {
	if was.State != is.State || was.Seq != is.Seq {
		if was.State != "" {
			if err := b.delete(inOrder, orderKey(queue, was.State, was.Seq)); err != nil {
				return err
			}
		}
		if err := b.put(inOrder, orderKey(queue, is.State, is.Seq), encodeOrder(is)); err != nil {
			return err
		}
	}
	key := join(queue, is.ID)
	if is.State == storage.StateDone {
		if err := b.expire(b.now.Add(storage.KeepFinished), kindItem, key); err != nil {
			return err
		}
	}
	b.announce(queue, was, is)
	return b.put(inItems, key, encodeItem(is))
}

// announce tells the memory what a move means to it. An update means nothing,
// since the memory has no data.
func (b *batch) announce(queue string, was, is storage.Item) {
	waited, waits := was.State == storage.StateWaiting, is.State == storage.StateWaiting
	is.Data = nil
	switch {
	case waited && waits && was.Attempts != is.Attempts:
		b.tell(func(w *waiting) { w.rest(queue, is) })
	case waited && !waits:
		b.tell(func(w *waiting) { w.leave(queue, is.ID) })
	case !waited && waits:
		b.tell(func(w *waiting) { w.enter(queue, is) })
	}
}

// forget removes a finished item for good.
func (b *batch) forget(key []byte) error {
	d := decoder{b: key}
	queue := d.string()
	it, err := readItem(b.tx, queue, string(d.rest()))
	if err != nil || it.State != storage.StateDone {
		return err
	}
	if err := b.delete(inOrder, orderKey(queue, it.State, it.Seq)); err != nil {
		return err
	}
	return b.delete(inItems, key)
}

// stateCodes are how states are stored.
var stateCodes = map[storage.State]byte{
	storage.StateWaiting: 'w',
	storage.StateDone:    'd',
	storage.StateDead:    'x',
}

// stateOf returns no state for a code that means none.
func stateOf(code byte) storage.State {
	for s, c := range stateCodes {
		if c == code {
			return s
		}
	}
	return ""
}

// orderKey sorts the items of one state in one queue by arrival.
func orderKey(queue string, s storage.State, seq uint64) []byte {
	return appendUint64(append(within(queue), stateCodes[s]), seq)
}

// encodeOrder holds what a filter asks for, so that an item that does not
// match need not be read.
func encodeOrder(it storage.Item) []byte {
	return append(appendString(appendString(nil, it.Key), it.Lane), it.ID...)
}

// decodeOrder returns the id, and whether key and lane are what is asked for.
func decodeOrder(v []byte, of storage.Filter) (id string, match bool) {
	d := decoder{b: v}
	key, lane := d.take(d.uvarint()), d.take(d.uvarint())
	match = (of.Key == "" || of.Key == string(key)) && (of.Lane == "" || of.Lane == string(lane))
	return string(d.b), match
}

// encodeItem has the data last and all else before it, so that what is needed
// without the data comes first.
func encodeItem(it storage.Item) []byte {
	v := make([]byte, 0, 64+len(it.Key)+len(it.Lane)+len(it.Reason)+len(it.Result)+len(it.Data))
	v = append(v, stateCodes[it.State])
	v = appendUint64(v, it.Seq)
	v = appendString(v, it.Key)
	v = appendString(v, it.Lane)
	v = binary.AppendUvarint(v, uint64(it.Attempts))
	v = appendTime(v, it.Since)
	v = appendTime(v, it.NotFor)
	v = appendString(v, it.Reason)
	v = appendString(v, string(it.Result))
	return append(v, it.Data...)
}

// readItem returns an item, or one without a state if there is none. The
// order of its fields is that of encodeItem.
func readItem(tx *bbolt.Tx, queue, id string) (storage.Item, error) {
	v := tx.Bucket([]byte(inItems)).Get(join(queue, id))
	if v == nil {
		return storage.Item{}, nil
	}
	d := decoder{b: v}
	it := storage.Item{
		ID:       id,
		State:    stateOf(d.byte()),
		Seq:      d.uint64(),
		Key:      d.string(),
		Lane:     d.string(),
		Attempts: int(d.uvarint()),
		Since:    d.time(),
		NotFor:   d.time(),
		Reason:   d.string(),
	}
	it.Result = append([]byte(nil), d.take(d.uvarint())...)
	it.Data = d.rest()
	d.short = d.short || it.State == ""
	return it, d.err("item", queue, id)
}
