package fs

import (
	"bytes"
	"fmt"

	"parley/tools"
)

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func writeFile(w *workshop) tools.Tool {
	s := spec(tools.WriteFile, tools.Repeatable, `
		"path": {"type": "string", "description": "the file"},
		"content": {"type": "string", "description": "all of its new content"}`,
		"path", "content")
	return newChange(w, s,
		func(a writeArgs) string { return a.Path },
		func(a writeArgs) string { return "write " + a.Path },
		planWrite)
}

// planWrite replaces all, also what is not text: people see a note then.
func planWrite(a writeArgs, was present) (plan, error) {
	if len(a.Content) > maxEdit {
		return plan{}, fmt.Errorf("the content is too large: %s, %s at most", amount(int64(len(a.Content))), amount(maxEdit))
	}
	data, kept := []byte(a.Content), ""
	if was.data != nil && was.kind == "" {
		data, kept = alike(was.data, a.Content)
	}
	t := parse(data)
	verb := "created"
	if was.exists {
		verb = "replaced"
	}
	said := fmt.Sprintf("%s %s: %s, %s%s", verb, shown(a.Path), count(len(t.starts), "line"), amount(int64(len(data))), kept)
	return plan{data: data, said: said}, nil
}

// alike gives new content the line ends and the byte order mark of the old, if
// the old has line ends of one kind.
func alike(old []byte, content string) (data []byte, kept string) {
	was := parse(old)
	data = []byte(content)
	if was.uniform() {
		data = []byte(was.ended(content))
	}
	if was.uniform() && was.crlf {
		kept = " (its lines still end in CRLF)"
	}
	if was.mark > 0 && !bytes.HasPrefix(data, []byte(byteOrderMark)) {
		data = append([]byte(byteOrderMark), data...)
	}
	return data, kept
}
