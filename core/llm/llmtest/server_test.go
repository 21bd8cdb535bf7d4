package llmtest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/core/llm/llmtest"
)

// post sends a body and returns what came back and what broke it off.
func post(t *testing.T, s *llmtest.Server, body string) (string, error) {
	t.Helper()
	resp, err := s.Client().Post(s.URL()+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return string(data), err
}

const (
	streamed = `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]}`
	whole    = `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"hi"},{"type":"image_url","image_url":{"url":"data:x"}}]},{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a"}],"tools":[{"type":"function","function":{"name":"f"}}]}`
)

func TestEcho(t *testing.T) {
	s := llmtest.NewPipe(nil)
	defer s.Close()
	got, err := post(t, s, streamed)
	for _, want := range []string{`"delta":{"content":"echo: hi"},"finish_reason":null`, `"delta":{},"finish_reason":"stop"`, `"choices":[],"usage":{"prompt_tokens":`, "data: [DONE]\n\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s (%v)", want, got, err)
		}
	}
	got, _ = post(t, s, whole)
	if !strings.Contains(got, `"message":{"content":"echo: hi","role":"assistant"}`) {
		t.Errorf("not streamed: %s", got)
	}
}

func TestRecords(t *testing.T) {
	s := llmtest.NewPipe(nil)
	defer s.Close()
	for range 3 {
		_, _ = post(t, s, whole)
	}
	r := s.Requests()[2]
	m := r.Messages
	if r.Number != 3 || r.Model != "m" || r.Stream || len(r.Tools) != 1 || r.Tools[0].Name != "f" || string(r.Body) != whole || r.LastRole() != "tool" {
		t.Errorf("recorded %+v", r)
	}
	if m[0].Text != "hi" || m[0].Images[0] != "data:x" || m[1].Calls[0].Name != "f" || m[2].CallID != "a" || m[2].Content != nil {
		t.Errorf("rows %+v", m)
	}
	s.Keep(1)
	if s.Count() != 3 || len(s.Requests()) != 1 {
		t.Errorf("%d counted, %d kept", s.Count(), len(s.Requests()))
	}
}

func TestFaults(t *testing.T) {
	text := llmtest.Text("hel")
	for name, c := range map[string]struct {
		script llmtest.Script
		fails  bool
		has    string
	}{
		"calls":   {llmtest.Script{llmtest.Call{Name: "f", Args: `{"a":"é"}`, Pieces: 4}}, false, `"finish_reason":"tool_calls"`},
		"cut":     {llmtest.Script{text, llmtest.Cut{}}, true, "hel"},
		"end":     {llmtest.Script{text, llmtest.End{}}, false, "hel"},
		"drop":    {llmtest.Script{text, llmtest.Drop{}}, true, ""},
		"raw":     {llmtest.Script{llmtest.Raw("data: x\n\n")}, false, "data: x"},
		"respond": {llmtest.Fail(429, "rate", "slow down"), false, `"slow down"`},
		"finish":  {llmtest.Script{text, llmtest.Finish("length"), llmtest.Usage{Input: 7}}, false, `"prompt_tokens":7`},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.NewPipe(func(llmtest.Request) llmtest.Script { return c.script })
			defer s.Close()
			got, err := post(t, s, streamed)
			if (err != nil) != c.fails || !strings.Contains(got, c.has) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// TestTime: waits and hangs pass in virtual time, and Close ends them.
func TestTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := llmtest.NewPipe(llmtest.InTurn(llmtest.Words("a b c", time.Hour), llmtest.Script{llmtest.Open{}, llmtest.Hang{}}))
		begin := time.Now()
		if _, err := post(t, s, streamed); err != nil || time.Since(begin) != 2*time.Hour {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
		time.AfterFunc(time.Hour, s.Close)
		if _, err := post(t, s, streamed); err == nil {
			t.Error("hung and ended well")
		}
		synctest.Wait()
	})
}

func TestListen(t *testing.T) {
	s := llmtest.NewServer(nil)
	defer s.Close()
	if _, err := llmtest.Listen(strings.TrimSuffix(strings.TrimPrefix(s.URL(), "http://"), "/v1"), nil); err == nil {
		t.Error("two at one address")
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(s.URL() + "/models")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if data, _ := io.ReadAll(resp.Body); !strings.Contains(string(data), `"id":"test-model","object":"model"`) {
		t.Errorf("models: %s", data)
	}
}
