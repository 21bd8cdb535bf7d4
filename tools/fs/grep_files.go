package fs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"parley/tools"
)

// grepArgs are the arguments of grep_files.
type grepArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
	Glob    string `json:"glob"`
	Mode    string `json:"mode"`
	Plain   bool   `json:"literal"`
	AnyCase bool   `json:"ignore_case"`
	Around  whole  `json:"context"`
	Offset  whole  `json:"offset"`
	Limit   whole  `json:"limit"`
}

// What grep_files gives.
const (
	modeContent = "content"
	modeFiles   = "files_only"
	modeCount   = "count"
)

func grepFiles() tools.Tool {
	return tool[grepArgs]{
		spec: spec(tools.GrepFiles, tools.ReadOnly, `
			"pattern": {"type": "string", "description": "a regular expression (RE2) for a line"},
			"path": {"type": "string", "description": "the directory to search, the working directory if left out"},
			"glob": {"type": "string", "description": "only files whose path below the directory matches, such as *.go or src/**/*.{js,ts}"},
			"mode": {"type": "string", "enum": ["content", "files_only", "count"], "description": "the lines that match (if left out), the files that hold one, or how many each file holds"},
			"literal": {"type": "boolean", "description": "the pattern is plain text"},
			"ignore_case": {"type": "boolean"},
			"context": {"type": "integer", "minimum": 0, "maximum": 10, "description": "show so many lines around each match"},
			"offset": {"type": "integer", "minimum": 0, "description": "leave out so many matches, or files"},
			"limit": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "show so many matches, or files, 100 if left out"}`,
			"pattern"),
		path:  func(a grepArgs) string { return orHere(a.Path) },
		label: func(a grepArgs) string { return "search " + orHere(a.Path) + labelGlob(a.Glob) + " for " + a.Pattern },
		do:    func(ctx context.Context, call tools.Call, a grepArgs) (string, error) { return a.grep(ctx, call.Reach) },
	}
}

// search is one search through files.
type search struct {
	args   grepArgs
	glob   glob
	query  query
	page   page
	buffer bytes.Buffer
	binary int
	large  []string
	failed []string
}

// grep searches a directory, or a single file if the path leads to one, which
// models try all the time.
func (a grepArgs) grep(ctx context.Context, r tools.Reach) (string, error) {
	s := search{args: a, page: page{skip: max(0, int(a.Offset)), room: a.Limit.within(100, 1000)}}
	var err error
	if s.query, err = parseQuery(a.Pattern, a.Plain, a.AnyCase); err != nil {
		return "", err
	}
	if s.glob, err = parseGlob(a.Glob); err != nil {
		return "", err
	}
	p, err := find(r, orHere(a.Path), reading)
	if err != nil {
		return "", err
	}
	w := walker{reach: r, depth: maxDepth, visit: s.visit}
	notes, err := w.run(ctx, p)
	if errors.Is(err, tools.ErrNotDir) {
		notes, err = nil, s.alone(p)
	}
	if err != nil {
		return "", err
	}
	items := "matches"
	if a.Mode == modeFiles || a.Mode == modeCount {
		items = "files"
	}
	return s.page.result("no match in "+shown(p.arg), items, append(notes, s.notes()...)), nil
}

// alone searches a place that is a file.
func (s *search) alone(p place) error {
	dir, name, err := p.parent(false)
	if err != nil {
		return err
	}
	defer dir.Close()
	info, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	if err := regular(name, info.Mode()); err != nil {
		return err
	}
	s.glob = glob{}
	err = s.visit(entry{name: name, rel: filepath.Base(p.path), info: info, dir: dir})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// visit searches one file. What cannot be read is counted and left out.
func (s *search) visit(e entry) error {
	if !e.info.Mode().IsRegular() || skipped(e.name) || !s.glob.match(e.rel) {
		return nil
	}
	f, info, err := openFile(e.dir, e.name)
	if err != nil {
		s.failed = append(s.failed, e.rel)
		return nil
	}
	defer f.Close()
	switch skip, err := slurp(f, info.Size(), maxSearch, &s.buffer); {
	case err != nil:
		s.failed = append(s.failed, e.rel)
		return nil
	case skip == tooLarge:
		s.large = append(s.large, e.rel)
		return nil
	case skip != "":
		s.binary++
		return nil
	}
	found, rows := s.query.hits(s.buffer.Bytes())
	if len(found) == 0 {
		return nil
	}
	switch s.args.Mode {
	case modeFiles:
		return s.page.add(clean(e.rel))
	case modeCount:
		return s.page.add(fmt.Sprintf("%s: %d", clean(e.rel), len(found)))
	default:
		_, err := collect(&s.page, clean(e.rel), found, rows, around(s.args.Around))
		return err
	}
}

// notes says which files were left out. Without it a model takes "no match" for
// "nowhere".
func (s *search) notes() []string {
	var all []string
	if s.binary > 0 {
		all = append(all, count(s.binary, "binary file")+" left out")
	}
	if len(s.large) > 0 {
		all = append(all, fmt.Sprintf("larger than %s and left out: %s", amount(maxSearch), some(s.large)))
	}
	if len(s.failed) > 0 {
		all = append(all, "could not be read: "+some(s.failed))
	}
	return all
}
