package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/cmd/parley/config"
	"parley/core/chat"
	"parley/core/llm"
	"parley/core/session"
)

// models makes the models of the configuration. When none is configured it
// looks for a server on this machine, and takes the demo model if there is
// none. It blocks for that look only, well under a second.
func (a *app) models(ctx context.Context) ([]llm.Model, error) {
	var all []llm.Model
	for _, c := range a.setup.Config.ActiveModels() {
		m, err := newModel(c)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	if len(all) > 0 {
		return all, nil
	}
	if found, ok := llm.FindLocal(ctx, nil); ok {
		m, err := llm.NewOpenAI(found)
		if err != nil {
			return nil, err
		}
		a.setup.Log.Info().Str("model", m.Info().ID).Msg("no model is configured, using the one that a server on this machine has")
		return []llm.Model{m}, nil
	}
	a.setup.Log.Info().Msg("no model is configured and no server on this machine has one, using the demo model")
	return []llm.Model{llm.NewDemo(llm.DemoOptions{Said: session.Spoken})}, nil
}

// newModel hands a model's part of the configuration to its room. Here, and
// nowhere before, secrets leave the type that hides them.
func newModel(c config.Model) (llm.Model, error) {
	headers := make(map[string]string, len(c.Headers))
	for name, value := range c.Headers {
		headers[name] = value.Reveal()
	}
	reasoning := llm.Reasoning(c.Reasoning)
	if c.Reasoning == "auto" {
		reasoning = llm.ReasoningAuto
	}
	m, err := llm.NewOpenAI(llm.Config{
		Name: c.Name, BaseURL: c.BaseURL, Key: c.APIKey.Reveal(), ID: c.Model,
		Strength: c.Strength, Context: c.Context, Output: c.Output, Vision: c.Vision,
		Price:     llm.Price{Input: c.Price.Input, Cached: c.Price.Cached, Output: c.Price.Output},
		Reasoning: reasoning, Temperature: c.Temperature, Extra: c.Extra, Headers: headers,
		Limits: llm.Limits{Connect: c.Limits.Connect, FirstByte: c.Limits.FirstByte, Silence: c.Limits.Silence},
	})
	if err != nil {
		return nil, fmt.Errorf("models: model %q: %w", c.Name, err)
	}
	return m, nil
}

// tryModel asks a configured model for a word and says how it went.
func tryModel(ctx context.Context, c config.Model) chat.Finding {
	m, err := newModel(c)
	if err != nil {
		return chat.Finding{Part: "model " + c.Name, Level: chat.Fail, Says: err.Error()}
	}
	return try(ctx, m)
}

// tryTime is how long a model gets to say one word. One that has to be loaded
// first takes a while.
const tryTime = time.Minute

// try asks a model for a word. What it says of a failure is llm's sentence, not
// the server's words, which may quote the key.
func try(ctx context.Context, m llm.Model) chat.Finding {
	f := chat.Finding{Part: "model " + m.Info().Name, Level: chat.Good}
	if m.Info().Demo {
		f.Level = chat.Warn
		f.Says = "No model is configured; the built-in demo model answers."
		f.Remedy = "Set OPENAI_API_KEY, write a model into config.yaml (`parley init` helps), or start a local server such as Ollama."
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	began := time.Now()
	request := llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Say the word ready, and nothing else."}}}
	_, err := m.Stream(ctx, request, nil)
	switch {
	case err == nil:
		f.Says = fmt.Sprintf("%s answers, in %s.", m.Info().ID, time.Since(began).Round(time.Millisecond))
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		f.Level, f.Says = chat.Fail, fmt.Sprintf("%s did not answer within %s.", m.Info().ID, tryTime)
		f.Remedy = "Check that its server runs and has the model loaded."
	default:
		f.Level, f.Says = chat.Fail, llm.Sentence(err)
	}
	return f
}
