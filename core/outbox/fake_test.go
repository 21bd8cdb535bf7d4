package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/core/chat"
	"parley/storage"
	"parley/storage/storagetest"
)

// shelf is the reference store, made safe for concurrent use and mortal: once
// it is dead nothing is written any more, like the disk of a killed process.
type shelf struct {
	*storagetest.Reference
	mu    sync.Mutex
	dead  bool
	lives int // commits until it dies, 0: it does not
	// broken, if set, is asked before each commit.
	broken func() error
}

func newShelf() *shelf { return &shelf{Reference: storagetest.NewReference(time.Now)} }

// reborn lets the next process at it.
func (s *shelf) reborn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead, s.lives = false, 0
	s.DropClaims()
}

func (s *shelf) die() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead = true
}

func (s *shelf) dieAfter(commits int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lives = commits
}

func (s *shelf) Apply(ctx context.Context, ops ...storage.Op) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead {
		return storage.ErrClosed
	}
	if s.broken != nil {
		if err := s.broken(); err != nil {
			return err
		}
	}
	err := s.Reference.Apply(ctx, ops...)
	if s.lives > 0 {
		s.lives--
		s.dead = s.lives == 0
	}
	return err
}

func locked[T any](s *shelf, f func() (T, error)) (T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead {
		var none T
		return none, storage.ErrClosed
	}
	return f()
}

func (s *shelf) Get(ctx context.Context, table, key string) (storage.Row, error) {
	return locked(s, func() (storage.Row, error) { return s.Reference.Get(ctx, table, key) })
}

func (s *shelf) List(ctx context.Context, table, prefix, after string, limit int) ([]storage.Row, error) {
	return locked(s, func() ([]storage.Row, error) { return s.Reference.List(ctx, table, prefix, after, limit) })
}

func (s *shelf) Claim(ctx context.Context, queue, key, lane, owner string, until time.Time, limit int) ([]storage.Item, error) {
	return locked(s, func() ([]storage.Item, error) {
		return s.Reference.Claim(ctx, queue, key, lane, owner, until, limit)
	})
}

func (s *shelf) Release(ctx context.Context, queue, owner string, ids ...string) error {
	_, err := locked(s, func() (int, error) { return 0, s.Reference.Release(ctx, queue, owner, ids...) })
	return err
}

func (s *shelf) Item(ctx context.Context, queue, id string) (storage.Item, error) {
	return locked(s, func() (storage.Item, error) { return s.Reference.Item(ctx, queue, id) })
}

func (s *shelf) Items(ctx context.Context, queue string, of storage.Filter, after uint64, limit int) ([]storage.Item, error) {
	return locked(s, func() ([]storage.Item, error) { return s.Reference.Items(ctx, queue, of, after, limit) })
}

func (s *shelf) Lanes(ctx context.Context, queue string) ([]storage.Lane, error) {
	return locked(s, func() ([]storage.Lane, error) { return s.Reference.Lanes(ctx, queue) })
}

// call is one call of the fake adapter.
type call struct {
	verb    string // deliver, edit, delete, typing, draft
	key     chat.Key
	part    chat.Part
	was     chat.Part
	message chat.MessageID
	text    string
	at      time.Duration // since the fake was made
	n       int           // its number
	arrived bool
}

// String is what most tests compare: "deliver a#0", "deliver a#0 unsure",
// "edit m1 text".
func (c call) String() string {
	switch c.verb {
	case "deliver":
		if c.part.Unsure {
			return "deliver " + c.part.ID + " unsure"
		}
		return "deliver " + c.part.ID
	case "edit":
		return fmt.Sprintf("edit %s %s", c.message, c.text)
	case "delete":
		return fmt.Sprintf("delete %s", c.message)
	case "draft":
		return "draft " + c.text
	default:
		return c.verb
	}
}

// errArrived is a broken answer to a call that did its work.
var errArrived = errors.New("cut off after the platform had it")

// fake is a platform: a struct of funcs that records and keeps a screen.
type fake struct {
	traits chat.Traits
	// private says which chats are private beside traits.Private.
	private map[chat.Key]bool
	// looks makes an unsure Deliver find what arrived before.
	looks bool
	// before, if set, is asked in each call; its error is the call's.
	before func(ctx context.Context, c call) error
	render func(k chat.Key, p chat.Post) ([]chat.Part, error)

	mu       sync.Mutex
	born     time.Time
	calls    []call
	rendered []chat.Post
	screen   map[chat.Key][]message // what stands in each chat, by age
	made     int                    // number of the last call
	last     int                    // number of the last message
	busy     map[chat.Key]int
	overlap  bool // two calls for one key at once
}

type message struct {
	id   chat.MessageID
	part string
	text string
}

var _ chat.Adapter = (*fake)(nil)

func newFake() *fake {
	return &fake{
		traits: chat.Traits{Buttons: true, Edits: true, Ephemeral: true, Typing: true, Limit: 100, Unit: chat.Runes},
		screen: make(map[chat.Key][]message), busy: make(map[chat.Key]int), born: time.Now(),
	}
}

func (f *fake) Run(context.Context, chat.Inbound) error { panic("not used") }

func (f *fake) Fetch(context.Context, chat.File) (io.ReadCloser, error) { panic("not used") }

func (f *fake) Traits(k chat.Key) chat.Traits {
	t := f.traits
	t.Private = t.Private || f.private[k]
	return t
}

// Render makes a part of each piece of the text between bars.
func (f *fake) Render(k chat.Key, p chat.Post) ([]chat.Part, error) {
	f.mu.Lock()
	f.rendered = append(f.rendered, p)
	f.mu.Unlock()
	if f.render != nil {
		return f.render(k, p)
	}
	var parts []chat.Part
	for _, text := range strings.Split(p.Text, "|") {
		parts = append(parts, chat.Part{
			Text: text, Ticket: p.Ticket, Only: p.Only, For: p.For, Buttons: p.Buttons, ReplyTo: p.ReplyTo, Files: p.Files,
		})
	}
	return parts, nil
}

func (f *fake) Deliver(ctx context.Context, k chat.Key, p chat.Part) ([]chat.MessageID, error) {
	defer f.enter(k)()
	err := f.record(ctx, call{verb: "deliver", key: k, part: p, text: p.Text})
	if err != nil && !errors.Is(err, errArrived) {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.screen[k] {
		if f.looks && p.Unsure && m.part == p.ID {
			return []chat.MessageID{m.id}, err
		}
	}
	f.last++
	id := chat.MessageID(fmt.Sprintf("m%d", f.last))
	f.screen[k] = append(f.screen[k], message{id, p.ID, p.Text})
	if err != nil {
		return nil, err
	}
	return []chat.MessageID{id}, nil
}

func (f *fake) Edit(ctx context.Context, k chat.Key, m chat.MessageID, was, now chat.Part) error {
	defer f.enter(k)()
	err := f.record(ctx, call{verb: "edit", key: k, part: now, was: was, message: m, text: now.Text})
	if err != nil && !errors.Is(err, errArrived) {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.screen[k] {
		if f.screen[k][i].id == m {
			f.screen[k][i] = message{m, now.ID, now.Text}
			return err
		}
	}
	return fmt.Errorf("no message %s: %w", m, chat.ErrPermanent)
}

func (f *fake) Delete(ctx context.Context, k chat.Key, m chat.MessageID) error {
	defer f.enter(k)()
	if err := f.record(ctx, call{verb: "delete", key: k, message: m}); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.screen[k] = slices.DeleteFunc(f.screen[k], func(on message) bool { return on.id == m })
	return nil
}

func (f *fake) Signal(ctx context.Context, k chat.Key, s chat.Signal) error {
	switch s := s.(type) {
	case chat.Draft:
		return f.record(ctx, call{verb: "draft", key: k, text: s.Text})
	default:
		return f.record(ctx, call{verb: "typing", key: k})
	}
}

// enter watches that no two calls for one chat overlap.
func (f *fake) enter(k chat.Key) (leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.busy[k]++
	f.overlap = f.overlap || f.busy[k] > 1
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.busy[k]--
	}
}

func (f *fake) record(ctx context.Context, c call) error {
	c.at = time.Since(f.born)
	f.mu.Lock()
	f.made++
	c.n = f.made
	f.calls = append(f.calls, c)
	before := f.before
	f.mu.Unlock()
	var err error
	if before != nil {
		err = before(ctx, c)
	}
	c.arrived = err == nil || errors.Is(err, errArrived)
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.calls {
		if f.calls[i].n == c.n {
			f.calls[i] = c
		}
	}
	return err
}

// set changes how calls end from now on.
func (f *fake) set(before func(ctx context.Context, c call) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before = before
}

// log returns the calls so far and forgets them.
func (f *fake) log() []call {
	f.mu.Lock()
	defer f.mu.Unlock()
	calls := f.calls
	f.calls = nil
	return calls
}

// on returns the texts that stand in a chat.
func (f *fake) on(k chat.Key) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var texts []string
	for _, m := range f.screen[k] {
		texts = append(texts, m.text)
	}
	return strings.Join(texts, " ")
}
