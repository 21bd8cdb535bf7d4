package bolt

import (
	"context"
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"parley/storage"
)

// row is a row with what tells whether a Put stands already: the id that wrote
// it and the revision that this Put asked for.
type row struct {
	storage.Row
	by   string
	from uint64
}

// Get implements [storage.Table].
func (db *DB) Get(ctx context.Context, table, key string) (storage.Row, error) {
	var found row
	err := db.view(ctx, func(tx *bbolt.Tx) error {
		v := tx.Bucket([]byte(inRows)).Get(join(table, key))
		if v == nil {
			return storage.ErrNotFound
		}
		var err error
		found, err = decodeRow(key, v)
		return err
	})
	if err != nil {
		return storage.Row{}, fmt.Errorf("reading %q of table %q: %w", key, table, err)
	}
	return found.Row, nil
}

// List implements [storage.Table].
func (db *DB) List(ctx context.Context, table, prefix, after string, limit int) ([]storage.Row, error) {
	var found []storage.Row
	err := db.view(ctx, func(tx *bbolt.Tx) error {
		start := len(within(table))
		return walk(ctx, tx, inRows, join(table, prefix), join(table, max(prefix, after)), func(k, v []byte) (bool, error) {
			if len(found) >= limit {
				return false, nil
			}
			key := string(k[start:])
			if key <= after {
				return true, nil
			}
			r, err := decodeRow(key, v)
			found = append(found, r.Row)
			return true, err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("listing table %q: %w", table, err)
	}
	return found, nil
}

// judgePut first asks whether the Put stands: the row then has the revision that
// the Put gave it, not the one that it asks for.
func (b *batch) judgePut(o storage.Put) (stands bool, err error) {
	old, err := b.row(o.Table, o.Key)
	switch {
	case err != nil:
		return false, err
	case old.stands(o):
		return true, nil
	case old.Rev == o.Rev:
		return false, nil
	}
	return false, fmt.Errorf("writing %q of table %q at revision %d, which has %d: %w", o.Key, o.Table, o.Rev, old.Rev, storage.ErrConflict)
}

// judgeDelete takes a row that is gone for one that this Delete has removed.
func (b *batch) judgeDelete(o storage.Delete) (stands bool, err error) {
	old, err := b.row(o.Table, o.Key)
	switch {
	case err != nil:
		return false, err
	case old.Rev == storage.NewRev:
		return true, nil
	case old.Rev == o.Rev:
		return false, nil
	}
	return false, fmt.Errorf("deleting %q of table %q at revision %d, which has %d: %w", o.Key, o.Table, o.Rev, old.Rev, storage.ErrConflict)
}

// putRow writes a row, wherever a condition has been judged before. An
// unconditional Put with an id is held to it, so that repeating a batch does not
// count the revision up.
func (b *batch) putRow(o storage.Put) error {
	old, err := b.row(o.Table, o.Key)
	if err != nil || old.stands(o) {
		return err
	}
	v := make([]byte, 0, len(o.ID)+len(o.Value)+24)
	v = binary.AppendUvarint(v, old.Rev+1)
	v = binary.AppendUvarint(v, o.Rev)
	v = appendString(v, o.ID)
	return b.put(inRows, join(o.Table, o.Key), append(v, o.Value...))
}

// row returns a row, or one with revision NewRev if there is none.
func (b *batch) row(table, key string) (row, error) {
	v := b.get(inRows, join(table, key))
	if v == nil {
		return row{}, nil
	}
	return decodeRow(key, v)
}

// stands reports whether the row is as the Put would leave it. Without an id
// there is no telling, and the row is written again.
func (r row) stands(o storage.Put) bool {
	return r.Rev != storage.NewRev && o.ID != "" && r.by == o.ID && r.from == o.Rev
}

// decodeRow is the opposite of what putRow writes.
func decodeRow(key string, v []byte) (row, error) {
	d := decoder{b: v}
	var r row
	r.Key = key
	r.Rev = d.uvarint()
	r.from = d.uvarint()
	r.by = d.string()
	r.Value = d.rest()
	return r, d.err("row", key)
}
