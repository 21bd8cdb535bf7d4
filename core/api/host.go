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

// DoctorTimeout is how long Doctor may take.
const DoctorTimeout = 2 * time.Minute
