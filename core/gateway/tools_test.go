package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/core/chat"
	"parley/core/llm"
	"parley/tools"
)

// hand is a tool that is a function.
type hand struct {
	name   string
	effect tools.Effect
	ran    atomic.Int32
	do     func(ctx context.Context, call tools.Call) tools.Outcome
}

func (h *hand) Spec() tools.Spec {
	return tools.Spec{
		Name: h.name, Description: "a tool of the test", Source: tools.Core, Category: tools.Shell, Effect: h.effect,
		Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"additionalProperties":false}`),
	}
}

func (h *hand) Run(ctx context.Context, call tools.Call) tools.Execution {
	return tools.Func(ctx, func(ctx context.Context) tools.Outcome {
		h.ran.Add(1)
		if h.do == nil {
			return tools.Done("did " + string(call.Args))
		}
		return h.do(ctx, call)
	})
}

// wants is a model that calls one tool and then says what came back.
func wants(tool, args string) answerFunc {
	return func(_ context.Context, req llm.Request, _ func(llm.Delta)) (llm.Reply, error) {
		for i := len(req.Messages) - 1; i >= 0; i-- {
			if m := req.Messages[i]; m.Role == llm.Tool {
				return llm.Reply{Text: "result: " + bare(m.Text)}, nil
			}
		}
		return llm.Reply{Calls: []llm.Call{{ID: "c1", Name: tool, Args: json.RawMessage(args)}}}, nil
	}
}

// bare takes the fence off a result.
func bare(text string) string {
	lines := strings.Split(text, "\n")
	if len(lines) > 2 && strings.HasPrefix(lines[0], "<result ") {
		return strings.Join(lines[1:len(lines)-1], "\n")
	}
	return text
}

// card returns the id of the newest request that is shown, and its buttons.
func (s *stack) card() (id string, buttons []chat.Button) {
	s.t.Helper()
	synctest.Wait()
	parts := s.screen.parts()
	for i := len(parts) - 1; i >= 0; i-- {
		for _, row := range parts[i].Buttons {
			buttons = append(buttons, row...)
		}
		if len(buttons) > 0 {
			return strings.Fields(buttons[0].Line)[1], buttons
		}
	}
	s.t.Fatal("no card is shown")
	return "", nil
}

// workshop runs a test of a stack whose agent has these tools, beside those of
// the conversation.
func workshop(t *testing.T, answer answerFunc, list []tools.Tool, test func(*stack)) {
	t.Helper()
	arranged(t, answer, func(s *stack) { s.tools = append([]tools.Tool{}, list...) }, test)
}

func TestApproveRunsTheCall(t *testing.T) {
	t.Parallel()
	for _, restarts := range []bool{false, true} {
		t.Run(fmt.Sprint("restart ", restarts), func(t *testing.T) {
			t.Parallel()
			do := &hand{name: "do"}
			workshop(t, wants("do", `{"text":"x"}`), []tools.Tool{do}, func(s *stack) {
				id := s.say("a", "please")
				ask, _ := s.card()
				if restarts {
					s.crash()
				}
				later := s.say("a", "and then?")
				press := s.accept("a", chat.Pressed{Line: "/approve " + ask, Private: true})
				synctest.Wait()
				if n := do.ran.Load(); n != 1 {
					t.Errorf("the tool ran %d times", n)
				}
				s.settled(id, press, later)
				s.free()
			})
		})
	}
}

func TestRejectReasonReachesTheModel(t *testing.T) {
	t.Parallel()
	do := &hand{name: "do"}
	workshop(t, wants("do", `{}`), []tools.Tool{do}, func(s *stack) {
		s.say("a", "please")
		ask, _ := s.card()
		s.say("a", "/reject "+ask+" not on a Friday")
		if n := do.ran.Load(); n != 0 {
			t.Errorf("the tool ran %d times", n)
		}
		texts := s.screen.texts("a")
		if last := texts[len(texts)-1]; !strings.Contains(last, "not on a Friday") {
			t.Errorf("the model says %q", last)
		}
		s.free()
	})
}

func TestStopWithdrawsTheCard(t *testing.T) {
	t.Parallel()
	do := &hand{name: "do"}
	workshop(t, wants("do", `{}`), []tools.Tool{do}, func(s *stack) {
		s.say("a", "please")
		ask, _ := s.card()
		s.say("a", "/stop")
		s.free()
		s.say("a", "/approve "+ask)
		if n := do.ran.Load(); n != 0 {
			t.Errorf("the tool ran %d times", n)
		}
	})
}

func TestQuestionIsAnsweredByTheNextMessage(t *testing.T) {
	t.Parallel()
	for _, restarts := range []bool{false, true} {
		t.Run(fmt.Sprint("restart ", restarts), func(t *testing.T) {
			t.Parallel()
			model := wants(tools.AskUserClarification, `{"title":"colour","question":"Which colour?","suggestions":["red","blue"]}`)
			workshop(t, model, nil, func(s *stack) {
				id := s.say("a", "paint it")
				s.card()
				if restarts {
					s.crash()
				}
				typed := s.say("a", "green")
				texts := s.screen.texts("a")
				if last := texts[len(texts)-1]; last != "result: Ada answered: green" {
					t.Errorf("the model says %q", last)
				}
				s.settled(id, typed)
				s.free()
			})
		})
	}
}

func TestAQuestionExpires(t *testing.T) {
	t.Parallel()
	do := &hand{name: "do"}
	workshop(t, wants("do", `{}`), []tools.Tool{do}, func(s *stack) {
		id := s.say("a", "please")
		s.card()
		time.Sleep(25 * time.Hour)
		synctest.Wait()
		if n := do.ran.Load(); n != 0 {
			t.Errorf("the tool ran %d times", n)
		}
		s.settled(id)
		s.free()
	})
}
