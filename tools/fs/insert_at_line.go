package fs

import (
	"fmt"
	"io/fs"

	"parley/tools"
)

type insertArgs struct {
	Path string `json:"path"`
	Line whole  `json:"line"`
	Text string `json:"text"`
}

func insertAtLine(w *workshop) tools.Tool {
	s := spec(tools.InsertAtLine, tools.Once, `
		"path": {"type": "string", "description": "the file"},
		"line": {"type": "integer", "minimum": 1, "description": "the number that the first new line gets: 1 is the top, one more than the file has lines is the end"},
		"text": {"type": "string", "description": "one or more whole lines"}`,
		"path", "line", "text")
	return newChange(w, s,
		func(a insertArgs) string { return a.Path },
		func(a insertArgs) string { return fmt.Sprintf("insert into %s at line %d", a.Path, a.Line) },
		planInsert)
}

// planInsert puts lines in. A file must exist: a mistyped path would otherwise
// become a new file without a word.
func planInsert(a insertArgs, was present) (plan, error) {
	if !was.exists {
		return plan{}, fs.ErrNotExist
	}
	if err := was.editable(a.Path); err != nil {
		return plan{}, err
	}
	data, n, err := parse(was.data).insert(int(a.Line), a.Text)
	if err != nil {
		return plan{}, err
	}
	first := int(a.Line)
	return plan{
		data: data,
		said: fmt.Sprintf("inserted %s into %s at line %d", count(n, "line"), shown(a.Path), first),
		spot: span{first, first + n - 1},
	}, nil
}
