package policy

import (
	"fmt"
	"slices"
	"strings"

	"parley/tools"
)

// toolPattern is a parsed Rule.Tool.
type toolPattern struct {
	kind toolKind
	text string // the name, or the class without its @
	glob glob
}

type toolKind int

const (
	anyTool    toolKind = iota
	oneTool             // a name as it stands
	toolGlob            // a glob of names
	sourceTool          // a glob of source/name
	fileClass           // fs_read, fs_write, fs_any
	category            // a category's name
)

// parseTool reads a tool pattern, or says what is wrong with it.
func parseTool(pattern string) (toolPattern, string) {
	if class, found := strings.CutPrefix(pattern, "@"); found {
		return parseClass(class)
	}
	if pattern == "" {
		return toolPattern{}, "it is empty; write a tool's name, a pattern such as memory_*, a class such as @fs_read, or * for every tool"
	}
	if strings.Trim(pattern, "*") == "" && len(pattern) <= maxWord {
		return toolPattern{kind: anyTool}, ""
	}
	g, problem := parseGlob(pattern)
	switch {
	case problem != "":
		return toolPattern{}, problem
	case len(g) > 1:
		return toolPattern{kind: sourceTool, glob: g}, ""
	case strings.ContainsAny(pattern, `*?[{\`):
		return toolPattern{kind: toolGlob, glob: g}, ""
	default:
		return toolPattern{kind: oneTool, text: pattern}, ""
	}
}

func parseClass(class string) (toolPattern, string) {
	switch class {
	case "fs_read", "fs_write", "fs_any":
		return toolPattern{kind: fileClass, text: class}, ""
	}
	known := tools.Categories()
	if slices.Contains(known, tools.Category(class)) {
		return toolPattern{kind: category, text: class}, ""
	}
	names := []string{"@fs_read", "@fs_write", "@fs_any"}
	for _, c := range known {
		names = append(names, "@"+string(c))
	}
	return toolPattern{}, fmt.Sprintf("%s is no class of tools; the classes are %s", quoted("@"+class), strings.Join(names, ", "))
}

// match reports whether the call's tool is meant.
func (t toolPattern) match(c *Call) bool {
	switch t.kind {
	case anyTool:
		return true
	case oneTool:
		return t.text == c.Tool.Name
	case toolGlob:
		return oneOf(t.glob[0], c.Tool.Name)
	case sourceTool:
		source := c.Tool.Source
		if source == "" {
			source = tools.Core
		}
		return t.glob.match("/" + source + "/" + c.Tool.Name)
	case fileClass:
		return c.files() && (t.text == "fs_any" || (t.text == "fs_write") == c.writes())
	case category:
		return server(c.Tool) == "" && string(c.Tool.Category) == t.text
	default:
		panic("policy: unknown kind of tool pattern")
	}
}

// Words that a path pattern may begin with.
const (
	inWorkspace = "$workspace" // the workspace
	inDir       = "$workdir"   // the session's working directory
	isReadable  = "$readable"  // what the session may read without asking
	isWritable  = "$writable"  // what it may write without asking
)

// pathPattern is a parsed Rule.Path.
type pathPattern struct {
	root string // one of the words above, "" for an absolute pattern
	glob glob   // what follows the root
	fold bool   // small letters, to be compared so
}

// parsePath reads a path pattern, or says what is wrong with it.
func parsePath(pattern string) (pathPattern, string) {
	if pattern == "" || pattern == isReadable || pattern == isWritable {
		return pathPattern{root: pattern}, ""
	}
	root, rest := "", pattern
	for _, word := range []string{inWorkspace, inDir} {
		if after, found := strings.CutPrefix(pattern, word); found && (after == "" || after[0] == '/') {
			root, rest = word, after
		}
	}
	switch {
	case rest == "" || (root == "" && rest == "/"):
		return pathPattern{root: root}, ""
	case rest[0] == '~':
		return pathPattern{}, fmt.Sprintf("%s begins with ~, which stands for nobody here; write the whole path", quoted(pattern))
	case rest[0] != '/':
		return pathPattern{}, fmt.Sprintf("%s must begin with /, $workspace/ or $workdir/, or be $readable or $writable", quoted(pattern))
	}
	g, problem := parseGlob(rest[1:])
	if problem != "" {
		return pathPattern{}, problem
	}
	if strings.HasSuffix(rest, "/*") {
		g[len(g)-1] = nil // the directory and all below
	}
	return pathPattern{root: root, glob: g}, ""
}

// folded is the pattern for a file system that tells no case.
func (x pathPattern) folded() pathPattern {
	x.glob, x.fold = x.glob.folded(), true
	return x
}

// match reports whether the call's path is meant.
func (x pathPattern) match(c *Call) bool {
	p, eq := c.Path, same(exactly)
	if x.fold {
		eq = strings.EqualFold
	}
	ok := p != ""
	switch x.root {
	case isReadable:
		return ok && c.Context.readable(p) != ""
	case isWritable:
		return ok && c.Context.writable(p) != ""
	case inWorkspace:
		p, ok = below(c.Context.Workspace, p, eq)
	case inDir:
		p, ok = below(c.Context.Dir, p, eq)
	default:
		p, ok = below("/", p, eq)
	}
	if x.fold {
		p = strings.ToLower(p)
	}
	return ok && x.glob.match(p)
}
