package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"

	"parley/core/chat"
	"parley/storage"
)

// screen is a platform that shows what it is given. It outlives the processes
// that write to it.
type screen struct {
	mu     sync.Mutex
	lines  []line
	count  int
	drafts map[string]string
	traits chat.Traits
	broken func(chat.Part) error // what Deliver fails with
	gone   []chat.Part           // what was deleted
	shown  func(chat.Part)       // called for what is shown, instead of keeping it
}

// line is one message on the screen.
type line struct {
	id    chat.MessageID
	key   chat.Key
	part  chat.Part
	edits int
}

func newScreen() *screen {
	return &screen{drafts: make(map[string]string), traits: chat.Traits{Buttons: true}}
}

func (s *screen) texts(chatName string) []string {
	var texts []string
	for _, l := range s.in(chatName) {
		texts = append(texts, l.part.Text)
	}
	return texts
}

// in returns the messages of a chat.
func (s *screen) in(chatName string) []line {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.lines), func(l line) bool { return l.key.Chat != chatName })
}

func (s *screen) parts() []chat.Part {
	s.mu.Lock()
	defer s.mu.Unlock()
	var parts []chat.Part
	for _, l := range s.lines {
		parts = append(parts, l.part)
	}
	return parts
}

func (s *screen) fail(f func(chat.Part) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = f
}

func (s *screen) deliver(k chat.Key, p chat.Part) ([]chat.MessageID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		if err := s.broken(p); err != nil {
			return nil, err
		}
	}
	s.count++
	if s.shown != nil {
		s.shown(p)
		return []chat.MessageID{chat.MessageID(fmt.Sprint("m", s.count))}, nil
	}
	id := chat.MessageID(fmt.Sprintf("m%d", s.count))
	s.lines = append(s.lines, line{id: id, key: k, part: p})
	delete(s.drafts, p.Post)
	return []chat.MessageID{id}, nil
}

func (s *screen) edit(m chat.MessageID, now chat.Part) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.lines, func(l line) bool { return l.id == m })
	if i < 0 {
		return fmt.Errorf("no message %s: %w", m, chat.ErrPermanent)
	}
	s.lines[i].part = now
	s.lines[i].edits++
	return nil
}

func (s *screen) delete(m chat.MessageID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = slices.DeleteFunc(s.lines, func(l line) bool {
		if l.id == m {
			s.gone = append(s.gone, l.part)
		}
		return l.id == m
	})
}

func (s *screen) signal(sig chat.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d, ok := sig.(chat.Draft); ok {
		s.drafts[d.Post] = d.Text
		if d.Text == "" {
			delete(s.drafts, d.Post)
		}
	}
}

// window is how one process sees the screen: the fake adapter.
type window struct {
	*screen
	dead atomic.Bool
}

var (
	errDead = errors.New("the process is dead")
	errAway = &net.OpError{Op: "dial", Err: errors.New("the platform is away")}
)

func (w *window) check() error {
	if w.dead.Load() {
		return errDead
	}
	return nil
}

func (w *window) Run(ctx context.Context, _ chat.Inbound) error { <-ctx.Done(); return nil }

func (w *window) Traits(k chat.Key) chat.Traits {
	t := w.traits
	t.Private = k.Chat != "group"
	return t
}

func (w *window) Render(_ chat.Key, p chat.Post) ([]chat.Part, error) {
	return []chat.Part{{
		ID: p.ID + "#0", Text: p.Text, Buttons: p.Buttons, ReplyTo: p.ReplyTo, Kind: p.Kind, Ticket: p.Ticket,
		Post: p.ID, Answers: p.Answers, Last: true, For: p.For, Only: p.Only,
	}}, nil
}

func (w *window) Deliver(_ context.Context, k chat.Key, p chat.Part) ([]chat.MessageID, error) {
	if err := w.check(); err != nil {
		return nil, err
	}
	return w.deliver(k, p)
}

func (w *window) Edit(_ context.Context, _ chat.Key, m chat.MessageID, _, now chat.Part) error {
	if err := w.check(); err != nil {
		return err
	}
	return w.edit(m, now)
}

func (w *window) Delete(_ context.Context, _ chat.Key, m chat.MessageID) error {
	if err := w.check(); err != nil {
		return err
	}
	w.delete(m)
	return nil
}

func (w *window) Fetch(context.Context, chat.File) (io.ReadCloser, error) {
	return nil, storage.ErrNotFound
}

func (w *window) Signal(_ context.Context, _ chat.Key, sig chat.Signal) error {
	if err := w.check(); err != nil {
		return err
	}
	w.signal(sig)
	return nil
}

var _ chat.Adapter = (*window)(nil)
