package tools

import (
	"context"
	"encoding/json"

	"parley/core/chat"
)

// Tool is something that the model can do. Both methods may be called from
// several goroutines at once.
type Tool interface {
	// Spec describes the tool. It does not block.
	Spec() Spec
	// Run starts one invocation and returns at once. The arguments have been
	// validated against the schema and the call has passed the gate. Trouble
	// is an Execution that has failed, never nil.
	Run(ctx context.Context, call Call) Execution
}

// Call is one invocation as a tool sees it.
type Call struct {
	ID      string // unique within the session, the same after a restart
	Name    string
	Args    json.RawMessage // a valid object
	Session string
	Key     chat.Key // the chat that it came from
	Frame   string   // the sub-agent's frame, "" for the root
	Depth   int      // of the frame, 0 for the root
	Agent   string
	By      chat.User // whose turn it is
	Reach   Reach

	// Ask puts a question to people and blocks until somebody answered, the
	// question expired (Answer.None) or ctx ended. Never nil.
	Ask func(ctx context.Context, q Question) (Answer, error)
	// Progress shows a line about how far the work is. It does not block, and
	// only the newest line counts. Never nil.
	Progress func(text string)
}

// Reach is which files a call may touch.
type Reach struct {
	// Dir is the working directory: absolute and resolved. Relative paths
	// begin here.
	Dir string
	// Reads and Writes are further directories, absolute and resolved, that
	// may be read and written. What may be written may be read.
	Reads, Writes []string
	// Denied are directories that no tool may enter, whatever else is said.
	Denied []string
	// Target is the resolved path for which the rules or a person allowed
	// this very call, "" if it needs none. A tool that finds its argument to
	// resolve to something else by now must refuse.
	Target string
	// State is what [Previewer] said of the target when a person was shown
	// what will happen. A tool that finds another state must refuse. "" when
	// nobody was asked.
	State string
}

// Question is what a tool wants to know from people.
type Question struct {
	Title   string
	Text    string
	Choices []string // suggested answers; others can be typed
}

// Answer is what somebody said to a Question.
type Answer struct {
	Text string
	By   chat.User
	None bool // nobody answered in time
}

// Describer is a tool that knows a better label for a call than its name:
// "read notes/plan.md". The label has no line breaks; the caller cuts it.
type Describer interface {
	Describe(args json.RawMessage, length Length) string
}

// Length is how long a label may be, in characters.
type Length int

const (
	Short Length = 60
	Full  Length = 120
)

// Targeter is a tool whose calls are about one file or directory.
type Targeter interface {
	// Target returns the path as it stands in the arguments, "" if there is
	// none, and whether the call would write it.
	Target(args json.RawMessage) (path string, write bool)
}

// Previewer is a tool that can show what a call would do before it does it.
type Previewer interface {
	// Preview blocks for as long as reading takes and changes nothing. An
	// error says why the call cannot work; it is the model's to mend.
	Preview(ctx context.Context, call Call) (Preview, error)
}

// Preview is what an approver is shown.
type Preview struct {
	Kind  PreviewKind
	Text  string // the diff, the command line
	Where string // the directory a command runs in
	State string // names what the target holds now, for Reach.State
	Note  string // a sentence that an approver should read: no sandbox is in force
}

// PreviewKind says how to show a preview.
type PreviewKind string

const (
	PreviewArgs    PreviewKind = ""        // only the arguments
	PreviewDiff    PreviewKind = "diff"    // a unified diff
	PreviewCommand PreviewKind = "command" // a shell command
)

// Source is the one way in: the registry, the core's own tools, every MCP
// server and every plugin are sources.
type Source interface {
	// Tools returns what the source offers in a scope. It must not block:
	// what takes time is prepared beforehand. It is called before every round.
	Tools(ctx context.Context, s Scope) []Tool
}

// Scope tells a source where its tools would be used.
type Scope struct {
	Agent   string
	Depth   int
	Session SessionKind
	Key     chat.Key
	Traits  chat.Traits
}

// SessionKind says what kind of session asks.
type SessionKind string

const (
	Interactive SessionKind = "interactive" // people talk to it
	Background  SessionKind = "background"
	System      SessionKind = "system"
)

// SourceFunc makes a function a Source.
type SourceFunc func(ctx context.Context, s Scope) []Tool

// Tools calls the function.
func (f SourceFunc) Tools(ctx context.Context, s Scope) []Tool { return f(ctx, s) }
