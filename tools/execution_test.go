package tools_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"parley/tools"
)

// deaf is work that ignores its context until it is let go.
func deaf(release <-chan struct{}) func(context.Context) tools.Outcome {
	return func(context.Context) tools.Outcome {
		<-release
		return tools.Done("too late")
	}
}

func TestFuncEnds(t *testing.T) {
	for _, c := range []struct {
		name  string
		f     func(context.Context) tools.Outcome
		state tools.State
		text  string
	}{
		{"done", func(context.Context) tools.Outcome { return tools.Done("fine") }, tools.Completed, "fine"},
		{"failed", func(context.Context) tools.Outcome { return tools.Fault("no %s", "way") }, tools.Failed, "no way"},
		{"without a state", func(context.Context) tools.Outcome { return tools.Outcome{Text: "hm"} }, tools.Completed, "hm"},
		{"still running", func(context.Context) tools.Outcome { return tools.Outcome{State: tools.Running} }, tools.Completed, ""},
		{"not its to say", func(context.Context) tools.Outcome { return tools.Outcome{State: tools.Rejected, Text: "x"} }, tools.Failed, "x"},
		{"panics", func(context.Context) tools.Outcome { panic("oh") }, tools.Failed, "the tool failed: panic: oh"},
		{"panics with an error", func(context.Context) tools.Outcome { panic(errors.New("eh")) }, tools.Failed, "the tool failed: panic: eh"},
		{"ends its goroutine", func(context.Context) tools.Outcome { runtime.Goexit(); return tools.Outcome{} }, tools.Failed, "the tool ended without a result"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := tools.Func(t.Context(), c.f)
				o := e.Wait(t.Context())
				if o.State != c.state || o.Text != c.text || e.State() != c.state {
					t.Errorf("ended %q %q, want %q %q", o.State, o.Text, c.state, c.text)
				}
				if panics := strings.HasPrefix(c.name, "panics"); panics != (len(o.Stack) > 0) {
					t.Errorf("a stack of %d bytes", len(o.Stack))
				}
				e.Stop(t.Context())
				if again := e.Wait(t.Context()); again.State != c.state {
					t.Errorf("waiting again: %q", again.State)
				}
			})
		})
	}
}

// The context of Wait belongs to the work: when it ends the work is stopped
// and the outcome is Cancelled, for everyone who waits.
func TestFuncContextOfWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan struct{})
		e := tools.Func(t.Context(), func(ctx context.Context) tools.Outcome {
			<-ctx.Done()
			close(told)
			return tools.Fault("%v", ctx.Err())
		})
		other := make(chan tools.Outcome)
		go func() { other <- e.Wait(context.Background()) }()
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		if o := e.Wait(ctx); o.State != tools.Cancelled {
			t.Errorf("ended %q %q", o.State, o.Text)
		}
		<-told
		if o := <-other; o.State != tools.Cancelled {
			t.Errorf("the other waiter: %q", o.State)
		}
	})
}

// Work that fails because it was stopped is Cancelled, whoever is first.
func TestFuncStoppedIsNoFailure(t *testing.T) {
	for range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		e := tools.Func(ctx, func(ctx context.Context) tools.Outcome {
			<-ctx.Done()
			return tools.Fault("%v", ctx.Err())
		})
		cancel()
		if o := e.Wait(context.Background()); o.State != tools.Cancelled || o.Text != "stopped" {
			t.Fatalf("ended %q %q", o.State, o.Text)
		}
	}
}

func TestFuncStops(t *testing.T) {
	ends := map[string]func(e tools.Execution, cancel context.CancelFunc){
		"Stop": func(e tools.Execution, _ context.CancelFunc) { e.Stop(context.Background()) },
		"Stop twice": func(e tools.Execution, _ context.CancelFunc) {
			e.Stop(context.Background())
			e.Stop(context.Background())
		},
		"its context":    func(_ tools.Execution, cancel context.CancelFunc) { cancel() },
		"all, and often": func(e tools.Execution, cancel context.CancelFunc) { many(e, cancel) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				e := tools.Func(ctx, deaf(release))
				if e.State() != tools.Running {
					t.Errorf("begins as %q", e.State())
				}
				end(e, cancel)
				if o := e.Wait(context.Background()); o.State != tools.Cancelled {
					t.Errorf("ended %q", o.State)
				}
				close(release)
				synctest.Wait()
				if o := e.Wait(context.Background()); o.State != tools.Cancelled || o.Text == "too late" {
					t.Errorf("what came late was taken: %q", o.Text)
				}
			})
		})
	}
}

func many(e tools.Execution, cancel context.CancelFunc) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { e.Stop(context.Background()) })
		wg.Go(func() { e.Wait(context.Background()) })
		wg.Go(func() { e.State() })
	}
	cancel()
	wg.Wait()
}

func TestFuncNotBegunAfterTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := tools.Func(ctx, func(context.Context) tools.Outcome {
		t.Error("the work was begun")
		return tools.Done("")
	})
	if o := e.Wait(t.Context()); o.State != tools.Cancelled {
		t.Errorf("ended %q", o.State)
	}
}

func TestFinished(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := tools.Finished(tools.Fault("no"))
	e.Stop(ctx)
	if o := e.Wait(ctx); o.State != tools.Failed || e.State() != tools.Failed {
		t.Errorf("ended %q", o.State)
	}
}

func TestStates(t *testing.T) {
	for s, want := range map[tools.State]struct {
		logged string
		ended  bool
	}{
		tools.Pending: {"running", false}, tools.Running: {"running", false}, tools.AwaitingApproval: {"pending", false},
		tools.Completed: {"done", true}, tools.Failed: {"failed", true}, tools.Cancelled: {"cancelled", true},
		tools.Rejected: {"rejected", true},
	} {
		if s.Logged() != want.logged || s.Ended() != want.ended {
			t.Errorf("%q: %q %v", s, s.Logged(), s.Ended())
		}
	}
}

// Whatever ends first, there is one outcome, and it stays.
func TestFuncOneOutcome(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.SliceOfN(rapid.SampledFrom([]string{"stop", "cancel", "finish", "panic", "wait"}), 1, 6).Draw(t, "steps")
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		release := make(chan string, len(steps)+1)
		e := tools.Func(ctx, func(context.Context) tools.Outcome {
			if <-release == "panic" {
				panic("oh")
			}
			return tools.Done("fine")
		})
		for _, s := range steps {
			switch s {
			case "stop":
				e.Stop(ctx)
			case "cancel":
				cancel()
			case "wait":
				go e.Wait(context.Background())
			default:
				release <- s
			}
		}
		release <- "finish"
		first := e.Wait(context.Background())
		if again := e.Wait(context.Background()); !first.State.Ended() || again.State != first.State || e.State() != first.State {
			t.Fatalf("ended %q, then %q", first.State, again.State)
		}
	})
}
