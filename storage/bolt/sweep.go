package bolt

import (
	"bytes"
	"context"
	"fmt"
	"time"
)

// What expires: the byte in an expiry key that says how to read the rest.
const (
	kindItem  = 'i' // queue, id
	kindEntry = 'e' // stream, id
	kindBlob  = 'b' // blob
)

// sweepStep is how much one commit of a sweep removes at most: little, since
// everybody who writes meanwhile shares it.
const sweepStep = 200

// Sweep implements [storage.Store]. What is due it finds at the beginning of the
// expiry bucket, so that a sweep with nothing to do costs one read. It also removes what interrupted PutBlobs
// have left behind. It writes in small commits that others share.
func (db *DB) Sweep(ctx context.Context) error {
	if err := db.ready(ctx); err != nil {
		return fmt.Errorf("sweeping: %w", err)
	}
	if err := db.blobs.removeStale(); err != nil {
		return fmt.Errorf("sweeping: %w", err)
	}
	for more := true; more; {
		var err error
		if more, err = db.sweep(ctx); err != nil {
			return fmt.Errorf("sweeping: %w", err)
		}
	}
	return nil
}

func (db *DB) sweep(ctx context.Context) (more bool, err error) {
	var full bool // read only when the step is known to be over
	err = db.writer.submit(ctx, func(b *batch) error {
		due := b.due()
		full = len(due) == sweepStep
		for _, key := range due {
			if err := db.remove(b, key); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	return full, nil
}

// due returns the first expiry keys whose time is over.
func (b *batch) due() [][]byte {
	var keys [][]byte
	end := expiryTime(b.now)
	c := b.tx.Bucket([]byte(inExpiry)).Cursor()
	for k, _ := c.First(); k != nil && len(keys) < sweepStep; k, _ = c.Next() {
		if bytes.Compare(k[:len(end)], end) >= 0 {
			break
		}
		keys = append(keys, bytes.Clone(k))
	}
	return keys
}

// remove removes what an expiry key stands for, and the key.
func (db *DB) remove(b *batch, key []byte) error {
	d := decoder{b: key}
	d.uint64()
	kind, rest := d.byte(), d.rest()
	var err error
	switch kind {
	case kindItem:
		err = b.forget(rest)
	case kindEntry:
		err = b.delete(inIDs, rest)
	case kindBlob:
		// The file goes first: if the commit fails, the next sweep finds
		// the record again and the missing file does not matter. A PutBlob
		// of the same content cannot lose by it, since it puts its file in
		// place only when the writer has recorded it anew.
		if err = db.blobs.remove(string(rest)); err == nil {
			err = b.delete(inBlobs, rest)
		}
	default:
		err = fmt.Errorf("expiry of kind %q: %w", kind, ErrDamaged)
	}
	if err != nil {
		return err
	}
	return b.delete(inExpiry, key)
}

// expire notes that something may go after a time.
func (b *batch) expire(at time.Time, kind byte, rest []byte) error {
	return b.put(inExpiry, expiryKey(at, kind, rest), []byte{})
}

// expiryKey sorts by time, whatever it is that expires.
func expiryKey(at time.Time, kind byte, rest []byte) []byte {
	return append(append(expiryTime(at), kind), rest...)
}

// expiryTime is a moment as the beginning of a key. Before 1970 is 1970.
func expiryTime(at time.Time) []byte {
	return appendUint64(nil, uint64(max(0, at.UnixNano())))
}
