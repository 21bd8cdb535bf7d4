package llm

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/sashabaranov/go-openai"
)

// wireRequest is the library's request, with the fields in which it cannot say
// what we need: content that is never left out, a temperature of 0.
type wireRequest struct {
	openai.ChatCompletionRequest
	Messages    []wireMessage `json:"messages"`
	MaxTokens   int           `json:"max_tokens,omitempty"` // the library's is marked deprecated; most servers know no other
	Temperature *float64      `json:"temperature,omitempty"`
	CacheKey    string        `json:"prompt_cache_key,omitempty"`
}

type wireMessage struct {
	Role      string     `json:"role"`
	Content   any        `json:"content"` // string, []wirePart, or nil beside calls
	Reasoning string     `json:"reasoning_content,omitempty"`
	Calls     []wireCall `json:"tool_calls,omitempty"`
	CallID    string     `json:"tool_call_id,omitempty"`
}

type wirePart struct {
	openai.ChatMessagePart
	Cache *cacheMark `json:"cache_control,omitempty"`
}

type cacheMark struct {
	Type string `json:"type"`
}

type wireCall struct {
	openai.ToolCall
	Extra json.RawMessage `json:"extra_content,omitempty"`
}

type wireTool struct {
	Type     openai.ToolType            `json:"type"`
	Function *openai.FunctionDefinition `json:"function"`
}

const (
	emptyResult = "(empty)"
	emptyText   = "(no text)"
	// blankReasoning satisfies servers that want reasoning with every answer;
	// some refuse an empty string.
	blankReasoning = " "
	// unsigned is what Google documents for calls that its models did not write.
	unsignedCall = `{"google":{"thought_signature":"skip_thought_signature_validator"}}`
)

var noSchema = json.RawMessage(`{"type":"object","properties":{}}`)

// body makes the JSON of a request.
func (m *openAI) body(req Request, h habits) ([]byte, error) {
	w := wireRequest{
		ChatCompletionRequest: openai.ChatCompletionRequest{Model: m.cfg.ID, Stream: true},
		Messages:              m.messages(req.Messages, h),
	}
	if !h.noOptions {
		w.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	if !h.noTemper {
		w.Temperature = m.cfg.Temperature
	}
	if m.official && !h.noKey {
		w.CacheKey = req.Session
	}
	if limit := cmp.Or(req.Output, m.cfg.Output); h.newLimit {
		w.MaxCompletionTokens = limit
	} else {
		w.MaxTokens = limit
	}
	if len(req.Tools) > 0 && (m.cfg.ID == openai.GPT6Sol || m.cfg.ID == openai.GPT6Luna) {
		w.ReasoningEffort = openai.ReasoningEffortNone // with reasoning they take no tools here
	}
	raw, err := encode(w)
	if err == nil && len(req.Tools) > 0 {
		raw, err = m.withTools(raw, req.Tools)
	}
	if err == nil && len(m.cfg.Extra) > 0 {
		raw, err = merge(raw, m.cfg.Extra)
	}
	return raw, err
}

// toolText is the JSON of the tools that were sent last: they are most of many
// requests and the same in most.
type toolText struct {
	specs []ToolSpec
	raw   []byte
}

// withTools adds the tools to a JSON object.
func (m *openAI) withTools(object []byte, specs []ToolSpec) ([]byte, error) {
	t := m.tools.Load()
	if t == nil || !slices.EqualFunc(t.specs, specs, sameTool) {
		raw, err := encode(wireTools(specs))
		if err != nil {
			return nil, err
		}
		t = &toolText{slices.Clone(specs), raw}
		m.tools.Store(t)
	}
	object = append(object[:len(object)-1], `,"tools":`...)
	return append(append(object, t.raw...), '}'), nil
}

func sameTool(a, b ToolSpec) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
}

// encode is json.Marshal without the escapes for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encoding request: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// merge puts extra fields into a JSON object; nil takes a field out.
func merge(raw []byte, extra map[string]any) ([]byte, error) {
	fields := map[string]any{}
	var ours map[string]json.RawMessage
	if err := json.Unmarshal(raw, &ours); err != nil {
		return nil, fmt.Errorf("encoding request: %w", err)
	}
	for name, value := range ours {
		fields[name] = value
	}
	for name, value := range extra {
		if fields[name] = value; value == nil {
			delete(fields, name)
		}
	}
	return encode(fields)
}

func wireTools(specs []ToolSpec) []wireTool {
	var tools []wireTool
	for _, s := range specs {
		schema := s.Schema
		if len(schema) == 0 {
			schema = noSchema
		}
		tools = append(tools, wireTool{openai.ToolTypeFunction,
			&openai.FunctionDefinition{Name: s.Name, Description: s.Description, Parameters: schema}})
	}
	return tools
}

// messages puts the rows of a prompt in the server's words.
func (m *openAI) messages(rows []Message, h habits) []wireMessage {
	if h.plain {
		rows = plainRows(rows)
	}
	out := make([]wireMessage, 0, len(rows))
	for _, row := range rows {
		w := wireMessage{Role: string(row.Role)}
		switch row.Role {
		case Assistant:
			m.assistant(&w, row, h)
		case Tool:
			w.CallID = callID(row.CallID, h)
			w.Content = cmp.Or(row.Text, emptyResult)
		default:
			w.Content = content(row, h)
		}
		if row.CacheAnchor && m.marks {
			w.Content = anchored(w.Content)
		}
		out = append(out, w)
	}
	return out
}

// assistant fills in an earlier answer.
func (m *openAI) assistant(w *wireMessage, row Message, h habits) {
	own := row.ReasonedBy == m.cfg.ID
	if h.reasoning {
		if w.Reasoning = blankReasoning; own && row.Reasoning != "" {
			w.Reasoning = row.Reasoning
		}
	}
	for _, c := range row.Calls {
		call := wireCall{ToolCall: openai.ToolCall{ID: callID(c.ID, h), Type: openai.ToolTypeFunction}}
		call.Function = openai.FunctionCall{Name: c.Name, Arguments: objectText(c.Args)}
		if own {
			call.Extra = c.Extra
		}
		if h.unsigned && len(call.Extra) == 0 {
			call.Extra = json.RawMessage(unsignedCall)
		}
		w.Calls = append(w.Calls, call)
	}
	if row.Text != "" {
		w.Content = row.Text
	} else if len(row.Calls) == 0 {
		w.Content = emptyText
	}
}

// objectText guards the promise that arguments are an object (LLM-06).
func objectText(args json.RawMessage) string {
	if len(args) == 0 || args[0] != '{' || !json.Valid(args) {
		return "{}"
	}
	return string(args)
}

// callID shortens an id for servers that want nine letters and digits.
func callID(id string, h habits) string {
	if !h.shortIDs {
		return id
	}
	const size = 9
	f := fnv.New64a()
	_, _ = f.Write([]byte(id))
	short := strconv.FormatUint(f.Sum64(), 36)
	return (strings.Repeat("0", size) + short)[len(short):][:size]
}

// content is the text of a row and its pictures, or what stands for them.
func content(row Message, h habits) any {
	if len(row.Images) == 0 {
		return cmp.Or(row.Text, emptyText)
	}
	var parts []wirePart
	texts := []string{}
	if row.Text != "" {
		texts = append(texts, row.Text)
	}
	for _, img := range row.Images {
		if h.blind || h.blank {
			texts = append(texts, cmp.Or(img.Note, "[a picture that you cannot see]"))
			continue
		}
		url := &openai.ChatMessageImageURL{URL: dataURL(img)}
		parts = append(parts, wirePart{ChatMessagePart: openai.ChatMessagePart{Type: openai.ChatMessagePartTypeImageURL, ImageURL: url}})
	}
	text := strings.Join(texts, "\n\n")
	if len(parts) == 0 {
		return text
	}
	if text != "" {
		parts = slices.Insert(parts, 0, textPart(text))
	}
	return parts
}

func textPart(s string) wirePart {
	return wirePart{ChatMessagePart: openai.ChatMessagePart{Type: openai.ChatMessagePartTypeText, Text: s}}
}

func dataURL(img Image) string {
	return "data:" + cmp.Or(img.Type, http.DetectContentType(img.Data)) + ";base64," + base64.StdEncoding.EncodeToString(img.Data)
}

// anchored marks the end of a row as a place for the cache to end.
func anchored(content any) any {
	parts, ok := content.([]wirePart)
	if s, text := content.(string); text {
		parts, ok = []wirePart{textPart(s)}, true
	}
	if !ok {
		return content
	}
	parts[len(parts)-1].Cache = &cacheMark{Type: "ephemeral"}
	return parts
}

// plainRows joins the leading system rows, makes user rows of later ones, and
// joins user rows that follow each other.
func plainRows(rows []Message) []Message {
	var out []Message
	for _, row := range rows {
		if row.Role == System && len(out) > 0 && (len(out) > 1 || out[0].Role != System) {
			row.Role = User
		}
		last := len(out) - 1
		if last >= 0 && row.Role == out[last].Role && (row.Role == System || row.Role == User) {
			out[last].Text = strings.Trim(out[last].Text+"\n\n"+row.Text, "\n")
			out[last].Images = slices.Concat(out[last].Images, row.Images)
			continue
		}
		out = append(out, row)
	}
	return out
}
