package llm

import (
	"context"
	"errors"
	"io"
	"time"
)

// errSilence is the cause of a request's context when a limit was met.
var errSilence = errors.New("nothing came in time")

const (
	// lastWords is how long a stream may stay open after its finish reason, for
	// the usage that follows it.
	lastWords = 5 * time.Second
	// drainTime is how long the end mark's connection gets to close its answer,
	// so that it can be used again.
	drainTime = 200 * time.Millisecond
)

// watch cancels a request when its server does nothing for too long. Until the
// answer begins one limit runs, however many keep-alives come; then any byte
// starts the silence anew, but two pieces of the answer are never further apart
// than the first limit. All methods are for the goroutine that reads.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	limits Limits

	moved   time.Time     // when the answer last went on
	armed   time.Duration // the limit that runs, also when part of it is over
	closing bool
}

// newWatch starts the limit of the first byte.
func newWatch(parent context.Context, limits Limits) *watch {
	w := &watch{limits: limits, armed: limits.FirstByte}
	w.ctx, w.cancel = context.WithCancelCause(parent)
	w.timer = time.AfterFunc(w.armed, func() { w.cancel(errSilence) })
	return w
}

// stop releases what the watch holds.
func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// arm starts a limit of which left is left.
func (w *watch) arm(limit, left time.Duration) {
	w.armed = limit
	w.timer.Reset(max(0, left))
}

// heard notes that something came, be it a keep-alive.
func (w *watch) heard() {
	if w.moved.IsZero() || w.closing {
		return
	}
	longest := max(w.limits.FirstByte, w.limits.Silence)
	if left := longest - time.Since(w.moved); left < w.limits.Silence {
		w.arm(longest, left)
		return
	}
	w.arm(w.limits.Silence, w.limits.Silence)
}

// went notes that the answer went on.
func (w *watch) went() {
	if w.closing {
		return
	}
	w.moved = time.Now()
	w.arm(w.limits.Silence, w.limits.Silence)
}

// ends gives the stream d to close.
func (w *watch) ends(d time.Duration) {
	w.closing = true
	w.arm(d, d)
}

// silent says whether a limit ended the request.
func (w *watch) silent() bool { return context.Cause(w.ctx) == errSilence }

// watched is a body whose reads are heard.
type watched struct {
	io.Reader
	*watch
}

func (r watched) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if n > 0 {
		r.heard()
	}
	return n, err
}
