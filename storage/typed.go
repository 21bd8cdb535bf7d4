package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Typed is a table whose rows are values of one Go type, stored as JSON. The
// value is the table's name; it holds nothing else and can be a package
// variable or a constant-like literal.
type Typed[T any] string

// Get returns a row's value and revision. A row that does not exist gives the
// zero value, revision NewRev and no error, so that a conditional Put with
// what came back does the right thing in both cases.
func (t Typed[T]) Get(ctx context.Context, from Table, key string) (T, uint64, error) {
	var v T
	row, err := from.Get(ctx, string(t), key)
	if errors.Is(err, ErrNotFound) {
		return v, NewRev, nil
	}
	if err != nil {
		return v, NewRev, fmt.Errorf("reading %s %q: %w", string(t), key, err)
	}
	v, err = t.decode(row)
	return v, row.Rev, err
}

// All returns every row whose key begins with prefix, by key. It reads in
// pages, so the rows need not be of one moment.
func (t Typed[T]) All(ctx context.Context, from Table, prefix string) (map[string]T, error) {
	const page = 256
	all := make(map[string]T)
	after := ""
	for {
		rows, err := from.List(ctx, string(t), prefix, after, page)
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", string(t), err)
		}
		for _, row := range rows {
			v, err := t.decode(row)
			if err != nil {
				return nil, err
			}
			all[row.Key] = v
			after = row.Key
		}
		if len(rows) < page {
			return all, nil
		}
	}
}

func (t Typed[T]) decode(row Row) (T, error) {
	var v T
	if err := json.Unmarshal(row.Value, &v); err != nil {
		return v, fmt.Errorf("decoding %s %q: %w", string(t), row.Key, err)
	}
	return v, nil
}

// Set is an unconditional Put. A value that JSON cannot hold is a programmer's
// mistake and panics.
func (t Typed[T]) Set(key string, v T) Put {
	return Put{Table: string(t), Key: key, Value: t.encode(key, v), Rev: AnyRev}
}

// Swap is a Put on condition of rev; id names the change.
func (t Typed[T]) Swap(key string, v T, rev uint64, id string) Put {
	return Put{Table: string(t), Key: key, Value: t.encode(key, v), Rev: rev, ID: id}
}

// Remove is an unconditional Delete.
func (t Typed[T]) Remove(key string) Delete {
	return Delete{Table: string(t), Key: key, Rev: AnyRev}
}

func (t Typed[T]) encode(key string, v T) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("storage: encoding %s %q: %v", string(t), key, err))
	}
	return b
}
