package session

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"parley/core/chat"
	"parley/core/llm"
	"parley/core/outbox"
	"parley/storage"
)

// actor owns one conversation. Everything below is touched by its goroutine
// alone, but for wake.
type actor struct {
	host *Host
	key  chat.Key
	life life
	wake chan struct{} // holds one

	session string // "" until the first message
	row     Row
	ledger  ledger
	name    string // of this incarnation, in entry ids
	audits  int    // lines it has written to the audit stream

	running *running // nil when no turn runs
	halting *halting // nil unless a /stop waits for the turn to end
}

func newActor(h *Host, key chat.Key, l life) *actor {
	return &actor{host: h, key: key, life: l, wake: make(chan struct{}, 1), name: newID()}
}

// nudge says that the inbox may have something. Anybody may call it.
func (a *actor) nudge() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// reset forgets everything that is also in the store.
func (a *actor) reset() {
	a.session, a.row, a.ledger = "", Row{}, ledger{}
	a.running, a.halting = nil, nil
	a.name = newID()
}

// abandon ends what still runs when the actor leaves.
func (a *actor) abandon() {
	if a.running == nil {
		return
	}
	a.running.cancel(errSuspended)
	<-a.running.ended
	a.running = nil
	a.host.outbox.Typing(a.key, false)
}

// run is the actor's life. It returns nil when the actor has left memory.
func (a *actor) run() error {
	if err := a.load(); err != nil {
		return err
	}
	idle := time.NewTimer(a.host.config.Idle)
	defer idle.Stop()
	for {
		if err := a.work(); err != nil {
			return err
		}
		if a.leaving() {
			a.host.forget(a)
			return nil
		}
		idle.Reset(a.host.config.Idle)
		if gone, err := a.wait(idle.C); gone || err != nil {
			return err
		}
	}
}

// wait sleeps until there is something to do and does it. It reports whether
// the actor has left memory for being idle.
func (a *actor) wait(idle <-chan time.Time) (gone bool, err error) {
	var wishes <-chan wish
	var ended <-chan ending
	draining := a.life.draining
	if a.running != nil {
		wishes, ended, idle = a.running.wishes, a.running.ended, nil
		if a.draining() {
			draining = nil // the turn is awaited, not the signal
		}
	}
	select {
	case <-a.wake:
	case <-draining:
	case q := <-wishes:
		a.grant(q)
	case e := <-ended:
		return false, a.conclude(e)
	case <-idle:
		return a.host.retire(a), nil
	}
	return false, nil
}

// grant does what a turn asks for. The turn gets its reply whatever happens: it
// waits for nothing else.
func (a *actor) grant(q wish) {
	g := grant{err: errLost}
	defer func() { q.reply <- g }()
	g = a.serve(q.wants)
}

// errLost is what a turn hears from an actor that panicked.
var errLost = errors.New("the conversation failed")

func (a *actor) draining() bool {
	select {
	case <-a.life.draining:
		return true
	default:
		return false
	}
}

func (a *actor) leaving() bool { return a.running == nil && a.draining() }

// load reads the conversation from the store.
func (a *actor) load() error {
	ctx := a.life.work
	id, _, err := routes.Get(ctx, a.host.store, a.key.String())
	if err != nil || id == "" {
		return err
	}
	row, _, err := sessions.Get(ctx, a.host.store, id)
	if err != nil {
		return err
	}
	a.session, a.row = id, row
	return a.ledger.load(ctx, a.host.store, stream(id), row.From)
}

// batch is what goes into one commit.
type batch struct {
	entries []Entry // Frame, Origin and Body; the actor numbers them
	ops     []storage.Op
	posts   []Addressed
	lines   []Audit
	wake    []chat.Key
	then    func() // called when all this is durable, nil: nothing
}

func (b *batch) log(bodies ...Body) {
	for _, body := range bodies {
		b.entries = append(b.entries, Entry{Body: body})
	}
}

func (b *batch) finish(items ...storage.Item) {
	for _, item := range items {
		b.ops = append(b.ops, storage.Finish{Queue: Inbox, ID: item.ID})
	}
}

// commit makes a batch durable and then true. storage.ErrConflict comes back
// as it is when an op of the batch did not hold; when it was the log, the actor
// is not alone and must not go on. Any other trouble with the store is waited
// out, for as long as parley runs: there is nothing better to do without a
// disk.
func (a *actor) commit(b batch) error {
	ops, err := a.ops(&b)
	if err != nil {
		return err
	}
	const longest = 30 * time.Second
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, longest) {
		err = a.host.store.Apply(a.life.work, ops...)
		if err == nil || errors.Is(err, storage.ErrConflict) || a.life.work.Err() != nil {
			break
		}
		a.host.log.Error().Err(err).Stringer("key", a.key).Msg("cannot write, trying again")
		select {
		case <-time.After(pause):
		case <-a.life.work.Done():
		}
	}
	if errors.Is(err, storage.ErrConflict) && len(b.entries) > 0 {
		return fmt.Errorf("committing to conversation %s: somebody else wrote to its log", a.key)
	}
	if err != nil {
		return fmt.Errorf("committing to conversation %s: %w", a.key, err)
	}
	a.apply(b)
	return nil
}

// ops numbers the entries of a batch and spells it out for the store. The
// conditional op comes first: it fences off any other writer.
func (a *actor) ops(b *batch) ([]storage.Op, error) {
	ops := make([]storage.Op, 0, 1+len(b.ops)+len(b.posts))
	if len(b.entries) > 0 {
		appended := storage.Append{Stream: stream(a.session), After: a.ledger.seq}
		for i := range b.entries {
			e := &b.entries[i]
			e.Seq, e.At = a.ledger.seq+uint64(i)+1, a.host.now()
			data, err := encode(*e)
			if err != nil {
				return nil, err
			}
			id := fmt.Sprintf("%s.%d", a.name, e.Seq)
			appended.Entries = append(appended.Entries, storage.Entry{ID: id, Data: data})
		}
		ops = append(ops, appended)
	}
	ops = append(ops, b.ops...)
	if len(b.lines) > 0 {
		op, err := a.auditOp(b.lines)
		if err != nil {
			return nil, err
		}
		ops = append(ops, op)
	}
	for _, p := range b.posts {
		ops = append(ops, outbox.Put(p.Key, p.Post))
	}
	return ops, nil
}

// apply makes a committed batch visible.
func (a *actor) apply(b batch) {
	for _, e := range b.entries {
		a.ledger.add(e)
	}
	keys := make([]chat.Key, 0, len(b.posts))
	for _, p := range b.posts {
		keys = append(keys, p.Key)
	}
	a.host.outbox.Wake(keys...)
	a.host.Wake(b.wake...)
	if b.then != nil {
		b.then()
	}
}

// scene describes the conversation to the front.
func (a *actor) scene() Scene {
	s := Scene{
		Key:     a.key,
		Session: a.session,
		View:    a.ledger.view(),
		Models:  a.host.models.Models(),
	}
	s.Model = a.order()[0].Info()
	s.Prompt = func() int { return a.host.size(s.View) }
	if a.running != nil {
		s.Turn, s.Since = a.running.id, a.running.since
	}
	waiting, err := a.host.store.Waiting(a.life.work, Inbox, a.key.String(), Messages)
	if err != nil {
		a.host.log.Warn().Err(err).Stringer("key", a.key).Msg("counting the waiting messages")
	}
	s.Waiting = waiting
	return s
}

// order returns the models in the order in which they are to be asked.
func (a *actor) order() []llm.Model { return a.host.models.Order(a.ledger.carried.Model) }

// show presents a happening as posts with ids made from base. The last of
// them settles the events.
func (a *actor) show(base, turn string, settles []string, h Happening) []Addressed {
	posts := a.present(h)
	addressed := make([]Addressed, 0, len(posts))
	for i, p := range posts {
		p.ID, p.Turn = base, turn
		if i > 0 {
			p.ID = fmt.Sprintf("%s+%d", base, i)
		}
		if i == len(posts)-1 {
			p.Answers = settles
		}
		addressed = append(addressed, Addressed{a.key, p})
	}
	return addressed
}

// present asks the front how something looks. Its panic costs the form, not
// the words: a turn has to be able to end.
func (a *actor) present(h Happening) (posts []chat.Post) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		a.host.log.Error().Stringer("key", a.key).Str("panic", fmt.Sprint(p)).
			Bytes("stack", debug.Stack()).Msgf("presenting %T", h)
		posts = []chat.Post{{Text: plain(h)}}
	}()
	return a.host.front.Present(a.scene(), h)
}

// plain is what is said of something that could not be presented.
func plain(h Happening) string {
	if spoke, ok := h.(Spoke); ok && spoke.Text != "" {
		return spoke.Text
	}
	return lost
}
