package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// untilSignal returns a context that ends with the first SIGINT or SIGTERM, or
// when the terminal is closed, which comes more than once and often along with
// another: a SIGHUP is no second signal. Under nohup it is none at all. The
// second SIGINT or SIGTERM calls now, which ends the process at once. stop takes
// the signals off and waits; it must be called.
//
// SIGPIPE does not end the process meanwhile: whoever writes to a reader that
// has gone gets an error, and the rest is stopped in order.
func untilSignal(parent context.Context, now func()) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	others := make(chan os.Signal, 1)
	signal.Notify(others, syscall.SIGPIPE)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(others, syscall.SIGHUP)
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for acts := []func(){cancel, now}; len(acts) > 0; {
			select {
			case <-signals:
				acts[0]()
				acts = acts[1:]
			case s := <-others:
				if s == syscall.SIGHUP {
					cancel()
				}
			case <-done:
				return
			}
		}
	})
	return ctx, func() {
		signal.Stop(signals)
		signal.Stop(others)
		close(done)
		cancel()
		wg.Wait()
	}
}
