package tools_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/tools"
)

func TestDriveEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if o := tools.Drive(t.Context(), tools.Finished(tools.Done("fine"))); o.State != tools.Completed || o.Text != "fine" {
			t.Errorf("ended %q %q", o.State, o.Text)
		}
		slow := tools.Func(t.Context(), func(context.Context) tools.Outcome {
			time.Sleep(time.Hour)
			return tools.Fault("no")
		})
		if o := tools.Drive(t.Context(), slow); o.State != tools.Failed || o.Text != "no" {
			t.Errorf("ended %q %q", o.State, o.Text)
		}
	})
}

func TestDriveStopsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stops atomic.Int32
		stopped := make(chan struct{})
		e := odd{
			wait: func(context.Context) tools.Outcome { <-stopped; return tools.Fault("signal: killed") },
			stop: func(context.Context) {
				if stops.Add(1) == 1 {
					close(stopped)
				}
			},
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		o := tools.Drive(ctx, e)
		if o.State != tools.Cancelled || o.Text != "stopped; it returned: signal: killed" {
			t.Errorf("ended %q %q", o.State, o.Text)
		}
		if n := stops.Load(); n != 1 {
			t.Errorf("stopped %d times", n)
		}
	})
}

// A tool that started something elsewhere overrides Stop; it is called also if
// the work's own context ended first.
func TestDriveTearsDownTheFarSide(t *testing.T) {
	for range 50 {
		var stops atomic.Int32
		ctx, cancel := context.WithCancel(t.Context())
		inner := tools.Func(ctx, func(ctx context.Context) tools.Outcome { <-ctx.Done(); return tools.Fault("cut off") })
		e := odd{state: inner.State, wait: inner.Wait, stop: func(ctx context.Context) { stops.Add(1); inner.Stop(ctx) }}
		cancel()
		if o := tools.Drive(ctx, e); o.State != tools.Cancelled || stops.Load() != 1 {
			t.Fatalf("ended %q, stopped %d times", o.State, stops.Load())
		}
	}
}

// What completed before the stop is not undone by it.
func TestDriveKeepsWhatCompleted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 {
		if o := tools.Drive(ctx, tools.Finished(tools.Done("sent"))); o.State != tools.Completed || o.Text != "sent" {
			t.Fatalf("ended %q %q", o.State, o.Text)
		}
	}
}

func TestDriveComesBack(t *testing.T) {
	release := make(chan struct{})
	hang := func(context.Context) { <-release }
	for _, c := range []struct {
		name  string
		e     func() tools.Execution
		state tools.State
		text  string
		after time.Duration // the stop
	}{
		{"nothing", func() tools.Execution { return nil }, tools.Failed, "started nothing", 0},
		{"a deaf tool", func() tools.Execution { return tools.Func(context.Background(), deaf(release)) }, tools.Cancelled, "stopped", 0},
		{"Wait never returns", func() tools.Execution {
			return odd{wait: func(context.Context) tools.Outcome { <-release; return tools.Done("") }}
		}, tools.Cancelled, "did not come to an end", tools.StopTime},
		{"nor does Stop", func() tools.Execution {
			return odd{wait: func(context.Context) tools.Outcome { <-release; return tools.Done("") }, stop: hang}
		}, tools.Cancelled, "did not come to an end", tools.StopTime},
		{"Stop alone hangs", func() tools.Execution {
			return odd{wait: func(ctx context.Context) tools.Outcome { <-ctx.Done(); return tools.Done("half") }, stop: hang}
		}, tools.Cancelled, "it returned: half", tools.StopTime},
		{"Wait panics", func() tools.Execution {
			return odd{wait: func(context.Context) tools.Outcome { panic("oh") }}
		}, tools.Failed, "panic: oh", 0},
		{"Stop and State panic", func() tools.Execution {
			return odd{
				state: func() tools.State { panic("oh") }, stop: func(context.Context) { panic("oh") },
				wait: func(ctx context.Context) tools.Outcome { <-ctx.Done(); return tools.Outcome{} },
			}
		}, tools.Cancelled, "stopped", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release = make(chan struct{})
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				begin := time.Now()
				o := tools.Drive(ctx, c.e())
				if o.State != c.state || !strings.Contains(o.Text, c.text) {
					t.Errorf("ended %q %q", o.State, o.Text)
				}
				if took := time.Since(begin); took > time.Second+c.after {
					t.Errorf("took %v", took)
				}
				close(release)
			})
		})
	}
}

func TestFiftyMegabytes(t *testing.T) {
	e := tools.Func(t.Context(), func(context.Context) tools.Outcome { return tools.Done(strings.Repeat("0123456789", 5<<20)) })
	o := tools.Drive(t.Context(), e)
	if short := tools.Cap(o.Text, 30_000, "out.txt"); len(o.Text) != 50<<20 || len(short) > 30_000 {
		t.Errorf("%d bytes became %d", len(o.Text), len(short))
	}
}

type starter func(ctx context.Context, call tools.Call) tools.Execution

func (s starter) Spec() tools.Spec { return tools.Spec{} }
func (s starter) Run(ctx context.Context, call tools.Call) tools.Execution {
	return s(ctx, call)
}

func TestStart(t *testing.T) {
	for name, run := range map[string]starter{
		"panics":  func(context.Context, tools.Call) tools.Execution { panic("oh") },
		"nothing": func(context.Context, tools.Call) tools.Execution { return nil },
	} {
		if o := tools.Drive(t.Context(), tools.Start(t.Context(), run, tools.Call{})); o.State != tools.Failed || o.Text == "" {
			t.Errorf("%s: ended %q %q", name, o.State, o.Text)
		}
	}
	full := starter(func(ctx context.Context, call tools.Call) tools.Execution {
		call.Progress("half")
		a, err := call.Ask(ctx, tools.Question{})
		if err != nil || !a.None || string(call.Args) != "{}" {
			t.Errorf("%v %v %s", err, a, call.Args)
		}
		return tools.Finished(tools.Done(""))
	})
	tools.Start(t.Context(), full, tools.Call{})
}
