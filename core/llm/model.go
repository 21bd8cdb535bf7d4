package llm

import (
	"context"
	"encoding/json"
)

// Model is one model at one provider.
type Model interface {
	// Info describes the model. It does not block.
	Info() Info
	// Stream sends one request and blocks until the answer is complete. each
	// is called on the caller's goroutine for every piece as it comes; a nil
	// each is fine. On error nothing of what was streamed counts. Errors of
	// the model or its server are an *Error; when ctx ended it is ctx's.
	// Safe for concurrent use.
	Stream(ctx context.Context, req Request, each func(Delta)) (Reply, error)
}

// Info is what is known of a model beforehand.
type Info struct {
	Name     string // as the configuration calls it
	ID       string // as the provider calls it
	Strength string // "low", "medium" or "high"
	Context  int    // tokens the prompt and the answer may have together
	Output   int    // tokens an answer may have, 0: the provider's own limit
	Vision   bool   // takes pictures
	Demo     bool   // the built-in stand-in
	Price    Price
}

// Price is in US dollars per million tokens; zero means free or unknown.
type Price struct {
	Input  float64
	Cached float64 // input that the provider had in its cache; 0: as Input
	Output float64
}

// Cost returns what the usage costs in US dollars.
func (p Price) Cost(u Usage) float64 {
	cached := p.Cached
	if cached == 0 {
		cached = p.Input
	}
	const million = 1e6
	return (float64(u.Input-u.Cached)*p.Input + float64(u.Cached)*cached + float64(u.Output)*p.Output) / million
}

// Usage counts tokens.
type Usage struct {
	Input     int `json:"input,omitempty"`  // all of the prompt, cached part included
	Cached    int `json:"cached,omitempty"` // of Input, what came from the provider's cache
	Output    int `json:"output,omitempty"` // all of the answer, reasoning included
	Reasoning int `json:"reasoning,omitempty"`
	// Guessed says that the provider told nothing and the numbers are ours.
	Guessed bool `json:"guessed,omitempty"`
}

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input:     u.Input + v.Input,
		Cached:    u.Cached + v.Cached,
		Output:    u.Output + v.Output,
		Reasoning: u.Reasoning + v.Reasoning,
		Guessed:   u.Guessed || v.Guessed,
	}
}

// Role says whose message it is.
type Role string

const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Message is one row of a prompt.
type Message struct {
	Role   Role
	Text   string
	Images []Image // of a User row
	// Calls and Reasoning are of an Assistant row, ReasonedBy is the model
	// (Reply.ModelID) that wrote it. Only to that model Reasoning and
	// Call.Extra go back, and only where the provider wants them.
	Calls       []Call
	Reasoning   string
	ReasonedBy  string
	CallID      string // of a Tool row: the call it is the result of
	CallFailed  bool   // of a Tool row
	CacheAnchor bool   // a good place for a provider's prompt cache to end
}

// Image is a picture for a model with vision.
type Image struct {
	Type string // media type
	Data []byte
	Note string // what to say to a model that cannot see it
}

// Call is a tool call that the model asks for.
type Call struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"` // always a valid JSON object
	// Broken says why Args could not be read; Args is then "{}", and the call
	// must not run.
	Broken string `json:"broken,omitempty"`
	// Extra is the provider's own (a signature, say); it is kept and sent back
	// as it came.
	Extra json.RawMessage `json:"extra,omitempty"`
}

// ToolSpec describes a tool to the model.
type ToolSpec struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of an object; not to be changed once it was sent
}

// Request is one prompt.
type Request struct {
	Messages []Message
	Tools    []ToolSpec
	Output   int    // tokens the answer may have, 0: the model's own
	Session  string // an opaque name of the conversation, for the provider's cache
}

// Delta is a piece of an answer under way.
type Delta struct {
	Text      string
	Reasoning string
	// Restart says that all that was streamed for this request is void: it is
	// being tried again, perhaps with another model, or what looked like the
	// answer turned out to be reasoning.
	Restart bool
}

// Finish says why an answer ended.
type Finish string

const (
	FinishStop   Finish = "stop"   // it was complete
	FinishCalls  Finish = "calls"  // it asks for tools
	FinishLength Finish = "length" // it met the output limit; there may be calls all the same
	FinishFilter Finish = "filter" // the provider withheld the rest
)

// Reply is a complete answer.
type Reply struct {
	Text      string // without reasoning
	Reasoning string
	Calls     []Call
	Finish    Finish
	Usage     Usage
	Cost      float64 // US dollars
	Model     string  // Info.Name of the model that answered
	ModelID   string  // Info.ID of it
	// Notes are sentences for the person: which model answered instead of
	// which and why, that a picture could not be shown.
	Notes []string
}
