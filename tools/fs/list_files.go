package fs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"parley/tools"
)

// walkTime is how long one call goes through directories. What it has found by
// then is a result.
const walkTime = 20 * time.Second

// listArgs are the arguments of list_files.
type listArgs struct {
	Path   string `json:"path"`
	Glob   string `json:"glob"`
	Depth  whole  `json:"depth"`
	Offset whole  `json:"offset"`
	Limit  whole  `json:"limit"`
}

func listFiles() tools.Tool {
	return tool[listArgs]{
		spec: spec(tools.ListFiles, tools.ReadOnly, `
			"path": {"type": "string", "description": "the directory, the working directory if left out"},
			"glob": {"type": "string", "description": "only files whose path below the directory matches, such as **/*.md"},
			"depth": {"type": "integer", "minimum": 1, "description": "how many directories deep; 1, the directory alone, if left out; with glob, as deep as they go"},
			"offset": {"type": "integer", "minimum": 0, "description": "leave out so many entries"},
			"limit": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "show so many entries, 200 if left out"}`),
		path:  func(a listArgs) string { return orHere(a.Path) },
		label: func(a listArgs) string { return "list " + orHere(a.Path) + labelGlob(a.Glob) },
		do:    func(ctx context.Context, call tools.Call, a listArgs) (string, error) { return a.list(ctx, call.Reach) },
	}
}

// orHere is the path, or the working directory if none was given.
func orHere(path string) string {
	if path == "" {
		return here
	}
	return path
}

// labelGlob is a glob as it stands in a label.
func labelGlob(glob string) string {
	if glob == "" {
		return ""
	}
	return " (" + glob + ")"
}

// list shows one directory, or with a depth or a glob what lies below it. A
// glob without a depth looks everywhere: who asks for *.md wants all of them.
func (a listArgs) list(ctx context.Context, r tools.Reach) (string, error) {
	p, err := find(r, orHere(a.Path), reading)
	if err != nil {
		return "", err
	}
	g, err := parseGlob(a.Glob)
	if err != nil {
		return "", err
	}
	depth := a.Depth.within(1, maxDepth)
	if a.Depth == 0 && a.Glob != "" {
		depth = maxDepth
	}
	found := page{skip: max(0, int(a.Offset)), room: a.Limit.within(200, 1000)}
	w := walker{reach: r, depth: depth, visit: func(e entry) error {
		if a.Glob != "" && (e.info.IsDir() || !g.match(e.rel)) {
			return nil
		}
		return found.add(listed(e))
	}}
	notes, err := w.run(ctx, p)
	if err != nil {
		return "", err
	}
	none := " is empty"
	if a.Glob != "" {
		none = " holds no such files"
	}
	return found.result(shown(p.arg)+none, "entries", notes), nil
}

// run walks for as long as one call may, and returns notes on what is left
// out.
func (w *walker) run(ctx context.Context, p place) ([]string, error) {
	limited, cancel := context.WithTimeout(ctx, walkTime)
	defer cancel()
	err := w.walk(limited, p)
	notes := w.notes()
	switch {
	case errors.Is(err, errFar):
		return append(notes, "stopped: "+err.Error()+"; name a directory below"), nil
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return append(notes, "stopped: it took too long; name a directory below"), nil
	case err != nil:
		return nil, p.missing(err)
	}
	return notes, nil
}

// listed is an entry as a line of a list.
func listed(e entry) string {
	name := e.rel
	when := e.info.ModTime().Format("2006-01-02 15:04")
	switch mode := e.info.Mode(); mode.Type() {
	case fs.ModeDir:
		if skipped(e.name) && e.name != ".git" {
			return clean(name) + "/\tclosed"
		}
		return clean(name + "/")
	case 0:
		return fmt.Sprintf("%s\t%s\t%s", clean(name), amount(e.info.Size()), when)
	case fs.ModeSymlink:
		to, err := e.dir.Readlink(e.name)
		if err != nil {
			to = "?"
		}
		return clean(name) + "\tlink to " + clean(to)
	default:
		return clean(name) + "\tneither file nor directory"
	}
}

// glob is a pattern for paths. Without a slash it is one for the last name.
type glob struct {
	pattern string
	name    bool
}

// parseGlob reads a pattern and refuses those that could take for ever to match:
// matching cannot be interrupted.
func parseGlob(pattern string) (glob, error) {
	pattern = strings.TrimPrefix(pattern, "./")
	if len(pattern) > 300 || strings.Count(pattern, "**") > 6 || strings.Count(pattern, "{") > 6 {
		return glob{}, errors.New("the glob is too long") // matching could take for ever
	}
	if !doublestar.ValidatePattern(pattern) {
		return glob{}, fmt.Errorf("the glob %s is not valid", shown(pattern))
	}
	return glob{pattern, !strings.Contains(pattern, "/")}, nil
}

// match reports whether a path below the directory is of the pattern.
func (g glob) match(rel string) bool {
	if g.pattern == "" {
		return true
	}
	if g.name {
		rel = rel[strings.LastIndexByte(rel, '/')+1:]
	}
	return doublestar.MatchUnvalidated(g.pattern, rel)
}
