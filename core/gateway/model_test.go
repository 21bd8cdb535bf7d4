package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/core/llm"
)

// inTurn is a model that does one thing after another, and the last of them
// for ever.
func inTurn(steps ...answerFunc) answerFunc {
	var mu sync.Mutex
	next := 0
	return func(ctx context.Context, req llm.Request, each func(llm.Delta)) (llm.Reply, error) {
		mu.Lock()
		step := steps[min(next, len(steps)-1)]
		next++
		mu.Unlock()
		return step(ctx, req, each)
	}
}

// says is a model that streams a text in one piece.
func says(text string) answerFunc {
	return replies(llm.Reply{Text: text})
}

func replies(r llm.Reply) answerFunc {
	return func(_ context.Context, _ llm.Request, each func(llm.Delta)) (llm.Reply, error) {
		if each != nil && r.Text != "" {
			each(llm.Delta{Text: r.Text})
		}
		return r, nil
	}
}

func fails(kind llm.Kind) answerFunc {
	return func(context.Context, llm.Request, func(llm.Delta)) (llm.Reply, error) {
		return llm.Reply{}, &llm.Error{Kind: kind, Model: "main", Err: fmt.Errorf("it is %s", kind)}
	}
}

func panics(context.Context, llm.Request, func(llm.Delta)) (llm.Reply, error) {
	panic("the model has a mistake")
}

// hangs is a model that never answers.
func hangs(ctx context.Context, _ llm.Request, _ func(llm.Delta)) (llm.Reply, error) {
	<-ctx.Done()
	return llm.Reply{}, ctx.Err()
}

// starts is a model that streams a text and then hangs.
func starts(text string) answerFunc {
	return func(ctx context.Context, req llm.Request, each func(llm.Delta)) (llm.Reply, error) {
		each(llm.Delta{Text: text})
		return hangs(ctx, req, each)
	}
}

// calls is a model that asks for tools nobody has.
func calls(text string, ids ...string) answerFunc {
	r := llm.Reply{Text: text}
	for _, id := range ids {
		r.Calls = append(r.Calls, llm.Call{ID: id, Name: "weather", Args: json.RawMessage(`{}`)})
	}
	return replies(r)
}

// endless asks for a tool each time.
func endless() answerFunc {
	var mu sync.Mutex
	n := 0
	return func(context.Context, llm.Request, func(llm.Delta)) (llm.Reply, error) {
		mu.Lock()
		defer mu.Unlock()
		n++
		return llm.Reply{Calls: []llm.Call{{ID: fmt.Sprintf("c%d", n), Name: "weather", Args: json.RawMessage(`{}`)}}}, nil
	}
}

// after waits before a model begins, and does not mind being told to stop.
func after(d time.Duration, f answerFunc) answerFunc {
	return func(ctx context.Context, req llm.Request, each func(llm.Delta)) (llm.Reply, error) {
		time.Sleep(d)
		return f(ctx, req, each)
	}
}

// main returns the first model.
func (s *stack) main() *scripted { return s.models[0].(*scripted) }

// answerFunc is what a scripted model does with a request.
type answerFunc func(ctx context.Context, req llm.Request, each func(llm.Delta)) (llm.Reply, error)

// scripted is a model that is a function.
type scripted struct {
	info   llm.Info
	answer answerFunc
	blind  bool // keeps no book of requests
	mu     sync.Mutex
	seen   []llm.Request
}

func script(name string, f answerFunc) *scripted {
	return &scripted{info: llm.Info{Name: name, ID: name + "-1", Context: 100_000, Strength: "high"}, answer: f}
}

func (m *scripted) Info() llm.Info { return m.info }

func (m *scripted) Stream(ctx context.Context, req llm.Request, each func(llm.Delta)) (llm.Reply, error) {
	if !m.blind {
		m.mu.Lock()
		m.seen = append(m.seen, req)
		m.mu.Unlock()
	}
	reply, err := m.answer(ctx, req, each)
	if reply.Finish == "" {
		reply.Finish = llm.FinishStop
		if len(reply.Calls) > 0 {
			reply.Finish = llm.FinishCalls
		}
	}
	reply.Model, reply.ModelID = m.info.Name, m.info.ID
	return reply, err
}

func (m *scripted) requests() []llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.seen)
}

// lastWords is what the person said last, without the tail.
func lastWords(req llm.Request) string {
	text := req.Messages[len(req.Messages)-1].Text
	text, _, _ = strings.Cut(text, "<context>")
	return strings.TrimSpace(text)
}

// echo answers with what was said.
func echo(_ context.Context, req llm.Request, _ func(llm.Delta)) (llm.Reply, error) {
	return llm.Reply{Text: "re: " + lastWords(req)}, nil
}

// slowly is a model that takes its time before it answers.
func slowly(d time.Duration, f answerFunc) answerFunc {
	return func(ctx context.Context, req llm.Request, each func(llm.Delta)) (llm.Reply, error) {
		select {
		case <-time.After(d):
			return f(ctx, req, each)
		case <-ctx.Done():
			return llm.Reply{}, ctx.Err()
		}
	}
}
