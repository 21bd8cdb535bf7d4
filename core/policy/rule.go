package policy

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Rule says what happens to the calls that it matches. Each empty field
// matches everything.
type Rule struct {
	// ID names the rule. Rules that came with parley have a dot in it
	// ("member.execute_cmd"), those of config.yaml are config.0, config.1, …
	ID string `yaml:"-" json:"-"`
	// Group is the permission group that the rule belongs to. Without one it
	// is asked as if it stood in every group.
	Group string `yaml:"group" json:"group"`
	// Agent is the agent that calls.
	Agent string `yaml:"agent" json:"agent,omitempty"`
	// Source is where the session comes from: an adapter's name, or task,
	// schedule, system.
	Source string `yaml:"source" json:"source,omitempty"`
	// Tool is a pattern for the tool's name (execute_cmd, memory_*), for its
	// source and name (mcp/github/*), or a class: @fs_read, @fs_write and
	// @fs_any for file tools, or a category (@shell, @config, @subagent,
	// @introspection).
	Tool string `yaml:"tool" json:"tool"`
	// Path is a pattern for the resolved path. A rule that has one says
	// nothing about calls without a path.
	Path string `yaml:"path" json:"path,omitempty"`
	// Action is allow, require or deny.
	Action Action `yaml:"action" json:"action"`
	// Priority orders the rules of a group, the lowest number first.
	Priority int `yaml:"priority" json:"priority"`
	// Note is for people.
	Note string `yaml:"note" json:"note,omitempty"`
	// Seed is the version of a rule that came with parley, "" for others.
	Seed string `yaml:"-" json:"seed,omitempty"`
	// Changed marks, in listings, a rule that came with parley and was
	// changed since.
	Changed bool `yaml:"-" json:"-"`
}

// Priorities. Rules of config.yaml without one are numbered from 1 in their
// order, so that they come first.
const (
	Usual    = 100       // a rule that a command adds
	planted  = 1000      // the first that came with parley
	Last     = 1_000_000 // the rule that matches everything
	farthest = 1_000_000_000
)

// Default is the group that is asked when the session's own group does not
// decide.
const Default = "default"

// everyGroup is where rules without a group stand.
const everyGroup = ""

// catchAll reports whether the rule matches every call.
func (r Rule) catchAll() bool {
	return r.Agent == "" && r.Source == "" && r.Path == "" && strings.Trim(r.Tool, "*") == ""
}

// String is the rule in a line: "deny `web_*`, path `/a/*`, agent x".
func (r Rule) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", r.Action, mono(r.Tool))
	for _, part := range []struct{ name, value string }{{"path", r.Path}, {"agent", r.Agent}, {"source", r.Source}} {
		if part.value != "" {
			fmt.Fprintf(&b, ", %s %s", part.name, mono(part.value))
		}
	}
	return b.String()
}

// home is the group in a sentence.
func (r Rule) home() string {
	if r.Group == everyGroup {
		return "every group"
	}
	return "group " + r.Group
}

// tidied is the rule without what is not meant: space around its words, case
// of the action.
func (r Rule) tidied() Rule {
	for _, s := range []*string{&r.Group, &r.Agent, &r.Source, &r.Tool, &r.Path, &r.Note} {
		*s = strings.TrimSpace(*s)
	}
	r.Action = Action(strings.ToLower(strings.TrimSpace(string(r.Action))))
	return r
}

// Limits of a rule's texts, in bytes.
const (
	maxName    = 64
	maxWord    = 128
	maxPattern = 512
	maxNote    = 500
)

// problem is what is wrong with a key, and the remedy.
type problem struct{ key, text string }

// problems lists what keeps a tidied rule from being one.
func (r Rule) problems() []problem {
	_, _, all := r.parse()
	return all
}

// parse reads the patterns of a tidied rule, and lists what is wrong with it.
func (r Rule) parse() (tool toolPattern, path pathPattern, all []problem) {
	add := func(key, text string) {
		if text != "" {
			all = append(all, problem{key, text})
		}
	}
	switch {
	case r.Group != everyGroup:
		add("group", groupProblem(r.Group))
	case r.Tool != "" && r.catchAll():
		add("group", "a rule that matches everything belongs to one group; name it, or narrow the rule")
	}
	add("agent", wordProblem(r.Agent, maxWord))
	add("source", wordProblem(r.Source, maxWord))
	var text string
	tool, text = parseTool(r.Tool)
	add("tool", text)
	path, text = parsePath(r.Path)
	add("path", text)
	switch r.Action {
	case Allow, Require, Deny:
	default:
		add("action", fmt.Sprintf("%s is none of allow, require, deny", quoted(string(r.Action))))
	}
	if r.Priority < 0 || r.Priority > farthest {
		add("priority", fmt.Sprintf("%d is out of range; write a number from 1 to %d, the lowest is asked first", r.Priority, farthest))
	}
	add("note", wordProblem(r.Note, maxNote))
	return tool, path, all
}

// groupProblem says what keeps a text from naming a group.
func groupProblem(name string) string {
	odd := strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
	if name == "" || len(name) > maxName || odd {
		return fmt.Sprintf("%s is no name for a group; use small letters, digits, - and _, at most %d", quoted(name), maxName)
	}
	return ""
}

// wordProblem says what keeps a text from being compared or shown.
func wordProblem(s string, limit int) string {
	switch {
	case len(s) > limit:
		return fmt.Sprintf("it is longer than %d bytes; shorten it", limit)
	case !printable(s):
		return fmt.Sprintf("%s has characters that cannot be shown; leave them out", quoted(s))
	default:
		return ""
	}
}

func unprintable(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }

// shown is a text of others, short and printable.
func shown(s string) string {
	const most = 60
	s = strings.Map(func(r rune) rune {
		if unprintable(r) || r == '`' {
			return -1
		}
		return r
	}, s[:min(len(s), 4*most)])
	if cut := []rune(s); len(cut) > most {
		return string(cut[:most]) + "…"
	}
	return s
}

// quoted is what somebody wrote, in a message.
func quoted(s string) string { return `"` + shown(s) + `"` }

// mono is a text as a code span.
func mono(s string) string { return "`" + shown(s) + "`" }
