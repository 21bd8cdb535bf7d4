package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// untilSignal returns a context that ends with the first SIGINT or SIGTERM. The
// second one calls now, which ends the process at once. stop takes the signals
// off and waits; it must be called.
func untilSignal(parent context.Context, now func()) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for _, act := range []func(){cancel, now} {
			select {
			case <-signals:
				act()
			case <-done:
				return
			}
		}
	})
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel()
		wg.Wait()
	}
}
