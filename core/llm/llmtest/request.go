package llmtest

import (
	"encoding/json"
	"net/http"
	"time"
)

// Request is what a client asked, recorded when it had arrived.
type Request struct {
	At       time.Time
	Number   int // counts from 1
	Path     string
	Header   http.Header
	Body     []byte
	Model    string
	Messages []Message
	Tools    []Tool
	Stream   bool
	Usage    bool // it asks for the usage of a stream
}

// Message is one row of the prompt.
type Message struct {
	Role      string
	Text      string   // of all text parts
	Images    []string // their URLs
	Calls     []Call
	CallID    string
	Reasoning string
	// Content is the field as it came; nil when it was left out.
	Content json.RawMessage
}

// Tool is one offered tool.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// Last returns the text of the last row of that role, or "".
func (r Request) Last(role string) string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == role {
			return r.Messages[i].Text
		}
	}
	return ""
}

// LastRole returns the role of the last row, or "".
func (r Request) LastRole() string {
	if len(r.Messages) == 0 {
		return ""
	}
	return r.Messages[len(r.Messages)-1].Role
}

// Field returns a field of the body as it came, or nil.
func (r Request) Field(name string) json.RawMessage {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(r.Body, &fields) // it was decoded once already
	return fields[name]
}

// wireRequest is the body of a request.
type wireRequest struct {
	Model    string    `json:"model"`
	Messages []Message `json:"messages"`
	Stream   bool      `json:"stream"`
	Options  struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
	Tools []struct {
		Function Tool `json:"function"`
	} `json:"tools"`
}

// decode fills in what the body says.
func (r *Request) decode() error {
	var w wireRequest
	if err := json.Unmarshal(r.Body, &w); err != nil {
		return err
	}
	r.Model, r.Messages, r.Stream, r.Usage = w.Model, w.Messages, w.Stream, w.Options.Usage
	for _, t := range w.Tools {
		r.Tools = append(r.Tools, t.Function)
	}
	return nil
}

// UnmarshalJSON reads a row whose content is a string, a list of parts, null or
// not there.
func (m *Message) UnmarshalJSON(data []byte) error {
	var w struct {
		Role      string          `json:"role"`
		Content   json.RawMessage `json:"content"`
		Reasoning string          `json:"reasoning_content"`
		CallID    string          `json:"tool_call_id"`
		Calls     []struct {
			ID       string `json:"id"`
			Function struct {
				Name string `json:"name"`
				Args string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*m = Message{Role: w.Role, CallID: w.CallID, Reasoning: w.Reasoning, Content: w.Content}
	for _, c := range w.Calls {
		m.Calls = append(m.Calls, Call{ID: c.ID, Name: c.Function.Name, Args: c.Function.Args})
	}
	return m.read(w.Content)
}

func (m *Message) read(content json.RawMessage) error {
	if len(content) == 0 || content[0] != '[' {
		return json.Unmarshal(orNull(content), &m.Text)
	}
	var parts []struct {
		Text  string `json:"text"`
		Image struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if err := json.Unmarshal(content, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		if p.Image.URL != "" {
			m.Images = append(m.Images, p.Image.URL)
		}
		m.Text += p.Text
	}
	return nil
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}
