package gateway_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"parley/core/llm"
	"parley/tools"
)

// The words with which the agent comes to a call stand before the card that
// asks about it.
func TestTheCardFollowsTheWords(t *testing.T) {
	t.Parallel()
	model := func(_ context.Context, _ llm.Request, _ func(llm.Delta)) (llm.Reply, error) {
		return llm.Reply{Text: "I look.", Calls: []llm.Call{{ID: "c1", Name: "do", Args: json.RawMessage(`{}`)}}}, nil
	}
	workshop(t, model, []tools.Tool{&hand{name: "do"}}, func(s *stack) {
		s.say("a", "please")
		texts := s.screen.texts("a")
		if len(texts) != 2 || texts[0] != "I look." || !strings.Contains(texts[1], "May this run?") {
			t.Errorf("the chat shows\n%s", list(texts))
		}
		s.say("a", "/stop")
	})
}
