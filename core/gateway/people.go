package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"parley/core/access"
	"parley/core/chat"
	"parley/core/outbox"
	"parley/storage"
)

// What the command line asks of a gateway. Whoever may use the command line is
// an owner.

// Pairings lists who waits to be let in, the oldest first.
func (g *Gateway) Pairings(ctx context.Context) ([]access.Request, error) {
	return g.access.Pairings(ctx)
}

// Approve lets in whoever was shown the code, and tells them so.
func (g *Gateway) Approve(ctx context.Context, code string) (access.Change, error) {
	return g.order(ctx, func(by chat.User) (access.Change, error) {
		return g.access.Pair(ctx, by, code)
	})
}

// Remove takes access back from a user at once: their turns are stopped.
func (g *Gateway) Remove(ctx context.Context, user chat.UserID) (access.Change, error) {
	return g.order(ctx, func(by chat.User) (access.Change, error) {
		return g.access.Remove(ctx, by, string(user))
	})
}

// order applies a change that the command line asks for. A change that was
// refused is an error with the sentence of its reply.
func (g *Gateway) order(ctx context.Context, ask func(by chat.User) (access.Change, error)) (access.Change, error) {
	const tries = 5
	for range tries {
		ch, err := ask(chat.User{ID: access.CLI, Name: "the command line"})
		if err != nil {
			return ch, err
		}
		if err = g.apply(ctx, ch); !errors.Is(err, storage.ErrConflict) {
			return ch, refusal(ch, err)
		}
	}
	return access.Change{}, fmt.Errorf("changing access: %w after %d tries", storage.ErrConflict, tries)
}

// ErrRefused is wrapped by the error of an order that was not carried out; the
// rest of the text is a sentence for the person.
var ErrRefused = errors.New("refused")

func refusal(ch access.Change, err error) error {
	if err == nil && ch.Refused {
		return fmt.Errorf("%w: %s", ErrRefused, ch.Reply)
	}
	return err
}

// apply commits a change with everything that follows from it.
func (g *Gateway) apply(ctx context.Context, ch access.Change) error {
	cause := "cli/" + newCause()
	ops, keys, err := g.evict(ctx, cause, ch.Revoked)
	if err != nil {
		return err
	}
	ops = append(ch.Ops, ops...)
	var shown []chat.Key
	for i, t := range ch.Told {
		ops = append(ops, outbox.Put(t.Key, told(cause, i, t)))
		shown = append(shown, t.Key)
	}
	if err := g.store.Apply(ctx, ops...); err != nil {
		return err
	}
	g.outbox.Wake(shown...)
	g.wake(keys...)
	return nil
}

// newCause names one order, so that what follows from it has ids of its own.
func newCause() string { return rand.Text() }
