package policy

import (
	"cmp"
	"path"
	"strings"
	"unicode/utf8"

	"parley/tools"
)

// Action is what happens to a call.
type Action string

const (
	Allow   Action = "allow"   // it runs
	Require Action = "require" // a person is asked
	Deny    Action = "deny"    // it never runs
)

// strictness orders actions, the strictest first. A word that is none counts
// as require.
func (a Action) strictness() int {
	switch a {
	case Deny:
		return 0
	case Allow:
		return 2
	default:
		return 1
	}
}

// Call is one call as the rules see it.
type Call struct {
	Session string
	Group   string // the permission group; "" is that of the Context
	Agent   string
	Source  string // the adapter's name, or task, schedule, system
	Tool    tools.Spec
	Path    string // what it is about, absolute and resolved, "" for nothing
	Write   bool   // it would change what is at Path
	// Known says that what the call reaches out to, an address, was written
	// by a person or returned by a search in this session.
	Known   bool
	Context Context
}

// Context is where and as what a session runs.
type Context struct {
	Group  string   // the permission group
	Prompt string   // what the agent is told beyond its own prompt
	Reads  []string // directories that may be read, absolute and resolved
	Writes []string // directories that may be written and read
	Dir    string   // the working directory, absolute and resolved
	// Workspace is the workspace's directory, absolute and resolved.
	Workspace string
	// Trusted sessions are those of owners and admins. They may write the
	// workspace's own memory/ when they work in the workspace.
	Trusted bool
}

// Verdict is what comes of a call.
type Verdict struct {
	Action   Action
	Rule     Rule   // that decided; the zero Rule if none did
	Eased    string // why a require became an allow, "" if it did not
	Why      string // one sentence for people and the audit
	Bypassed bool   // a bypass made an allow of a require
	Err      error  // what kept the rules from being read, for the log
}

// longest is how many bytes a path may have. No system opens a longer one.
const longest = 4096

// settle fills in what a call leaves open and makes its paths comparable. A
// problem is a path that no rule can be held against.
func (p *Policy) settle(c Call) (Call, string) {
	c.Group = cmp.Or(c.Group, c.Context.Group, Default)
	c.Context.Workspace = tidyDir(cmp.Or(c.Context.Workspace, p.workspace))
	c.Context.Dir = tidyDir(c.Context.Dir)
	if c.Path == "" {
		return c, ""
	}
	switch {
	case len(c.Path) > longest:
		return c, "The path is longer than any file's."
	case strings.ContainsRune(c.Path, 0) || !path.IsAbs(c.Path) || hasDots(c.Path):
		return c, "The path is not resolved, so no rule can be held against it."
	}
	c.Path = path.Clean(c.Path)
	return c, ""
}

// hasDots reports whether a path goes up on its way.
func hasDots(p string) bool {
	for name := range strings.SplitSeq(p, "/") {
		if name == ".." {
			return true
		}
	}
	return false
}

// tidyDir is a directory for comparison, "" for one that cannot be compared.
func tidyDir(dir string) string {
	if !path.IsAbs(dir) || hasDots(dir) || strings.ContainsRune(dir, 0) {
		return ""
	}
	return path.Clean(dir)
}

// server is the MCP server that a tool comes from, "" if it comes from none.
func server(s tools.Spec) string {
	name, found := strings.CutPrefix(s.Source, mcpSource)
	if !found {
		return ""
	}
	return cmp.Or(name, "?")
}

const mcpSource = "mcp/"

// writes reports whether a file call changes something. Of a call about
// nothing in particular only the tool itself can tell.
func (c *Call) writes() bool {
	return c.Write || (c.Path == "" && c.Tool.Effect != tools.ReadOnly)
}

// files reports whether the call is one of the file tools. An MCP server's
// tool is not, whatever it says: its paths are not held inside by anybody.
func (c *Call) files() bool {
	return c.Tool.Category == tools.Filesystem && server(c.Tool) == ""
}

// printable reports whether a text is one line that can be shown as it is.
func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unprintable)
}
