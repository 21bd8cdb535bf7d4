package llm

import (
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Budget counts what went wrong in one turn, over all its rounds and all kinds
// of failure: recovering from one kind buys no more tries for another (LLM-12).
// Safe for concurrent use.
type Budget struct {
	tries int
	mu    sync.Mutex
	spent map[string]*account // by Info.Name
}

// account is what one model has used up.
type account struct {
	failures int
	out      bool // it will not be asked again this turn
	rest     time.Time
	last     *Error
	wait     *backoff.ExponentialBackOff
}

// NewBudget gives each model tries failures; 0 means 3.
func NewBudget(tries int) *Budget {
	const usual = 3
	if tries <= 0 {
		tries = usual
	}
	return &Budget{tries: tries, spent: map[string]*account{}}
}

// of returns a model's account. The lock is held.
func (b *Budget) of(name string) *account {
	a := b.spent[name]
	if a == nil {
		w := backoff.NewExponentialBackOff()
		w.InitialInterval, w.Multiplier, w.MaxInterval = firstWait, 2, mostWait
		w.Reset()
		a = &account{wait: w}
		b.spent[name] = a
	}
	return a
}

const (
	firstWait = time.Second
	mostWait  = 60 * time.Second // between two tries, whatever the server asks
	// patience is what a server may ask before another model is preferred.
	patience = 10 * time.Second
)

// fail books an error and sets how long the model rests.
func (b *Budget) fail(name string, e *Error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.of(name)
	a.last = e
	a.failures++
	a.out = a.failures >= b.tries || !e.Kind.heals()
	wait := a.wait.NextBackOff()
	if e.After > 0 {
		wait = e.After
	}
	a.rest = time.Now().Add(wait)
}

// state says whether a model may still be asked and after which wait.
func (b *Budget) state(name string) (wait time.Duration, ok bool, last *Error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.spent[name]
	if a == nil {
		return 0, true, nil
	}
	return max(0, time.Until(a.rest)), !a.out, a.last
}
