package ask

import (
	"fmt"
	"strings"

	"parley/core/chat"
)

// How much an inbox shows: requests in full, with a button for each, and then
// in a line each.
const (
	inboxFull  = 5
	inboxLines = 50
	inboxBytes = 400 // of the arguments or the preview of one request
)

// InboxPost lists the open requests of somebody, with buttons for the first
// ones. The caller gives it an ID, and shows it to that person alone. A call
// that is too long to be shown here has no button to approve it, but one that
// asks for its card.
func InboxPost(open []Request) chat.Post {
	post := chat.Post{Kind: chat.Notice}
	if len(open) == 0 {
		post.Text = "Nothing waits for you."
		return post
	}
	list := []string{"**1 request waits for you:**"}
	if len(open) > 1 {
		list[0] = fmt.Sprintf("**%d requests wait for you**, the oldest first:", len(open))
	}
	for _, r := range open[:min(len(open), inboxFull)] {
		text, whole := r.entry()
		list = append(list, text)
		post.Buttons = append(post.Buttons, r.inboxButtons(whole))
	}
	if len(open) > inboxFull {
		list = append(list, lines(open[inboxFull:]))
	}
	post.Text = paragraphs(list...)
	return post
}

// entry is a request in an inbox, and whether that shows all of it.
func (r Request) entry() (text string, whole bool) {
	d := r.Details
	var cutText, cutArgs int
	d.Preview.Text, cutText = head(d.Preview.Text, inboxBytes)
	d.Args, cutArgs = head(d.Args, inboxBytes)
	d.TextCut, d.ArgsCut = d.TextCut+cutText, d.ArgsCut+cutArgs
	whole = d.TextCut == 0 && d.ArgsCut == 0
	d.Files = nil
	question := ""
	if strings.TrimSpace(r.Question) != "" {
		question = quote(r.Question, inboxBytes)
	}
	return paragraphs(mono(r.ID)+" "+r.headline(), question, d.target(), d.preview(), d.arguments(), r.note(), r.origin()), whole
}

// inboxButtons settle one request, in one row.
func (r Request) inboxButtons(whole bool) []chat.Button {
	id := " " + r.ID
	show := chat.Button{Label: "Show" + id, Line: "/inbox " + r.ID}
	switch {
	case r.Kind == Approval && !whole:
		return []chat.Button{show, r.reject("Reject"+id, "Why not? (- for no reason)")}
	case r.Kind == Approval:
		return []chat.Button{r.approve("Approve" + id), r.reject("Reject"+id, "Why not? (- for no reason)")}
	case r.Kind == Secret:
		return []chat.Button{r.reply("Set" + id + " …"), r.decline("Decline" + id)}
	default:
		return []chat.Button{r.reply("Answer" + id + " …"), show}
	}
}

// lines lists what has no room for more.
func lines(more []Request) string {
	var b strings.Builder
	b.WriteString("And:\n")
	for i, r := range more {
		if i == inboxLines {
			fmt.Fprintf(&b, "\n- and %d more; they come up here when some of these are settled", len(more)-inboxLines)
			break
		}
		fmt.Fprintf(&b, "\n- %s %s, %s; %s shows it", mono(r.ID), r.headline(), when(r.Asked), mono("/inbox "+r.ID))
	}
	return b.String()
}
