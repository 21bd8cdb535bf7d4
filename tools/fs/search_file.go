package fs

import (
	"bytes"
	"context"
	"fmt"

	"parley/tools"
)

type searchArgs struct {
	Path    string `json:"path"`
	Pattern string `json:"pattern"`
	Plain   bool   `json:"literal"`
	AnyCase bool   `json:"ignore_case"`
	Around  whole  `json:"context"`
	Offset  whole  `json:"offset"`
	Limit   whole  `json:"limit"`
}

func searchFile() tools.Tool {
	return tool[searchArgs]{
		spec: spec(tools.SearchFile, tools.ReadOnly, `
			"path": {"type": "string", "description": "the file"},
			"pattern": {"type": "string", "description": "a regular expression (RE2) for a line"},
			"literal": {"type": "boolean", "description": "the pattern is plain text"},
			"ignore_case": {"type": "boolean"},
			"context": {"type": "integer", "minimum": 0, "maximum": 10, "description": "show so many lines around each match"},
			"offset": {"type": "integer", "minimum": 0, "description": "leave out so many matches"},
			"limit": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "show so many matches, 100 if left out"}`,
			"path", "pattern"),
		path:  func(a searchArgs) string { return a.Path },
		label: func(a searchArgs) string { return fmt.Sprintf("search %s for %s", a.Path, a.Pattern) },
		do:    func(_ context.Context, call tools.Call, a searchArgs) (string, error) { return a.search(call.Reach) },
	}
}

// search reads the file as a whole: lines before a match may have to be shown.
func (a searchArgs) search(r tools.Reach) (string, error) {
	q, err := parseQuery(a.Pattern, a.Plain, a.AnyCase)
	if err != nil {
		return "", err
	}
	p, err := find(r, a.Path, reading)
	if err != nil {
		return "", err
	}
	f, info, err := p.open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	var data bytes.Buffer
	skip, err := slurp(f, info.Size(), maxAlone, &data)
	switch {
	case err != nil:
		return "", err
	case skip == tooLarge:
		return "", fmt.Errorf("%s is too large to search: %s, %s at most; %s shows a range of its lines", shown(a.Path), amount(info.Size()), amount(maxAlone), tools.ReadFile)
	case skip != "":
		return "", notText(a.Path, skip, info.Size())
	}
	found, rows := q.hits(data.Bytes())
	got := page{skip: max(0, int(a.Offset)), room: a.Limit.within(100, 1000)}
	if _, err := collect(&got, "", found, rows, around(a.Around)); err != nil && err != errEnough {
		return "", err
	}
	return got.result("no match in "+shown(a.Path), "matches", nil), nil
}
