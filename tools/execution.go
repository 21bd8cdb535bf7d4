package tools

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"parley/core/chat"
)

// State is where a call is in its life. Executions know Pending, Running,
// Completed, Failed and Cancelled; AwaitingApproval and Rejected are the
// session's.
type State string

const (
	Pending          State = "pending"
	AwaitingApproval State = "awaiting approval"
	Running          State = "running"
	Completed        State = "completed"
	Failed           State = "failed"
	Cancelled        State = "cancelled"
	Rejected         State = "rejected"
)

// Ended reports whether nothing follows this state.
func (s State) Ended() bool {
	return s == Completed || s == Failed || s == Cancelled || s == Rejected
}

// Logged is how the log spells the state: running pending done failed
// cancelled rejected.
func (s State) Logged() string {
	switch s {
	case Pending, Running:
		return "running"
	case AwaitingApproval:
		return "pending"
	case Completed:
		return "done"
	default:
		return string(s)
	}
}

// Execution is one invocation under way. Its methods may be called from
// several goroutines at once.
type Execution interface {
	// State returns where it is. It does not block.
	State() State
	// Wait blocks until the invocation ended. ctx belongs to the work: when it
	// ends, the work is stopped and the outcome is Cancelled. Waiting again
	// returns the same outcome.
	Wait(ctx context.Context) Outcome
	// Stop ends the invocation and what it started elsewhere, and returns when
	// nothing of it is left or ctx ended. Twice is fine.
	Stop(ctx context.Context)
}

// Outcome is how an invocation ended: Completed, Failed or Cancelled. One
// without a state is Completed.
type Outcome struct {
	State State
	Text  string      // what the model reads: the result, or what went wrong
	Show  []chat.File // files for the people in the chat
	Say   string      // words for the people in the chat, Markdown
	Stack []byte      // of a panic, for the log alone
}

// Done is a good outcome.
func Done(text string) Outcome { return Outcome{State: Completed, Text: text} }

// Fault is a bad outcome; the text tells the model what went wrong and what to
// do about it.
func Fault(format string, args ...any) Outcome {
	return Outcome{State: Failed, Text: fmt.Sprintf(format, args...)}
}

// stopped is how work ends that was stopped.
var stopped = Outcome{State: Cancelled, Text: "stopped"}

// work is the plain Execution.
type work struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when outcome stands

	mu      sync.Mutex // guards outcome and ended
	outcome Outcome
	ended   bool
}

// Func runs f and returns at once. Stop, or the end of ctx or of the context
// of Wait, cancels f's context and makes the outcome Cancelled without waiting
// for f: what f returns later is dropped. A panic of f is a failure. With a
// context that ended already f is not run at all.
func Func(ctx context.Context, f func(ctx context.Context) Outcome) Execution {
	if ctx.Err() != nil {
		return Finished(stopped)
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &work{cancel: cancel, done: make(chan struct{})}
	unhook := context.AfterFunc(ctx, func() { w.end(stopped) })
	go func() {
		o := Fault("the tool ended without a result")
		defer func() { // also if f ends the goroutine
			if ctx.Err() != nil {
				o = stopped // f failed because it was stopped: that is no failure
			}
			w.end(o)
			unhook()
			cancel()
		}()
		o = guarded(ctx, f)
	}()
	return w
}

// Finished is an execution that has ended already.
func Finished(o Outcome) Execution {
	w := &work{cancel: func() {}, done: make(chan struct{})}
	w.end(o)
	return w
}

// guarded calls f and makes a panic a failure.
func guarded(ctx context.Context, f func(context.Context) Outcome) (o Outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = panicked(p)
		}
	}()
	return f(ctx)
}

// panicked is how work ends that panicked with p.
func panicked(p any) Outcome {
	o := Fault("the tool failed: panic: %v", p)
	o.Stack = debug.Stack()
	return o
}

// settled makes the state of an outcome one of the three there are. An outcome
// without a state is a good one; Rejected is not a tool's to say.
func settled(o Outcome) Outcome {
	switch {
	case o.State == Rejected:
		o.State = Failed
	case !o.State.Ended():
		o.State = Completed
	}
	return o
}

// end sets the outcome, the first time it is called.
func (w *work) end(o Outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	w.outcome, w.ended = settled(o), true
	close(w.done)
}

// State implements [Execution].
func (w *work) State() State {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return w.outcome.State
	}
	return Running
}

// Wait implements [Execution].
func (w *work) Wait(ctx context.Context) Outcome {
	select {
	case <-w.done:
	case <-ctx.Done():
		w.Stop(ctx)
		<-w.done
	}
	return w.outcome
}

// Stop implements [Execution].
func (w *work) Stop(context.Context) {
	w.cancel()
	w.end(stopped)
}
