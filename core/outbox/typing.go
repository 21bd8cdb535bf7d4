package outbox

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"parley/core/chat"
)

// typingEvery is how often typing is shown again, since it fades by itself:
// within five seconds on the platforms that have it.
const typingEvery = 4 * time.Second

// typing is whether a chat shows that the bot is at work.
type typing struct {
	on   bool
	next time.Time
	busy atomic.Bool // a signal is under way
}

// Typing shows that the bot is at work, again and again until it is turned
// off. It never blocks. In chats that cannot show it, it does nothing.
func (o *Outbox) Typing(k chat.Key, on bool) {
	if !o.traits(o.dest(k)).Typing {
		return
	}
	if on {
		o.tell(k, func(m *mail) { m.typing = true })
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if l := o.lines[o.resolve(k)]; l != nil {
		l.mail.typing = false
		l.ring()
	}
}

// showTyping sends the signal if it is time to. It runs beside the line, since
// nothing depends on its order and no post should wait for it.
func (l *line) showTyping(now time.Time, next *alarm) bool {
	t := &l.typing
	if !t.on || t.busy.Load() {
		return false
	}
	at := latest(t.next, l.pace.next(now))
	if at.After(now) {
		next.by(at)
		return false
	}
	if !l.platform.ahead.AllowN(now, 1) {
		t.next = now.Add(time.Second)
		return true
	}
	t.next = now.Add(typingEvery)
	t.busy.Store(true)
	l.side.Go(l.signalTyping)
	return true
}

// signalTyping does not try again: the next signal is due in a moment anyway.
// What a platform says about waiting counts for the whole chat.
func (l *line) signalTyping() {
	err := l.call(typingEvery, func(ctx context.Context) error {
		return l.adapter.Signal(ctx, l.key, chat.Typing{})
	})
	var later chat.RetryAfter
	if errors.As(err, &later) {
		l.box.tell(l.key, func(m *mail) { m.hold = max(m.hold, time.Duration(later)) })
	} else if err != nil {
		l.log.Debug().Err(err).Msg("showing typing")
	}
	l.typing.busy.Store(false)
	l.ring()
}
