package ask

import (
	"context"
	"fmt"
	"slices"
	"time"

	"parley/core/chat"
	"parley/storage"
)

// Withdraw settles open requests whose answers are of no use any more: the turn
// was stopped, the conversation begun anew. Requests that are settled or unknown
// are passed over. The ops are unconditional; only the session that a request
// belongs to may withdraw it.
func (a *Asks) Withdraw(ctx context.Context, why string, ids ...string) ([]Request, []storage.Op, error) {
	var list []Request
	var ops []storage.Op
	seen := make(map[string]bool)
	for _, id := range ids {
		r, rev, err := a.read(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		if rev == storage.NewRev || r.State != Open || seen[r.ID] {
			continue
		}
		seen[r.ID] = true
		r.State, r.Answer = Withdrawn, Answer{Text: why, At: a.now().Round(0)}
		list = append(list, r)
		ops = append(append(ops, rows.Set(r.ID, r)), r.reindex()...)
	}
	return list, ops, nil
}

// Expire settles the requests whose time is over, the oldest first and at most
// a hundred at once; [Asks.Next] tells when to come again. Each Result is an
// Apply of its own. On [storage.ErrConflict] somebody answered in the last
// moment, and that stands.
func (a *Asks) Expire(ctx context.Context) ([]Result, error) {
	now := a.now()
	keys, err := a.entries(ctx, dueAt, 100)
	if err != nil {
		return nil, err
	}
	var results []Result
	for _, key := range keys {
		if key >= due(now.Add(1)) {
			break
		}
		r, rev, err := a.read(ctx, entered(key))
		if err != nil {
			return nil, err
		}
		if r.due(now) {
			r.State, r.Answer = Expired, Answer{At: now.Round(0)}
			results = append(results, r.settled(rev, "expiry"))
		}
	}
	return results, nil
}

// Next returns when the next request expires, zero if none is open.
func (a *Asks) Next(ctx context.Context) (time.Time, error) {
	keys, err := a.entries(ctx, dueAt, 1)
	if err != nil || len(keys) == 0 {
		return time.Time{}, err
	}
	r, _, err := a.read(ctx, entered(keys[0]))
	return r.Expires, err
}

// Tidy returns the ops that forget up to a hundred requests which were settled
// more than seven days ago, none when there are none left. They are
// unconditional. It is not called at a start before the unfinished turns have
// been resumed: a turn that slept for that long must still find what became of
// its requests.
func (a *Asks) Tidy(ctx context.Context) ([]storage.Op, error) {
	now := a.now()
	keys, err := a.entries(ctx, keptTill, 100)
	if err != nil {
		return nil, err
	}
	var ops []storage.Op
	for _, key := range keys {
		if key >= keptUntil(now.Add(1)) {
			break
		}
		r, rev, err := a.read(ctx, entered(key))
		if err != nil {
			return nil, err
		}
		ops = append(ops, index.Remove(key))
		if rev != storage.NewRev && r.State != Open && !now.Before(r.end()) {
			ops = append(ops, rows.Remove(r.ID), index.Remove(inSession(r.Session)+r.ID))
		}
	}
	return ops, nil
}

// entries returns the first keys of a part of the index.
func (a *Asks) entries(ctx context.Context, prefix string, most int) ([]string, error) {
	list, err := a.store.List(ctx, string(index), prefix, "", most)
	if err != nil {
		return nil, fmt.Errorf("listing requests: %w", err)
	}
	keys := make([]string, len(list))
	for i, row := range list {
		keys[i] = row.Key
	}
	return keys, nil
}

// Show adds a card in a chat, for somebody who may answer: what an inbox does
// not show in full. The Result has the new card as the last of Cards; there is
// none, but a sentence, if there is nothing to show.
func (a *Asks) Show(ctx context.Context, id string, by chat.User, k chat.Key, event string) (Result, error) {
	r, rev, err := a.read(ctx, id)
	if err != nil {
		return Result{}, err
	}
	switch {
	case rev == storage.NewRev:
		return Result{Sentence: unknown(id)}, nil
	case !slices.Contains(r.Answerers, by.ID):
		return Result{Sentence: r.foreign()}, nil
	case r.State != Open || r.due(a.now()):
		return Result{Request: r, Sentence: r.late(by)}, nil
	}
	r.Cards = append(slices.Clone(r.Cards), r.card(k, false))
	return Result{Request: r, Ops: []storage.Op{rows.Swap(r.ID, r, rev, "show/"+event), enter(inChat(k), r.ID)}}, nil
}

// Move works out what a chat that goes on under another key changes in the open
// requests at home or shown there. Each Result is an Apply of its own.
func (a *Asks) Move(ctx context.Context, from, to chat.Key) ([]Result, error) {
	list, err := a.follow(ctx, inChat(from), func(r Request) bool { return r.State == Open })
	if err != nil {
		return nil, err
	}
	var results []Result
	for _, r := range list {
		r, rev, err := a.read(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		if rev == storage.NewRev || r.State != Open {
			continue
		}
		if r.Key == from {
			r.Key = to
		}
		for i := range r.Cards {
			if r.Cards[i].Key == from {
				r.Cards[i].Key = to
			}
		}
		results = append(results, Result{Request: r, Ops: []storage.Op{
			rows.Swap(r.ID, r, rev, "move/"+from.String()),
			index.Remove(inChat(from) + r.ID), enter(inChat(to), r.ID),
		}})
	}
	return results, nil
}
