package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/sashabaranov/go-openai"
)

// chunk is one event of a stream, or a whole answer that was not streamed. It
// is read by hand because the library drops what OpenRouter calls reasoning,
// cannot tell a missing field from an empty one, and gives up where a provider
// sends an object for a string.
type chunk struct {
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
	Groq    struct {
		Usage json.RawMessage `json:"usage"`
	} `json:"x_groq"`
}

type choice struct {
	Index   int             `json:"index"`
	Delta   *piece          `json:"delta"`
	Message *piece          `json:"message"`
	Finish  string          `json:"finish_reason"`
	Error   json.RawMessage `json:"error"`
}

// piece is a delta or a whole message.
type piece struct {
	Content          prose      `json:"content"`
	Refusal          string     `json:"refusal"`
	ReasoningContent prose      `json:"reasoning_content"`
	Reasoning        prose      `json:"reasoning"`
	Details          []detail   `json:"reasoning_details"`
	Calls            []fragment `json:"tool_calls"`
	Function         *function  `json:"function_call"`
}

// detail is OpenRouter's form of reasoning; encrypted ones have neither field.
type detail struct {
	Text    string `json:"text"`
	Summary string `json:"summary"`
}

// fragment is a part of a tool call.
type fragment struct {
	Index    *int            `json:"index"`
	ID       string          `json:"id"`
	Function function        `json:"function"`
	Extra    json.RawMessage `json:"extra_content"`
}

type function struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"arguments"`
}

// parseChunk reads data. A field of an unexpected type is left out; only what
// is no JSON object at all is an error.
func parseChunk(data []byte) (chunk, error) {
	var c chunk
	err := json.Unmarshal(data, &c)
	var odd *json.UnmarshalTypeError
	if errors.As(err, &odd) && len(data) > 0 && data[0] == '{' {
		err = nil
	}
	return c, err
}

// thought is the piece's reasoning: providers send the same text in several
// fields, so the first that has any counts.
func (p *piece) thought() string {
	for _, t := range []string{p.ReasoningContent.text + p.ReasoningContent.thought, p.Reasoning.text} {
		if t != "" {
			return t
		}
	}
	var b strings.Builder
	for _, d := range p.Details {
		b.WriteString(d.Text)
		b.WriteString(d.Summary)
	}
	return b.String()
}

// prose is text that may come as a string or as a list of parts, of which some
// may be reasoning. Anything else is no text.
type prose struct{ text, thought string }

type part struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Thinking prose  `json:"thinking"`
}

// UnmarshalJSON never fails: what it does not know it leaves out.
func (p *prose) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case '"':
		return json.Unmarshal(data, &p.text)
	case '[':
		var parts []part
		_ = json.Unmarshal(data, &parts)
		for _, part := range parts {
			if part.Type == "text" || part.Type == "output_text" || part.Type == "" {
				p.text += part.Text
			}
			p.thought += part.Thinking.text
		}
	}
	return nil
}

// tokens are the usage fields of the providers we know of.
type tokens struct {
	openai.Usage
	CacheHit  int     `json:"prompt_cache_hit_tokens"`
	CacheRead int     `json:"cache_read_input_tokens"`
	Cost      float64 `json:"cost"`
}

// parseUsage reads a usage object. It is false when there are no numbers in it.
func parseUsage(raw json.RawMessage) (Usage, float64, bool) {
	if len(raw) == 0 || raw[0] != '{' {
		return Usage{}, 0, false
	}
	var t tokens
	_ = json.Unmarshal(raw, &t) // what cannot be read stays 0
	u := Usage{Input: max(0, t.PromptTokens), Output: max(0, t.CompletionTokens), Cached: max(t.CacheHit, t.CacheRead)}
	if d := t.PromptTokensDetails; d != nil && d.CachedTokens > 0 {
		u.Cached = d.CachedTokens
	}
	if d := t.CompletionTokensDetails; d != nil {
		u.Reasoning = max(0, d.ReasoningTokens)
	}
	// Some count reasoning beside the answer; the total tells.
	if u.Reasoning > 0 && t.TotalTokens == u.Input+u.Output+u.Reasoning {
		u.Output += u.Reasoning
	}
	u.Cached = max(0, min(u.Cached, u.Input))
	return u, t.Cost, u.Input+u.Output > 0
}

// hasError says whether an error field holds one.
func hasError(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", `""`, "{}", "false", "[]":
		return false
	}
	return true
}
