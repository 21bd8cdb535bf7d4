package llm

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"parley/tools"
)

// What the demo model shows of tools takes two answers: the first asks for the
// call, the next, which sees nothing but the conversation, tells what came of
// it. So it goes on after a restart as a real model would.

// list looks around, with the shell if there is nothing better.
func (s *scene) list() {
	if !s.offers(tools.ListFiles) && s.offers(tools.ExecuteCmd) {
		s.execute("calling", "ls", 0)
		return
	}
	s.call("calling", tools.ListFiles, struct{}{})
}

// command runs what stands behind the first word, or a harmless command.
func (s *scene) command() {
	line := bare(s.rest())
	if line == "" {
		line = "date"
	}
	s.execute("calling", line, 0)
}

// sleeps runs the longest command there can be.
func (s *scene) sleeps() { s.execute("sleep", "sleep 600", 600) }

func (s *scene) execute(section, line string, seconds int) {
	s.call(section, tools.ExecuteCmd, struct {
		Command     string `json:"command"`
		Timeout     int    `json:"timeout,omitempty"`
		Description string `json:"description"`
	}{line, seconds, "show what a tool call looks like"})
}

func (s *scene) question() {
	s.call("asking", tools.AskUserClarification, struct {
		Title       string   `json:"title"`
		Question    string   `json:"question"`
		Suggestions []string `json:"suggestions"`
	}{"Colour", "Which colour do you like best?", []string{"red", "green", "blue"}})
}

func (s *scene) todo() {
	type item struct {
		Text  string `json:"text"`
		State string `json:"state"`
	}
	s.call("plumbing", tools.WriteTodos, struct {
		Todos []item `json:"todos"`
	}{[]item{
		{"listen to you", "done"},
		{"write a list", "in_progress"},
		{"make way for a real model", "pending"},
	}})
}

func (s *scene) note() {
	text := s.rest()
	if text == "" {
		s.say(script("note"))
		return
	}
	s.call("plumbing", tools.UpdateScratchpad, struct {
		Content string `json:"content"`
	}{text})
}

// call asks for a tool, or says that it is not offered.
func (s *scene) call(section, name string, args any) {
	if !s.offers(name) {
		s.say(fmt.Sprintf(script("missing"), name))
		return
	}
	raw, err := encode(args)
	if err != nil {
		panic("llm: " + err.Error()) // strings and numbers
	}
	s.say(fmt.Sprintf(script(section), name))
	s.calls = append(s.calls, Call{ID: uniqueID("", usedIDs(s.req.Messages)), Name: name, Args: raw})
}

func (s *scene) offers(name string) bool {
	return slices.ContainsFunc(s.req.Tools, func(t ToolSpec) bool { return t.Name == name })
}

// rest is what was said last without its first word, as it was written.
func (s *scene) rest() string {
	said := s.last()
	if i := strings.IndexFunc(said, unicode.IsSpace); i >= 0 {
		return strings.TrimSpace(said[i:])
	}
	return ""
}

// begins fits what has one of these words first.
func begins(words ...string) func(string) bool {
	return func(said string) bool {
		fields := strings.Fields(said)
		return len(fields) > 0 && slices.Contains(words, strings.TrimRight(fields[0], ".,:;!"))
	}
}

// bare takes the backquotes off a command that is nothing but code.
func bare(line string) string {
	for _, mark := range []string{"```", "`"} {
		if inner, ok := between(line, mark, mark); ok && !strings.Contains(inner, "`") {
			return strings.TrimSpace(inner)
		}
	}
	return line
}

// between is what stands between head and tail, if they are there.
func between(s, head, tail string) (string, bool) {
	s, begins := strings.CutPrefix(s, head)
	s, ends := strings.CutSuffix(s, tail)
	return s, begins && ends
}

// result is what came back for a call.
type result struct {
	name   string // of the tool
	text   string
	fenced bool // it came from outside the conversation, from the tool itself
	failed bool
}

// results are those that came back since the last answer.
func (s *scene) results() []result {
	names, since := map[string]string{}, s.since()
	for _, m := range s.req.Messages {
		for _, c := range m.Calls {
			names[c.ID] = c.Name
		}
	}
	var list []result
	for _, m := range since {
		if m.Role == Tool {
			text, fenced := unfenced(m.Text)
			list = append(list, result{names[m.CallID], text, fenced, m.CallFailed})
		}
	}
	return list
}

// since returns the rows behind the last answer.
func (s *scene) since() []Message {
	rows := s.req.Messages
	for i, m := range slices.Backward(rows) {
		if m.Role == Assistant {
			return rows[i+1:]
		}
	}
	return rows
}

// tell says what came back and whether that is all there is to answer. What
// people wrote meanwhile is to be answered too; where that follows a stop, the
// stop is over and done with.
func (s *scene) tell() (all bool) {
	list, spoken := s.results(), slices.ContainsFunc(s.o.Said(s.since()), notBlank)
	if spoken {
		list = slices.DeleteFunc(list, result.stopped)
	}
	for i, r := range list {
		if i > 0 {
			s.say("\n\n")
		}
		s.say(r.told())
	}
	if spoken && len(list) > 0 {
		s.say("\n\n")
	}
	return len(list) > 0 && !spoken
}

// stopped reports whether the call was ended from outside, in the words of
// those who end it.
func (r result) stopped() bool {
	lines := strings.Split(r.text, "\n")
	return r.text == "stopped" || !r.fenced && strings.HasPrefix(r.text, "cancelled: ") ||
		slices.ContainsFunc(lines[max(0, len(lines)-2):], func(line string) bool { return strings.HasPrefix(line, "[stopped after ") })
}

func notBlank(s string) bool { return strings.TrimSpace(s) != "" }

// told is a result in words. What a person gave as a reason, or as an answer,
// stands in it as they wrote it. Words that are not known here are repeated.
func (r result) told() string {
	who, answer, answered := strings.Cut(r.text, " answered: ")
	switch {
	case r.failed:
		return fmt.Sprintf(script("failed"), r.name, block(r.text))
	case !r.fenced && strings.HasPrefix(r.text, "rejected by "):
		return fmt.Sprintf(script("rejected"), r.text)
	case r.name == tools.AskUserClarification && answered:
		return fmt.Sprintf(script("answered"), who, answer)
	default:
		return fmt.Sprintf(script("result"), r.name, r.shown())
	}
}

// shown is the text of a result: as code what a tool printed, as prose what
// parley says in a line.
func (r result) shown() string {
	if !r.fenced && !strings.Contains(strings.TrimSpace(r.text), "\n") {
		return r.text
	}
	return block(r.text)
}

// unfenced takes off the mark that results from outside bear.
func unfenced(text string) (string, bool) {
	head, _, _ := strings.Cut(text, "\n")
	name, ok := between(head, "<result ", ">")
	if !ok {
		return text, false
	}
	inner, ok := between(text, head+"\n", "\n</result "+name+">")
	if !ok {
		return text, false
	}
	return inner, true
}

// block is text as a block of code, and not long.
func block(text string) string {
	text = shortened(strings.TrimRight(text, " \t\r\n"))
	mark := "```"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	return mark + "\n" + text + "\n" + mark
}

// shortened is the beginning of a long text and its end, where commands say
// how they ended.
func shortened(text string) string {
	const head, tail, width = 16, 4, 160
	lines := strings.Split(text, "\n")
	if n := len(lines); n > head+tail+1 {
		left := fmt.Sprintf("… %d lines are left out here …", n-head-tail)
		lines = slices.Concat(lines[:head], []string{left}, lines[n-tail:])
	}
	for i, line := range lines {
		if runes := []rune(line); len(runes) > width {
			lines[i] = string(runes[:width]) + " …"
		}
	}
	return strings.Join(lines, "\n")
}
