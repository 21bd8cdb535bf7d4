package tools_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/tools"
)

// shelf is a memory that can be made to fail or to block.
type shelf struct {
	mu     sync.Mutex
	rows   map[string]tools.Known
	writes int
	load   error
	save   error
	gate   chan struct{} // Save waits until it is closed, if there is one
}

func (s *shelf) Load(context.Context) ([]tools.Known, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.rows)), s.load
}

func (s *shelf) Save(ctx context.Context, all ...tools.Known) error {
	if s.gate != nil {
		select {
		case <-s.gate:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes += len(all)
	if s.save != nil {
		return s.save
	}
	if s.rows == nil {
		s.rows = map[string]tools.Known{}
	}
	for _, k := range all {
		s.rows[k.Name] = k
	}
	return nil
}

func specs(from, to int) (all []tools.Spec) {
	for i := from; i < to; i++ {
		all = append(all, tools.Spec{Name: fmt.Sprintf("t%05d", i), Description: "It\ndoes.", Source: "mcp/x", Category: tools.Shell})
	}
	return all
}

// run runs a discovery until the function it returns is called.
func run(t *testing.T, d *tools.Discovery) (end func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	return func() error { cancel(); return <-done }
}

func TestDiscoverySurvivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		d := tools.NewDiscovery(s, nil)
		end := run(t, d)
		begin := time.Now()
		d.Observe(specs(0, 3))
		d.Observe(specs(0, 4))
		synctest.Wait()
		if s.writes != 4 {
			t.Errorf("%d names written", s.writes)
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		d = tools.NewDiscovery(s, nil)
		d.Observe(specs(2, 5)) // before it loaded
		end = run(t, d)
		synctest.Wait()
		if err := end(); err != nil || s.writes != 5 {
			t.Errorf("%v, %d names written", err, s.writes)
		}
		known := d.Known()
		if len(known) != 5 || !known[2].First.Equal(begin) || !known[4].First.Equal(begin.Add(time.Hour)) {
			t.Errorf("known are %v", known)
		}
		if k := known[0]; k.Source != "mcp/x" || k.Category != tools.Shell || k.Description != "It does." {
			t.Errorf("known is %+v", k)
		}
	})
}

// A full queue blocks no turn and loses no name.
func TestDiscoveryFullQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{gate: make(chan struct{})}
		d := tools.NewDiscovery(s, nil)
		d.Observe(specs(0, 1000))
		if n := len(d.Known()); n < 100 || n >= 1000 {
			t.Fatalf("%d are known", n)
		}
		end := run(t, d)
		close(s.gate)
		for range 10 {
			synctest.Wait()
			d.Observe(specs(0, 1000))
		}
		if err := end(); err != nil || len(s.rows) != 1000 || len(d.Known()) != 1000 {
			t.Errorf("%v, %d stored", err, len(s.rows))
		}
		if s.writes != 1000 {
			t.Errorf("%d written", s.writes)
		}
	})
}

func TestDiscoveryRetriesWhatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		s := &shelf{save: full}
		var reported []error
		d := tools.NewDiscovery(s, func(err error) { reported = append(reported, err) })
		end := run(t, d)
		d.Observe(specs(0, 3))
		synctest.Wait()
		s.save = nil
		d.Observe(specs(0, 3))
		synctest.Wait()
		if err := end(); err != nil || len(s.rows) != 3 {
			t.Errorf("%v, %d stored", err, len(s.rows))
		}
		if len(reported) != 1 || !errors.Is(reported[0], full) {
			t.Errorf("reported %v", reported)
		}
	})
}

func TestDiscoveryEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		d := tools.NewDiscovery(s, nil)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		d.Observe(specs(0, 200))
		if err := d.Run(ctx); err != nil || len(s.rows) != 200 {
			t.Errorf("%v, %d stored at the end", err, len(s.rows))
		}
		s.save = errors.New("disk full")
		d.Observe(specs(200, 201))
		if err := d.Run(ctx); err == nil {
			t.Error("what could not be saved at the end is no error")
		}
		stuck := &shelf{gate: make(chan struct{})}
		d = tools.NewDiscovery(stuck, nil)
		d.Observe(specs(0, 1))
		if err := d.Run(ctx); err == nil {
			t.Error("a stuck memory is no error")
		}
		d = tools.NewDiscovery(&shelf{load: errors.New("broken")}, nil)
		if err := d.Run(t.Context()); err == nil {
			t.Error("loading is no error")
		}
	})
}

func TestDiscoveryHasABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reports int
		s := &shelf{}
		d := tools.NewDiscovery(s, func(error) { reports++ })
		end := run(t, d)
		for i := range 80 {
			d.Observe(specs(i*200, i*200+200))
			synctest.Wait()
		}
		if err := end(); err != nil || len(s.rows) != 10_000 || reports != 1 {
			t.Errorf("%v, %d stored, %d reports", err, len(s.rows), reports)
		}
	})
}

func TestDiscoveryAtOnce(t *testing.T) {
	s := &shelf{}
	d := tools.NewDiscovery(s, nil)
	end := run(t, d)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 100 {
				d.Observe(specs(i, i+j%20))
				d.Known()
			}
		})
	}
	wg.Wait()
	if err := end(); err != nil || len(s.rows) != 26 {
		t.Errorf("%v, %d stored", err, len(s.rows))
	}
}

func BenchmarkObserve(b *testing.B) {
	d := tools.NewDiscovery(&shelf{}, nil)
	all := specs(0, 60)
	d.Observe(all)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			d.Observe(all)
		}
	})
}
