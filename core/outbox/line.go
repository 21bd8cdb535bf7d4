package outbox

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"parley/core/chat"
	"parley/storage"
)

// line serves one chat: a goroutine that lives while the chat has work. Only
// it makes calls for the chat, so no two are ever under way; others leave it
// mail.
type line struct {
	box      *Outbox
	life     *life
	key      chat.Key
	adapter  chat.Adapter
	platform *platform
	log      zerolog.Logger
	bell     chan struct{} // rung when there is mail

	mail   mail   // guarded by Outbox.mu
	status status // guarded by Outbox.mu

	// The rest is the goroutine's own.
	gone      bool             // it ends: the chat moved or the store is closed
	stale     bool             // the store may hold something new
	items     []waiting        // what waits, in order of arrival
	lanes     map[string]*lane // those that have work
	withdrawn []string         // posts whose previews go when they do
	pace      pace
	previews  previews
	typing    typing
	side      sync.WaitGroup // typing signals under way
}

// mail is what others want of a line. Only the newest of each kind counts.
type mail struct {
	woken     bool              // read the store
	drafts    map[string]string // newest text by post
	typing    bool              // show typing
	withdrawn []string          // posts that are being withdrawn
	hold      time.Duration     // the platform asked a signal to wait
}

// empty reports whether there is nothing to read.
func (m mail) empty() bool {
	return !m.woken && !m.typing && len(m.drafts) == 0 && len(m.withdrawn) == 0 && m.hold == 0
}

// status is what a line tells about itself.
type status struct {
	hold  time.Time // the platform asked to wait until then
	since time.Time // the head of a lane fails since then
	why   string
}

func newLine(o *Outbox, life *life, k chat.Key, adapter chat.Adapter) *line {
	return &line{
		box: o, life: life, key: k, adapter: adapter, platform: o.platforms[k.Adapter],
		log:  o.log.With().Stringer("chat", k).Logger(),
		bell: make(chan struct{}, 1),
	}
}

// ring makes the line look at its mail.
func (l *line) ring() {
	select {
	case l.bell <- struct{}{}:
	default:
	}
}

func (l *line) now() time.Time { return l.box.opts.Now() }

// run works until there is nothing left to do or remember, or until it is to
// stop.
func (l *line) run() {
	defer l.leave()
	for !l.gone && !l.life.stopping() {
		l.readMail()
		var next alarm
		if l.act(&next) {
			continue
		}
		if next.at.IsZero() && l.retire() {
			return
		}
		l.sleep(next.at)
	}
}

// leave gives back what the line holds. A line that retired has nothing.
func (l *line) leave() {
	l.side.Wait()
	var held []string
	for _, ln := range l.lanes {
		if ln.taken {
			held = append(held, ln.post)
		}
	}
	if len(held) == 0 {
		return
	}
	if err := l.box.store.Release(l.life.commits, queue, l.box.opts.Owner, held...); err != nil && !errors.Is(err, storage.ErrClosed) {
		l.log.Warn().Err(err).Msg("releasing posts")
	}
}

// retire ends the line's being known if nobody wants anything of it.
func (l *line) retire() bool {
	l.box.mu.Lock()
	defer l.box.mu.Unlock()
	if !l.mail.empty() || l.typing.busy.Load() {
		return false
	}
	delete(l.box.lines, l.key)
	return true
}

// sleep waits for mail, for the time, or for the end.
func (l *line) sleep(until time.Time) {
	var clock <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(max(0, until.Sub(l.now())))
		defer timer.Stop()
		clock = timer.C
	}
	select {
	case <-l.bell:
	case <-clock:
	case <-l.life.stop:
	}
}

// readMail takes what others left. Typing is a state rather than an errand, so
// it stays in the box until it is turned off.
func (l *line) readMail() {
	l.box.mu.Lock()
	m := l.mail
	l.mail = mail{typing: m.typing}
	l.box.mu.Unlock()

	l.typing.on = m.typing
	l.withdrawn = append(l.withdrawn, m.withdrawn...)
	if m.hold > 0 {
		l.hold(m.hold)
	}
	for post, text := range m.drafts {
		l.previews.want(post, text)
	}
	if m.woken {
		l.stale = true
		for _, ln := range l.lanes {
			ln.freshen()
		}
	}
}

// act does the most important thing there is to do, one call of the adapter at
// most, or says when to look again. A panic in it is a mistake of ours; it
// costs this chat a minute, not the program.
func (l *line) act(next *alarm) (did bool) {
	err := l.box.guard(func() error {
		did = l.work(next)
		return nil
	})
	if err != nil {
		l.pace.wait(l.now(), slowTime)
		return true
	}
	return did
}

// work does posts before typing and typing before previews: a preview that is
// late is missed by nobody.
func (l *line) work(next *alarm) bool {
	now := l.now()
	if l.stale && !l.load(next) {
		return false
	}
	if now.Before(l.pace.slow) {
		next.by(l.pace.slow) // so long it is remembered
	}
	if now.Before(l.pace.hold) {
		next.by(l.pace.hold)
		return false
	}
	if w, ok := l.pick(now, next); ok {
		l.deliver(w)
		return true
	}
	if l.showTyping(now, next) {
		return true
	}
	return l.refresh(now, next)
}

// commit records what happened. It does not give up while the store may come
// back, since what was shown must not be shown again; false means that the
// line ends.
func (l *line) commit(ops ...storage.Op) bool {
	pauses := newBackoff()
	for {
		err := l.box.store.Apply(l.life.commits, ops...)
		if err == nil {
			return true
		}
		l.log.Error().Err(err).Msg("recording what was shown")
		if errors.Is(err, storage.ErrClosed) || !pause(l.life.commits, pauses.NextBackOff()) {
			l.gone = true
			return false
		}
	}
}

// pause waits; false means that ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// hold keeps the whole chat silent for as long as the platform asks.
func (l *line) hold(d time.Duration) {
	l.pace.wait(l.now(), d)
	l.log.Warn().Dur("wait", d).Msg("platform asks to wait")
	l.report(func(s *status) { s.hold = l.pace.hold })
}

func (l *line) report(write func(*status)) {
	l.box.mu.Lock()
	defer l.box.mu.Unlock()
	write(&l.status)
}
