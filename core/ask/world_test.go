package ask_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/core/ask"
	"parley/core/chat"
	"parley/storage"
	"parley/storage/bolt"
	"parley/tools"
)

var (
	ada   = chat.User{ID: "telegram:1", Name: "Ada"}
	bob   = chat.User{ID: "discord:2", Name: "Bob"}
	eve   = chat.User{ID: "slack:3", Name: "Eve"}
	group = chat.Key{Adapter: "telegram", Chat: "-100", Thread: "7"}
	home  = chat.Key{Adapter: "discord", Chat: "9"}
)

// world is a store on disk with a clock that stands.
type world struct {
	t    *testing.T
	path string
	db   *bolt.DB
	asks *ask.Asks

	mu    sync.Mutex
	clock time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, path: filepath.Join(t.TempDir(), "parley.db"),
		clock: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC),
	}
	w.open()
	t.Cleanup(func() { w.db.Close() })
	return w
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clock
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock = w.clock.Add(d)
}

func (w *world) open() {
	w.t.Helper()
	var err error
	if w.db, err = bolt.Open(w.path, bolt.Options{Now: w.now}); err != nil {
		w.t.Fatal(err)
	}
	w.asks = ask.New(w.db, ask.Options{Now: w.now})
}

// reopen is a restart.
func (w *world) reopen() {
	w.t.Helper()
	if err := w.db.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.open()
}

func (w *world) apply(ops ...storage.Op) {
	w.t.Helper()
	if err := w.db.Apply(context.Background(), ops...); err != nil {
		w.t.Fatal(err)
	}
}

// put opens a request and stores it.
func (w *world) put(r ask.Request) ask.Request {
	w.t.Helper()
	opened, ops, err := w.asks.Open(context.Background(), r)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, op := range ops {
		if storage.Conditional(op) {
			w.t.Fatalf("Open made a conditional op: %#v", op)
		}
	}
	w.apply(ops...)
	return opened
}

// answer judges and stores what comes of it.
func (w *world) answer(id string, by chat.User, event string, reply ask.Reply) ask.Result {
	w.t.Helper()
	for {
		res, err := w.asks.Answer(context.Background(), id, by, event, reply)
		if err != nil {
			w.t.Error(err)
			return res
		}
		w.onlyOneConditional(res)
		err = w.db.Apply(context.Background(), res.Ops...)
		if errors.Is(err, storage.ErrConflict) {
			continue
		}
		if err != nil {
			w.t.Error(err)
		}
		return res
	}
}

// onlyOneConditional holds for every result that changes something.
func (w *world) onlyOneConditional(res ask.Result) {
	w.t.Helper()
	n := 0
	for _, op := range res.Ops {
		if storage.Conditional(op) {
			n++
		}
	}
	if len(res.Ops) > 0 && n != 1 || res.Settled != (len(res.Ops) > 0) {
		w.t.Errorf("%d conditional ops among %d, settled %v", n, len(res.Ops), res.Settled)
	}
}

func (w *world) get(id string) ask.Request {
	w.t.Helper()
	r, _, err := w.asks.Get(context.Background(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func approval() ask.Request {
	return ask.Request{
		Kind: ask.Approval, Session: "s1", Key: group, Turn: "t1", Call: "c1",
		Tool: "execute_cmd", Category: tools.Shell, Title: "run make",
		Digest:    "d",
		Answerers: []chat.UserID{ada.ID, bob.ID}, For: eve,
		Details: ask.Details{
			Args:    `{"command": "make"}`,
			Preview: tools.Preview{Kind: tools.PreviewCommand, Text: "make", Where: "/srv/work", State: "x", Note: "no sandbox is in force"},
			Agent:   "default", Chat: "Builders",
		},
		Cards: []ask.Card{{Key: group, Waiting: true}, {Key: home}},
	}
}

func question(choices ...string) ask.Request {
	return ask.Request{
		Kind: ask.Clarification, Session: "s1", Key: group, Turn: "t1", Call: "c2",
		Title: "Which branch?", Question: "I see *two*.", Choices: choices,
		Answerers: []chat.UserID{ada.ID}, For: ada, Cards: []ask.Card{{Key: group}},
	}
}

func secret() ask.Request {
	return ask.Request{Kind: ask.Secret, Session: "s1", Key: group, Title: "GITHUB_TOKEN", Answerers: []chat.UserID{ada.ID}, Cards: []ask.Card{{Key: group}}}
}

func elicitation() ask.Request {
	return ask.Request{Kind: ask.Elicitation, Session: "s1", Key: group, Server: "jira", Title: "Which project?", Answerers: []chat.UserID{ada.ID}, Cards: []ask.Card{{Key: group}}}
}

func approve() ask.Reply             { return ask.Reply{Verdict: ask.Approved} }
func reject(reason string) ask.Reply { return ask.Reply{Verdict: ask.Rejected, Text: reason} }
func bypass(s ask.Span, c ask.Scope) ask.Reply {
	return ask.Reply{Verdict: ask.Approved, Bypass: ask.Bypass{Span: s, Scope: c}}
}

func has(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
