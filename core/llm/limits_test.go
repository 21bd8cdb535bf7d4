package llm_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/core/llm"
	"parley/core/llm/llmtest"
)

// streamOf plays a script in virtual time and returns what came and how long
// it took.
func streamOf(t *testing.T, script llmtest.Script) (llm.Reply, time.Duration, error) {
	t.Helper()
	m, _ := newModel(t, llm.Config{Name: "main"}, func(llmtest.Request) llmtest.Script { return script })
	begin := time.Now()
	reply, err := m.Stream(t.Context(), hello(), nil)
	return reply, time.Since(begin), err
}

func ping(n int, pause time.Duration) llmtest.Script {
	s := llmtest.Script{llmtest.Open{}}
	for range n {
		s = append(s, llmtest.Raw(": ping\n\n"), llmtest.Wait(pause))
	}
	return s
}

// TestLimits: what takes how long, in virtual time, and what it is then.
func TestLimits(t *testing.T) {
	hello := llmtest.Script{llmtest.Text("hello")}
	for name, c := range map[string]struct {
		script llmtest.Script
		kind   llm.Kind // "" for an answer
		took   time.Duration
	}{
		"no headers":           {llmtest.Script{llmtest.Hang{}}, llm.Silent, 5 * time.Minute},
		"headers, then hang":   {llmtest.Script{llmtest.Open{}, llmtest.Hang{}}, llm.Silent, 5 * time.Minute},
		"LLM13 text, hang":     {llmtest.Script{llmtest.Text("hel"), llmtest.Hang{}}, llm.Silent, 2 * time.Minute},
		"pings without end":    {ping(100, 10*time.Second), llm.Silent, 5 * time.Minute},
		"text, pings":          {append(hello, ping(100, 10*time.Second)...), llm.Silent, 5 * time.Minute},
		"slow first byte":      {append(llmtest.Script{llmtest.Wait(299 * time.Second)}, hello...), "", 299 * time.Second},
		"pings, then text":     {append(ping(29, 10*time.Second), llmtest.Raw(chunkHello)), "", 290 * time.Second},
		"LLM15 slow stream":    {llmtest.Words(strings.Repeat("word ", 150), time.Second), "", 150 * time.Second},
		"LLM15 slower stream":  {llmtest.Words(strings.Repeat("word ", 100), 119*time.Second), "", 11900 * time.Second},
		"no answer":            {llmtest.Script{llmtest.Drop{}}, llm.Cut, 0},
		"cut":                  {llmtest.Script{llmtest.Text("hel"), llmtest.Cut{}}, llm.Cut, 0},
		"error, then hang":     {llmtest.Script{llmtest.Raw("data: {\"error\":\"no\"}\n"), llmtest.Hang{}}, llm.Overloaded, 0},
		"finished, then hang":  {llmtest.Script{llmtest.Raw(chunkHello), llmtest.Hang{}}, "", 5 * time.Second},
		"end mark, then hang":  {llmtest.Script{llmtest.Raw(chunkHello + "data: [DONE]\n\n"), llmtest.Hang{}}, "", 200 * time.Millisecond},
		"refused, then hang":   {llmtest.Script{llmtest.Respond{Status: 401}, llmtest.Raw("{\"error\":\"no\"}"), llmtest.Hang{}}, llm.Refused, 5 * time.Second},
		"usage after a moment": {llmtest.Script{llmtest.Raw(chunkHello), llmtest.Wait(time.Second), llmtest.Raw("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7}}\n\ndata: [DONE]\n\n")}, "", time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reply, took, err := streamOf(t, c.script)
				var e *llm.Error
				switch {
				case took != c.took:
					t.Errorf("after %s, want %s (%v)", took, c.took, err)
				case c.kind == "" && (err != nil || reply.Text == ""):
					t.Errorf("reply %q, %v", reply.Text, err)
				case c.kind != "" && (!errors.As(err, &e) || e.Kind != c.kind):
					t.Errorf("%v, want %s", err, c.kind)
				}
			})
		})
	}
}

const chunkHello = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}\n\n"

func TestSilenceSentence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, err := streamOf(t, llmtest.Script{llmtest.Hang{}})
		want := `The model "main" did not answer within 5 minutes. Check that its server runs, or choose another model with /models.`
		if got := llm.Sentence(err); got != want {
			t.Errorf("got %q", got)
		}
	})
}

// TestStop: the caller's ctx ends a stream at any point, and the error is its.
func TestStop(t *testing.T) {
	for name, script := range map[string]llmtest.Script{
		"before headers": {llmtest.Hang{}},
		"after headers":  {llmtest.Open{}, llmtest.Hang{}},
		"in the middle":  {llmtest.Text("hel"), llmtest.Hang{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, _ := newModel(t, llm.Config{}, func(llmtest.Request) llmtest.Script { return script })
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if _, err := m.Stream(ctx, hello(), nil); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

func TestUnreachable(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close() // nobody listens there now
	m, err := llm.NewOpenAI(llm.Config{ID: "m", BaseURL: "http://" + ln.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Stream(t.Context(), hello(), nil)
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.Unreachable {
		t.Error(err)
	}
}

// TestRedirect: the key does not follow a redirect to another host.
func TestRedirect(t *testing.T) {
	other := llmtest.NewServer(nil)
	defer other.Close()
	m, _ := newModel(t, llm.Config{Key: "sk-secret"}, func(llmtest.Request) llmtest.Script {
		return llmtest.Script{llmtest.Respond{Status: http.StatusTemporaryRedirect, Header: map[string]string{"Location": other.URL() + "/chat/completions"}}, llmtest.End{}}
	})
	_, err := m.Stream(t.Context(), hello(), nil)
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.Missing || other.Count() != 0 {
		t.Errorf("%v, %d requests at the other host", err, other.Count())
	}
}
