package terminal_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"parley/adapters/terminal"
	"parley/core/chat"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// inbound is the core as an adapter sees it: it keeps what it accepts.
type inbound struct {
	accept func(e chat.Event) error // before it is kept; may be nil

	mu     sync.Mutex
	events []chat.Event
	came   sync.Cond
}

func newInbound() *inbound {
	in := &inbound{}
	in.came.L = &in.mu
	return in
}

func (in *inbound) Accept(_ context.Context, _ chat.Cursor, events ...chat.Event) error {
	for _, e := range events {
		if in.accept != nil {
			if err := in.accept(e); err != nil {
				return err
			}
		}
		in.mu.Lock()
		in.events = append(in.events, e)
		in.came.Broadcast()
		in.mu.Unlock()
	}
	return nil
}

func (in *inbound) Cursors(context.Context, string) ([]chat.Cursor, error) { return nil, nil }
func (in *inbound) Handle(string, http.Handler)                            {}

// said are the lines and presses so far, as words.
func (in *inbound) said() []string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return words(in.events)
}

func words(events []chat.Event) []string {
	out := []string{}
	for _, e := range events {
		switch b := e.Body.(type) {
		case chat.Said:
			out = append(out, b.Text)
		case chat.Pressed:
			out = append(out, "press "+b.Line+" on "+string(b.Message))
		}
	}
	return out
}

// event waits for the n-th event, counted from 0.
func (in *inbound) event(n int) chat.Event {
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.events) <= n {
		in.came.Wait()
	}
	return in.events[n]
}

var here = chat.Key{Adapter: "terminal", Chat: "local"}

// show renders and delivers a post, as the outbox does.
func show(t *testing.T, a *terminal.Adapter, p chat.Post) chat.MessageID {
	t.Helper()
	parts, err := a.Render(here, p)
	if err != nil || len(parts) != 1 {
		t.Fatalf("Render = %v, %v; want one part", parts, err)
	}
	ids, err := a.Deliver(t.Context(), here, parts[0])
	if err != nil || len(ids) != 1 {
		t.Fatalf("Deliver = %v, %v; want one id", ids, err)
	}
	return ids[0]
}

func draft(t *testing.T, a *terminal.Adapter, post, text string) {
	t.Helper()
	if err := a.Signal(t.Context(), here, chat.Draft{Post: post, Text: text}); err != nil {
		t.Fatalf("Signal: %v", err)
	}
}

var approval = [][]chat.Button{{
	{Label: "Approve", Line: "/approve k7f3 once"},
	{Label: "Reject", Line: "/reject k7f3", Prompt: "Why?"},
}}

var commands = []chat.Command{
	{Name: "stop", Control: true, Urgent: true}, {Name: "status", Control: true}, {Name: "new"},
}
