package storagetest

import (
	"context"
	"errors"
	"strings"

	"parley/storage"
)

// lifeTrials are what holds of a store as a whole, from open to close.
var lifeTrials = []trial{
	{"Close may be called twice", func(k *kit) {
		k.noError(k.Store.Close(), "closing")
		k.noError(k.Store.Close(), "closing again")
	}},
	{"after Close every method says so", func(k *kit) {
		id := k.putBlob("hello").ID
		k.noError(k.Store.Close(), "closing")
		for name, call := range calls(k, id) {
			k.is(call(k.Context()), storage.ErrClosed, name)
		}
	}},
	{"every method ends with its context", func(k *kit) {
		id := k.putBlob("hello").ID
		ctx, cancel := context.WithCancel(k.Context())
		cancel()
		for name, call := range calls(k, id) {
			k.is(call(ctx), context.Canceled, name)
		}
	}},
	{"Close waits for what Apply has begun", func(k *kit) {
		const n = 20
		errs := make(chan error, n)
		for _, id := range strings.Split(strings.Repeat("i ", n-1)+"i", " ") {
			go func() {
				errs <- k.Store.Apply(k.Context(), storage.Append{Stream: "s", After: storage.Anywhere, Entries: entries(id)})
			}()
		}
		k.noError(<-errs, "applying")
		k.noError(k.Store.Close(), "closing")
		for range n - 1 {
			if err := <-errs; err != nil && !errors.Is(err, storage.ErrClosed) {
				k.Fatalf("applying while it closes: %v", err)
			}
		}
		k.reopen()
		k.equal(k.stream("s"), "i", "stream")
	}},
	{"Sweep may be called at any time", func(k *kit) {
		k.sweep()
		k.apply(enqueue("a"))
		k.sweep()
		k.sweep()
		k.equal(k.listed("q", storage.Filter{}), "a", "queue")
	}},
	{"everything outlives a restart", func(k *kit) {
		k.apply(enqueue("a"), enqueue("b"), enqueue("c"), storage.Finish{Queue: "q", ID: "b", Result: []byte("well")}, storage.Bury{Queue: "q", ID: "c", Reason: "why"})
		k.apply(storage.Append{Stream: "s", After: storage.Anywhere, Entries: entries("x")})
		for range 3 {
			k.reopen()
		}
		k.apply(enqueue("b"), storage.Append{Stream: "s", After: storage.Anywhere, Entries: entries("x")})
		k.equal(k.stream("s"), "x", "stream")
		k.equal(k.item("q", "c").Reason, "why", "reason")
		k.equal(string(k.item("q", "b").Result), "well", "result")
		k.equal(k.claim("o", 9), "a", "claimed")
	}},
}

// calls calls every method once.
func calls(k *kit, blob string) map[string]func(context.Context) error {
	s := k.Store
	return map[string]func(context.Context) error{
		"Apply":         func(ctx context.Context) error { return s.Apply(ctx, enqueue("a")) },
		"Apply nothing": func(ctx context.Context) error { return s.Apply(ctx) },
		"Read":          func(ctx context.Context) error { _, err := s.Read(ctx, "s", 0, 1); return err },
		"Tail":          func(ctx context.Context) error { _, err := s.Tail(ctx, "s", 1); return err },
		"Get":           func(ctx context.Context) error { _, err := s.Get(ctx, "t", "r"); return err },
		"List":          func(ctx context.Context) error { _, err := s.List(ctx, "t", "", "", 1); return err },
		"Claim": func(ctx context.Context) error {
			_, err := s.Claim(ctx, "q", "k", "l", "o", k.Clock.Now().Add(claimFor), 1)
			return err
		},
		"Release": func(ctx context.Context) error { return s.Release(ctx, "q", "o", "a") },
		"Item":    func(ctx context.Context) error { _, err := s.Item(ctx, "q", "a"); return err },
		"Items":   func(ctx context.Context) error { _, err := s.Items(ctx, "q", storage.Filter{}, 0, 1); return err },
		"Lanes":   func(ctx context.Context) error { _, err := s.Lanes(ctx, "q"); return err },
		"Waiting": func(ctx context.Context) error { _, err := s.Waiting(ctx, "q", "k", "l"); return err },
		"PutBlob": func(ctx context.Context) error {
			_, err := s.PutBlob(ctx, strings.NewReader("hello"), 9)
			return err
		},
		"OpenBlob": func(ctx context.Context) error { _, _, err := s.OpenBlob(ctx, blob); return err },
		"Sweep":    func(ctx context.Context) error { return s.Sweep(ctx) },
	}
}
