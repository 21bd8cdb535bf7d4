package outbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"parley/core/chat"
	"parley/storage"
)

// queue is the name of the queue that posts wait in.
const queue = "outbox"

// Options are what an Outbox may be given. The zero value works.
type Options struct {
	Log zerolog.Logger
	// Now is the clock, time.Now if nil.
	Now func() time.Time
	// Owner names this process in the store's claims. Processes that share a
	// store need different names; a process that comes back keeps its own.
	Owner string
	// CallTimeout is how long one call of an adapter may take, 60 s if zero.
	// Files get a second more for each 64 KiB.
	CallTimeout time.Duration
	// Grace is how long calls under way may go on after Run was told to end,
	// 5 s if zero.
	Grace time.Duration
	// Patience is how long a platform may answer a part with errors before
	// the post is a dead letter, 2 min if zero.
	Patience time.Duration
	// PreviewRate is how many previews and typing signals one adapter sends
	// in a second, all chats together, 15 if zero: half of the lowest rate
	// that a platform documents for a whole bot.
	PreviewRate float64
	// PrivateChat finds the private chat of a person, for posts that only this
	// person may see and that their chat cannot show so. It may block for as
	// long as a read of the store takes. Nil: there is none.
	PrivateChat func(ctx context.Context, u chat.UserID) (chat.Key, bool)
	// Moved is told that a send found a chat to live elsewhere, before the
	// outbox notes it; an error is logged and the send tried again later, so
	// Moved may be called twice. Nil: nobody needs to know.
	Moved func(ctx context.Context, from, to chat.Key) error
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Owner == "" {
		o.Owner = "outbox"
	}
	if o.CallTimeout <= 0 {
		o.CallTimeout = time.Minute
	}
	if o.Grace <= 0 {
		o.Grace = 5 * time.Second
	}
	if o.Patience <= 0 {
		o.Patience = 2 * time.Minute
	}
	if o.PreviewRate <= 0 {
		o.PreviewRate = 15
	}
	return o
}

// Outbox shows what waits in the queue. All methods are safe for concurrent
// use.
type Outbox struct {
	store    storage.Store
	adapters map[string]chat.Adapter
	opts     Options
	log      zerolog.Logger

	platforms map[string]*platform

	// mu guards the maps and what lines say they share; it is never held
	// during a call of an adapter, a hook or the store.
	mu      sync.Mutex
	started bool
	life    *life // nil unless Run runs
	lines   map[chat.Key]*line
	moved   map[chat.Key]chat.Key
	wg      sync.WaitGroup // the lines
}

// life is what a Run gives its lines.
type life struct {
	stop    <-chan struct{} // closed: begin nothing new
	calls   context.Context // of adapter calls; ends after the grace
	commits context.Context // of records; ends after another grace
	// before is the last item that was there when this process began: what
	// became of it in an earlier process is not known.
	before uint64
}

func (l *life) stopping() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

// New returns an outbox over a store that shows posts through the adapters, by
// their names in [chat.Key.Adapter]. It does nothing before [Outbox.Run].
func New(store storage.Store, adapters map[string]chat.Adapter, o Options) *Outbox {
	o = o.withDefaults()
	box := &Outbox{
		store: store, adapters: adapters, opts: o, log: o.Log,
		platforms: make(map[string]*platform, len(adapters)),
		lines:     make(map[chat.Key]*line),
		moved:     make(map[chat.Key]chat.Key),
	}
	for name := range adapters {
		box.platforms[name] = newPlatform(o.PreviewRate)
	}
	return box
}

// Put is the step by which a post enters the outbox. The caller makes it part
// of the Apply that decides on the post, and then calls [Outbox.Wake]. A post
// whose id the queue knows already changes nothing.
func Put(k chat.Key, p chat.Post) storage.Op { return record{Post: p}.enqueue(k) }

// laneOf names the lane of a chat that a post waits in.
func laneOf(p chat.Post) string {
	switch {
	case p.Ticket != "":
		return "ticket/" + p.Ticket
	case p.Kind == chat.Answer || p.InOrder:
		return laneAnswer
	default:
		return laneNotice
	}
}

const (
	laneAnswer = "answer"
	laneNotice = "notice"
)

// Wake says that something was put for the keys. It never blocks, and is safe
// to call too often. Without a running Run it does nothing, since Run begins
// by looking at all that waits.
func (o *Outbox) Wake(keys ...chat.Key) {
	for _, k := range keys {
		o.tell(k, func(m *mail) { m.woken = true })
	}
}

// Run shows posts until ctx ends, beginning with all that wait. It blocks and
// is called once. After ctx ended, calls under way get [Options.Grace] to end
// and be recorded. It returns nil after a clean stop, and an error when the
// store cannot be read at the start.
func (o *Outbox) Run(ctx context.Context) error {
	if !o.start() {
		return errors.New("running outbox: Run called twice")
	}
	err := o.serve(ctx)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("starting outbox: %w", err)
	}
	return nil
}

// serve lets lines live until ctx ends, and waits for them.
func (o *Outbox) serve(ctx context.Context) error {
	before, err := o.catchUp(ctx)
	if err != nil {
		return err
	}
	stop, endLines := context.WithCancel(ctx)
	calls, endCalls := context.WithCancel(context.WithoutCancel(ctx))
	commits, endCommits := context.WithCancel(context.WithoutCancel(ctx))
	o.setLife(&life{stop: stop.Done(), calls: calls, commits: commits, before: before})
	if err = o.wakeAll(ctx); err == nil {
		<-ctx.Done()
	}
	endLines()
	o.setLife(nil)
	o.settle(endCalls, endCommits)
	return err
}

func (o *Outbox) start() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	first := !o.started
	o.started = true
	return first
}

// setLife begins or ends the time in which lines are born.
func (o *Outbox) setLife(l *life) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.life = l
}

// settle waits for all lines: as long as the grace lasts with all they need,
// then without calls, then without commits. It ends both in any case.
func (o *Outbox) settle(endCalls, endCommits func()) {
	calls := time.AfterFunc(o.opts.Grace, endCalls)
	commits := time.AfterFunc(2*o.opts.Grace, endCommits)
	o.wg.Wait()
	calls.Stop()
	commits.Stop()
	endCalls()
	endCommits()
}

// catchUp reads what an earlier process left: which chats moved, and the
// number of the last item it may have tried.
func (o *Outbox) catchUp(ctx context.Context) (before uint64, err error) {
	if err := o.loadMoved(ctx); err != nil {
		return 0, err
	}
	err = o.eachItem(ctx, storage.Filter{}, func(it storage.Item) { before = max(before, it.Seq) })
	return before, err
}

// wakeAll begins with everything that waits, and with previews that their post
// left behind.
func (o *Outbox) wakeAll(ctx context.Context) error {
	lanes, err := o.store.Lanes(ctx, queue)
	if err != nil {
		return fmt.Errorf("listing lanes: %w", err)
	}
	for _, lane := range lanes {
		if k, err := chat.ParseKey(lane.Key); err == nil {
			o.Wake(k)
		} else {
			o.log.Error().Err(err).Msg("outbox lane of no chat")
		}
	}
	return o.sweepPreviews(ctx)
}

// eachItem calls f for every item of the queue that the filter picks.
func (o *Outbox) eachItem(ctx context.Context, of storage.Filter, f func(storage.Item)) error {
	const page = 256
	for after := uint64(0); ; {
		items, err := o.store.Items(ctx, queue, of, after, page)
		if err != nil {
			return fmt.Errorf("listing posts: %w", err)
		}
		for _, it := range items {
			f(it)
			after = it.Seq
		}
		if len(items) < page {
			return nil
		}
	}
}

// tell leaves a message for the line of a chat, which begins to exist if need
// be.
func (o *Outbox) tell(k chat.Key, write func(*mail)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if l := o.lineFor(o.resolve(k)); l != nil {
		write(&l.mail)
		l.ring()
	}
}

// lineFor returns the line of a chat; nil when nothing runs or the adapter is
// not configured. The caller holds mu.
func (o *Outbox) lineFor(k chat.Key) *line {
	if l := o.lines[k]; l != nil {
		return l
	}
	adapter := o.adapters[k.Adapter]
	if o.life == nil || o.life.stopping() || adapter == nil {
		return nil
	}
	l := newLine(o, o.life, k, adapter)
	o.lines[k] = l
	o.wg.Go(l.run)
	return l
}
