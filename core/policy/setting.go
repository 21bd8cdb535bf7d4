package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"parley/core/chat"
)

// tidied is the setting without what is not meant, sharing nothing with s.
func (s Setting) tidied() Setting {
	for _, t := range []*string{&s.For, &s.Group, &s.Prompt, &s.Dir} {
		*t = strings.TrimSpace(*t)
	}
	s.Reads, s.Writes = slices.Clone(s.Reads), slices.Clone(s.Writes)
	for _, dirs := range [][]string{s.Reads, s.Writes} {
		for i := range dirs {
			dirs[i] = strings.TrimSpace(dirs[i])
		}
	}
	if k, err := chat.ParseKey(s.For); err == nil && forProblem(s.For) == "" && !named(s.For) {
		s.For = k.String()
	}
	return s
}

// maxPrompt is the longest extra prompt, in bytes.
const maxPrompt = 16 << 10

// problems lists what keeps a tidied setting from being one.
func (s Setting) problems(workspace string, denied []string) []problem {
	var all []problem
	add := func(key, text string) {
		if text != "" {
			all = append(all, problem{key, text})
		}
	}
	add("for", forProblem(s.For))
	if s.Group != "" {
		add("group", groupProblem(s.Group))
	}
	switch {
	case len(s.Prompt) > maxPrompt:
		add("prompt", fmt.Sprintf("it is longer than %d bytes; put it into a file of the workspace and name that", maxPrompt))
	case !utf8.ValidString(s.Prompt) || strings.ContainsRune(s.Prompt, 0):
		add("prompt", "it has characters that are no text; leave them out")
	}
	if s.Dir != "" {
		add("dir", dirProblem(s.Dir, workspace, denied))
	}
	for _, granted := range []struct {
		key  string
		dirs []string
	}{{"reads", s.Reads}, {"writes", s.Writes}} {
		for i, dir := range granted.dirs {
			add(fmt.Sprintf("%s[%d]", granted.key, i), dirProblem(dir, workspace, denied))
		}
	}
	return all
}

// named reports whether a For names a role, a job or an agent.
func named(text string) bool {
	return slices.ContainsFunc([]string{forRole, forJob, forAgent}, func(p string) bool { return strings.HasPrefix(text, p) })
}

// forProblem says what keeps a text from being what a setting is for.
func forProblem(text string) string {
	if problem := wordProblem(text, 2*maxWord); problem != "" {
		return problem
	}
	_, name, _ := strings.Cut(text, ":")
	_, err := chat.ParseKey(text)
	if text == forDefault || (err == nil && name != "") {
		return ""
	}
	return fmt.Sprintf("%s is nothing that has a context; write a chat (/whoami there tells its name), role:NAME, job:ID, agent:NAME or default", quoted(text))
}

// dirProblem says what keeps a text from being a directory that a session can
// be given.
func dirProblem(dir, workspace string, denied []string) string {
	full, rest := dir, ""
	if after, found := strings.CutPrefix(dir, inWorkspace); found && (after == "" || after[0] == '/') {
		full, rest = path.Join("/", workspace)+after, after
	}
	switch {
	case len(dir) > longest || !printable(dir):
		return fmt.Sprintf("%s is no directory; leave out what cannot be shown", quoted(dir))
	case !plainDir(full):
		return fmt.Sprintf("%s must begin with / or $workspace/ and not go through ..", quoted(dir))
	case hasSecrets(rest):
		return fmt.Sprintf("%s leads into a directory named secrets, which no tool may enter", quoted(dir))
	}
	if below, ok := below(tidyDir(workspace), path.Clean(full), strings.EqualFold); ok && hasSecrets(below) {
		return fmt.Sprintf("%s leads into a directory named secrets, which no tool may enter", quoted(dir))
	}
	for _, d := range denied {
		if within(tidyDir(d), path.Clean(full), strings.EqualFold) {
			return fmt.Sprintf("%s lies in parley's own data, which no tool may enter", quoted(dir))
		}
	}
	return ""
}
