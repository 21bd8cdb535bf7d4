package tools

import "encoding/json"

// Spec is what a tool is. It is data, the same on every call.
type Spec struct {
	Name        string
	Description string          // prose that the model reads
	Schema      json.RawMessage // JSON Schema of an object: the arguments
	Category    Category
	Audience    Audience
	Group       string // "" is always offered; others once the group was activated
	Effect      Effect
	Source      string // where it comes from: "core", "mcp/SERVER", "plugin/ID"
	// Plumbing marks a tool of the conversation itself, which is allowed
	// without asking: it reaches nothing outside.
	Plumbing bool
}

// Core is the Source of what is built in.
const Core = "core"

// Category sorts tools for rules and bypasses. Most have one; plumbing, plugin
// and MCP tools have none, and a bypass by category never reaches them.
type Category string

const (
	NoCategory    Category = ""
	Filesystem    Category = "filesystem"
	Shell         Category = "shell"
	Subagent      Category = "subagent"
	Introspection Category = "introspection"
	Config        Category = "config"
)

// Categories lists those that have a name.
func Categories() []Category {
	return []Category{Filesystem, Shell, Subagent, Introspection, Config}
}

// Audience says which agents are offered a tool. There is no way to say
// neither.
type Audience string

const (
	Everyone      Audience = ""
	RootOnly      Audience = "root"
	SubAgentsOnly Audience = "sub-agents"
)

// Admits reports whether an agent at that depth (0: the root) is of the
// audience.
func (a Audience) Admits(depth int) bool {
	switch a {
	case RootOnly:
		return depth == 0
	case SubAgentsOnly:
		return depth > 0
	default:
		return true
	}
}

// Effect says what happens if a call runs twice.
type Effect string

const (
	Once       Effect = ""           // a second run may do harm: people are asked before
	Repeatable Effect = "repeatable" // a second run leaves the same behind
	ReadOnly   Effect = "read-only"  // it changes nothing
)

// Again reports whether a call that was cut off may run again without asking.
func (e Effect) Again() bool { return e == Repeatable || e == ReadOnly }
