package bolt

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"

	"go.etcd.io/bbolt"

	"parley/storage"
)

// Read implements [storage.Log].
func (db *DB) Read(ctx context.Context, stream string, from uint64, limit int) ([]storage.Record, error) {
	var found []storage.Record
	err := db.view(ctx, func(tx *bbolt.Tx) error {
		prefix := within(stream)
		return walk(ctx, tx, inRecords, prefix, recordKey(stream, from), func(k, v []byte) (bool, error) {
			if len(found) >= limit {
				return false, nil
			}
			r, err := decodeRecord(k[len(prefix):], v)
			found = append(found, r)
			return true, err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("reading stream %q: %w", stream, err)
	}
	return found, nil
}

// Tail implements [storage.Log].
func (db *DB) Tail(ctx context.Context, stream string, n int) ([]storage.Record, error) {
	var found []storage.Record
	err := db.view(ctx, func(tx *bbolt.Tx) error {
		prefix := within(stream)
		c := tx.Bucket([]byte(inRecords)).Cursor()
		for k, v := last(c, prefix); bytes.HasPrefix(k, prefix) && len(found) < n; k, v = c.Prev() {
			if err := pause(ctx, len(found)); err != nil {
				return err
			}
			r, err := decodeRecord(k[len(prefix):], v)
			if err != nil {
				return err
			}
			found = append(found, r)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the tail of stream %q: %w", stream, err)
	}
	slices.Reverse(found)
	return found, nil
}

// judgeAppend holds when the stream ends at After, and stands when the records
// behind After are the entries: this append has happened, and what others have
// added since does not undo it. An append of nothing is a bare question.
func (b *batch) judgeAppend(o storage.Append) (stands bool, err error) {
	end := b.lastSeq(o.Stream)
	if end == o.After {
		return false, nil
	}
	if b.follows(o) {
		return true, nil
	}
	return false, fmt.Errorf("appending to %q after %d, which ends at %d: %w", o.Stream, o.After, end, storage.ErrConflict)
}

// follows reports whether the records behind After are the entries, by their
// ids. That is the whole memory that conditional appends need: the stream.
func (b *batch) follows(o storage.Append) bool {
	for i, e := range o.Entries {
		v := b.get(inRecords, recordKey(o.Stream, o.After+1+uint64(i)))
		if d := (decoder{b: v}); v == nil || d.string() != e.ID {
			return false
		}
	}
	return len(o.Entries) > 0
}

// append adds entries to the end, wherever it is; a condition has been judged
// before. Numbers are gapless because they are read off the stream itself.
func (b *batch) append(o storage.Append) error {
	seq := b.lastSeq(o.Stream)
	for _, e := range o.Entries {
		if o.After == storage.Anywhere {
			known, err := b.remember(o.Stream, e.ID)
			if err != nil {
				return err
			}
			if known {
				continue
			}
		}
		seq++
		v := make([]byte, 0, len(e.ID)+len(e.Data)+4)
		v = append(appendString(v, e.ID), e.Data...)
		if err := b.put(inRecords, recordKey(o.Stream, seq), v); err != nil {
			return err
		}
	}
	return nil
}

// trim removes records from the beginning. The last one stays: numbers are
// read off it.
func (b *batch) trim(o storage.Trim) error {
	through := min(o.Through, max(b.lastSeq(o.Stream), 1)-1)
	prefix := within(o.Stream)
	c := b.tx.Bucket([]byte(inRecords)).Cursor()
	var gone [][]byte
	for k, _ := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, _ = c.Next() {
		if d := (decoder{b: k[len(prefix):]}); d.uint64() > through {
			break
		}
		gone = append(gone, bytes.Clone(k))
	}
	for _, k := range gone {
		if err := b.delete(inRecords, k); err != nil {
			return err
		}
	}
	return nil
}

// remember reports whether an unconditional entry is known, and from now on
// it is, for KeepFinished.
func (b *batch) remember(stream, id string) (known bool, err error) {
	key := join(stream, id)
	if b.get(inIDs, key) != nil {
		return true, nil
	}
	if err := b.put(inIDs, key, []byte{}); err != nil {
		return false, err
	}
	return false, b.expire(b.now.Add(storage.KeepFinished), kindEntry, key)
}

// lastSeq returns the sequence number that a stream ends with, 0 if it is
// empty.
func (b *batch) lastSeq(stream string) uint64 {
	prefix := within(stream)
	k, _ := last(b.tx.Bucket([]byte(inRecords)).Cursor(), prefix)
	if !bytes.HasPrefix(k, prefix) {
		return 0
	}
	d := decoder{b: k[len(prefix):]}
	return d.uint64()
}

// recordKey sorts the records of a stream by number, and those of others elsewhere.
func recordKey(stream string, seq uint64) []byte {
	return appendUint64(within(stream), seq)
}

// decodeRecord takes the number from the key and the rest from the value.
func decodeRecord(seq, v []byte) (storage.Record, error) {
	k, d := decoder{b: seq}, decoder{b: v}
	r := storage.Record{Seq: k.uint64(), ID: d.string(), Data: d.rest()}
	return r, d.err("record", r.ID)
}

// last moves a cursor to the last key that begins with prefix and a number,
// or to some key that does not begin with it.
func last(c *bbolt.Cursor, prefix []byte) (k, v []byte) {
	end := appendUint64(bytes.Clone(prefix), math.MaxUint64)
	k, v = c.Seek(end)
	switch {
	case k == nil:
		return c.Last()
	case bytes.Equal(k, end):
		return k, v
	default:
		return c.Prev()
	}
}
