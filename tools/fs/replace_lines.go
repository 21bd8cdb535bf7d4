package fs

import (
	"fmt"
	"io/fs"

	"parley/tools"
)

type replaceArgs struct {
	Path  string `json:"path"`
	First whole  `json:"start_line"`
	Last  whole  `json:"end_line"`
	Text  string `json:"text"`
}

func replaceLines(w *workshop) tools.Tool {
	s := spec(tools.ReplaceLines, tools.Once, `
		"path": {"type": "string", "description": "the file"},
		"start_line": {"type": "integer", "minimum": 1, "description": "the first line to replace"},
		"end_line": {"type": "integer", "minimum": 1, "description": "the last line to replace"},
		"text": {"type": "string", "description": "the whole lines that take their place; \"\" takes them out"}`,
		"path", "start_line", "end_line", "text")
	return newChange(w, s,
		func(a replaceArgs) string { return a.Path },
		func(a replaceArgs) string {
			return fmt.Sprintf("replace %s of %s", lines(int(a.First), int(a.Last)), a.Path)
		},
		planReplace)
}

// lines names a range of lines.
func lines(first, last int) string {
	if first == last {
		return fmt.Sprintf("line %d", first)
	}
	return fmt.Sprintf("lines %d–%d", first, last)
}

// planReplace replaces lines by number. It cannot tell stale numbers from fresh
// ones; the excerpt in the result lets the model see its mistake.
func planReplace(a replaceArgs, was present) (plan, error) {
	if !was.exists {
		return plan{}, fs.ErrNotExist
	}
	if err := was.editable(a.Path); err != nil {
		return plan{}, err
	}
	data, n, err := parse(was.data).swap(int(a.First), int(a.Last), a.Text)
	if err != nil {
		return plan{}, err
	}
	first := int(a.First)
	said := fmt.Sprintf("replaced %s of %s by %s", lines(first, int(a.Last)), shown(a.Path), count(n, "line"))
	if n == 0 {
		said = fmt.Sprintf("took %s out of %s", lines(first, int(a.Last)), shown(a.Path))
	}
	return plan{data: data, said: said, spot: span{first, first + n - 1}}, nil
}
