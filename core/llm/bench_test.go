package llm_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"parley/core/llm"
	"parley/core/llm/llmtest"
)

// BenchmarkStream is one short answer over loopback from a server that does not
// think, with a prompt of the usual size.
func BenchmarkStream(b *testing.B) {
	s := llmtest.NewServer(func(llmtest.Request) llmtest.Script {
		return llmtest.Words(strings.Repeat("word ", 20), 0)
	})
	defer s.Close()
	s.Keep(0)
	m, err := llm.NewOpenAI(llm.Config{ID: "m", BaseURL: s.URL()})
	if err != nil {
		b.Fatal(err)
	}
	req := benchRequest(8<<10, 20)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := m.Stream(b.Context(), req, nil); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkClient is the model's share of it: the transport is in memory.
func BenchmarkClient(b *testing.B) {
	body := strings.Repeat(`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"word "},"finish_reason":null}]}`+"\n\n", 20) + chunkHello + "data: [DONE]\n\n"
	client := &http.Client{Transport: answer(200, body)}
	m, err := llm.NewOpenAI(llm.Config{ID: "m", Client: client})
	if err != nil {
		b.Fatal(err)
	}
	req := benchRequest(8<<10, 20)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Stream(b.Context(), req, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func benchRequest(system, tools int) llm.Request {
	req := rows(llm.Message{Role: llm.System, Text: strings.Repeat("x", system)}, user)
	schema, _ := json.Marshal(map[string]any{"type": "object", "properties": map[string]any{"path": map[string]any{"type": "string", "description": strings.Repeat("y", 300)}}})
	for range tools {
		req.Tools = append(req.Tools, llm.ToolSpec{Name: "tool", Description: strings.Repeat("z", 400), Schema: schema})
	}
	return req
}
