package access_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/core/access"
	"parley/core/chat"
	"parley/storage"
)

// mem is the smallest honest store of rows.
type mem struct {
	mu   sync.Mutex
	rows map[string]map[string]storage.Row
}

func (m *mem) Get(_ context.Context, table, key string) (storage.Row, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	row, ok := m.rows[table][key]
	if !ok {
		return storage.Row{}, storage.ErrNotFound
	}
	return row, nil
}

func (m *mem) List(_ context.Context, table, prefix, after string, limit int) ([]storage.Row, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var rows []storage.Row
	for key, row := range m.rows[table] {
		if strings.HasPrefix(key, prefix) && key > after {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b storage.Row) int { return strings.Compare(a.Key, b.Key) })
	return rows[:min(len(rows), limit)], nil
}

func (m *mem) Apply(_ context.Context, ops ...storage.Op) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := countConditional(ops); n > 1 {
		return fmt.Errorf("%d conditional ops in one batch", n)
	}
	for _, op := range ops {
		if put, ok := op.(storage.Put); ok && put.Rev != storage.AnyRev && m.rows[put.Table][put.Key].Rev != put.Rev {
			return storage.ErrConflict
		}
	}
	for _, op := range ops {
		switch op := op.(type) {
		case storage.Put:
			m.put(op)
		case storage.Delete:
			delete(m.rows[op.Table], op.Key)
		default:
			return fmt.Errorf("unexpected op %T", op)
		}
	}
	return nil
}

func (m *mem) put(op storage.Put) {
	if m.rows == nil {
		m.rows = make(map[string]map[string]storage.Row)
	}
	if m.rows[op.Table] == nil {
		m.rows[op.Table] = make(map[string]storage.Row)
	}
	m.rows[op.Table][op.Key] = storage.Row{Key: op.Key, Rev: m.rows[op.Table][op.Key].Rev + 1, Value: op.Value}
}

func countConditional(ops []storage.Op) int {
	n := 0
	for _, op := range ops {
		if storage.Conditional(op) {
			n++
		}
	}
	return n
}

// store is what the tests need of one.
type store interface {
	storage.Table
	storage.Applier
}

// world is an Access with its store and a clock that the test moves.
type world struct {
	*access.Access
	t     testing.TB
	store store
	clock *time.Time
	next  int
}

var (
	ada = chat.User{ID: "telegram:1", Handle: "@ada", Name: "Ada"} // an owner by config.yaml
	bob = chat.User{ID: "telegram:2", Name: "Bob"}                 // a member by config.yaml
	eve = chat.User{ID: "telegram:666", Name: "Eve"}               // nobody

	group  = chat.Key{Adapter: "telegram", Chat: "-100"} // allowed by config.yaml
	closed = chat.Key{Adapter: "telegram", Chat: "-666"}
)

func newWorld(t testing.TB, c access.Config) *world {
	t.Helper()
	return newWorldOn(t, &mem{}, c)
}

func newWorldOn(t testing.TB, s store, c access.Config) *world {
	t.Helper()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	c.Now = func() time.Time { return now }
	a, err := access.New(s, c)
	if err != nil {
		t.Fatal(err)
	}
	return &world{Access: a, t: t, store: s, clock: &now}
}

// owned is a configuration with an owner, a member and a group.
func owned() access.Config {
	return access.Config{
		Owners: []chat.UserID{ada.ID}, Members: []chat.UserID{bob.ID}, Chats: []string{group.String()},
	}
}

func (w *world) pass(d time.Duration) { *w.clock = w.clock.Add(d) }

func (w *world) apply(ops []storage.Op) {
	w.t.Helper()
	if err := w.store.Apply(context.Background(), ops...); err != nil {
		w.t.Fatalf("applying: %v", err)
	}
}

// judge judges an event and applies what comes of it.
func (w *world) judge(ev chat.Event) access.Verdict {
	w.t.Helper()
	w.next++
	ev.ID, ev.At = fmt.Sprint(w.next), *w.clock
	v, err := w.Judge(context.Background(), ev)
	if err != nil {
		w.t.Fatalf("judging %+v: %v", ev, err)
	}
	if n := countConditional(v.Ops); n > 0 {
		w.t.Errorf("verdict on %+v has %d conditional ops", ev, n)
	}
	if v.Why == "" {
		w.t.Errorf("verdict on %+v says nothing for the log", ev)
	}
	w.apply(v.Ops)
	return v
}

func (w *world) says(who chat.User, text string) access.Verdict {
	w.t.Helper()
	return w.judge(inPrivate(who, text))
}

// did applies a change that must have come about.
func (w *world) did(c access.Change, err error) access.Change {
	w.t.Helper()
	if err != nil || c.Refused {
		w.t.Fatalf("refused: %q (%s), %v", c.Reply, c.Why, err)
	}
	w.apply(c.Ops)
	return c
}

// refuses applies a change that must have been refused, with a word in the
// reason.
func (w *world) refuses(why string, c access.Change, err error) access.Change {
	w.t.Helper()
	if err != nil || !c.Refused || !strings.Contains(c.Why, why) || c.Reply == "" {
		w.t.Fatalf("want a refusal for %q, got %+v, %v", why, c, err)
	}
	w.apply(c.Ops)
	return c
}

func (w *world) wantRole(who chat.UserID, want access.Role) {
	w.t.Helper()
	if got := must(w.RoleOf(context.Background(), who)); got != want {
		w.t.Errorf("role of %s: %q, want %q", who, got, want)
	}
}

// retry is what the gateway does about a conflict.
func retry(s storage.Applier, change func() (access.Change, error)) (access.Change, error) {
	for {
		c, err := change()
		if err != nil {
			return c, err
		}
		if err = s.Apply(context.Background(), c.Ops...); !errors.Is(err, storage.ErrConflict) {
			return c, err
		}
	}
}

func home(who chat.User) chat.Key {
	_, id, _ := strings.Cut(string(who.ID), ":")
	return chat.Key{Adapter: who.ID.Adapter(), Chat: id}
}

func inPrivate(who chat.User, text string) chat.Event {
	return chat.Event{Key: home(who), From: who, Body: chat.Said{Text: text, Private: true}}
}

func inGroup(who chat.User, at chat.Key, text string, addressed bool) chat.Event {
	return chat.Event{Key: at, From: who, Body: chat.Said{Text: text, Addressed: addressed}}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// codeIn finds the code in a sentence.
func codeIn(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string,
) string {
	t.Helper()
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '`' || r == ',' || r == '.' }) {
		if len(word) == 9 && word[4] == '-' && strings.ToUpper(word) == word {
			return word
		}
	}
	t.Fatalf("no code in %q", text)
	return ""
}

var ctx = context.Background()
