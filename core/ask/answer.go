package ask

import (
	"context"
	"errors"
	"slices"

	"parley/core/chat"
	"parley/storage"
)

// Result is what a step comes to. Each Result is an Apply of its own, since
// Ops holds a conditional op; on [storage.ErrConflict] the caller calls again.
type Result struct {
	Request  Request      // as it will be; zero if the person is not to know
	Ops      []storage.Op // none: nothing changes
	Sentence string       // for the person, Markdown
	Settled  bool         // the request has its answer by this very step: show its settled cards
}

// Answer judges a reply to a request. The event names what brought it. The
// first answer settles the request, and its event gets the same Result however
// often it comes; whatever else happens is a sentence without ops. An error is
// the store's.
func (a *Asks) Answer(ctx context.Context, id string, by chat.User, event string, reply Reply) (Result, error) {
	if event == "" {
		return Result{}, errors.New("answering a request: no event")
	}
	r, rev, err := a.read(ctx, id)
	if err != nil {
		return Result{}, err
	}
	switch {
	case rev == storage.NewRev:
		return Result{Sentence: unknown(id)}, nil
	case !slices.Contains(r.Answerers, by.ID):
		return Result{Sentence: r.foreign()}, nil
	case r.State == Answered && r.Answer.Event == event:
		return r.settled(rev-1, event), nil // settling was the last write
	case r.State != Open || r.due(a.now()):
		return Result{Request: r, Sentence: r.late(by)}, nil
	}
	answer, problem := r.accept(reply)
	if problem != "" {
		return Result{Request: r, Sentence: problem}, nil
	}
	answer.By, answer.Event, answer.At = by, event, a.now().Round(0)
	r.State, r.Answer = Answered, answer
	return r.settled(rev, event), nil
}

// read returns a request by its id as somebody typed it, and the revision of
// its row: NewRev if there is none.
func (a *Asks) read(ctx context.Context, typed string) (Request, uint64, error) {
	id := normal(typed)
	if id == "" {
		return Request{}, storage.NewRev, nil
	}
	return rows.Get(ctx, a.store, id)
}

// settled is the step that settles a request which had that revision.
func (r Request) settled(rev uint64, change string) Result {
	ops := append([]storage.Op{rows.Swap(r.ID, r, rev, "settle/"+change)}, r.reindex()...)
	return Result{Request: r, Ops: ops, Sentence: r.done(), Settled: true}
}

// reindex moves a request from what is open to what is kept.
func (r Request) reindex() []storage.Op {
	ops := []storage.Op{index.Remove(due(r.Expires) + r.ID), enter(keptUntil(r.end()), r.ID)}
	for _, k := range r.keys() {
		ops = append(ops, index.Remove(inChat(k)+r.ID))
	}
	return ops
}
