package tools

import (
	"context"
	"time"
)

// StopTime is how long Drive gives an execution to end when it is stopped.
const StopTime = 10 * time.Second

// Start runs a tool with care: a panic of Run, or no execution, is an
// execution that has failed, and what the call lacks is filled in: empty
// arguments are an empty object, without Ask nobody answers, without Progress
// nothing is shown.
func Start(ctx context.Context, t Tool, call Call) (e Execution) {
	defer func() {
		if p := recover(); p != nil {
			e = Finished(panicked(p))
		}
	}()
	if len(call.Args) == 0 {
		call.Args = []byte("{}")
	}
	if call.Ask == nil {
		call.Ask = func(context.Context, Question) (Answer, error) { return Answer{None: true}, nil }
	}
	if call.Progress == nil {
		call.Progress = func(string) {}
	}
	if e = t.Run(ctx, call); e == nil {
		e = Finished(Fault("the tool started nothing"))
	}
	return e
}

// Drive waits for an execution and returns its outcome. When ctx ends, the
// execution is stopped, once, with StopTime to tear down what it started; the
// outcome is then Cancelled, unless it had completed by itself before. The
// context that ended may have been the work's own too: Stop is called all the
// same, since it may have something to end elsewhere. Drive comes back also
// from an execution that panics or never does.
func Drive(ctx context.Context, e Execution) Outcome {
	if e == nil {
		return Fault("the tool started nothing")
	}
	work, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	ended := make(chan Outcome, 1)
	go func() { ended <- guarded(work, e.Wait) }()
	select {
	case o := <-ended:
		if o = settled(o); ctx.Err() == nil || o.State == Completed {
			return o
		}
		ended <- o
	case <-ctx.Done():
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), StopTime)
	defer cancel()
	if guarded(limit, func(context.Context) Outcome { return Outcome{State: e.State()} }).State == Completed {
		return late(limit, ended)
	}
	halt(limit, e)
	end()
	return cancelled(late(limit, ended))
}

// halt stops e and comes back when that is done, or a second before ctx ends.
func halt(ctx context.Context, e Execution) {
	ctx, cancel := context.WithTimeout(ctx, StopTime-time.Second)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		guarded(ctx, func(context.Context) Outcome { e.Stop(ctx); return Outcome{} })
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// late waits for an outcome until ctx ends.
func late(ctx context.Context, ended <-chan Outcome) Outcome {
	select {
	case o := <-ended:
		return settled(o)
	case <-ctx.Done():
	}
	select {
	case o := <-ended: // both were ready
		return settled(o)
	default:
		return Outcome{State: Cancelled, Text: "stopped, but it did not come to an end"}
	}
}

// cancelled is the outcome of work that was stopped while it ran. What it
// returned is kept for the model to read.
func cancelled(o Outcome) Outcome {
	if o.State == Cancelled {
		return o
	}
	o.State = Cancelled
	if o.Text == "" {
		o.Text = stopped.Text
	} else {
		o.Text = "stopped; it returned: " + o.Text
	}
	return o
}
