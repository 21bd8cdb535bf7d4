package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"parley/core/ask"
	"parley/core/chat"
	"parley/core/llm"
	"parley/core/session"
	"parley/tools"
)

// gadget is a hand of which every part can be another.
type gadget struct {
	hand
	spec     func() tools.Spec
	run      func(ctx context.Context, call tools.Call) tools.Execution
	describe func(args json.RawMessage) string
	target   func(args json.RawMessage) (string, bool)
	preview  func(ctx context.Context, call tools.Call) (tools.Preview, error)
}

func (g *gadget) Spec() tools.Spec {
	if g.spec != nil {
		return g.spec()
	}
	return g.hand.Spec()
}

func (g *gadget) Run(ctx context.Context, call tools.Call) tools.Execution {
	if g.run != nil {
		return g.run(ctx, call)
	}
	return g.hand.Run(ctx, call)
}

func (g *gadget) Describe(args json.RawMessage, _ tools.Length) string {
	if g.describe != nil {
		return g.describe(args)
	}
	return ""
}

func (g *gadget) Target(args json.RawMessage) (string, bool) {
	if g.target != nil {
		return g.target(args)
	}
	return "", false
}

func (g *gadget) Preview(ctx context.Context, call tools.Call) (tools.Preview, error) {
	if g.preview != nil {
		return g.preview(ctx, call)
	}
	return tools.Preview{}, nil
}

// round is a model that makes these calls at once and then says what came back.
func round(list ...llm.Call) answerFunc {
	return func(_ context.Context, req llm.Request, _ func(llm.Delta)) (llm.Reply, error) {
		var said []string
		for i := len(req.Messages) - 2; i >= 0 && req.Messages[i].Role == llm.Tool; i-- {
			said = append(said, bare(req.Messages[i].Text))
		}
		if len(said) == 0 {
			return llm.Reply{Calls: slices.Clone(list)}, nil
		}
		slices.Reverse(said)
		return llm.Reply{Text: "results: " + strings.Join(said, " | ")}, nil
	}
}

func a2z(name string, n int) []llm.Call {
	var list []llm.Call
	for i := range n {
		list = append(list, llm.Call{ID: fmt.Sprint("c", i), Name: name, Args: json.RawMessage(fmt.Sprintf(`{"text":"%d"}`, i))})
	}
	return list
}

// ran checks how often a tool ran.
func (h *hand) wantRan(t testing.TB, times int32) {
	t.Helper()
	synctest.Wait()
	if n := h.ran.Load(); n != times {
		t.Errorf("%s ran %d times, want %d", h.name, n, times)
	}
}

// tells has somebody say something in a private chat of theirs.
func (s *stack) tells(who chat.User, chatName, text string) string {
	s.t.Helper()
	id := s.acceptFrom(who, chatName, private(text))
	synctest.Wait()
	return id
}

// presses has somebody press a button.
func (s *stack) presses(who chat.User, chatName, line string) string {
	s.t.Helper()
	id := s.acceptFrom(who, chatName, chat.Pressed{Line: line, Private: chatName != "group"})
	synctest.Wait()
	return id
}

// last is the newest message of a chat.
func (s *stack) last(chatName string) string {
	s.t.Helper()
	synctest.Wait()
	texts := s.screen.texts(chatName)
	if len(texts) == 0 {
		return ""
	}
	return texts[len(texts)-1]
}

// wantIn checks that the newest message of a chat holds a text.
func (s *stack) wantIn(chatName, part string) {
	s.t.Helper()
	if last := s.last(chatName); !strings.Contains(last, part) {
		s.t.Errorf("chat %s shows\n%swant at last something with %q", chatName, list(s.screen.texts(chatName)), part)
	}
}

// shows checks that some message of a chat holds a text.
func (s *stack) shows(chatName, part string) {
	s.t.Helper()
	synctest.Wait()
	texts := s.screen.texts(chatName)
	if !slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, part) }) {
		s.t.Errorf("chat %s shows\n%swant something with %q", chatName, list(texts), part)
	}
}

// noCards checks that nothing can be decided any more, in any chat: no request
// is open and no card has buttons.
func (s *stack) noCards() {
	s.t.Helper()
	synctest.Wait()
	for _, r := range s.requests() {
		if r.State == ask.Open {
			s.t.Errorf("request %s (%s) is open", r.ID, r.Title)
		}
	}
	for _, p := range s.screen.parts() {
		if len(p.Buttons) > 0 {
			s.t.Errorf("a card with buttons is left: %q", p.Text)
		}
	}
}

// requests lists what people were asked, the oldest first.
func (s *stack) requests() []ask.Request {
	s.t.Helper()
	all, err := ask.New(s.store, ask.Options{}).All(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// open lists the ids of what is open.
func (s *stack) open() []string {
	s.t.Helper()
	synctest.Wait()
	var ids []string
	for _, r := range s.requests() {
		if r.State == ask.Open {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// results lists how each call of a chat's log ended, and checks that each has
// exactly one result.
func (s *stack) results(chatName string) map[string]session.ToolStated {
	s.t.Helper()
	synctest.Wait()
	ended := make(map[string]session.ToolStated)
	open := make(map[string]bool)
	for _, e := range s.log(chatName) {
		switch b := e.Body.(type) {
		case session.AssistantSaid:
			for _, c := range b.Calls {
				if open[c.ID] {
					s.t.Errorf("call %s is made twice", c.ID)
				}
				open[c.ID] = true
			}
		case session.ToolStated:
			if !b.State.Ended() {
				continue
			}
			if !open[b.Call] {
				s.t.Errorf("call %s has a result too many: %+v", b.Call, b)
			}
			delete(open, b.Call)
			ended[b.Call] = b
		}
	}
	for id := range open {
		s.t.Errorf("call %s has no result", id)
	}
	return ended
}

// wantResult checks how a call ended.
func (s *stack) wantResult(chatName, call string, state session.State, part string) {
	s.t.Helper()
	if b := s.results(chatName)[call]; b.State != state || !strings.Contains(b.Result, part) {
		s.t.Errorf("call %s ended %q with %.200q, want %q with %q", call, b.State, b.Result, state, part)
	}
}

// rule adds a rule to the running process.
func (s *stack) rule(tool, action string) {
	s.t.Helper()
	ch, err := s.policy.Put(s.t.Context(), policyRule(tool, action))
	if err == nil && ch.Refused {
		err = fmt.Errorf("refused: %s", ch.Reply)
	}
	if err == nil {
		err = s.store.Apply(s.t.Context(), ch.Ops...)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// diesWith has the process die behind the commit that takes an event in, before
// anybody looks at it.
func (s *stack) diesWith(ev chat.Event) {
	s.t.Helper()
	window := s.window
	s.store.dieAfter(1, func() { window.dead.Store(true) })
	if err := s.gateway.Accept(s.t.Context(), chat.Cursor{}, ev); err == nil {
		s.t.Error("the store did not die")
	}
	s.crash()
}
