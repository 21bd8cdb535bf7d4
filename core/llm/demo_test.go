package llm_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/core/llm"
)

// talk has a conversation with the demo model and returns its last answer.
func talk(t *testing.T, said ...string) string {
	t.Helper()
	m := llm.NewDemo(llm.DemoOptions{Pause: -1, Line: -1})
	var req llm.Request
	var reply llm.Reply
	for _, text := range said {
		req.Messages = append(req.Messages, llm.Message{Role: llm.User, Text: text})
		s := &shown{}
		var err error
		if reply, err = m.Stream(t.Context(), req, s.take); err != nil {
			t.Fatal(err)
		}
		if strings.TrimRight(s.text.String(), "\n") != reply.Text {
			t.Errorf("streamed %q, replied %q", s.text.String(), reply.Text)
		}
		req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, Text: reply.Text})
	}
	return reply.Text
}

func TestDemo(t *testing.T) {
	const intro = "built-in demo model"
	for name, c := range map[string]struct {
		said  []string
		has   []string
		lacks string
	}{
		"first answer":   {[]string{"what a day"}, []string{intro, "OPENAI_API_KEY", "config.yaml", "Ollama", "You said: what a day"}, ""},
		"later answer":   {[]string{"a", "what a day"}, []string{"You said: what a day"}, intro},
		"greeting":       {[]string{"a", "Hello!"}, []string{intro, "Hello!"}, "You said"},
		"help":           {[]string{"a", "help"}, []string{"`long`", "/stop"}, "You said"},
		"first":          {[]string{"my cat is grey", "b", "What did I say first?"}, []string{"> my cat is grey"}, intro},
		"before":         {[]string{"my cat is grey", "b", "what did I say before"}, []string{"1. my cat is grey", "2. b"}, intro},
		"nothing before": {[]string{"what did I say first?"}, []string{"nothing before"}, "> "},
		"markdown":       {[]string{"a", "show me markdown"}, []string{"## ", "```go", "| --- |", "1. first"}, "You said"},
		"long":           {[]string{"a", "long"}, []string{"\n60. Line 60 of 60"}, "You said"},
		"empty":          {[]string{"a", " "}, []string{intro, "nothing for me to read"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := talk(t, c.said...)
			for _, want := range c.has {
				if !strings.Contains(got, want) {
					t.Errorf("%q is not in %q", want, got)
				}
			}
			if c.lacks != "" && strings.Contains(got, c.lacks) {
				t.Errorf("%q is in %q", c.lacks, got)
			}
		})
	}
	if !llm.NewDemo(llm.DemoOptions{}).Info().Demo {
		t.Error("it does not say that it is the demo")
	}
}

// TestDemoStop: the long answer takes a minute, and ctx ends it.
func TestDemoStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := llm.NewDemo(llm.DemoOptions{})
		req := rows(user, llm.Message{Role: llm.Assistant, Text: "a"}, llm.Message{Role: llm.User, Text: "long"})
		begin := time.Now()
		if _, err := m.Stream(t.Context(), req, nil); err != nil || time.Since(begin) < time.Minute || time.Since(begin) > 2*time.Minute {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := m.Stream(ctx, req, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}
