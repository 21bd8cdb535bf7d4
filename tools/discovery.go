package tools

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Known is a tool that was offered to a model at some time.
type Known struct {
	Name        string    `json:"name"`
	Source      string    `json:"source"`
	Category    Category  `json:"category,omitempty"`
	Description string    `json:"description"` // its beginning
	First       time.Time `json:"first"`       // when it was offered first
}

// Memory is where known tools outlive the process. Discovery calls it from its
// Run, and Load from its own as well.
type Memory interface {
	// Load returns all known tools. An error ends Run.
	Load(ctx context.Context) ([]Known, error)
	// Save adds known tools; saving one again is fine. It may block for as
	// long as the disk takes. After an error the tools are saved again when
	// they are next observed.
	Save(ctx context.Context, tools ...Known) error
}

const (
	maxKnown    = 10_000          // names remembered at most
	queueLength = 256             // names on their way to the memory at most
	saveTime    = 5 * time.Second // for one save, also of what waits when Run is told to end
)

// Discovery remembers every tool that was ever offered. It watches the array
// of each round where it is put together, and writes the new names to its
// memory off the turn's path.
//
// A name is taken into memory and queue at once or not at all: when the queue
// is full it counts as not seen, and the next Observe with it tries again; the
// same holds for names whose save went wrong. So nothing is lost as long as
// the tool goes on being offered, and no turn ever waits.
type Discovery struct {
	memory Memory
	report func(error)
	queue  chan Known
	known  atomic.Pointer[map[string]Known] // replaced, never changed

	mu   sync.Mutex // held while known is replaced
	full bool       // too many names were reported
}

// NewDiscovery returns a discovery over a memory. report is told what went
// wrong on the way; it may be called from any turn, must neither block nor call
// back, and may be nil.
func NewDiscovery(m Memory, report func(error)) *Discovery {
	if report == nil {
		report = func(error) {}
	}
	d := &Discovery{memory: m, report: report, queue: make(chan Known, queueLength)}
	d.known.Store(&map[string]Known{})
	return d
}

// Observe takes note of what a round offers. It does not block; with nothing
// new it only looks at a map.
func (d *Discovery) Observe(specs []Spec) {
	known := *d.known.Load()
	isNew := func(s Spec) bool { _, ok := known[s.Name]; return !ok }
	if i := slices.IndexFunc(specs, isNew); i >= 0 {
		d.add(specs[i:])
	}
}

// add takes new names into memory and queue.
func (d *Discovery) add(specs []Spec) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := maps.Clone(*d.known.Load())
	defer d.known.Store(&known)
	now := time.Now().UTC()
	for _, s := range specs {
		if _, ok := known[s.Name]; ok {
			continue
		}
		if len(known) >= maxKnown {
			if !d.full {
				d.full = true
				d.report(fmt.Errorf("remembering tool %q: %d are known already, no more will be", Label(s.Name, Short), maxKnown))
			}
			return
		}
		k := Known{Name: s.Name, Source: s.Source, Category: s.Category, Description: Label(s.Description, 300), First: now}
		select {
		case d.queue <- k:
			known[k.Name] = k
		default:
			return // full: they are new again at the next Observe
		}
	}
}

// Known lists what is remembered, sorted by name.
func (d *Discovery) Known() []Known {
	return slices.SortedFunc(maps.Values(*d.known.Load()), func(a, b Known) int { return strings.Compare(a.Name, b.Name) })
}

// Run loads what is known and then saves what is new, until ctx ends. It
// blocks; after a clean stop all that waited is saved and it returns nil. It
// may be called again after an error.
func (d *Discovery) Run(ctx context.Context) error {
	stored, err := d.load(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("loading known tools: %w", err)
	}
	for ctx.Err() == nil {
		select {
		case k := <-d.queue:
			d.save(ctx, stored, d.waiting(k))
		case <-ctx.Done():
		}
	}
	return d.flush(ctx, stored)
}

// Load takes in what the memory knows, for a listing in a process that has no
// Run. It blocks for as long as the memory does; twice is fine.
func (d *Discovery) Load(ctx context.Context) error {
	if _, err := d.load(ctx); err != nil {
		return fmt.Errorf("loading known tools: %w", err)
	}
	return nil
}

// load takes in what the memory knows. What was observed meanwhile keeps the
// older time.
func (d *Discovery) load(ctx context.Context) (stored map[string]bool, err error) {
	err = guard(func() error {
		all, err := d.memory.Load(ctx)
		if err != nil {
			return err
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		known := maps.Clone(*d.known.Load())
		stored = map[string]bool{}
		for _, k := range all {
			known[k.Name], stored[k.Name] = k, true
		}
		d.known.Store(&known)
		return nil
	})
	return stored, err
}

// waiting adds to one name those that wait behind it.
func (d *Discovery) waiting(first ...Known) []Known {
	all := first
	for {
		select {
		case k := <-d.queue:
			all = append(all, k)
		default:
			return all
		}
	}
}

// save writes names that are not stored yet. Those that could not be written
// are forgotten, so that they are new again.
func (d *Discovery) save(ctx context.Context, stored map[string]bool, all []Known) {
	all = slices.DeleteFunc(all, func(k Known) bool { return stored[k.Name] })
	if len(all) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	if err := guard(func() error { return d.memory.Save(ctx, all...) }); err != nil {
		d.forget(all)
		d.report(fmt.Errorf("saving %d known tools: %w", len(all), err))
		return
	}
	for _, k := range all {
		stored[k.Name] = true
	}
}

func (d *Discovery) forget(all []Known) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := maps.Clone(*d.known.Load())
	for _, k := range all {
		delete(known, k.Name)
	}
	d.known.Store(&known)
}

// flush saves what waits when Run is told to end.
func (d *Discovery) flush(ctx context.Context, stored map[string]bool) error {
	before := len(stored)
	all := d.waiting()
	all = slices.DeleteFunc(all, func(k Known) bool { return stored[k.Name] })
	d.save(ctx, stored, all)
	if len(stored) != before+len(all) {
		return errors.New("ending with known tools that could not be saved")
	}
	return nil
}
