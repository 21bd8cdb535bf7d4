package llm_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"parley/core/llm"
	"parley/core/llm/llmtest"
)

// newModel returns a model at a server that plays answer, and that server.
func newModel(t *testing.T, c llm.Config, answer func(llmtest.Request) llmtest.Script) (llm.Model, *llmtest.Server) {
	t.Helper()
	s := llmtest.NewPipe(answer)
	t.Cleanup(s.Close)
	c.BaseURL, c.Client = s.URL(), s.Client()
	if c.ID == "" {
		c.ID = "test-model"
	}
	m, err := llm.NewOpenAI(c)
	if err != nil {
		t.Fatal(err)
	}
	return m, s
}

// ask streams one request and returns the reply, which must come.
func ask(t *testing.T, m llm.Model, req llm.Request) llm.Reply {
	t.Helper()
	reply, err := m.Stream(t.Context(), req, nil)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

func last(s *llmtest.Server) llmtest.Request {
	all := s.Requests()
	return all[len(all)-1]
}

func rows(m ...llm.Message) llm.Request { return llm.Request{Messages: m} }

var (
	user    = llm.Message{Role: llm.User, Text: "hello"}
	picture = llm.Message{Role: llm.User, Text: "look", Images: []llm.Image{{Type: "image/png", Data: []byte("png"), Note: "[picture: cat.png]"}}}
)

func TestRequestFields(t *testing.T) {
	zero := 0.0
	for name, c := range map[string]struct {
		config llm.Config
		output int
		want   map[string]string // "" means left out
	}{
		"plain":       {llm.Config{ID: "m"}, 0, map[string]string{"temperature": "", "max_tokens": "", "max_completion_tokens": "", "stream": "true", "stream_options": `{"include_usage":true}`, "tools": "", "prompt_cache_key": ""}},
		"temperature": {llm.Config{ID: "m", Temperature: &zero}, 0, map[string]string{"temperature": "0"}},
		"output":      {llm.Config{ID: "m", Output: 100}, 0, map[string]string{"max_tokens": "100"}},
		"less output": {llm.Config{ID: "m", Output: 100}, 7, map[string]string{"max_tokens": "7"}},
		"new model":   {llm.Config{ID: "gpt-5-mini", Output: 100, Temperature: &zero}, 0, map[string]string{"max_tokens": "", "max_completion_tokens": "100", "temperature": "0"}},
		"o-series":    {llm.Config{ID: "o4-mini", Output: 9}, 0, map[string]string{"max_completion_tokens": "9"}},
		"old model":   {llm.Config{ID: "gpt-4o", Output: 9}, 0, map[string]string{"max_tokens": "9"}},
		"foreign":     {llm.Config{ID: "o1zone", Output: 9}, 0, map[string]string{"max_tokens": "9"}},
		"extra":       {llm.Config{ID: "m", Extra: map[string]any{"top_k": 3, "stream_options": nil, "max_tokens": 5}, Output: 1}, 0, map[string]string{"top_k": "3", "stream_options": "", "max_tokens": "5"}},
	} {
		t.Run(name, func(t *testing.T) {
			m, s := newModel(t, c.config, nil)
			ask(t, m, llm.Request{Messages: []llm.Message{user}, Output: c.output})
			for field, want := range c.want {
				if got := string(last(s).Field(field)); got != want {
					t.Errorf("%s: %s, want %s", field, got, want)
				}
			}
		})
	}
}

func TestRequestRows(t *testing.T) {
	m, s := newModel(t, llm.Config{}, nil)
	ask(t, m, llm.Request{
		Messages: []llm.Message{
			{Role: llm.System, Text: "be <kind> & true"},
			user,
			{Role: llm.Assistant, Calls: []llm.Call{{ID: "a1", Name: "read", Args: json.RawMessage(`{"n":1}`)}, {ID: "a2", Name: "read", Args: json.RawMessage(`{"cut`)}}},
			{Role: llm.Tool, CallID: "a1"},
			{Role: llm.Tool, CallID: "a2", Text: "two"},
			{Role: llm.Assistant},
		},
		Tools: []llm.ToolSpec{{Name: "read", Description: "reads"}},
	})
	want := `[{"role":"system","content":"be <kind> & true"},{"role":"user","content":"hello"},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"a1","type":"function","function":{"name":"read","arguments":"{\"n\":1}"}},{"id":"a2","type":"function","function":{"name":"read","arguments":"{}"}}]},` +
		`{"role":"tool","content":"(empty)","tool_call_id":"a1"},{"role":"tool","content":"two","tool_call_id":"a2"},{"role":"assistant","content":"(no text)"}]`
	if got := string(last(s).Field("messages")); got != want {
		t.Errorf("messages:\n%s\nwant:\n%s", got, want)
	}
	tools := `[{"type":"function","function":{"name":"read","description":"reads","parameters":{"type":"object","properties":{}}}}]`
	if got := string(last(s).Field("tools")); got != tools {
		t.Errorf("tools: %s", got)
	}
}

// TestToolsChange: tools that were sent before are not sent instead of others.
func TestToolsChange(t *testing.T) {
	m, s := newModel(t, llm.Config{}, nil)
	for _, name := range []string{"read", "write", "write"} {
		ask(t, m, llm.Request{Messages: []llm.Message{user}, Tools: []llm.ToolSpec{{Name: name}}})
		if got := last(s).Tools; len(got) != 1 || got[0].Name != name {
			t.Errorf("tools %+v, want %s", got, name)
		}
	}
}

// TestPairing: whatever the history looks like, the server gets every call with
// exactly one result right after it.
func TestPairing(t *testing.T) {
	call := func(ids ...string) llm.Message {
		m := llm.Message{Role: llm.Assistant}
		for _, id := range ids {
			m.Calls = append(m.Calls, llm.Call{ID: id, Name: "read", Args: json.RawMessage("{}")})
		}
		return m
	}
	result := func(id string) llm.Message { return llm.Message{Role: llm.Tool, CallID: id, Text: "result " + id} }
	for name, c := range map[string]struct {
		in   []llm.Message
		want string
	}{
		"in order":    {[]llm.Message{user, call("a", "b"), result("b"), result("a"), user}, "user a,b =b =a user"},
		"missing":     {[]llm.Message{user, call("a", "b"), result("a"), user}, "user a,b =a =b! user"},
		"late":        {[]llm.Message{call("a"), user, result("a")}, "a =a user"},
		"too late":    {[]llm.Message{call("a"), user, call("b"), result("a"), result("b")}, "a =a! user b =b"},
		"twice":       {[]llm.Message{call("a"), result("a"), result("a")}, "a =a"},
		"alone":       {[]llm.Message{user, result("a"), user}, "user user"},
		"same id":     {[]llm.Message{call("a"), result("a"), call("a"), result("a")}, "a =a a =a"},
		"at the end":  {[]llm.Message{user, call("a")}, "user a =a!"},
		"at the head": {[]llm.Message{result("a"), user}, "user"},
	} {
		t.Run(name, func(t *testing.T) {
			m, s := newModel(t, llm.Config{}, nil)
			ask(t, m, rows(c.in...))
			if got := sketch(last(s).Messages); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// sketch shows roles, call ids and results; a made-up result has a mark.
func sketch(rows []llmtest.Message) string {
	var words []string
	for _, m := range rows {
		switch {
		case m.Role == "tool" && strings.HasPrefix(m.Text, "result"):
			words = append(words, "="+m.CallID)
		case m.Role == "tool":
			words = append(words, "="+m.CallID+"!")
		case len(m.Calls) > 0:
			var ids []string
			for _, c := range m.Calls {
				ids = append(ids, c.ID)
			}
			words = append(words, strings.Join(ids, ","))
		default:
			words = append(words, m.Role)
		}
	}
	return strings.Join(words, " ")
}

// TestUniqueIDs: a provider that counts its calls from 0 in every answer gets
// ids that no earlier call of the prompt has.
func TestUniqueIDs(t *testing.T) {
	m, _ := newModel(t, llm.Config{}, func(llmtest.Request) llmtest.Script {
		return llmtest.Script{llmtest.Call{ID: "call_0", Name: "read", Args: "{}"}}
	})
	reply := ask(t, m, rows(user, llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "call_0", Name: "read"}}}, llm.Message{Role: llm.Tool, CallID: "call_0"}))
	if id := reply.Calls[0].ID; id == "call_0" || id == "" {
		t.Errorf("id %q", id)
	}
}

// TestLLM08 sends reasoning back to the model that wrote it, once its server
// wants it, with a blank where it is another model's.
func TestLLM08(t *testing.T) {
	strict := func(r llmtest.Request) llmtest.Script {
		for i, m := range r.Messages {
			if m.Role == "assistant" && m.Reasoning == "" {
				return llmtest.Fail(400, "invalid_request_error", fmt.Sprintf("thinking is enabled but reasoning_content is missing in assistant tool call message at index %d", i))
			}
		}
		return llmtest.Echo(r)
	}
	history := rows(user,
		llm.Message{Role: llm.Assistant, Text: "one", Reasoning: "own", ReasonedBy: "test-model"},
		user,
		llm.Message{Role: llm.Assistant, Text: "two", Reasoning: "foreign", ReasonedBy: "other"},
		user)
	m, s := newModel(t, llm.Config{}, strict)
	for range 2 {
		ask(t, m, history)
	}
	if n := s.Count(); n != 3 {
		t.Errorf("%d requests, want one refusal and two answers", n)
	}
	got := last(s).Messages
	if got[1].Reasoning != "own" || got[3].Reasoning != " " {
		t.Errorf("reasoning sent: %q and %q", got[1].Reasoning, got[3].Reasoning)
	}
	plain, s := newModel(t, llm.Config{Reasoning: llm.ReasoningNever}, nil)
	ask(t, plain, history)
	if got := last(s).Messages; got[1].Reasoning != "" {
		t.Errorf("reasoning sent although never: %q", got[1].Reasoning)
	}
}

func TestVision(t *testing.T) {
	refuse := func(r llmtest.Request) llmtest.Script {
		for _, m := range r.Messages {
			if len(m.Images) > 0 {
				return llmtest.Fail(400, "invalid_request_error", "This model does not support image input")
			}
		}
		return llmtest.Echo(r)
	}
	t.Run("taken", func(t *testing.T) {
		m, s := newModel(t, llm.Config{Vision: true}, nil)
		reply := ask(t, m, rows(picture))
		want := `[{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,cG5n"}}]}]`
		if got := string(last(s).Field("messages")); got != want || reply.Notes != nil {
			t.Errorf("sent %s, notes %q", got, reply.Notes)
		}
	})
	t.Run("not configured", func(t *testing.T) {
		m, _ := newModel(t, llm.Config{}, refuse)
		if reply := ask(t, m, rows(picture)); reply.Text != "echo: look\n\n[picture: cat.png]" || len(reply.Notes) != 1 {
			t.Errorf("reply %q, notes %q", reply.Text, reply.Notes)
		}
	})
	t.Run("LLM09 refused", func(t *testing.T) {
		m, s := newModel(t, llm.Config{Vision: true}, refuse)
		if reply := ask(t, m, rows(picture)); len(reply.Notes) != 1 || s.Count() != 2 {
			t.Errorf("notes %q after %d requests", reply.Notes, s.Count())
		}
		later := ask(t, m, rows(picture, llm.Message{Role: llm.Assistant, Text: "ok"}, user))
		if later.Text != "echo: hello" || later.Notes != nil || s.Count() != 3 {
			t.Errorf("later: %q, notes %q, %d requests", later.Text, later.Notes, s.Count())
		}
		if m.Info().Vision {
			t.Error("the model still says that it takes pictures")
		}
	})
	t.Run("faulty picture", func(t *testing.T) {
		m, _ := newModel(t, llm.Config{Vision: true}, func(r llmtest.Request) llmtest.Script {
			if len(r.Messages[0].Images) > 0 {
				return llmtest.Fail(400, "invalid_image_format", "You uploaded an unsupported image.")
			}
			return llmtest.Echo(r)
		})
		if reply := ask(t, m, rows(picture)); len(reply.Notes) != 1 || !m.Info().Vision {
			t.Errorf("notes %q, vision %v", reply.Notes, m.Info().Vision)
		}
	})
}

// TestHabits: what a server refuses once is said otherwise, and stays so.
func TestHabits(t *testing.T) {
	warm := 0.5
	mixed := rows(llm.Message{Role: llm.System, Text: "one"}, llm.Message{Role: llm.System, Text: "two"}, user, llm.Message{Role: llm.System, Text: "now"})
	called := rows(user, llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "call_long_0", Name: "read"}}}, llm.Message{Role: llm.Tool, CallID: "call_long_0", Text: "x"})
	for name, c := range map[string]struct {
		config  llm.Config
		req     llm.Request
		message string
		fits    func(llmtest.Request) bool
	}{
		"max_tokens": {llm.Config{Output: 9}, rows(user), "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
			func(r llmtest.Request) bool { return r.Field("max_tokens") == nil }},
		"max_completion_tokens": {llm.Config{ID: "o1-local", Output: 9}, rows(user), "unknown field max_completion_tokens",
			func(r llmtest.Request) bool { return r.Field("max_completion_tokens") == nil }},
		"temperature": {llm.Config{Temperature: &warm}, rows(user), "Unsupported value: 'temperature' does not support 0.5 with this model.",
			func(r llmtest.Request) bool { return r.Field("temperature") == nil }},
		"stream_options": {llm.Config{}, rows(user), "Unrecognized request argument supplied: stream_options",
			func(r llmtest.Request) bool { return r.Field("stream_options") == nil }},
		"system rows": {llm.Config{}, mixed, "System message must be at the beginning.",
			func(r llmtest.Request) bool {
				return len(r.Messages) == 2 && r.Messages[0].Text == "one\n\ntwo" && r.Messages[1].Text == "hello\n\nnow"
			}},
		"call ids": {llm.Config{}, called, "Tool call id was call_long_0 but must be a-z, A-Z, 0-9, with a length of 9.",
			func(r llmtest.Request) bool {
				id := r.Messages[1].Calls[0].ID
				return len(id) == 9 && r.Messages[2].CallID == id
			}},
		"signature": {llm.Config{}, called, "Function call is missing a thought_signature in functionCall parts.",
			func(r llmtest.Request) bool {
				return strings.Contains(string(r.Body), "skip_thought_signature_validator")
			}},
	} {
		t.Run(name, func(t *testing.T) {
			m, s := newModel(t, c.config, func(r llmtest.Request) llmtest.Script {
				if !c.fits(r) {
					return llmtest.Fail(400, "invalid_request_error", c.message)
				}
				return llmtest.Echo(r)
			})
			for range 2 {
				ask(t, m, c.req)
			}
			if n := s.Count(); n != 3 {
				t.Errorf("%d requests, want one refusal and two answers", n)
			}
		})
	}
}

// TestRefusedForGood: a refusal that teaches nothing is not sent again.
func TestRefusedForGood(t *testing.T) {
	m, s := newModel(t, llm.Config{ID: "gpt-6-astra"}, func(llmtest.Request) llmtest.Script {
		return llmtest.Fail(400, "invalid_request_error", "Function tools are not supported.")
	})
	_, err := m.Stream(t.Context(), llm.Request{Messages: []llm.Message{user}, Tools: []llm.ToolSpec{{Name: "read"}}}, nil)
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.Bad || !strings.Contains(err.Error(), "Responses API") || s.Count() != 1 {
		t.Errorf("%v after %d requests", err, s.Count())
	}
}

func TestGPT6Effort(t *testing.T) {
	m, s := newModel(t, llm.Config{ID: "gpt-6-sol", Output: 9}, nil)
	ask(t, m, llm.Request{Messages: []llm.Message{user}, Tools: []llm.ToolSpec{{Name: "read"}}})
	if got := string(last(s).Field("reasoning_effort")); got != `"none"` {
		t.Errorf("effort %s", got)
	}
	ask(t, m, rows(user))
	if got := last(s).Field("reasoning_effort"); got != nil {
		t.Errorf("effort without tools: %s", got)
	}
}

func TestCostAndUsage(t *testing.T) {
	answer := func(llmtest.Request) llmtest.Script {
		return llmtest.Script{llmtest.Text("hello"), llmtest.Usage{Input: 1000, Cached: 400, Output: 100}}
	}
	m, _ := newModel(t, llm.Config{Name: "main", Price: llm.Price{Input: 1, Cached: 0.5, Output: 10}}, answer)
	reply := ask(t, m, rows(user))
	if got := fmt.Sprintf("%.6f", reply.Cost); got != "0.001800" || reply.Model != "main" || reply.ModelID != "test-model" {
		t.Errorf("cost %s, model %s (%s)", got, reply.Model, reply.ModelID)
	}
	m, _ = newModel(t, llm.Config{}, func(llmtest.Request) llmtest.Script {
		return llmtest.Script{llmtest.Raw("data: {\"choices\":[{\"delta\":{\"content\":\"12345678\"},\"finish_reason\":\"stop\"}]}\n\n")}
	})
	if u := ask(t, m, rows(user)).Usage; !u.Guessed || u.Output != 2 || u.Input == 0 {
		t.Errorf("guessed usage %+v", u)
	}
}

func TestCacheAnchor(t *testing.T) {
	m, s := newModel(t, llm.Config{ID: "anthropic/claude-x"}, nil)
	ask(t, m, rows(llm.Message{Role: llm.System, Text: "s", CacheAnchor: true}, user))
	want := `[{"role":"system","content":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}]},{"role":"user","content":"hello"}]`
	if got := string(last(s).Field("messages")); got != want {
		t.Errorf("messages %s", got)
	}
}

func TestConfig(t *testing.T) {
	for name, c := range map[string]llm.Config{
		"no id":     {},
		"strength":  {ID: "m", Strength: "huge"},
		"reasoning": {ID: "m", Reasoning: "maybe"},
		"key":       {ID: "m", Key: "sk-secret\nkey"},
		"scheme":    {ID: "m", BaseURL: "ftp://u:hunter22@host/v1"},
		"url":       {ID: "m", BaseURL: "http://u:hunter22@host:x/v1"},
	} {
		_, err := llm.NewOpenAI(c)
		if err == nil || strings.Contains(err.Error(), "hunter22") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	m, err := llm.NewOpenAI(llm.Config{ID: "m"})
	if err != nil {
		t.Fatal(err)
	}
	if i := m.Info(); i.Name != "m" || i.Strength != "medium" || i.Context == 0 || i.Vision || i.Demo {
		t.Errorf("info %+v", i)
	}
}
