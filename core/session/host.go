package session

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"parley/core/chat"
	"parley/core/llm"
	"parley/core/outbox"
	"parley/storage"
	"parley/tools"
)

// Config is how conversations behave.
type Config struct {
	Prompt      string        // the static system text
	MaxRounds   int           // model requests a turn may make
	TurnTimeout time.Duration // how long a turn may take in all
	Tries       int           // failures a turn forgives each model
	CompactAt   float64       // share of the model's context at which the older part is summed up
	KeepRaw     int           // newest messages that a summary leaves as they are
	SummaryBy   string        // strength of the model that sums up, "" for the conversation's own
	Idle        time.Duration // how long a conversation stays in memory unused
	Grace       time.Duration // how long a turn may go on when parley stops
	Zone        *time.Location
	Workdir     string // the agent's working directory, for the prompt
}

// Defaults returns the configuration that a fresh installation has.
func Defaults() Config {
	return Config{
		Prompt:      systemPrompt,
		MaxRounds:   50,
		TurnTimeout: time.Hour,
		Tries:       3,
		CompactAt:   0.8,
		KeepRaw:     20,
		Idle:        10 * time.Minute,
		Grace:       10 * time.Second,
		Zone:        time.Local,
	}
}

// Host holds the conversations that are in memory. Its methods are safe for
// concurrent use.
type Host struct {
	store  storage.Store
	outbox *outbox.Outbox
	models *llm.Pool
	front  Front
	config Config
	log    zerolog.Logger
	now    func() time.Time
	here   func(chat.Key) bool
	name   string // owner of claims

	toolbox Toolbox
	checks  tools.Validator
	stuck   []atomic.Int32 // by source: questions that it has not come back from

	actors sync.WaitGroup

	mu    sync.Mutex // guards what is below
	live  map[chat.Key]*actor
	early []chat.Key // woken before Run
	life  *life      // nil before Run and after it
	over  bool       // Run has ended
}

// life is what ends the actors: first no new turn begins, then the turns that
// still run are cut off, and last even the store is not waited for.
type life struct {
	draining <-chan struct{}
	turns    context.Context
	work     context.Context // of everything else
}

// Parts is what a Host is made of.
type Parts struct {
	Store  storage.Store
	Outbox *outbox.Outbox
	Models *llm.Pool
	Front  Front
	Config Config
	Log    zerolog.Logger
	Now    func() time.Time // nil: time.Now
	// Toolbox is what the agent can act with.
	Toolbox Toolbox
	// Here reports whether a conversation can be reached from this process;
	// what another one left unfinished elsewhere is not touched. Nil: all can.
	Here func(chat.Key) bool
}

// New returns a host that does nothing until Run.
func New(p Parts) *Host {
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.Here == nil {
		p.Here = func(chat.Key) bool { return true }
	}
	h := &Host{
		store: p.Store, outbox: p.Outbox, models: p.Models, front: p.Front,
		config: p.Config, log: p.Log, now: p.Now, here: p.Here,
		name: newID(), toolbox: p.Toolbox,
		live: make(map[chat.Key]*actor),
	}
	h.stuck = make([]atomic.Int32, 1+len(p.Toolbox.Sources)) // see sources
	return h
}

// Run resumes what a former process left unfinished and runs conversations
// until ctx ends. Then no new turn begins, running turns get Config.Grace to
// reach the end of their round, and Run returns when all have: nil after a
// clean stop. It is called once.
func (h *Host) Run(ctx context.Context) error {
	const last = 5 * time.Second // for the commits that end a turn
	work, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	turns, cut := context.WithCancelCause(work)
	defer cut(nil)
	if err := h.begin(ctx, &life{ctx.Done(), turns, work}); err != nil {
		h.end()
		if ctx.Err() != nil {
			return nil // told to stop before it began
		}
		return err
	}
	h.expire(ctx)
	<-ctx.Done()
	defer time.AfterFunc(h.config.Grace, func() { cut(errSuspended) }).Stop()
	defer time.AfterFunc(h.config.Grace+last, giveUp).Stop()
	h.end()
	h.actors.Wait()
	return nil
}

// begin wakes every conversation that has something to do.
func (h *Host) begin(ctx context.Context, l *life) error {
	keys, err := Busy(ctx, h.store)
	if err != nil {
		return fmt.Errorf("finding unfinished conversations: %w", err)
	}
	h.mu.Lock()
	h.life = l
	keys = append(keys, h.early...)
	h.early = nil
	h.mu.Unlock()
	keys = slices.DeleteFunc(keys, func(k chat.Key) bool { return !h.here(k) })
	h.Wake(keys...)
	return nil
}

// end lets no further actor begin.
func (h *Host) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.life, h.over = nil, true
}

// Wake tells conversations that their inbox has something. It does not block.
// Before Run it is remembered; once Run ends it does nothing, since what is in
// the inbox is taken up at the next start.
func (h *Host) Wake(keys ...chat.Key) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, key := range keys {
		switch a := h.live[key]; {
		case a != nil:
			a.nudge()
		case h.over:
		case h.life == nil:
			h.early = append(h.early, key)
		default:
			a := newActor(h, key, *h.life)
			h.live[key] = a
			a.nudge()
			h.actors.Go(func() { h.host(a) })
		}
	}
}

// host runs an actor and starts it over when it fails: its state is in the
// log.
func (h *Host) host(a *actor) {
	const longest = time.Minute
	for pause := time.Second; ; pause = min(2*pause, longest) {
		err := h.guard(a)
		if err == nil {
			return
		}
		h.log.Error().Err(err).Stringer("key", a.key).Msg("conversation failed, reading it anew")
		select {
		case <-time.After(pause):
		case <-a.life.draining:
			h.forget(a)
			return
		}
		a.reset()
	}
}

// guard runs an actor and turns its panic into an error. The turn that ran
// beside it has ended when guard returns.
func (h *Host) guard(a *actor) (err error) {
	defer a.abandon()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return a.run()
}

// retire takes an idle actor out of memory, unless somebody has just woken it.
func (h *Host) retire(a *actor) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(a.wake) > 0 {
		return false
	}
	delete(h.live, a.key)
	return true
}

func (h *Host) forget(a *actor) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.live, a.key)
}

// Live returns how many conversations are in memory.
func (h *Host) Live() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.live)
}

// errSuspended ends a turn because parley stops: it goes on at the next start.
var errSuspended = errors.New("parley is stopping")
