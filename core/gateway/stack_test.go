package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"parley/core/access"
	"parley/core/ask"
	"parley/core/chat"
	"parley/core/gateway"
	"parley/core/llm"
	"parley/core/outbox"
	"parley/core/policy"
	"parley/core/session"
	"parley/storage"
	"parley/storage/bolt"
	"parley/tools"
)

// stack is parley without a platform and without a model: the real store,
// gateway, conversations and outbox between a fake adapter and a scripted
// model. It lives in a synctest bubble.
type stack struct {
	tools   []tools.Tool   // what the agent can do, nil: nothing
	sources []tools.Source // further ones, if there are tools
	rules   []policy.Rule  // as in config.yaml
	policy  *policy.Policy // of the running process
	redact  func(string) string
	dir     string // the workspace
	t       testing.TB
	path    string
	screen  *screen
	models  []llm.Model
	config  session.Config
	access  access.Config
	front   func(session.Front) session.Front // wraps the gateway
	who     *access.Access
	store   *disk
	gateway *gateway.Gateway
	host    *session.Host
	box     *outbox.Outbox
	window  *window      // of the running process
	end     func() error // of the running process
	said    int
	real    bool // it lives in real time, outside a bubble
}

// bubble runs a test of a stack in virtual time. The answer function is what
// the model does.
func bubble(t *testing.T, answer answerFunc, test func(*stack)) {
	t.Helper()
	arranged(t, answer, func(*stack) {}, test)
}

// arranged is bubble for a stack that is arranged before it starts.
func arranged(t *testing.T, answer answerFunc, arrange, test func(*stack)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, answer)
		arrange(s)
		s.start()
		defer s.close()
		test(s)
	})
}

func newStack(t testing.TB, answer answerFunc) *stack {
	s := &stack{
		t: t, path: filepath.Join(t.TempDir(), "parley.db"),
		screen: newScreen(), models: []llm.Model{script("main", answer)},
		config: session.Defaults(),
		access: access.Config{Owners: []chat.UserID{ada.ID}, Chats: []string{"fake:group"}},
		front:  func(f session.Front) session.Front { return f },
		dir:    t.TempDir(),
	}
	s.config.Zone = time.UTC
	return s
}

var (
	ada = chat.User{ID: "fake:1", Name: "Ada"}
	bob = chat.User{ID: "fake:2", Name: "Bob"}
	eve = chat.User{ID: "fake:3", Name: "Eve"}
)

// start begins a process on the stack's file.
func (s *stack) start() {
	s.t.Helper()
	db, err := bolt.Open(s.path, bolt.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.store = &disk{DB: db, t: s.t, blind: s.real}
	who, err := access.New(s.store, s.access)
	if err != nil {
		s.t.Fatal(err)
	}
	s.who = who
	s.window = &window{screen: s.screen}
	s.box = outbox.New(s.store, map[string]chat.Adapter{"fake": s.window}, outbox.Options{
		PrivateChat: func(ctx context.Context, u chat.UserID) (chat.Key, bool) {
			k, known, err := who.PrivateChat(ctx, u, "fake")
			return k, known && err == nil
		},
	})
	toolbox := s.toolbox()
	s.gateway = gateway.New(gateway.Parts{
		Store: s.store, Access: who, Outbox: s.box, Version: "test",
		Asks: toolbox.Asks, Policy: toolbox.Policy,
		Wake: func(keys ...chat.Key) { s.host.Wake(keys...) },
	})
	s.host = session.New(session.Parts{
		Store: s.store, Outbox: s.box, Models: llm.NewPool(s.models, llm.Options{}),
		Front: s.front(s.gateway), Config: s.config, Log: zerolog.New(s.t.Output()), Toolbox: toolbox,
	})
	s.run()
}

// toolbox is what the agent has to work with: nothing, unless a test gives it
// tools.
func (s *stack) toolbox() session.Toolbox {
	if s.tools == nil {
		return session.Toolbox{}
	}
	rules, err := policy.New(s.store, policy.Config{Workspace: s.dir, Rules: s.rules})
	if err != nil {
		s.t.Fatal(err)
	}
	s.policy = rules
	seed, err := rules.Seed(s.t.Context())
	if err == nil {
		err = s.store.Apply(s.t.Context(), seed...)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return session.Toolbox{
		Sources: append([]tools.Source{tools.NewRegistry(s.tools...)}, s.sources...),
		Policy:  rules, Asks: ask.New(s.store, ask.Options{}), Redact: s.redact,
		Role: func(ctx context.Context, u chat.UserID) (string, error) {
			role, err := s.who.RoleOf(ctx, u)
			return string(role), err
		},
	}
}

func (s *stack) run() {
	hosting, endHost := context.WithCancel(s.t.Context())
	showing, endBox := context.WithCancel(s.t.Context())
	var ended sync.WaitGroup
	errs := make(chan error, 2)
	ended.Go(func() { errs <- s.box.Run(showing) })
	hosted := make(chan error, 1)
	go func() { hosted <- s.host.Run(hosting) }()
	store := s.store
	s.end = sync.OnceValue(func() error {
		endHost()
		err := <-hosted
		if !store.dead.Load() && !s.real {
			synctest.Wait()
		}
		endBox()
		ended.Wait()
		if err == nil {
			err = <-errs
		}
		if err == nil {
			err = store.Close()
		}
		return err
	})
}

// stop ends the process in good order.
func (s *stack) stop() {
	s.t.Helper()
	if err := s.end(); err != nil {
		s.t.Errorf("stopping: %v", err)
	}
}

// close ends the process and checks what every test promises.
func (s *stack) close() {
	s.t.Helper()
	s.stop()
	for _, m := range s.models {
		for i, req := range m.(*scripted).requests() {
			if problem := illFormed(req); problem != "" {
				s.t.Errorf("request %d to %s: %s\n%s", i+1, m.Info().Name, problem, written(req))
			}
		}
	}
}

func (s *stack) restart() {
	s.t.Helper()
	s.stop()
	s.start()
}

// kill ends the process as SIGKILL would: nothing that it does from now on
// reaches the disk or the screen.
func (s *stack) kill() {
	s.t.Helper()
	synctest.Wait()
	s.store.dead.Store(true)
	s.window.dead.Store(true)
	s.stop()
}

// crash kills the process and starts another.
func (s *stack) crash() {
	s.t.Helper()
	s.kill()
	s.start()
}

// key is a chat of the fake platform.
func key(name string) chat.Key { return chat.Key{Adapter: "fake", Chat: name} }

// say has Ada say something in her private chat and waits until nothing moves
// any more. It returns the event's id.
func (s *stack) say(chatName, text string) string {
	s.t.Helper()
	id := s.accept(chatName, private(text))
	synctest.Wait()
	return id
}

// private is a message in a private chat.
func private(text string) chat.Said { return chat.Said{Text: text, Private: true, Addressed: true} }

// called is a message in a group that mentions the bot.
func called(text string) chat.Said { return chat.Said{Text: text, Addressed: true} }

func (s *stack) accept(chatName string, body chat.Body) string {
	s.t.Helper()
	return s.acceptFrom(ada, chatName, body)
}

func (s *stack) acceptFrom(from chat.User, chatName string, body chat.Body) string {
	s.t.Helper()
	ev := s.event(from, chatName, body)
	s.deliver(ev)
	return ev.ID
}

// deliver hands events over in one batch.
func (s *stack) deliver(events ...chat.Event) {
	s.t.Helper()
	if err := s.gateway.Accept(s.t.Context(), chat.Cursor{}, events...); err != nil {
		s.t.Fatalf("accepting: %v", err)
	}
}

// enqueue puts an event into the inbox as parts of parley do.
func (s *stack) enqueue(ev chat.Event) {
	s.t.Helper()
	s.enqueueOnly(ev)
	s.host.Wake(ev.Key)
	synctest.Wait()
}

func (s *stack) enqueueOnly(ev chat.Event) {
	s.t.Helper()
	data, err := json.Marshal(ev)
	if err != nil {
		s.t.Fatal(err)
	}
	err = s.store.Apply(s.t.Context(), storage.Enqueue{
		Queue: session.Inbox, ID: ev.ID, Key: ev.Key.String(), Lane: session.Messages, Data: data,
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// event makes an event with an id of its own; a message is named like it.
func (s *stack) event(from chat.User, chatName string, body chat.Body) chat.Event {
	s.said++
	ev := chat.Event{ID: fmt.Sprintf("ev%d", s.said), Key: key(chatName), From: from, At: time.Now(), Body: body}
	if said, ok := body.(chat.Said); ok && said.Message == "" {
		said.Message = chat.MessageID(ev.ID)
		ev.Body = said
	}
	return ev
}

// want compares what a chat shows with what it should.
func (s *stack) want(chatName string, texts ...string) {
	s.t.Helper()
	synctest.Wait()
	if got := s.screen.texts(chatName); !slices.Equal(got, texts) {
		s.t.Errorf("chat %s shows\n%s\nwant\n%s", chatName, list(got), list(texts))
	}
}

// wantLast compares the newest message of a chat with a text.
func (s *stack) wantLast(chatName, text string) {
	s.t.Helper()
	synctest.Wait()
	got := s.screen.texts(chatName)
	if len(got) == 0 || got[len(got)-1] != text {
		s.t.Errorf("chat %s shows\n%s\nwant at last %q", chatName, list(got), text)
	}
}

func list(texts []string) string {
	var b strings.Builder
	for i, t := range texts {
		fmt.Fprintf(&b, "  %d: %q\n", i+1, t)
	}
	return b.String()
}

// settled checks that each of the events is named by exactly one post.
func (s *stack) settled(events ...string) {
	s.t.Helper()
	synctest.Wait()
	posts := s.settlements()
	for _, ev := range events {
		if n := len(posts[ev]); n != 1 {
			s.t.Errorf("event %s is settled by the posts %q, want one", ev, posts[ev])
		}
	}
}

// settlements lists by event the posts that name it and were shown, as the
// outbox recorded them.
func (s *stack) settlements() map[string][]string {
	s.t.Helper()
	posts := make(map[string][]string)
	items, err := s.store.Items(s.t.Context(), "outbox", storage.Filter{State: storage.StateDone}, 0, 1<<20)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, item := range items {
		var receipt outbox.Receipt
		if len(item.Result) == 0 {
			continue // withdrawn
		}
		if err := json.Unmarshal(item.Result, &receipt); err != nil {
			s.t.Fatal(err)
		}
		for _, part := range receipt.Parts {
			for _, ev := range part.Answers {
				posts[ev] = append(posts[ev], item.ID)
			}
		}
	}
	return posts
}

// tickets counts the messages that answer a ticket.
func (s *stack) tickets(ticket string) int {
	n := 0
	for _, p := range s.screen.parts() {
		if p.Ticket == ticket {
			n++
		}
	}
	return n
}

// free checks that no turn is open and nothing waits.
func (s *stack) free() {
	s.t.Helper()
	synctest.Wait()
	busy, err := session.Busy(s.t.Context(), s.store)
	if err != nil {
		s.t.Fatal(err)
	}
	if len(busy) > 0 {
		s.t.Errorf("conversations not free: %v", busy)
	}
}

// log returns the entries of the newest conversation of a chat.
func (s *stack) log(chatName string) []session.Entry {
	s.t.Helper()
	entries, err := session.ReadLog(s.t.Context(), s.store, key(chatName))
	if err != nil {
		s.t.Fatal(err)
	}
	return entries
}

// bodies returns the bodies of one kind that a chat's log holds.
func bodies[T session.Body](s *stack, chatName string) []T {
	s.t.Helper()
	var all []T
	for _, e := range s.log(chatName) {
		if b, ok := e.Body.(T); ok {
			all = append(all, b)
		}
	}
	return all
}

// ends lists how the turns of a chat ended, and checks that each that began
// ended once.
func (s *stack) ends(chatName string) []session.How {
	s.t.Helper()
	var hows []session.How
	open := ""
	for _, e := range s.log(chatName) {
		switch b := e.Body.(type) {
		case session.TurnStarted:
			if open != "" {
				s.t.Errorf("turn %s begins while %s is open", b.Turn, open)
			}
			open = b.Turn
		case session.TurnEnded:
			if open != b.Turn {
				s.t.Errorf("turn %s ends while %q is open", b.Turn, open)
			}
			open, hows = "", append(hows, b.How)
		}
	}
	if open != "" {
		s.t.Errorf("turn %s never ended", open)
	}
	return hows
}

// wantEnds compares how the turns of a chat ended.
func (s *stack) wantEnds(chatName string, want ...session.How) {
	s.t.Helper()
	synctest.Wait()
	if got := s.ends(chatName); !slices.Equal(got, want) {
		s.t.Errorf("turns of %s ended %v, want %v", chatName, got, want)
	}
}
