package llm

import (
	"fmt"
	"time"
)

// Kind classes what can go wrong with a model.
type Kind string

const (
	Unreachable Kind = "unreachable" // no connection
	Silent      Kind = "silent"      // connected, but nothing came in time
	Cut         Kind = "cut"         // the stream ended in the middle
	Refused     Kind = "refused"     // the key or the right to use the model is missing
	Missing     Kind = "missing"     // no such model or address
	Limited     Kind = "limited"     // too many requests for now
	Spent       Kind = "spent"       // no credit or quota left
	Overloaded  Kind = "overloaded"  // the server's own trouble
	Garbage     Kind = "garbage"     // an answer that is none: HTML, broken JSON
	TooLong     Kind = "too long"    // the prompt does not fit
	NoVision    Kind = "no vision"   // pictures are not taken
	Bad         Kind = "bad request" // the server refuses the request as such
)

// Error is what a model or its server did wrong. Its text is for the operator;
// Sentence is for the chat. Neither holds a key, and Err's chain does not
// either: transport errors are unwrapped from the address they carry.
type Error struct {
	Kind   Kind
	Model  string        // Info.Name
	Status int           // HTTP status, 0 when there was none
	After  time.Duration // how long the server asks to wait, 0: it does not say
	Waited time.Duration // of Silent: the limit that was met
	Err    error
}

// Error names the model, the kind and the cause.
func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("model %s: %s (HTTP %d): %v", e.Model, e.Kind, e.Status, e.Err)
	}
	return fmt.Sprintf("model %s: %s: %v", e.Model, e.Kind, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// heals says whether the same request may succeed later.
func (k Kind) heals() bool {
	switch k {
	case Refused, Spent, Missing, Bad, NoVision, TooLong:
		return false
	}
	return true
}
