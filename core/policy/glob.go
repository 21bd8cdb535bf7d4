package policy

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// glob is a pattern of names with slashes between them. Each name has one or
// more alternatives; none stand for any number of names.
//
// Names are matched one by one, braces are taken apart beforehand and runs of *
// made one: what doublestar makes of a whole path leaves out matches of nothing
// ("a*/**" is not to miss a), and that would be a gap in a deny.
type glob [][]string

// anyNames as a name of a pattern stands for any number of names.
const anyNames = "**"

// maxBranches is how many alternatives the braces of a name may make.
const maxBranches = 32

// parseGlob reads a pattern, or says what is wrong with it.
func parseGlob(pattern string) (glob, string) {
	switch {
	case len(pattern) > maxPattern:
		return nil, fmt.Sprintf("it is longer than %d bytes; shorten it", maxPattern)
	case !printable(pattern) || strings.ContainsRune(pattern, utf8.RuneError):
		return nil, fmt.Sprintf("%s has characters that cannot be shown; leave them out", quoted(pattern))
	}
	var g glob
	for name := range strings.SplitSeq(pattern, "/") {
		switch name {
		case "":
			return nil, fmt.Sprintf("%s has an empty name between slashes or ends in a slash; write dir for a directory itself, dir/* for it and all below", quoted(pattern))
		case ".", "..":
			return nil, fmt.Sprintf("%s goes through %s; write the resolved path", quoted(pattern), name)
		case anyNames:
			g = append(g, nil)
			continue
		}
		alternatives, problem := branches(name)
		if problem != "" {
			return nil, fmt.Sprintf("%s is no pattern: %s", quoted(pattern), problem)
		}
		g = append(g, alternatives)
	}
	return g, ""
}

// branches takes the braces of a name apart, or says what is wrong with it.
func branches(name string) (all []string, problem string) {
	open := fmt.Sprintf("a bracket, brace or backslash in %s is left open; put a backslash before characters that are meant as they stand", quoted(name))
	if !doublestar.ValidatePattern(name) {
		return nil, open
	}
	todo := []string{name}
	for len(todo) > 0 {
		next := todo[0]
		todo = todo[1:]
		before, choices, after := cutBraces(next)
		if choices == nil {
			if next = single(next); !doublestar.ValidatePattern(next) {
				return nil, open
			}
			all = append(all, next)
		}
		for _, choice := range choices {
			todo = append(todo, before+choice+after)
		}
		if len(all)+len(todo) > maxBranches {
			return nil, fmt.Sprintf("the braces of %s make more than %d alternatives; write several rules", quoted(name), maxBranches)
		}
	}
	return all, ""
}

// cutBraces finds the first outermost braces of a valid name; without any,
// choices is nil.
func cutBraces(name string) (before string, choices []string, after string) {
	start, from, depth := 0, 0, 0
	for i, c := range meant(name) {
		switch {
		case c == '{' && depth == 0:
			start, from, depth = i, i+1, 1
		case c == '{':
			depth++
		case c == ',' && depth == 1:
			choices, from = append(choices, name[from:i]), i+1
		case c == '}' && depth == 1:
			return name[:start], append(choices, name[from:i]), name[i+1:]
		case c == '}' && depth > 0:
			depth--
		}
	}
	return name, nil, ""
}

// single makes one * of each run of them.
func single(name string) string {
	var b strings.Builder
	last, kept := -2, 0
	for i, c := range meant(name) {
		if c != '*' {
			continue
		}
		if i == last+1 {
			b.WriteString(name[kept:i])
			kept = i + 1
		}
		last = i
	}
	return b.String() + name[kept:]
}

// meant yields the bytes of a pattern that mean something: not those in
// classes, and not those behind a backslash.
func meant(name string) func(yield func(int, byte) bool) {
	return func(yield func(int, byte) bool) {
		class := false
		for i := 0; i < len(name); i++ {
			switch c := name[i]; {
			case c == '\\':
				i++
			case class:
				class = c != ']'
			case c == '[':
				class = true
			default:
				if !yield(i, c) {
					return
				}
			}
		}
	}
}

// folded is the glob in small letters.
func (g glob) folded() glob {
	low := make(glob, len(g))
	for i, alternatives := range g {
		for _, a := range alternatives {
			low[i] = append(low[i], strings.ToLower(a))
		}
	}
	return low
}

// match holds a pattern against names, each behind a slash; "" has none. Only
// the last run of any names that was met is ever made longer: those before it
// need not be, since it can take what they would have taken.
func (g glob) match(p string) bool {
	at, run, rest := 0, -1, ""
	for p != "" {
		name, after := cutName(p)
		switch {
		case at < len(g) && g[at] == nil:
			run, rest = at, p
			at++
		case at < len(g) && oneOf(g[at], name):
			at++
			p = after
		case run >= 0:
			_, rest = cutName(rest)
			at, p = run+1, rest
		default:
			return false
		}
	}
	for at < len(g) && g[at] == nil {
		at++
	}
	return at == len(g)
}

// cutName cuts "/a/b" into "a" and "/b".
func cutName(p string) (name, rest string) {
	name = p[1:]
	if end := strings.IndexByte(name, '/'); end >= 0 {
		return name[:end], name[end:]
	}
	return name, ""
}

func oneOf(alternatives []string, name string) bool {
	for _, a := range alternatives {
		if a == name || doublestar.MatchUnvalidated(a, name) {
			return true
		}
	}
	return false
}
