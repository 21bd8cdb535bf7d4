package api

import (
	"context"
	"io"
	"time"

	"parley/core/chat"
)

// Host answers what is asked. Each func may be called from several goroutines
// at once and ends with its context; a nil one is answered with a sentence
// that says this parley cannot do that. An error that is an *[Error] is shown
// as it is, any other with its whole chain: whoever asks is an owner.
type Host struct {
	// Version is the program's own.
	Version string
	// Status says how the running parley is.
	Status func(ctx context.Context) (Status, error)
	// Check reports on everything short of connecting.
	Check func(ctx context.Context) ([]chat.Finding, error)
	// Doctor connects and reports. It may take as long as DoctorTimeout.
	Doctor func(ctx context.Context) ([]chat.Finding, error)
	// Pairings lists who waits to be let in, the oldest first.
	Pairings func(ctx context.Context) ([]Pairing, error)
	// Approve lets in whoever got the code, and returns who that is.
	Approve func(ctx context.Context, code string) (chat.User, error)
	// Remove takes access back from a user, at once. Twice is fine.
	Remove func(ctx context.Context, user chat.UserID) (chat.User, error)
	// Tools lists every tool there is or ever was, with what the rules say of
	// it to a role.
	Tools func(ctx context.Context, role string) ([]Tool, error)
	// Rules lists the rules of a group in the order in which they are asked,
	// all of them for "".
	Rules func(ctx context.Context, group string) ([]Rule, error)
	// AskRules tells about rules, in Markdown: the words are those behind
	// `parley rules`.
	AskRules func(ctx context.Context, words []string) (string, error)
	// OrderRules changes rules and returns what is to be said of it.
	OrderRules func(ctx context.Context, words []string) (string, error)
	// Audit returns the newest n lines of the audit stream, in order.
	Audit func(ctx context.Context, n int) ([]Audit, error)
	// Redact takes known secrets out of a text; nil: it stays as it is.
	Redact func(text string) string
	// Errors gets a line for each thing that goes wrong in the server itself,
	// such as a func that panicked; nil: nobody does.
	Errors io.Writer
}

// Status is what `parley status` shows.
type Status struct {
	Version  string         `json:"version"`
	PID      int            `json:"pid"`
	Started  time.Time      `json:"started"`
	Config   string         `json:"config,omitempty"` // the file, "" for the built-in defaults
	Counts   []Count        `json:"counts,omitempty"`
	Findings []chat.Finding `json:"findings,omitempty"`
}

// Count is a figure of a Status, in the order they are to be shown.
type Count struct {
	Name  string `json:"name"` // "sessions in memory"
	Value int64  `json:"value"`
}

// Pairing is somebody who waits to be let in. The code itself is kept as a
// hash, so only the person can tell it.
type Pairing struct {
	User    chat.User `json:"user"`
	Asked   time.Time `json:"asked"`
	Expires time.Time `json:"expires"`
}

// Tool is a line of `parley tools`.
type Tool struct {
	Name      string    `json:"name"`
	Source    string    `json:"source"`
	Category  string    `json:"category,omitempty"`
	Rule      string    `json:"rule"`               // "require", "allow inside"
	Gone      bool      `json:"gone,omitempty"`     // nobody contributes it now
	Audience  string    `json:"audience,omitempty"` // "" for everyone
	FirstSeen time.Time `json:"first_seen,omitzero"`
}

// Rule is a line of `parley rules list`.
type Rule struct {
	ID       string `json:"id"`
	Group    string `json:"group,omitempty"` // "" stands in every group
	Action   string `json:"action"`
	Tool     string `json:"tool"`
	Path     string `json:"path,omitempty"`
	Agent    string `json:"agent,omitempty"`
	Source   string `json:"source,omitempty"`
	Priority int    `json:"priority"`
	Note     string `json:"note,omitempty"`
	Shipped  bool   `json:"shipped,omitempty"` // it came with parley, and nobody changed it
}

// Audit is a line of `parley audit`.
type Audit struct {
	At       time.Time `json:"at"`
	Who      string    `json:"who,omitempty"`
	Chat     string    `json:"chat,omitempty"`
	Tool     string    `json:"tool,omitempty"`
	Decision string    `json:"decision"`
	Label    string    `json:"label,omitempty"`
	Why      string    `json:"why,omitempty"`
}

// MostAudit is how many lines of the audit stream are read at once.
const MostAudit = 5000

// DoctorTimeout is how long Doctor may take.
const DoctorTimeout = 2 * time.Minute
