package session

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"strings"
	"text/template"
	"unicode"

	"parley/core/chat"
	"parley/core/llm"
	"parley/core/policy"
)

// The prompt is laid out for the provider's prefix cache: what changes least
// comes first.
//
//	static system text → summary → history → tail (time, machine) → reminder

//go:embed system.md
var systemPrompt string

//go:embed tail.md
var tailText string

var tailTemplate = template.Must(template.New("tail").Parse(tailText))

// Reminders: what the model is told when its last answer was not one.
const (
	remindBlank = "Your last answer was empty. Answer the person now, in words."
	remindCut   = "Your last message met the output limit and was cut off. " +
		"Go on exactly where it stopped; repeat nothing."
)

// request is the prompt of the turn's next round.
func (t *turn) request(ctx context.Context, view View) (llm.Request, error) {
	offered, err := t.offer(ctx)
	if err != nil {
		return llm.Request{}, fmt.Errorf("putting the tools together: %w", err)
	}
	t.offered = offered
	rows := t.host.prompt(view, offered.context, t.host.pictures(ctx))
	switch {
	case endsBlank(view.Entries):
		rows.say(remindBlank)
	case endsCut(view.Entries):
		rows.say(remindCut)
	}
	return llm.Request{Messages: rows, Tools: described(offered.tools), Session: t.sid}, nil
}

// described is how the model reads the tools of a round.
func described(all []offered) []llm.ToolSpec {
	list := make([]llm.ToolSpec, 0, len(all))
	for _, s := range specs(all) {
		list = append(list, llm.ToolSpec{Name: s.Name, Description: s.Description, Schema: s.Schema})
	}
	return list
}

// endsBlank reports whether the newest entry is an answer without words.
func endsBlank(entries []Entry) bool {
	said, ok := newest(entries)
	return ok && said.Text == "" && len(said.Calls) == 0
}

// endsCut reports whether the newest entry is an answer that met the limit.
func endsCut(entries []Entry) bool {
	said, ok := newest(entries)
	return ok && said.Finish == llm.FinishLength && len(said.Calls) == 0
}

// newest returns the newest entry if it is an answer.
func newest(entries []Entry) (AssistantSaid, bool) {
	if len(entries) == 0 {
		return AssistantSaid{}, false
	}
	said, ok := entries[len(entries)-1].Body.(AssistantSaid)
	return said, ok
}

// size estimates the tokens of the next prompt, as the provider would count.
func (t *turn) size(view View) int { return t.host.size(view) }

func (h *Host) size(view View) int {
	n := estimate(h.prompt(view, policy.Context{}, noPictures))
	if view.Carried.Ratio > 0 {
		return int(float64(n) * view.Carried.Ratio)
	}
	return n
}

// rows is a prompt under construction.
type rows []llm.Message

// say adds words to the person's side; rows of one side are merged, since many
// chat templates refuse two in a row.
func (r *rows) say(text string, images ...llm.Image) {
	list := *r
	if n := len(list); n > 0 && list[n-1].Role == llm.User {
		list[n-1].Text += "\n\n" + text
		list[n-1].Images = append(list[n-1].Images, images...)
		return
	}
	*r = append(list, llm.Message{Role: llm.User, Text: text, Images: images})
}

// prompt lays a conversation out for a model.
func (h *Host) prompt(view View, run policy.Context, picture func(chat.File) (llm.Image, bool)) rows {
	list := rows{{Role: llm.System, Text: trim(h.config.Prompt + "\n\n" + run.Prompt), CacheAnchor: true}}
	if pad := view.Carried.Scratchpad; pad != "" {
		list.say("Your scratchpad:\n\n" + fence("scratchpad", pad))
	}
	if view.Summary != "" {
		list.say("What was said before, summed up:\n\n" + fence("summary", view.Summary))
	}
	old := len(view.Entries) - h.config.KeepRaw
	for i, e := range view.Entries {
		switch b := e.Body.(type) {
		case UserSaid:
			list.say(utterance(b), pictured(b.Files, picture)...)
		case Noted:
			list.say("(" + b.Text + ")")
		case AssistantSaid:
			list.answer(b)
		case ToolStated:
			list.result(b, i < old)
		}
	}
	list[len(list)-1].CacheAnchor = true
	list.say(h.tail(run.Dir))
	return list
}

func (r *rows) answer(b AssistantSaid) {
	if b.Text == "" && len(b.Calls) == 0 {
		return
	}
	if n := len(*r); n > 0 && (*r)[n-1].Role == llm.Assistant {
		r.say(remindCut)
	}
	text := b.Text
	if b.Stopped {
		text += " … (the person stopped me here)"
	}
	*r = append(*r, llm.Message{
		Role: llm.Assistant, Text: text, Calls: b.Calls,
		Reasoning: b.Reasoning, ReasonedBy: b.ReasonedBy,
	})
}

// oversized is how long a tool result may be once it is old, in bytes.
const oversized = 4 << 10

// result adds the result of a call. A long one that is old is replaced by a
// stub, in the prompt only.
func (r *rows) result(b ToolStated, old bool) {
	if !b.State.Ended() {
		return
	}
	text := b.Result
	if old && len(text) > oversized {
		text = fmt.Sprintf("[the result of %s, %d bytes, is left out here because it is old; call the tool again if it is needed]", clip(b.Name), len(text))
	}
	if b.Outside {
		text = fence("result", text)
	}
	*r = append(*r, llm.Message{Role: llm.Tool, Text: text, CallID: b.Call, CallFailed: b.State == Failed})
}

// utterance is a person's message as the model reads it: who said it where
// several can speak, what it replies to, and what is attached.
func utterance(b UserSaid) string {
	var text strings.Builder
	if b.Task != "" {
		fmt.Fprintf(&text, "The task %s has ended with this result:\n\n%s", b.Task, fence("result", b.Text))
		return text.String()
	}
	if !b.Private {
		fmt.Fprintf(&text, "[%s] ", speaker(b.From))
	}
	text.WriteString(b.Text)
	if trim(b.Text) == "" && len(b.Files) == 0 {
		text.WriteString("(a message without text)") // a blank row is refused
	}
	if q := b.Quoted; q != nil {
		fmt.Fprintf(&text, "\n\nThis replies to %s:\n%s", quoted(*q), fence("quote", q.Text))
	}
	if len(b.Files) > 0 {
		text.WriteString("\n\nAttached:")
		for _, f := range b.Files {
			fmt.Fprintf(&text, "\n- %q (%q, %d bytes)", f.Name, f.Type, f.Size)
		}
	}
	return text.String()
}

// speaker is the name of a person in a prompt. Names are chosen by those who
// bear them: one must not look like the beginning of somebody else's message.
func speaker(u chat.User) string { return orSomebody(oneLine(u.Label())) }

func orSomebody(name string) string {
	if name == "" {
		return "somebody"
	}
	return name
}

// oneLine makes a name of a text: one line of bounded length, without brackets.
func oneLine(s string) string {
	const most = 64
	s = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune("[]<>", r):
			return -1
		case unicode.IsSpace(r), unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return ' '
		default:
			return r
		}
	}, s)
	runes := []rune(strings.Join(strings.Fields(s), " "))
	return string(runes[:min(most, len(runes))])
}

func quoted(q chat.Quote) string {
	what := "a message"
	if q.Fragment {
		what = "a part of a message"
	}
	if q.Media != "" {
		what += " with a " + oneLine(q.Media)
	}
	if q.Author != "" {
		what += " by " + orSomebody(oneLine(q.Author))
	}
	return what
}

// fence marks text from outside as data. The end mark holds a hash of what
// stands inside, so that nothing inside can forge it.
func fence(kind, text string) string {
	sum := sha256.Sum256([]byte(text))
	mark := hex.EncodeToString(sum[:8])
	return fmt.Sprintf("<%s %s>\n%s\n</%s %s>", kind, mark, text, kind, mark)
}

// tail is what changes with every request.
func (h *Host) tail(dir string) string {
	var b bytes.Buffer
	now := h.now().In(h.config.Zone)
	err := tailTemplate.Execute(&b, map[string]string{
		"Time":    now.Format("Monday, 2 January 2006, 15:04"),
		"Zone":    now.Format("MST -07:00"),
		"System":  runtime.GOOS + "/" + runtime.GOARCH,
		"Workdir": dir,
	})
	if err != nil {
		panic("session: " + err.Error())
	}
	return trim(b.String())
}

// Spoken takes out of a prompt what parley put into the person's rows, and
// returns what people said, oldest first. It is for models that are none.
func Spoken(messages []llm.Message) []string {
	var said []string
	for _, m := range messages {
		text, _, _ := strings.Cut(m.Text, "<context>")
		for _, kind := range []string{"scratchpad", "summary"} {
			text = behind(text, kind)
		}
		text = speakers.ReplaceAllString(trim(text), "")
		if m.Role == llm.User && text != "" {
			said = append(said, text)
		}
	}
	return said
}

// speakers is how the words of a person begin where several can speak.
var speakers = regexp.MustCompile(`^\[[^\[\]<>\n]{1,64}\] `)

// behind is what follows the block that [Host.prompt] put before a text.
func behind(text, kind string) string {
	_, rest, ok := strings.Cut(text, "\n\n<"+kind+" ")
	mark, rest, closed := strings.Cut(rest, ">\n")
	_, rest, ended := strings.Cut(rest, "\n</"+kind+" "+mark+">")
	if !ok || !closed || !ended {
		return text
	}
	return rest
}

// mostPicture is how large a picture may be that is sent to a model, in bytes.
const mostPicture = 10 << 20

// pictures returns a function that reads a picture from the blob store.
func (h *Host) pictures(ctx context.Context) func(chat.File) (llm.Image, bool) {
	return func(f chat.File) (llm.Image, bool) {
		r, info, err := h.store.OpenBlob(ctx, f.Blob)
		if err != nil {
			h.log.Warn().Err(err).Str("blob", f.Blob).Msg("reading a picture")
			return llm.Image{}, false
		}
		defer r.Close()
		if info.Size > mostPicture {
			return llm.Image{}, false
		}
		data, err := io.ReadAll(io.LimitReader(r, mostPicture))
		if err != nil {
			h.log.Warn().Err(err).Str("blob", f.Blob).Msg("reading a picture")
			return llm.Image{}, false
		}
		return llm.Image{Type: f.Type, Data: data, Note: fmt.Sprintf("[picture %q, which this model cannot see]", f.Name)}, true
	}
}

func noPictures(chat.File) (llm.Image, bool) { return llm.Image{}, true }

func pictured(files []chat.File, picture func(chat.File) (llm.Image, bool)) []llm.Image {
	var images []llm.Image
	for _, f := range files {
		if f.Blob == "" || !strings.HasPrefix(f.Type, "image/") {
			continue
		}
		if image, ok := picture(f); ok {
			images = append(images, image)
		}
	}
	return images
}

// Token estimates: what English prose comes to, and what a picture costs at
// most providers. They are corrected by what the provider counts.
const (
	charsPerToken    = 4
	tokensPerPicture = 1000
	tokensPerRow     = 4
)

// estimate guesses the tokens of a prompt.
func estimate(messages []llm.Message) int {
	n := 0
	for _, m := range messages {
		chars := len(m.Text)
		for _, c := range m.Calls {
			chars += len(c.Name) + len(c.Args)
		}
		n += chars/charsPerToken + tokensPerPicture*len(m.Images) + tokensPerRow
	}
	return n
}

// cutMiddle shortens a text to about most bytes by leaving out its middle, at
// rune borders.
func cutMiddle(s string, most int) string {
	if len(s) <= most {
		return s
	}
	head, rest := s[:most/2], s[len(s)-most/2:]
	return strings.ToValidUTF8(head, "") + fmt.Sprintf("\n[… %d bytes left out …]\n", len(s)-most) + strings.ToValidUTF8(rest, "")
}

// trim removes white space at both ends, and all of a text that shows nothing:
// no chat takes a message of zero-width characters.
func trim(s string) string {
	s = strings.TrimSpace(s)
	if strings.ContainsFunc(s, visible) {
		return s
	}
	return ""
}

func visible(r rune) bool { return !unicode.IsSpace(r) && !unicode.In(r, unicode.Cf, unicode.Cc) }
