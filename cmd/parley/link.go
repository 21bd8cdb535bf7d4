package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/rs/zerolog"

	"parley/core/chat"
)

// link is the life of one adapter: it is run, and run again when it fails, and
// what is known of it is told to whoever asks.
type link struct {
	name string

	mu    sync.Mutex // guards what is below
	since time.Time  // when the present state began
	err   error      // why it is down, nil: it runs or has not begun
	final bool       // it will not be tried again
	runs  bool

	quiet bool // whoever runs it tells when it ends for good
}

func newLink(name string) *link { return &link{name: name} }

// connect runs all adapters until ctx ends. It does not fail: an adapter that
// does is no reason to end the others. Only the chat at the terminal stands
// and falls with its one.
func (a *app) connect(ctx context.Context) error {
	if l := a.links[terminalName]; l != nil {
		l.quiet = true
		l.run(ctx, a.adapters[terminalName], a.gateway, a.setup.Log)
		return l.brokenChat()
	}
	var all sync.WaitGroup
	for name, adapter := range a.adapters {
		log := a.setup.Log.With().Str("adapter", name).Logger()
		all.Go(func() { a.links[name].run(ctx, adapter, a.gateway, log) })
	}
	all.Wait()
	return nil
}

// run keeps one adapter connected until ctx ends, it stops by itself, or
// trying again can never help.
func (l *link) run(ctx context.Context, adapter chat.Adapter, in chat.Inbound, log zerolog.Logger) {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = time.Second, time.Minute
	const steady = 5 * time.Minute // after which a failure counts as the first again
	for {
		l.set(true, nil, false)
		began := time.Now()
		err := guarded(func() error { return adapter.Run(ctx, in) })
		if ctx.Err() != nil || err == nil {
			l.set(false, nil, true)
			return
		}
		final := errors.Is(err, chat.ErrPermanent)
		l.set(false, err, final)
		if !final || !l.quiet {
			log.Error().Err(err).Bool("final", final).Msg("adapter ended")
		}
		if final {
			return
		}
		if time.Since(began) > steady {
			wait.Reset()
		}
		select {
		case <-time.After(wait.NextBackOff()):
		case <-ctx.Done():
			return
		}
	}
}

// brokenChat is what to tell of a chat that could not go on, nil if it ended as
// the person wanted.
func (l *link) brokenChat() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.err == nil || !l.final:
		return nil
	case errors.Is(l.err, syscall.EPIPE):
		return &failure{"nobody reads what the chat writes any more", "what was not shown is shown at the next start"}
	}
	says := strings.TrimSuffix(l.err.Error(), ": "+chat.ErrPermanent.Error())
	return &failure{"the chat cannot go on: " + says, "mend that and start again; what was not answered or shown is then"}
}

func guarded(run func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return run()
}

func (l *link) set(runs bool, err error, final bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs, l.err, l.final, l.since = runs, err, final, time.Now()
}

// finding says how the adapter is.
func (l *link) finding() chat.Finding {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := chat.Finding{Part: l.name, Level: chat.Good}
	switch {
	case l.runs:
		f.Says = "Running since " + l.since.Format(time.DateTime) + "."
	case l.err != nil && l.final:
		f.Level, f.Says = chat.Fail, fmt.Sprintf("Ended for good: %v.", l.err)
	case l.err != nil:
		f.Level, f.Says = chat.Fail, fmt.Sprintf("Down, and tried again: %v.", l.err)
	default:
		f.Level, f.Says = chat.Off, "Not running."
	}
	return f
}
