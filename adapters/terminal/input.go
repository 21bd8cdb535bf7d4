package terminal

import (
	"context"
	"fmt"
	"io"
	"sync"

	"parley/core/chat"
)

// feed reads r in a goroutine of its own and hands over what handle makes of
// it, until the end, an error or the end of ctx; the channel is then closed.
// wait waits for the goroutine, unless it sits in a Read that nothing can
// interrupt. err may be read once out is closed; it is nil at the end of input.
type feed[T any] struct {
	out  chan T
	err  error
	done sync.WaitGroup
	held bool // a Read may outlive ctx
}

// startFeed starts reading. next returns the next value, and io.EOF at the
// end.
func startFeed[T any](ctx context.Context, r io.Reader, next func(io.Reader) func() (T, error)) *feed[T] {
	f := &feed[T]{out: make(chan T)}
	reader, release, sure := interruptible(ctx, r)
	f.held = !sure
	f.done.Go(func() {
		defer release()
		defer close(f.out)
		defer guard("reading input", &f.err)
		f.err = f.pump(ctx, next(reader))
	})
	return f
}

func (f *feed[T]) pump(ctx context.Context, next func() (T, error)) error {
	for {
		v, err := next()
		if err == io.EOF || ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading input: %w: %w", err, chat.ErrPermanent)
		}
		select {
		case f.out <- v:
		case <-ctx.Done():
			return nil
		}
	}
}

// wait returns when the goroutine has ended; ctx must be over, or the channel
// closed.
func (f *feed[T]) wait(ctx context.Context) {
	if f.held && ctx.Err() != nil {
		return
	}
	f.done.Wait()
}

// closable interrupts a reader by closing it, when it can be closed.
func closable(ctx context.Context, r io.Reader) (reader io.Reader, release func(), sure bool) {
	c, ok := r.(io.Closer)
	if !ok {
		return r, func() {}, false
	}
	return r, whenOver(ctx, func() { c.Close() }), true
}

// whenOver calls f when ctx ends. The function it returns calls it off, or
// waits for the call under way.
func whenOver(ctx context.Context, f func()) (release func()) {
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(done)
		f()
	})
	return func() {
		if !stop() {
			<-done
		}
	}
}
