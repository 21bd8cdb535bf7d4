package llm

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
)

// DemoOptions are the settings of the demo model; the zero value is fine.
type DemoOptions struct {
	Name string // default: demo
	// Pause is between two words, 25 ms by default, and Line between two lines
	// of the long answer, a second by default. Below zero there is none.
	Pause, Line time.Duration
	// Said returns what the person said, oldest first; by default the texts of
	// the user rows. A caller that puts more into those rows takes it out here.
	Said func([]Message) []string
}

// demo is a scripted model for when none is configured.
type demo struct{ o DemoOptions }

var _ Model = (*demo)(nil)

// NewDemo returns the demo model. It needs no network, says what it is, and
// shows what parley can do.
func NewDemo(o DemoOptions) Model {
	o.Name = cmp.Or(o.Name, "demo")
	o.Pause = cmp.Or(o.Pause, 25*time.Millisecond)
	o.Line = cmp.Or(o.Line, time.Second)
	if o.Said == nil {
		o.Said = userTexts
	}
	return &demo{o}
}

// Info describes the demo model.
func (d *demo) Info() Info {
	return Info{Name: d.o.Name, ID: "demo", Strength: "low", Context: defaultContext, Demo: true}
}

// Stream implements Model: it tells what tools gave back, and answers what was
// said by the first act that fits.
func (d *demo) Stream(ctx context.Context, req Request, each func(Delta)) (Reply, error) {
	s := &scene{demo: d, ctx: ctx, each: each, req: req, said: d.o.Said(req.Messages)}
	if !s.tell() {
		s.answer()
	}
	if s.err != nil {
		return Reply{}, s.err
	}
	return s.reply(), nil
}

// act is one thing the demo model can show. It fits what was said in lower
// case without the punctuation around it; the last act fits all.
type act struct {
	fits   func(said string) bool
	greets bool // says what it is, each time
	play   func(s *scene)
}

// acts in the order in which they are tried. An act that asks for a tool adds
// to scene.calls; what comes of that is told before the next act.
var acts = []act{
	{is(""), true, line("silence")},
	{is("hello", "hi", "hey", "hallo", "good morning", "good evening", "start", "/start"), true, line("greeting")},
	{is("help", "what can you do", "commands"), false, line("help")},
	{is("long", "something long", "count"), false, (*scene).long},
	{is("tool", "list the files", "list files"), false, (*scene).list},
	{is("question", "ask me something"), false, (*scene).question},
	{is("sleep"), false, (*scene).sleeps},
	{is("todo", "todos"), false, (*scene).todo},
	{begins("note"), false, (*scene).note},
	{begins("command", "run"), false, (*scene).command},
	{has("markdown", "formatting"), false, line("markdown")},
	{has("say first", "said first", "first thing i", "my first message"), false, (*scene).first},
	{has("say before", "said before", "said so far", "say so far", "did i say", "do you remember"), false, (*scene).before},
	{func(string) bool { return true }, false, (*scene).echo},
}

func is(phrases ...string) func(string) bool {
	return func(said string) bool {
		for _, p := range phrases {
			if said == p {
				return true
			}
		}
		return false
	}
}

func has(phrases ...string) func(string) bool {
	return func(said string) bool {
		for _, p := range phrases {
			if strings.Contains(said, p) {
				return true
			}
		}
		return false
	}
}

// line plays a section of demo.md.
func line(section string) func(*scene) {
	return func(s *scene) { s.say(script(section)) }
}

// scene is one answer of the demo model under way. After an error it says no
// more.
type scene struct {
	*demo
	ctx   context.Context
	each  func(Delta)
	req   Request
	said  []string
	text  strings.Builder
	calls []Call
	err   error
}

// answer plays the act that fits what was said last, and says first what it
// is if it has never said anything.
func (s *scene) answer() {
	a := s.act()
	if a.greets || !slices.ContainsFunc(s.req.Messages, func(m Message) bool { return m.Role == Assistant }) {
		s.say(script("intro") + "\n\n")
	}
	a.play(s)
}

// last is what was said last, "" when nothing was.
func (s *scene) last() string {
	if len(s.said) == 0 {
		return ""
	}
	return strings.TrimSpace(s.said[len(s.said)-1])
}

func (s *scene) act() act {
	said := strings.ToLower(strings.Trim(s.last(), " \t\r\n.,!?;:"))
	for _, a := range acts {
		if a.fits(said) {
			return a
		}
	}
	panic("llm: no act fits") // the last one does
}

// say streams text word by word.
func (s *scene) say(text string) {
	for _, word := range splitWords(text) {
		if s.err = cmp.Or(s.err, sleep(s.ctx, s.o.Pause)); s.err != nil {
			return
		}
		s.text.WriteString(word)
		if s.each != nil {
			s.each(Delta{Text: word})
		}
	}
}

// long says a line a second for a minute.
func (s *scene) long() {
	const lines = 60
	s.say(script("long") + "\n\n")
	for n := range lines {
		if s.err = cmp.Or(s.err, sleep(s.ctx, s.o.Line)); s.err != nil {
			return
		}
		s.say(fmt.Sprintf(script("line"), n+1, n+1, lines) + "\n")
	}
}

func (s *scene) echo() { s.say(fmt.Sprintf(script("echo"), excerpt(s.last()))) }

func (s *scene) first() {
	if len(s.said) < 2 {
		s.say(script("nothing"))
		return
	}
	s.say(fmt.Sprintf(script("first"), excerpt(s.said[0])))
}

func (s *scene) before() {
	const most = 20
	earlier := s.said[:max(0, len(s.said)-1)]
	if len(earlier) == 0 {
		s.say(script("nothing"))
		return
	}
	var list []string
	for i, said := range earlier {
		if i >= len(earlier)-most {
			list = append(list, fmt.Sprintf("%d. %s", i+1, excerpt(said)))
		}
	}
	s.say(fmt.Sprintf(script("before"), strings.Join(list, "\n")))
}

// reply ends the answer.
func (s *scene) reply() Reply {
	r := Reply{
		Text: strings.TrimRight(s.text.String(), "\n"), Calls: s.calls, Finish: finishOf("", len(s.calls) > 0),
		Model: s.o.Name, ModelID: "demo",
	}
	sent := 0
	for _, m := range s.req.Messages {
		sent += len(m.Text)
	}
	r.Usage = guess(r, sent)
	return r
}

// userTexts returns the texts of the user rows.
func userTexts(rows []Message) []string {
	var said []string
	for _, m := range rows {
		if m.Role == User {
			said = append(said, m.Text)
		}
	}
	return said
}

// excerpt is s on one line, and not long.
func excerpt(s string) string {
	const most = 300
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if len(runes) > most {
		return string(runes[:most]) + " …"
	}
	return string(runes)
}

// splitWords cuts text after each word's white space; joined it is the text.
func splitWords(text string) []string {
	var words []string
	begin, space := 0, false
	for i, r := range text {
		if unicode.IsSpace(r) {
			space = true
		} else if space {
			words = append(words, text[begin:i])
			begin, space = i, false
		}
	}
	return append(words, text[begin:])
}

//go:embed demo.md
var demoText string

// sections are the parts of demo.md by their headings.
var sections = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for part := range strings.SplitSeq("\n"+demoText, "\n# ") {
		name, text, _ := strings.Cut(part, "\n")
		m[name] = strings.TrimSpace(text)
	}
	return m
})

// script returns a section of demo.md.
func script(section string) string { return sections()[section] }
