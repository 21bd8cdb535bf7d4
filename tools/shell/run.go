package shell

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"parley/tools"
)

// drainTime is how long parley waits for the end of the output once nothing is
// left that could print: somebody else may hold the pipe.
const drainTime = 300 * time.Millisecond

// run is one call under way.
type run struct {
	tool   *Tool
	call   tools.Call
	args   args
	cancel context.CancelFunc
	done   chan struct{} // closed when outcome stands and nothing is left

	mu      sync.Mutex // guards what follows
	state   tools.State
	outcome tools.Outcome
}

var _ tools.Execution = (*run)(nil)

// State implements [tools.Execution].
func (r *run) State() tools.State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

// Wait implements [tools.Execution].
func (r *run) Wait(ctx context.Context) tools.Outcome {
	select {
	case <-r.done:
	case <-ctx.Done():
		r.cancel()
		<-r.done // ending the command has a limit
	}
	return r.outcome
}

// Stop implements [tools.Execution].
func (r *run) Stop(ctx context.Context) {
	r.cancel()
	select {
	case <-r.done:
	case <-ctx.Done():
	}
}

// work runs the command and sets the outcome.
func (r *run) work(ctx context.Context) {
	defer close(r.done)
	defer r.cancel()
	o := r.guarded(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state, r.outcome = o.State, o
}

func (r *run) guarded(ctx context.Context) (o tools.Outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = tools.Fault("running the command failed: panic: %v", p)
			o.Stack = debug.Stack()
		}
	}()
	return r.execute(ctx)
}

// cause is why a command is over.
type cause int

const (
	byItself cause = iota
	timedOut
	stopped
)

func (r *run) execute(ctx context.Context) tools.Outcome {
	if ctx.Err() != nil {
		return tools.Outcome{State: tools.Cancelled, Text: "stopped before it began"}
	}
	p, err := r.tool.plan(r.call, r.args)
	if err != nil {
		return tools.Fault("%v", err)
	}
	defer p.remove()
	c, err := start(p)
	if err != nil {
		return tools.Fault("%v", err)
	}
	c.ID, c.Session, c.Call = p.id, r.call.Session, r.call.ID
	over := false
	defer func() {
		if !over { // trouble before the command began, or a panic
			c.end(false)
			_ = c.out.Close()
		}
	}()
	if err := r.begin(ctx, c, p); err != nil {
		return tools.Fault("%v", err)
	}
	out := &output{keep: func() (*os.File, string, error) { return outputFile(r.call.Reach.Dir, r.call.ID) }}
	printed, began := c.drain(out), time.Now()
	why, w := r.watch(ctx, c)
	e := ending{cause: why, word: w, took: time.Since(began), limit: r.args.timeout()}
	e.left = c.end(why == byItself)
	over = true
	select {
	case <-printed:
	case <-time.After(drainTime):
	}
	_ = c.out.Close()
	<-printed
	r.settle(ctx, c, e.left)
	return e.outcome(out.end())
}

// begin records the child and lets the command begin.
func (r *run) begin(ctx context.Context, c *child, p plan) error {
	if record := r.tool.options.Record; record != nil {
		if err := record.Started(ctx, c.Child); err != nil {
			return fmt.Errorf("recording the command: %w", err)
		}
	}
	r.mu.Lock()
	r.state = tools.Running
	r.mu.Unlock()
	return c.release(p)
}

// settle takes the child from the record unless something of it is left.
func (r *run) settle(ctx context.Context, c *child, left int) {
	if record := r.tool.options.Record; record != nil && left == 0 {
		_ = record.Ended(context.WithoutCancel(ctx), c.ID) // see [Recorder]
	}
}

// watch waits for the end of the command, of its time or of the call.
func (r *run) watch(ctx context.Context, c *child) (cause, word) {
	late := time.NewTimer(r.args.timeout())
	defer late.Stop()
	select {
	case w := <-c.ended:
		return byItself, w
	case <-late.C:
		return timedOut, word{}
	case <-ctx.Done():
	}
	select {
	case w := <-c.ended: // it was faster
		return byItself, w
	default:
		return stopped, word{}
	}
}

// ending is how a command ended.
type ending struct {
	cause cause
	word  word
	took  time.Duration
	limit time.Duration
	left  int // processes that could not be ended
}

// outcome is the ending and what was printed in words. A command that failed
// is a call that worked: its exit status is the result.
func (e ending) outcome(text string) tools.Outcome {
	var b strings.Builder
	b.WriteString(text)
	if text != "" && !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
	if text == "" {
		b.WriteString("[no output]\n")
	}
	o := tools.Outcome{State: tools.Completed}
	switch {
	case e.cause == stopped:
		o.State = tools.Cancelled
		fmt.Fprintf(&b, "[stopped after %s]", seconds(e.took))
	case e.cause == timedOut:
		o.State = tools.Failed
		fmt.Fprintf(&b, "[timed out after %s and was ended]", seconds(e.limit))
	case !e.word.Ended:
		o.State = tools.Failed
		fmt.Fprintf(&b, "[the command failed: %s]", e.word.Error)
	case e.word.Signal != 0:
		fmt.Fprintf(&b, "[killed by signal %d (%v) after %s]", e.word.Signal, syscall.Signal(e.word.Signal), seconds(e.took))
	default:
		fmt.Fprintf(&b, "[exit status %d after %s]", e.word.Code, seconds(e.took))
	}
	if e.left > 0 {
		fmt.Fprintf(&b, "\n[%d of its processes could not be ended and still run]", e.left)
	}
	o.Text = b.String()
	return o
}

// seconds is a duration in words. Nobody needs to know what is below a second.
func seconds(d time.Duration) string {
	if d < time.Second {
		return "less than 1 s"
	}
	return fmt.Sprintf("%.4g s", d.Round(time.Second/10).Seconds())
}
