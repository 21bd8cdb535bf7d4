package fs

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"parley/tools"
)

// editArgs are the arguments of edit_file.
type editArgs struct {
	Path string `json:"path"`
	Old  string `json:"old_text"`
	New  string `json:"new_text"`
	All  bool   `json:"replace_all"`
}

func editFile(w *workshop) tools.Tool {
	s := spec(tools.EditFile, tools.Once, `
		"path": {"type": "string", "description": "the file"},
		"old_text": {"type": "string", "description": "the text as it stands in the file, without line numbers; unique, unless replace_all is set"},
		"new_text": {"type": "string", "description": "what takes its place; \"\" takes it out"},
		"replace_all": {"type": "boolean", "description": "replace it wherever it stands"}`,
		"path", "old_text", "new_text")
	return newChange(w, s,
		func(a editArgs) string { return a.Path },
		func(a editArgs) string { return "edit " + a.Path },
		planEdit)
}

// planEdit replaces text. If it is not clear which place is meant it refuses,
// and says where the text stands or what comes near, so that the model's next
// attempt can succeed.
func planEdit(a editArgs, was present) (plan, error) {
	if !was.exists {
		return plan{}, fs.ErrNotExist
	}
	if err := was.editable(a.Path); err != nil {
		return plan{}, err
	}
	old, new := flatten(a.Old), flatten(a.New)
	if old == "" {
		return plan{}, fmt.Errorf("old_text is empty; %s and %s add text", tools.InsertAtLine, tools.WriteFile)
	}
	if old == new {
		return plan{}, errors.New("old_text and new_text are the same: nothing would change")
	}
	t := parse(was.data)
	at := occurrences(t.flat, old, !a.All)
	switch {
	case len(at) == 0:
		return plan{}, t.unmatched(a.Path, old)
	case len(at) > 1 && !a.All:
		return plan{}, fmt.Errorf("old_text stands in %s %d times, on lines %s; add lines around it until it is unique, or set replace_all",
			shown(a.Path), len(at), t.lines(at))
	}
	var spans []span
	for _, i := range at {
		spans = append(spans, span{i, i + len(old)})
	}
	now := plan{data: t.replace(spans, new), said: fmt.Sprintf("replaced %s in %s, on line %s", count(len(at), "place"), shown(a.Path), t.lines(at))}
	if len(at) == 1 {
		first := t.line(at[0])
		now.spot = span{first, first + strings.Count(new, "\n")}
	}
	return now, nil
}

// occurrences returns where old stands in text. Those that overlap count if
// asked for: of two such places, neither is the one that was meant.
func occurrences(text, old string, overlap bool) []int {
	var at []int
	for from := 0; old != ""; {
		i := strings.Index(text[from:], old)
		if i < 0 {
			return at
		}
		at = append(at, from+i)
		from += i + len(old)
		if overlap {
			from += 1 - len(old)
		}
	}
	return nil
}

// lines lists the numbers of the lines at these places.
func (t text) lines(at []int) string {
	const most = 20
	var all []string
	for _, i := range at {
		if n := strconv.Itoa(t.line(i)); len(all) == 0 || all[len(all)-1] != n {
			all = append(all, n)
		}
	}
	if len(all) > most {
		return strings.Join(all[:most], ", ") + ", …"
	}
	return strings.Join(all, ", ")
}

// numbered is how a line begins that was copied with its number.
var numbered = regexp.MustCompile(`(?m)^\d+\t`)

// unmatched says that old does not stand in the file, and what comes near.
func (t text) unmatched(path, old string) error {
	none := fmt.Sprintf("old_text stands in %s 0 times", shown(path))
	if bare := numbered.ReplaceAllString(old, ""); bare != old && strings.Contains(t.flat, bare) {
		return fmt.Errorf("%s: leave out the line numbers", none)
	}
	if near := t.loosely(old); len(near) > 0 {
		return fmt.Errorf("%s; apart from spaces at the beginning and end of lines it stands at line %s: read there and copy it exactly", none, t.lines(near))
	}
	first, _, more := strings.Cut(strings.Trim(old, "\n"), "\n")
	if at := occurrences(t.flat, first, false); more && len(at) > 0 {
		return fmt.Errorf("%s, but its first line does, on line %s: read on from there and copy it exactly", none, t.lines(at))
	}
	return fmt.Errorf("%s, on no line: read the file again and copy the text exactly", none)
}

// loosely returns where the lines of old stand if spaces around lines do not
// count.
func (t text) loosely(old string) []int {
	want := strings.Split(strings.Trim(old, "\n"), "\n")
	for i := range want {
		want[i] = strings.TrimSpace(want[i])
	}
	if strings.Join(want, "") == "" {
		return nil
	}
	have := strings.Split(t.flat, "\n")
	for i := range have {
		have[i] = strings.TrimSpace(have[i])
	}
	var at []int
	for i := 0; i+len(want) <= len(have); i++ {
		if slices.Equal(have[i:i+len(want)], want) {
			at = append(at, t.starts[i])
		}
	}
	return at
}
