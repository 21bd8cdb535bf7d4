package policy

import (
	"path"
	"strings"

	"parley/tools"
)

// same compares two names of a path.
type same func(a, b string) bool

func exactly(a, b string) bool { return a == b }

// below returns what remains of a path below a root, "" for the root itself
// and otherwise beginning with a slash. It compares name by name, so a sibling
// that begins alike is not below. Nothing is below "".
func below(root, p string, eq same) (rest string, ok bool) {
	if root == "" || p == "" {
		return "", false
	}
	if p == "/" {
		p = ""
	}
	if root == "/" {
		return p, true
	}
	for want := range strings.SplitSeq(root[1:], "/") {
		if p == "" {
			return "", false
		}
		name := p[1:]
		if end := strings.IndexByte(name, '/'); end >= 0 {
			name = name[:end]
		}
		if !eq(name, want) {
			return "", false
		}
		p = p[1+len(name):]
	}
	return p, true
}

// within reports whether a path is the root or below it.
func within(root, p string, eq same) bool {
	_, ok := below(root, p, eq)
	return ok
}

// secrets is the name of directories that no tool enters.
const secrets = "secrets"

// forbidden says why a path is open to nobody, "" if it is not so. Case is
// ignored everywhere here: too much is refused rather than too little.
func (p *Policy) forbidden(c *Call) string {
	if c.Path == "" {
		return ""
	}
	for _, dir := range p.denied {
		if within(dir, c.Path, strings.EqualFold) {
			return "The path leads into parley's own data, which no tool may enter."
		}
	}
	for _, root := range [...]string{c.Context.Workspace, c.Context.Dir, p.workspace} {
		rest, ok := below(root, c.Path, strings.EqualFold)
		if ok && hasSecrets(rest) {
			return "The path leads into a directory named secrets, which no tool may enter."
		}
	}
	return ""
}

func hasSecrets(rest string) bool {
	for name := range strings.SplitSeq(rest, "/") {
		if strings.EqualFold(name, secrets) {
			return true
		}
	}
	return false
}

// readable says why a path may be read without asking, "" if it may not.
func (x *Context) readable(p string) string {
	switch {
	case within(x.Dir, p, exactly):
		return "the working directory may be read"
	case within(x.inWorkspace("docs"), p, exactly):
		return "docs/ may be read"
	case within(x.inWorkspace("skills"), p, exactly):
		return "skills/ may be read"
	case anyWithin(x.Reads, p), anyWithin(x.Writes, p):
		return "the directory was granted to this session"
	default:
		return ""
	}
}

// writable says why a path may be written without asking, "" if it may not.
func (x *Context) writable(p string) string {
	if anyWithin(x.Writes, p) {
		return "the directory was granted to this session"
	}
	if x.Dir == "" || (!x.Trusted && within(x.inWorkspace("memory"), p, exactly)) {
		return ""
	}
	switch {
	case within(path.Join(x.Dir, "scratch"), p, exactly):
		return "scratch/ of the working directory is free to use"
	case within(path.Join(x.Dir, "memory"), p, exactly):
		return "memory/ of the working directory may be written"
	default:
		return ""
	}
}

func (x *Context) inWorkspace(name string) string {
	if x.Workspace == "" {
		return ""
	}
	return path.Join(x.Workspace, name)
}

func anyWithin(dirs []string, p string) bool {
	for _, dir := range dirs {
		if within(tidyDir(dir), p, exactly) {
			return true
		}
	}
	return false
}

// ease says why a call that needs approval by the rules needs none, "" if it
// does.
func ease(c *Call) string {
	switch {
	case c.Known && c.Tool.Name == tools.WebFetch && server(c.Tool) == "":
		return "the address was written by a person or found by a search"
	case c.Path == "" || !c.files():
		return ""
	case c.writes():
		return c.Context.writable(c.Path)
	default:
		return c.Context.readable(c.Path)
	}
}
