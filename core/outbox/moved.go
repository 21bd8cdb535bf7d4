package outbox

import (
	"context"
	"fmt"

	"parley/core/chat"
	"parley/storage"
)

// movedRows says where chats live that moved: the new key by the old one's
// String. Posts stay in the queue under the key they were put with; it is the
// line of the new key that serves them. So nothing has to be moved, and posts
// that are put under the old key later find their way too.
const movedRows storage.Typed[chat.Key] = "moved"

func (o *Outbox) loadMoved(ctx context.Context) error {
	rows, err := movedRows.All(ctx, o.store, "")
	if err != nil {
		return fmt.Errorf("reading which chats moved: %w", err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for from, to := range rows {
		k, err := chat.ParseKey(from)
		if err != nil {
			return fmt.Errorf("reading which chats moved: %w", err)
		}
		o.moved[k] = to
	}
	return nil
}

// resolve returns where a chat lives now. The caller holds mu.
func (o *Outbox) resolve(k chat.Key) chat.Key {
	for range len(o.moved) {
		to, ok := o.moved[k]
		if !ok {
			return k
		}
		k = to
	}
	return k
}

// dest returns where a chat lives now.
func (o *Outbox) dest(k chat.Key) chat.Key {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.resolve(k)
}

// sources returns all keys under which posts of a chat may wait.
func (o *Outbox) sources(k chat.Key) []chat.Key {
	o.mu.Lock()
	defer o.mu.Unlock()
	keys := []chat.Key{k}
	for from := range o.moved {
		if from != k && o.resolve(from) == k {
			keys = append(keys, from)
		}
	}
	return keys
}

// relocate hands everything over to the line of the key under which the chat
// lives now. It reports false when that cannot be: the chat leads back here,
// or the new key means nothing to us.
func (l *line) relocate(to chat.Key) bool {
	o := l.box
	if o.adapters[to.Adapter] == nil || to.Chat == "" || o.dest(to) == l.key {
		return false
	}
	if err := l.announce(to); err != nil {
		l.log.Error().Err(err).Stringer("to", to).Msg("announcing that the chat moved")
		return false
	}
	if !l.commit(movedRows.Set(l.key.String(), to)) {
		return true
	}
	l.log.Info().Stringer("to", to).Msg("chat moved")
	o.mu.Lock()
	defer o.mu.Unlock()
	l.gone = true
	delete(o.lines, l.key)
	o.moved[l.key] = to
	if next := o.lineFor(o.resolve(to)); next != nil {
		l.handOver(&next.mail)
		next.ring()
	}
	return true
}

// announce tells the rest of the program.
func (l *line) announce(to chat.Key) error {
	if l.box.opts.Moved == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(l.life.calls, l.box.opts.CallTimeout)
	defer cancel()
	return l.box.guard(func() error { return l.box.opts.Moved(ctx, l.key, to) })
}

// handOver gives another line what this one was told. The caller holds mu.
func (l *line) handOver(m *mail) {
	m.woken = true
	m.typing = m.typing || l.mail.typing
	m.withdrawn = append(m.withdrawn, l.withdrawn...)
	m.withdrawn = append(m.withdrawn, l.mail.withdrawn...)
	for _, p := range l.previews.open {
		if p.dirty {
			m.draft(p.post, p.text)
		}
	}
	for post, text := range l.mail.drafts {
		m.draft(post, text)
	}
}
