package ask

import (
	"fmt"
	"strings"

	"parley/core/chat"
	"parley/tools"
)

// How much of what others wrote stands on a card, in characters.
const (
	longestQuestion = 3000
	longestAnswer   = 600
	longestLabel    = 40 // of a button
)

// CardPost is a card of a request: what is asked, all that is needed to decide,
// who asks, and buttons. The card of a chat in which nobody may answer only
// says that somebody elsewhere was asked.
func CardPost(r Request, c Card) chat.Post {
	post := chat.Post{ID: c.Post, Kind: chat.Card}
	if c.Waiting {
		post.Text = r.waiting()
		return post
	}
	post.Text = paragraphs(r.headline(), r.body(), r.choices(), r.note(), r.origin(), r.howTo())
	post.Buttons = r.buttons()
	post.Files = r.Details.Files
	return post
}

// SettledPost takes the place of a card once its request is settled: it says by
// whom and how, and has no buttons.
func SettledPost(r Request, c Card) chat.Post {
	return chat.Post{
		ID: strings.Replace(c.Post, "/card/", "/settled/", 1), Kind: chat.Card, Replaces: c.Post,
		Text: paragraphs(r.outcome(), r.words()), Silent: true,
	}
}

// outcome is how a request ended, in a line.
func (r Request) outcome() string {
	who := name(r.Answer.By)
	switch {
	case r.State == Withdrawn:
		return fmt.Sprintf("**No longer asked**%s: %s", bracketed(r.Answer.Text), r.subject())
	case r.State == Expired && r.Kind == Approval:
		return "**Rejected**, since nobody decided in time: " + r.subject()
	case r.State == Expired:
		return "**Nobody answered in time**: " + r.subject()
	default:
		verb := r.verb()
		return fmt.Sprintf("**%s%s** by %s: %s%s", strings.ToUpper(verb[:1]), verb[1:], who, r.subject(), r.reach())
	}
}

func bracketed(why string) string {
	if why = plain(why, longestTitle); why == "" {
		return ""
	}
	return " (" + why + ")"
}

// words are the answer or the reason as they were written.
func (r Request) words() string {
	if r.State != Answered || r.Answer.Text == "" {
		return ""
	}
	return quote(r.Answer.Text, longestAnswer)
}

// waiting is the card of those who can only wait.
func (r Request) waiting() string {
	what := "an answer"
	switch r.Kind {
	case Approval:
		what = "approval"
	case Secret:
		what = "a secret"
	}
	return fmt.Sprintf("**Waiting for %s**: %s\n\nThose who may give it have been asked elsewhere, until %s. /stop takes it back.",
		what, r.subject(), when(r.Expires))
}

func (r Request) headline() string {
	switch r.Kind {
	case Approval:
		return "**May this run?** " + r.subject()
	case Secret:
		return "**A secret is needed**: " + r.subject()
	case Elicitation:
		return fmt.Sprintf("**The MCP server %s asks**: %s", mono(r.Server), r.subject())
	default:
		return "**Question**: " + r.subject()
	}
}

// body is the whole truth about the call, and the question.
func (r Request) body() string {
	question := ""
	if strings.TrimSpace(r.Question) != "" {
		question = quote(r.Question, longestQuestion)
	}
	d := r.Details.trimmed().counted(r.Details)
	return paragraphs(question, d.target(), d.preview(), d.arguments())
}

// counted adds what was cut before.
func (d Details) counted(before Details) Details {
	d.ArgsCut += before.ArgsCut
	d.TextCut += before.TextCut
	return d
}

func (d Details) target() string {
	if d.Target == "" {
		return ""
	}
	return "Path: " + path(d.Target)
}

func (d Details) preview() string {
	p := d.Preview
	switch {
	case p.Text == "" && p.Where == "":
		return ""
	case p.Kind == tools.PreviewCommand:
		text := fenced("sh", "$ "+p.Text) + d.rest(d.TextCut)
		if p.Where != "" {
			text += "\nin " + path(p.Where)
		}
		return text
	case p.Kind == tools.PreviewDiff:
		return fenced("diff", p.Text) + d.rest(d.TextCut)
	default:
		return fenced("", p.Text) + d.rest(d.TextCut)
	}
}

func (d Details) arguments() string {
	if d.Args == "" {
		return ""
	}
	return fenced("json", d.Args) + d.rest(d.ArgsCut)
}

// rest says that something was cut off, and where the whole of it is.
func (d Details) rest(cut int) string {
	if cut == 0 {
		return ""
	}
	if len(d.Files) == 0 {
		return fmt.Sprintf("\n**%d more bytes are not shown.**", cut)
	}
	names := make([]string, len(d.Files))
	for i, f := range d.Files {
		names[i] = mono(f.Name)
	}
	return fmt.Sprintf("\n**%d more bytes**, see %s.", cut, strings.Join(names, ", "))
}

func (r Request) note() string {
	if note := plain(r.Details.Preview.Note, 2*longestTitle); note != "" {
		return "**Note**: " + note
	}
	return ""
}

// choices lists the suggested answers if the buttons do not show all of them.
func (r Request) choices() string {
	const most = 40
	whole := len(r.Choices) <= mostChoices
	for _, c := range r.Choices {
		whole = whole && label(c) == c
	}
	if whole {
		return ""
	}
	var b strings.Builder
	b.WriteString("Suggested:\n")
	for i, c := range r.Choices {
		if i == most {
			fmt.Fprintf(&b, "\n- and %d more", len(r.Choices)-most)
			break
		}
		fmt.Fprintf(&b, "\n- \\#%d: %s", i+1, plain(c, 2*longestTitle))
	}
	return b.String()
}

// origin says who asks: agent, chat or task, for whom, since when.
func (r Request) origin() string {
	var b strings.Builder
	b.WriteString("Asked by " + orElse(agent(r.Details.Agent), "the agent"))
	if title := plain(r.Details.Chat, longestName); title != "" {
		b.WriteString(" in " + title)
	}
	if r.For.ID != "" {
		b.WriteString(" for " + called(r.For))
	}
	fmt.Fprintf(&b, ", %s; open until %s.", when(r.Asked), when(r.Expires))
	return b.String()
}

func agent(s string) string {
	if s = plain(s, longestName); s == "" {
		return ""
	}
	return "the agent " + s
}

// howTo is for those who would rather type.
func (r Request) howTo() string {
	switch r.Kind {
	case Approval:
		return mono("/approve "+r.ID+" [once|15m|session]") + " or " + mono("/reject "+r.ID+" [reason]")
	case Secret:
		return "The value goes to the secret store and nowhere else: neither the agent nor the log sees it. Give it with the button, never as a message in a group. " +
			mono("/reject "+r.ID) + " declines."
	case Clarification:
		return "Reply with the answer, or say " + mono("/answer "+r.ID+" TEXT")
	default:
		return mono("/answer "+r.ID+" TEXT") + " or " + mono("/reject "+r.ID+" [reason]")
	}
}
