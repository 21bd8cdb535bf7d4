package ask

import (
	"fmt"
	"strings"

	"parley/core/chat"
)

// example is an id in sentences about ids.
const example = "k7f39q"

// unknown answers an id that no request has.
func unknown(typed string) string {
	if id := normal(typed); id != "" {
		return fmt.Sprintf("There is no request %s, or none any more, so nothing was done. /inbox lists what is open.", mono(id))
	}
	return noID(typed, "")
}

// noID answers what does not begin with an id.
func noID(typed, usage string) string {
	if usage != "" && strings.TrimSpace(typed) == "" {
		return fmt.Sprintf("Which one? Say %s. /inbox lists what is open.", mono(usage))
	}
	first, _, _ := strings.Cut(strings.TrimSpace(typed), " ")
	return fmt.Sprintf("%s is not the id of a request; one looks like %s. /inbox lists what is open.", mono(clean(first, longestName)), mono(example))
}

// foreign answers somebody who was not asked. It says nothing about the
// request.
func (r Request) foreign() string {
	if r.Kind == Approval {
		return fmt.Sprintf("You are not among those who may decide %s, so nothing was done.", mono(r.ID))
	}
	return fmt.Sprintf("You are not among those who were asked %s, so nothing was done.", mono(r.ID))
}

// late answers somebody who comes after a request was settled, or after its
// time.
func (r Request) late(by chat.User) string {
	who := name(r.Answer.By)
	if r.Answer.By.ID == by.ID {
		who = "you"
	}
	id := mono(r.ID)
	switch {
	case r.State == Withdrawn:
		return fmt.Sprintf("%s is not asked any more%s.", id, reason(r.Answer.Text))
	case r.State != Answered && r.Kind == Approval:
		return fmt.Sprintf("%s expired at %s, which counts as a rejection. Nothing was run.", id, when(r.Expires))
	case r.State != Answered:
		return fmt.Sprintf("%s expired at %s, so the answer comes too late.", id, when(r.Expires))
	default:
		return fmt.Sprintf("%s was already %s by %s.", id, r.verb(), who)
	}
}

func reason(why string) string {
	if why = plain(why, longestTitle); why == "" {
		return ""
	}
	return ": " + why
}

// verb is what was done with an answered request.
func (r Request) verb() string {
	switch {
	case r.Answer.Verdict == Approved:
		return "approved"
	case r.Answer.Verdict == Stored:
		return "set"
	case r.Answer.Verdict == Replied:
		return "answered"
	case r.Kind == Approval:
		return "rejected"
	default:
		return "declined"
	}
}

// wrongKind answers the wrong command for a request.
func (r Request) wrongKind() string {
	id := mono(r.ID)
	switch r.Kind {
	case Approval:
		return fmt.Sprintf("%s asks for an approval: %s or %s.", id, mono("/approve "+r.ID), mono("/reject "+r.ID+" [reason]"))
	case Secret:
		return fmt.Sprintf("%s asks for a secret. Its value goes only where the card says; %s declines.", id, mono("/reject "+r.ID))
	default:
		return fmt.Sprintf("%s is a question: %s, or %s to decline.", id, mono("/answer "+r.ID+" TEXT"), mono("/reject "+r.ID+" [reason]"))
	}
}

// done is the sentence for the person whose answer counted.
func (r Request) done() string {
	verb := r.verb()
	switch r.State {
	case Expired:
		verb = "expired"
	case Withdrawn:
		verb = "withdrawn"
	}
	return fmt.Sprintf("%s%s: %s%s.", strings.ToUpper(verb[:1]), verb[1:], r.subject(), r.reach())
}

// subject is what a request is about, in short: the tool and the label of its
// call, or the title.
func (r Request) subject() string {
	title := plain(r.Title, longestTitle)
	switch {
	case r.Tool == "" && title == "":
		return mono(r.ID)
	case r.Tool == "" || r.Kind != Approval:
		return orElse(title, mono(r.Tool))
	case title == "" || r.Title == r.Tool:
		return mono(r.Tool)
	default:
		return mono(r.Tool) + ", " + title
	}
}

func orElse(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

// reach says what else an approval lets run.
func (r Request) reach() string {
	b := r.Answer.Bypass
	if b.Span == Once {
		return ""
	}
	what := "every call of " + mono(r.Tool)
	switch b.Scope {
	case ThisTool:
	case ThisCategory:
		what = "every call of a " + plain(string(r.Category), longestName) + " tool"
	case ThisServer:
		what = "every tool of the server " + mono(r.Server)
	case AllTools:
		what = "every tool"
	}
	if b.Span == WholeSession {
		return "; and " + what + " until this conversation ends"
	}
	return "; and " + what + " for 15 minutes"
}

// SeveralSentence is for somebody who wrote a message while several questions
// to them are open in that chat: which one it answers is not guessed.
func SeveralSentence(open []Request) string {
	const most = 10
	var b strings.Builder
	b.WriteString("I have asked you more than one thing here, so I take your message as no answer and read it next. To answer:\n")
	for i, r := range open {
		if i == most {
			fmt.Fprintf(&b, "\n- and %d more, see /inbox", len(open)-most)
			break
		}
		fmt.Fprintf(&b, "\n- %s: %s", r.subject(), mono("/answer "+r.ID+" TEXT"))
	}
	return b.String()
}
