package policy

import (
	"context"
	"fmt"
	"strings"

	"parley/tools"
)

// Explain tells what applies to a call and why, step by step, in Markdown: the
// text of /rules TOOL. Without a path it tells what depends on one.
func (p *Policy) Explain(ctx context.Context, c Call) string {
	c, why := p.settle(c)
	lines := []string{heading(&c)}
	if why == "" {
		why = p.forbidden(&c)
	}
	if why != "" {
		return told(append(lines, "- "+why+" No rule and no approval changes that."), Deny)
	}
	b, err := p.book(ctx)
	if err != nil {
		return told(append(lines, "- The rules could not be read; the log says why."), Require)
	}
	if b.broken != nil {
		return told(append(lines, fmt.Sprintf("- These rules make no sense, and none counts until they are put anew or deleted: %s.", list(b.senseless))), Require)
	}
	steps, e := b.steps(&c)
	lines = append(lines, steps...)
	v := p.conclude(&c, e)
	return told(append(lines, p.relief(&c, v)...), v.Action)
}

// outcome is the last line of an explanation.
func outcome(a Action) string {
	switch a {
	case Allow:
		return "**It runs.**"
	case Deny:
		return "**It is denied.**"
	default:
		return "**A person is asked.**"
	}
}

// told is a whole explanation.
func told(lines []string, a Action) string {
	return strings.Join(append(lines, "", outcome(a)), "\n")
}

// heading names the call.
func heading(c *Call) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s in group %s", mono(c.Tool.Name), mono(c.Group))
	for _, part := range []struct{ name, value string }{
		{"agent", c.Agent}, {"source", c.Source}, {"category", string(c.Tool.Category)}, {"tools of", c.Tool.Source}, {"path", c.Path},
	} {
		if part.value != "" {
			fmt.Fprintf(&b, ", %s %s", part.name, mono(part.value))
		}
	}
	b.WriteString(":")
	return b.String()
}

// steps tells of the rules that speak of a call, to the one that decides.
func (b *book) steps(c *Call) (lines []string, decides *entry) {
	const most = 20
	passed := 0
	for e := range b.about(c) {
		line := fmt.Sprintf("- Rule %s of %s (%d): %s", mono(e.ID), e.home(), e.Priority, e.Rule)
		if e.Note != "" {
			line += " – " + plain(e.Note)
		}
		if e.reaches(c) {
			return append(lines, line+". **It decides.**"), e
		}
		if passed++; passed == most {
			lines = append(lines, "- … more rules about other paths.")
		}
		if passed < most {
			lines = append(lines, line+". Another path, or none: it is passed over.")
		}
	}
	return append(lines, "- No rule matches, so a person is asked."), nil
}

// relief tells what makes an allow of a require, or would.
func (p *Policy) relief(c *Call, v Verdict) []string {
	switch {
	case v.Eased != "", v.Bypassed:
		return []string{"- " + v.Why}
	case v.Action == Deny:
		return []string{"- A deny is never eased, and no approval goes over it."}
	case v.Action == Allow:
		return nil
	}
	var lines []string
	switch {
	case c.Tool.Name == tools.WebFetch && server(c.Tool) == "":
		lines = append(lines, "- An address that a person wrote or a search found needs no approval.")
	case c.Path == "" && c.files() && c.Tool.Effect == tools.ReadOnly:
		lines = append(lines, "- Reading in the working directory, docs/, skills/ and granted directories needs no approval.")
	case c.Path == "" && c.files():
		lines = append(lines, "- Writing in scratch/ and memory/ of the working directory and in granted directories needs no approval.")
	case c.Path != "" && c.files():
		lines = append(lines, "- The path is not among those that need no approval.")
	}
	return append(lines, "- No bypass of this session reaches it.")
}

// plain is a note for use in a line of Markdown. It is printable already.
func plain(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "'", "[", `\[`, "]", `\]`, "<", `\<`).Replace(s)
}

// Line is the rule as a line of a list, in Markdown: its id, its priority,
// what it says, the note.
func (r Rule) Line() string {
	line := fmt.Sprintf("%s (%d): %s", mono(r.ID), r.Priority, r)
	if r.Note != "" {
		line += " – " + plain(r.Note)
	}
	return line
}
