package ask

import (
	"fmt"
	"strconv"
	"strings"

	"parley/tools"
)

// Reply is what somebody says to a request.
type Reply struct {
	Verdict Verdict
	Choice  int // of Replied: the number of a suggested answer, 0 for none
	// Text is the answer or the reason, as it was written. With a Choice it
	// is how that was written.
	Text   string
	Bypass Bypass // of Approved
}

// ParseApprove reads what follows /approve: ID [once|15m|session]
// [tool|category|server|all]. A problem is a sentence for the person.
func ParseApprove(args string) (id string, r Reply, problem string) {
	id, rest, ok := CutID(args)
	if !ok {
		return "", Reply{}, noID(args, "/approve ID")
	}
	r.Verdict = Approved
	words := strings.Fields(strings.ToLower(rest))
	long, wide := "", ""
	for _, w := range words {
		s, isSpan := spans[w]
		c, isScope := scopes[w]
		switch {
		case isSpan && long == "":
			long, r.Bypass.Span = w, s
		case isScope && wide == "":
			wide, r.Bypass.Scope = w, c
		default:
			return "", Reply{}, fmt.Sprintf("I do not understand %s. Say %s; without more it is this call alone.",
				mono(w), mono("/approve "+id+" [once|15m|session] [tool|category|server|all]"))
		}
	}
	if r.Bypass.Span == Once && r.Bypass.Scope != ThisTool {
		return "", Reply{}, fmt.Sprintf("For how long? %s or %s; once is for this call alone.",
			mono("/approve "+id+" 15m "+wide), mono("/approve "+id+" session "+wide))
	}
	return id, r, ""
}

var (
	spans = map[string]Span{
		"once": Once, "15m": QuarterHour, "15min": QuarterHour, "15": QuarterHour, "session": WholeSession,
	}
	scopes = map[string]Scope{
		"tool": ThisTool, string(ThisCategory): ThisCategory, string(ThisServer): ThisServer, string(AllTools): AllTools,
	}
)

// ParseReject reads what follows /reject: ID [reason]. A dash alone is no
// reason: it is what one types where a form insists on something.
func ParseReject(args string) (id string, r Reply, problem string) {
	id, rest, ok := CutID(args)
	if !ok {
		return "", Reply{}, noID(args, "/reject ID")
	}
	if rest == "-" || rest == "–" || rest == "—" {
		rest = ""
	}
	return id, Reply{Verdict: Rejected, Text: rest}, ""
}

// ParseAnswer reads what follows /answer: ID TEXT|#N.
func ParseAnswer(args string) (id string, r Reply, problem string) {
	id, rest, ok := CutID(args)
	if !ok {
		return "", Reply{}, noID(args, "/answer ID TEXT")
	}
	if rest == "" {
		return "", Reply{}, fmt.Sprintf("And the answer? Say %s, or %s for one of the suggested answers.",
			mono("/answer "+id+" TEXT"), mono("/answer "+id+" #N"))
	}
	return id, Typed(rest), ""
}

// Typed is the reply of somebody who just writes: a message that answers an
// open question. "#2" is the second of the suggested answers.
func Typed(text string) Reply {
	r := Reply{Verdict: Replied, Text: text}
	if digits, found := strings.CutPrefix(strings.TrimSpace(text), "#"); found {
		if n, err := strconv.Atoi(strings.TrimSpace(digits)); err == nil && n > 0 {
			r.Choice = n
		}
	}
	return r
}

// accept turns a reply into the answer of this request, or says why it is
// none.
func (r Request) accept(reply Reply) (Answer, string) {
	switch {
	case reply.Verdict == Rejected && r.Kind == Secret:
		return Answer{Verdict: Rejected}, "" // the words might hold what nobody may read
	case reply.Verdict == Rejected:
		return Answer{Verdict: Rejected, Text: reply.Text}, ""
	case r.Kind == Approval && reply.Verdict == Approved:
		return Answer{Verdict: Approved, Bypass: reply.Bypass}, r.misfit(reply.Bypass)
	case r.Kind == Secret && reply.Verdict == Stored:
		return Answer{Verdict: Stored}, ""
	case (r.Kind == Clarification || r.Kind == Elicitation) && reply.Verdict == Replied:
		return r.choose(reply)
	default:
		return Answer{}, r.wrongKind()
	}
}

// misfit says why a bypass makes no sense for the tool.
func (r Request) misfit(b Bypass) string {
	switch {
	case b.Span != Once && b.Span != QuarterHour && b.Span != WholeSession:
		return fmt.Sprintf("An approval holds once, for 15m or for the session, not for %s.", mono(string(b.Span)))
	case b.Span == Once && b.Scope != ThisTool:
		return "An approval that holds once is for its call alone."
	case b.Scope == ThisCategory && r.Category == tools.NoCategory:
		return fmt.Sprintf("%s has no category. Nothing was decided; choose tool%s or all.", mono(r.Tool), orServer(r.Server))
	case b.Scope == ThisServer && r.Server == "":
		return fmt.Sprintf("%s is of no MCP server. Nothing was decided; choose tool, category or all.", mono(r.Tool))
	case b.Scope != ThisTool && b.Scope != ThisCategory && b.Scope != ThisServer && b.Scope != AllTools:
		return fmt.Sprintf("An approval covers a tool, its category, its server or all, not %s.", mono(string(b.Scope)))
	default:
		return ""
	}
}

func orServer(server string) string {
	if server == "" {
		return ""
	}
	return ", server"
}

// choose resolves a number, and the text of a suggested answer to its number.
func (r Request) choose(reply Reply) (Answer, string) {
	text := strings.TrimSpace(reply.Text)
	n := reply.Choice
	if len(r.Choices) == 0 && text != "" {
		n = 0 // "#2" is an answer like any other
	}
	for i, c := range r.Choices {
		if n == 0 && text != "" && strings.EqualFold(text, strings.TrimSpace(c)) {
			n = i + 1
		}
	}
	switch {
	case n < 0 || n > len(r.Choices):
		return Answer{}, fmt.Sprintf("There is no answer #%d; %s. Say %s.", n, suggested(len(r.Choices)), mono("/answer "+r.ID+" TEXT|#N"))
	case n > 0:
		return Answer{Verdict: Replied, Choice: n, Text: r.Choices[n-1]}, ""
	case text == "":
		return Answer{}, fmt.Sprintf("And the answer? Say %s.", mono("/answer "+r.ID+" TEXT"))
	default:
		return Answer{Verdict: Replied, Text: reply.Text}, ""
	}
}

func suggested(n int) string {
	switch n {
	case 0:
		return "none are suggested"
	case 1:
		return "only one is suggested"
	default:
		return fmt.Sprintf("%d are suggested", n)
	}
}
