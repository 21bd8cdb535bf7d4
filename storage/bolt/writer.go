package bolt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"go.etcd.io/bbolt"

	"parley/storage"
)

// maxQueued bounds both the requests that wait and those that share a commit.
const maxQueued = 1024

// writer is the one goroutine that writes, and the way to it.
//
// There is no timer in it. While the disk is busy with one commit, the requests
// for the next one gather in the channel; so commits grow with the load and a
// lone request is taken at once.
type writer struct {
	path    string
	bolt    *bbolt.DB
	waiting *waiting
	now     func() time.Time
	log     zerolog.Logger

	// mu is held for reading while something is put into requests, so that
	// stop can close the channel with nobody about to send.
	mu       sync.RWMutex
	stopped  atomic.Bool
	requests chan *request
	done     chan struct{}
	commits  atomic.Int64
	trouble  atomic.Pointer[error] // of the disk with the last commit, nil: none

	// broken is why nothing is written any more. It is the goroutine's, and
	// anybody's once that has ended.
	broken error
}

// request is one step that somebody waits for. do may run more than once and
// must leave nothing behind but what it writes through the batch. It may
// return a conflict only if it has written nothing.
type request struct {
	ctx    context.Context
	do     func(*batch) error
	err    error      // what do returned last
	answer chan error // has room, so that answering never blocks
}

// newWriter starts the writer. Whoever calls it calls stop, which waits for the
// goroutine.
func newWriter(path string, b *bbolt.DB, w *waiting, now func() time.Time, log zerolog.Logger) *writer {
	wr := &writer{
		path: path, bolt: b, waiting: w, now: now, log: log,
		requests: make(chan *request, maxQueued),
		done:     make(chan struct{}),
	}
	go wr.run()
	return wr
}

// submit has the writer do something and returns when it is durable. When ctx
// ends first, it may or may not happen.
func (w *writer) submit(ctx context.Context, do func(*batch) error) error {
	r := &request{ctx: ctx, do: do, answer: make(chan error, 1)}
	if err := w.send(r); err != nil {
		return err
	}
	select {
	case err := <-r.answer:
		return err
	case <-ctx.Done():
	}
	// Both may have come at once; what is known to have happened is said.
	select {
	case err := <-r.answer:
		return err
	default:
		return ctx.Err()
	}
}

// send queues a request. It blocks while the queue is full; everybody who is
// behind in it has company then, and the next commit takes them all.
func (w *writer) send(r *request) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.stopped.Load() {
		return storage.ErrClosed
	}
	select {
	case w.requests <- r:
		return nil
	case <-r.ctx.Done():
		return r.ctx.Err()
	}
}

// stop refuses what comes from now on and waits until the rest is done.
func (w *writer) stop() {
	w.mu.Lock()
	if !w.stopped.Swap(true) {
		close(w.requests)
	}
	w.mu.Unlock()
	<-w.done
}

// run writes until the channel is closed and empty. Nothing that goes wrong with
// a request ends it.
func (w *writer) run() {
	defer close(w.done)
	debug.SetPanicOnFault(true) // a damaged page is an error of a request
	var group []*request
	for first := range w.requests {
		group = w.gather(append(group[:0], first))
		w.commit(group)
		clear(group)
	}
}

// gather adds to the group whatever waits already, and waits for nothing. It
// gives way once, because those whom the last commit has released are about to
// send again and would miss this one: with 16 writers that nearly doubles how
// many share a commit, and a lone writer cannot tell.
func (w *writer) gather(group []*request) []*request {
	runtime.Gosched()
	for len(group) < maxQueued {
		select {
		case r, open := <-w.requests:
			if !open {
				return group
			}
			group = append(group, r)
		default:
			return group
		}
	}
	return group
}

// commit answers every request of the group: after one commit for them all if
// that works, and after one for each if not. A request whose context has ended
// is not begun.
func (w *writer) commit(group []*request) {
	live := group[:0]
	for _, r := range group {
		if err := cmp.Or(r.ctx.Err(), w.broken); err != nil {
			r.answer <- err
			continue
		}
		live = append(live, r)
	}
	if len(live) == 0 {
		return // an empty commit would cost an fsync all the same
	}
	if err := w.try(live); err != nil {
		if len(live) > 1 {
			w.log.Warn().Err(err).Int("requests", len(live)).Msg("commit undone, trying each request alone")
		}
		w.commitAlone(live, err)
		return
	}
	for _, r := range live {
		r.answer <- r.err
	}
}

// commitAlone gives each request of a commit that was undone another try by
// itself, so that those that are not to blame do not suffer. A single one has
// had its try, and err is its answer.
func (w *writer) commitAlone(group []*request, err error) {
	if len(group) == 1 {
		group[0].answer <- err
		return
	}
	for _, r := range group {
		err := w.broken
		if err == nil {
			err = w.try([]*request{r})
		}
		r.answer <- cmp.Or(err, r.err)
	}
}

// errUnchanged ends a transaction that has nothing to commit.
var errUnchanged = errors.New("nothing to commit")

// try applies the group in one transaction. On an error nothing of it has
// happened; otherwise each request's err says whether it conflicted. Only then
// does the memory learn of it, before anybody is answered.
func (w *writer) try(group []*request) error {
	if err := w.present(); err != nil {
		w.trouble.Store(&err)
		return err
	}
	var b *batch
	err := update(w.bolt, func(tx *bbolt.Tx) error {
		b = &batch{tx: tx, now: w.now()}
		return b.run(group)
	})
	switch {
	case errors.Is(err, errUnchanged):
		return nil
	case err != nil:
		w.suspect(err)
		return err
	}
	w.trouble.Store(nil)
	w.commits.Add(1)
	w.waiting.learn(b.news)
	return nil
}

// present refuses to write into a file that has been removed: the system would
// keep it until the end of the process, and then all of it would be gone.
// Looking costs next to nothing beside an fsync.
func (w *writer) present() error {
	if _, err := os.Stat(w.path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("store %q: %w", w.path, errRemoved)
	}
	return nil
}

var errRemoved = errors.New("the file has been removed while it was in use; put it back, or restart to begin anew")

// suspect ends all writing when an error says that the file is damaged: each
// further commit would build on pages that are not what they seem.
func (w *writer) suspect(err error) {
	var p *panicked
	if errors.As(err, &p) {
		w.log.Error().Err(err).Bytes("stack", p.stack).Msg("panic while applying")
	}
	var lost *unwritten
	if errors.As(err, &lost) || errors.Is(err, ErrDamaged) {
		w.trouble.Store(&err)
	}
	if errors.Is(err, ErrDamaged) {
		w.log.Error().Err(err).Msg("the store is damaged, nothing is written any more")
		w.broken = err
	}
}

// update is bbolt's, except that a panic becomes an error, and that what is
// undone is undone without reading the file once more, which might panic too
// and leave a lock behind.
func update(db *bbolt.DB, f func(*bbolt.Tx) error) error {
	var tx *bbolt.Tx
	err := guarded(func() (err error) {
		tx, err = db.Begin(true)
		return err
	})
	if err != nil {
		var p *panicked
		if errors.As(err, &p) {
			p.locked = true
		}
		return err
	}
	err = guarded(func() error {
		if err := f(tx); err != nil {
			return err
		}
		if err := tx.Commit(); err != nil {
			return &unwritten{err}
		}
		return nil
	})
	if err != nil {
		_ = guarded(tx.Rollback) // which does nothing after a Commit that failed
	}
	return err
}

// unwritten is what the disk says to a commit.
type unwritten struct{ error }

// Unwrap returns the disk's own error.
func (u *unwritten) Unwrap() error { return u.error }

// panicked is a panic that has become an error.
type panicked struct {
	value  any
	stack  []byte
	damage bool // the file is to blame
	locked bool // the B+tree code still holds a lock
}

// Error tells the panic without its stack, which is for the log.
func (p *panicked) Error() string {
	if p.damage {
		return fmt.Sprintf("%v: %v", ErrDamaged, p.value)
	}
	return fmt.Sprintf("panic: %v", p.value)
}

// Is makes damage an ErrDamaged.
func (p *panicked) Is(target error) bool { return p.damage && target == ErrDamaged }

// guarded turns a panic into an error. One that surely stems from the file, a
// memory fault or an assertion of the B+tree code, counts as damage.
func guarded(f func() error) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case string, interface{ Addr() uintptr }:
			err = &panicked{value: v, stack: debug.Stack(), damage: true}
		default:
			err = &panicked{value: v, stack: debug.Stack()}
		}
	}()
	return f()
}

// asDamage takes any panic for damage: code that only reads has no other
// reason.
func asDamage(err error) error {
	var p *panicked
	if errors.As(err, &p) {
		p.damage = true
	}
	return err
}
