package session

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"parley/tools"
)

// What tools and sources are asked beside their work is quick, and must not
// cost the conversation anything if it is not. This is how long it may take.
const (
	lookTime    = 5 * time.Second  // to name, describe or list something
	previewTime = 30 * time.Second // to look what a call would do
	beginTime   = time.Second      // to come back from Run when the call is stopped
)

// errSlow is returned by apart for a call that did not come back in time.
var errSlow = errors.New("it does not come to an end")

// apart calls into code that may panic or never come back, which are errors
// then. A call that does not come back is left behind: nothing can end it.
func apart[T any](ctx context.Context, limit time.Duration, f func() T) (T, error) {
	type result struct {
		value T
		err   error
	}
	ended := make(chan result, 1)
	go func() {
		r := result{err: errors.New("it ended without a result")}
		defer func() { ended <- r }()
		defer func() {
			if p := recover(); p != nil {
				r.err = &panicked{p, debug.Stack()}
			}
		}()
		r = result{value: f()}
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	var none T
	select {
	case r := <-ended:
		return r.value, r.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	case <-timer.C:
		return none, errSlow
	}
}

// panicked is the error of code that panicked.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// drive runs a call and returns its outcome. It comes back soon after ctx ended,
// whatever the tool does.
func drive(ctx context.Context, tool tools.Tool, call tools.Call) tools.Outcome {
	begun, ended := make(chan struct{}), make(chan tools.Outcome, 1)
	go func() {
		e := tools.Start(ctx, tool, call)
		close(begun)
		ended <- tools.Drive(ctx, e)
	}()
	select {
	case o := <-ended:
		return o
	case <-ctx.Done():
	}
	patience := time.NewTimer(beginTime)
	defer patience.Stop()
	select {
	case <-begun:
		patience.Reset(tools.StopTime + beginTime)
	case <-patience.C:
		return leftBehind
	}
	select {
	case o := <-ended:
		return o
	case <-patience.C:
		return leftBehind
	}
}

var leftBehind = tools.Outcome{State: tools.Cancelled, Text: "stopped, but it did not come to an end"}
