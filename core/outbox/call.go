package outbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"parley/core/chat"
)

// platform is what the lines of one adapter share.
type platform struct {
	ahead *rate.Limiter // previews and typing, all chats together
	// heard is when the platform last answered anything, in nanoseconds of
	// the Unix epoch.
	heard atomic.Int64
}

func newPlatform(previewRate float64) *platform {
	return &platform{ahead: rate.NewLimiter(rate.Limit(previewRate), max(1, int(previewRate)))}
}

// heardSince reports whether the platform answered anything after t.
func (p *platform) heardSince(t time.Time) bool { return p.heard.Load() > t.UnixNano() }

// outcome classes how a call of an adapter ended.
type outcome string

const (
	fine    outcome = "fine"
	wait    outcome = "wait"    // the platform asks to
	gone    outcome = "gone"    // the chat lives elsewhere
	never   outcome = "never"   // refused for good
	failing outcome = "failing" // the platform answered, and the answer is an error
	silent  outcome = "silent"  // no answer: out of reach, cut off, or too slow
)

// judge classes an error. Everything that is not known to be a fault of the
// way to the platform counts as its answer.
func judge(err error) outcome {
	var (
		later chat.RetryAfter
		to    chat.Relocated
		lost  net.Error // also *net.OpError, *net.DNSError and what net/http wraps around them
	)
	switch {
	case err == nil:
		return fine
	case errors.As(err, &later):
		return wait
	case errors.As(err, &to):
		return gone
	case errors.Is(err, chat.ErrPermanent):
		return never
	case errors.As(err, &lost), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, net.ErrClosed), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return silent
	default:
		return failing
	}
}

// call makes one call of the adapter within a limit. A panic of the adapter
// is an error.
func (l *line) call(limit time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(l.life.calls, limit)
	defer cancel()
	err := l.box.guard(func() error { return f(ctx) })
	if judge(err) == failing && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", ctx.Err(), err) // the end of the call, in the adapter's own words
	}
	if judge(err) != silent {
		l.platform.heard.Store(l.box.opts.Now().UnixNano())
	}
	return err
}

// limit is how long a call may take that carries the files.
func (l *line) limit(files []chat.File) time.Duration {
	const perSecond = 64 << 10
	limit := l.box.opts.CallTimeout
	for _, f := range files {
		limit += time.Duration(max(0, f.Size)/perSecond) * time.Second
	}
	return limit
}

// guard turns a panic into an error: of an adapter or a hook, which are not
// ours, or of a line, so that a mistake costs one chat and not the program.
func (o *Outbox) guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			o.log.Error().Interface("panic", r).Bytes("stack", debug.Stack()).Msg("panic while showing posts")
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return f()
}

// traits asks the adapter what a chat can do; nothing, if it panics.
func (o *Outbox) traits(k chat.Key) (t chat.Traits) {
	adapter := o.adapters[k.Adapter]
	if adapter == nil {
		return t
	}
	_ = o.guard(func() error { t = adapter.Traits(k); return nil })
	return t
}
