package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"parley/core/chat"
)

// ending is an adapter whose Run ends one way after the other, then with ctx.
type ending struct {
	chat.Adapter
	ends []func() error
	runs atomic.Int32
}

func (e *ending) Run(ctx context.Context, _ chat.Inbound) error {
	n := int(e.runs.Add(1))
	if n > len(e.ends) {
		<-ctx.Done()
		return nil
	}
	return e.ends[n-1]()
}

func TestLinkRunsAnAdapterThatFailsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		adapter := &ending{ends: []func() error{
			func() error { return errors.New("cut off") },
			func() error { panic("a bug") },
		}}
		l, done := newLink("wire"), make(chan struct{})
		go func() { l.run(ctx, adapter, nil, zerolog.Nop()); close(done) }()
		synctest.Wait()
		if f := l.finding(); f.Level != chat.Fail || !strings.HasPrefix(f.Says, "Down, and tried again: cut off") {
			t.Errorf("after an error: %+v", f)
		}
		for adapter.runs.Load() == 1 {
			time.Sleep(10 * time.Millisecond) // virtual
			synctest.Wait()
		}
		if f := l.finding(); f.Level != chat.Fail || !strings.Contains(f.Says, "panic: a bug") {
			t.Errorf("after a panic: %+v", f)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if f := l.finding(); f.Level != chat.Good || adapter.runs.Load() != 3 {
			t.Errorf("after %d runs: %+v", adapter.runs.Load(), f)
		}
		cancel()
		<-done
		if f := l.finding(); f.Level != chat.Off {
			t.Errorf("after the stop: %+v", f)
		}
	})
}

func TestLinkLeavesAnAdapterThatCannotWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		adapter := &ending{ends: []func() error{func() error { return fmt.Errorf("token refused: %w", chat.ErrPermanent) }}}
		l := newLink("wire")
		l.run(t.Context(), adapter, nil, zerolog.Nop())
		if f := l.finding(); adapter.runs.Load() != 1 || f.Level != chat.Fail || !strings.HasPrefix(f.Says, "Ended for good: token refused") {
			t.Errorf("after %d runs: %+v", adapter.runs.Load(), f)
		}
	})
}
