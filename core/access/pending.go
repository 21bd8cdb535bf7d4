package access

import (
	"context"
	"slices"
	"strings"

	"parley/storage"
)

// pending is a table as some ops, not applied yet, will leave it. Only Put and
// Delete matter to a table; their conditions are taken to hold.
type pending struct {
	storage.Table
	ops []storage.Op
}

// Get returns the row that the last op on it leaves, or the one below.
func (p pending) Get(ctx context.Context, table, key string) (storage.Row, error) {
	row, err := p.Table.Get(ctx, table, key)
	for _, op := range p.ops {
		switch op := op.(type) {
		case storage.Put:
			if op.Table == table && op.Key == key {
				row, err = storage.Row{Key: key, Rev: row.Rev + 1, Value: op.Value}, nil
			}
		case storage.Delete:
			if op.Table == table && op.Key == key {
				row, err = storage.Row{}, storage.ErrNotFound
			}
		}
	}
	return row, err
}

// List merges what the ops touch into the rows below. It asks for as many more
// rows as the ops may hide, so that a key beyond the page is cut off with them.
func (p pending) List(ctx context.Context, table, prefix, after string, limit int) ([]storage.Row, error) {
	touched := p.touched(table, prefix, after)
	rows, err := p.Table.List(ctx, table, prefix, after, limit+len(touched))
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(r storage.Row) bool { return slices.Contains(touched, r.Key) })
	for _, key := range touched {
		if row, err := p.Get(ctx, table, key); err == nil {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b storage.Row) int { return strings.Compare(a.Key, b.Key) })
	return rows[:min(limit, len(rows))], nil
}

// touched lists the keys in the range that some op is about, each once.
func (p pending) touched(table, prefix, after string) []string {
	var keys []string
	note := func(t, key string) {
		if t == table && strings.HasPrefix(key, prefix) && key > after && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	for _, op := range p.ops {
		switch op := op.(type) {
		case storage.Put:
			note(op.Table, op.Key)
		case storage.Delete:
			note(op.Table, op.Key)
		}
	}
	return keys
}
