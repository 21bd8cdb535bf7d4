package gateway

import (
	"fmt"
	"strings"

	"parley/core/chat"
	"parley/core/session"
)

// Present says how something that happened looks in the chat; see
// [session.Front]. It is pure.
func (g *Gateway) Present(s session.Scene, h session.Happening) []chat.Post {
	switch h := h.(type) {
	case session.Spoke:
		return []chat.Post{{Text: spoke(h), ReplyTo: h.ReplyTo}}
	case session.Showed:
		return []chat.Post{{Text: h.Text, Files: h.Files}}
	case session.Postponed:
		return notice(fmt.Sprintf("I am waiting for an answer to %s; I read this next.", h.For))
	case session.Halted:
		return []chat.Post{halted(h)}
	case session.Overtaken:
		return notice("Not done: somebody said /stop before it was its turn.")
	case session.Faltered:
		return []chat.Post{{Kind: chat.Notice, Text: h.Sentence, ReplyTo: h.ReplyTo}}
	case session.Dismissed:
		return notice("You may no longer talk to me here, so I did not read your message. An owner can let you in again.")
	case session.Renewed:
		return notice("A new conversation. I remember nothing of the one before.")
	case session.Wiped:
		return notice("Forgotten. The settings of this conversation stay.")
	case session.Picked:
		return notice(picked(h, s))
	case session.Compacted:
		return notice(compacted(h))
	case session.Puzzled:
		return notice(fmt.Sprintf("Something went wrong, and the command did nothing (ref %s; the log says what).", h.Ref))
	default:
		panic(fmt.Sprintf("gateway: unknown happening %T", h))
	}
}

func notice(text string) []chat.Post { return []chat.Post{{Kind: chat.Notice, Text: text}} }

func spoke(h session.Spoke) string {
	var parts []string
	if h.Text != "" {
		parts = append(parts, h.Text)
	}
	if h.Cut && h.Last {
		parts = append(parts, "*(cut off here: the model met its output limit twice)*")
	}
	for _, n := range h.Notes {
		parts = append(parts, "*("+strings.TrimSuffix(n, ".")+")*")
	}
	return strings.Join(parts, "\n\n")
}

func halted(h session.Halted) chat.Post {
	var b strings.Builder
	switch {
	case h.Turn:
		b.WriteString("Stopped.")
	case h.Withdrawn:
		b.WriteString("Nothing was running; I do not send the rest of my last answer.")
	case h.Dropped > 0:
		b.WriteString("Nothing was running.")
	default:
		b.WriteString("Nothing is running here.")
	}
	if h.Dropped > 0 {
		fmt.Fprintf(&b, " I dropped %s that waited.", plural(h.Dropped, "message", "messages"))
	}
	if h.Shown != "" {
		return chat.Post{Text: closed(h.Shown+" …") + "\n\n*" + b.String() + "*"}
	}
	return chat.Post{Kind: chat.Notice, Text: b.String()}
}

// closed ends a block of code that a text was cut off in, so that what follows
// does not become part of it.
func closed(text string) string {
	fence := ""
	for line := range strings.Lines(text) {
		mark := strings.TrimLeft(line, " ")
		run := mark[:len(mark)-len(strings.TrimLeft(mark, mark[:min(1, len(mark))]))]
		switch {
		case len(run) < 3 || run[0] != '`' && run[0] != '~':
		case fence == "":
			fence = run
		case strings.HasPrefix(run, fence):
			fence = ""
		}
	}
	if fence == "" {
		return text
	}
	return text + "\n" + fence
}

func picked(h session.Picked, s session.Scene) string {
	if h.Model != "" {
		return fmt.Sprintf("**%s** answers first from now on, in this conversation. `/model auto` goes back to the configured order.", h.Model)
	}
	return "Back to the configured order of models."
}

func compacted(h session.Compacted) string {
	if h.Sentence != "" {
		return h.Sentence
	}
	return fmt.Sprintf("Summed up: about %s tokens now, %s before.", count(h.After), count(h.Before))
}

var _ session.Front = (*Gateway)(nil)
