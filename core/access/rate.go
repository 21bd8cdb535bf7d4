package access

import (
	"context"
	"time"

	"parley/core/chat"
	"parley/storage"
)

// rateRow counts how often something happened within a window.
type rateRow struct {
	Count int       `json:"count"`
	Until time.Time `json:"until"`
}

const rates = storage.Typed[rateRow]("access_rates")

// The sentences that strangers get, and how often.
const (
	day     = 24 * time.Hour
	patient = 10 * time.Minute // between two sentences about the same thing
)

// limit is how often something may happen.
type limit struct {
	times  int
	window time.Duration
}

// spend takes one out of what the limit gives. It reports whether there was
// one left; the ops count it.
func (a *Access) spend(ctx context.Context, key string, l limit) (bool, []storage.Op, error) {
	row, _, err := rates.Get(ctx, a.store, key)
	if err != nil {
		return false, nil, err
	}
	if now := a.now(); !now.Before(row.Until) {
		row = rateRow{Until: now.Add(l.window)}
	}
	if row.Count >= l.times {
		return false, nil, nil
	}
	row.Count++
	return true, []storage.Op{rates.Set(key, row)}, nil
}

// tidyMost bounds the ops of one [Access.Tidy] for each kind of row.
const tidyMost = 200

// keepSeen is how long the name and the private chat of somebody without a
// role are remembered after the last message.
const keepSeen = 30 * day

// Tidy returns the ops that remove rows which have expired: counters, pairing
// requests, link codes, what is remembered of people who are gone. None of
// them is conditional. It is meant to be called once an hour or so, and
// returns a bounded number; what is left goes next time.
func (a *Access) Tidy(ctx context.Context) ([]storage.Op, error) {
	var ops []storage.Op
	for _, sweep := range []func(context.Context) ([]storage.Op, error){
		a.tidyRates, a.tidyPairings, a.tidyCodes, a.tidySeen,
	} {
		more, err := sweep(ctx)
		if err != nil {
			return nil, err
		}
		ops = append(ops, more...)
	}
	return ops, nil
}

func (a *Access) tidyRates(ctx context.Context) ([]storage.Op, error) {
	return stale(ctx, a.store, rates, func(_ string, r rateRow) bool { return !a.now().Before(r.Until) })
}

func (a *Access) tidyPairings(ctx context.Context) ([]storage.Op, error) {
	return stale(ctx, a.store, pairings, func(_ string, r pairingRow) bool { return !a.now().Before(r.Expires) })
}

func (a *Access) tidyCodes(ctx context.Context) ([]storage.Op, error) {
	return stale(ctx, a.store, codes, func(_ string, r codeRow) bool { return r.expired(a.now()) })
}

// tidySeen keeps what is known of people who have a grant, and of those who
// were here lately.
func (a *Access) tidySeen(ctx context.Context) ([]storage.Op, error) {
	known, err := accounts.All(ctx, a.store, "")
	if err != nil {
		return nil, err
	}
	return stale(ctx, a.store, seen, func(key string, r seenRow) bool {
		_, kept := known[key]
		kept = kept || a.listed[chat.UserID(key)] != None
		return !kept && a.now().Sub(r.At) > keepSeen
	})
}

// stale removes the rows of a table that are gone, tidyMost at most.
func stale[T any](ctx context.Context, from storage.Table, t storage.Typed[T], gone func(string, T) bool) ([]storage.Op, error) {
	rows, err := t.All(ctx, from, "")
	if err != nil {
		return nil, err
	}
	var ops []storage.Op
	for key, row := range rows {
		if len(ops) < tidyMost && gone(key, row) {
			ops = append(ops, t.Remove(key))
		}
	}
	return ops, nil
}
