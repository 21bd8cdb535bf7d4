package tools

import (
	"context"
	"time"
)

// StopTime is how long Drive gives an execution to end when it is stopped.
const StopTime = 10 * time.Second

// Drive waits for an execution and returns its outcome. When ctx ends, the
// execution is stopped, once, with StopTime to tear down what it started; the
// outcome is then Cancelled, unless it had ended by itself before.
func Drive(ctx context.Context, e Execution) Outcome {
	work, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	ended := make(chan Outcome, 1)
	go func() { ended <- e.Wait(work) }()
	select {
	case o := <-ended:
		return o
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(work, StopTime)
	defer cancel()
	e.Stop(stop)
	end()
	select {
	case o := <-ended:
		return o
	case <-stop.Done():
		return Outcome{State: Cancelled, Text: "stopped, but it did not come to an end"}
	}
}
