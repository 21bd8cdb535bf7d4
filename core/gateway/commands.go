package gateway

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/core/access"
	"parley/core/chat"
	"parley/core/llm"
	"parley/core/session"
)

func (g *Gateway) stop(context.Context, call) (session.Effect, error) {
	return session.Effect{Act: session.Stop{}}, nil
}

// change turns what access worked out into an effect: ops, the reply, what
// others are told, and a stop wherever a person who lost access is at work.
func (g *Gateway) change(ctx context.Context, c call, ch access.Change, err error) (session.Effect, error) {
	if err != nil {
		return session.Effect{}, err
	}
	e := g.say(c.ev, ch.Reply)
	e.Ops = ch.Ops
	for i, t := range ch.Told {
		e.Posts = append(e.Posts, session.Addressed{Key: t.Key, Post: told(c.ev.ID, i, t)})
	}
	ops, keys, err := g.evict(ctx, c.ev.ID, ch.Revoked)
	e.Ops, e.Wake = append(e.Ops, ops...), keys
	return e, err
}

func told(event string, i int, t access.Tell) chat.Post {
	return chat.Post{ID: fmt.Sprintf("told/%s/%d", event, i), Kind: chat.Notice, Text: t.Text}
}

func (g *Gateway) claim(ctx context.Context, c call) (session.Effect, error) {
	ch, err := g.access.Claim(ctx, c.ev.From, c.ev.Key, c.private(), c.line.Rest)
	return g.change(ctx, c, ch, err)
}

func (g *Gateway) pair(ctx context.Context, c call) (session.Effect, error) {
	ch, err := g.access.Pair(ctx, c.ev.From, c.line.Rest)
	return g.change(ctx, c, ch, err)
}

func (g *Gateway) role(ctx context.Context, c call) (session.Effect, error) {
	if len(c.line.Args) < 2 {
		return g.say(c.ev, "Say whom and what: `/role USER owner|admin|member|guest|none`. USER is an id such as `telegram:123456`, which /whoami shows."), nil
	}
	last := len(c.line.Args) - 1
	user := strings.Join(c.line.Args[:last], " ")
	ch, err := g.access.SetRole(ctx, c.ev.From, user, c.line.Args[last])
	return g.change(ctx, c, ch, err)
}

func (g *Gateway) link(ctx context.Context, c call) (session.Effect, error) {
	ch, err := g.access.Link(ctx, c.ev.From, c.ev.Key, c.private(), c.line.Rest)
	return g.change(ctx, c, ch, err)
}

func (g *Gateway) unlink(ctx context.Context, c call) (session.Effect, error) {
	ch, err := g.access.Unlink(ctx, c.ev.From, c.line.Rest)
	return g.change(ctx, c, ch, err)
}

func (g *Gateway) mention(ctx context.Context, c call) (session.Effect, error) {
	ch, err := g.access.SetMention(ctx, c.ev.From, c.ev.Key, c.line.Arg(0))
	return g.change(ctx, c, ch, err)
}

func (g *Gateway) sethome(ctx context.Context, c call) (session.Effect, error) {
	ch, err := g.access.SetHome(ctx, c.ev.From, c.ev.Key)
	return g.change(ctx, c, ch, err)
}

func (g *Gateway) whoami(ctx context.Context, c call) (session.Effect, error) {
	text, err := g.access.Whoami(ctx, c.ev.From, c.ev.Key, c.private())
	return g.say(c.ev, text), err
}

func (g *Gateway) models(_ context.Context, c call) (session.Effect, error) {
	var b strings.Builder
	b.WriteString("The models, in the order in which I ask them:\n\n")
	for i, m := range c.scene.Models {
		fmt.Fprintf(&b, "%d. **%s** (%s)%s%s\n", i+1, m.Name, m.ID, abilities(m), mark(c.scene, m))
	}
	b.WriteString("\n`/model N` or `/model NAME` chooses the one that answers first, `/model auto` goes back to this order.")
	return g.say(c.ev, b.String()), nil
}

func mark(s session.Scene, m llm.Info) string {
	if s.View.Carried.Model == m.Name {
		return " ← chosen here"
	}
	return ""
}

func abilities(m llm.Info) string {
	var words []string
	if m.Strength != "" {
		words = append(words, "strength "+m.Strength)
	}
	if m.Vision {
		words = append(words, "sees pictures")
	}
	if m.Context > 0 {
		words = append(words, count(m.Context)+" tokens")
	}
	if m.Demo {
		words = append(words, "a scripted stand-in")
	}
	if len(words) == 0 {
		return ""
	}
	return ": " + strings.Join(words, ", ")
}

func (g *Gateway) pick(_ context.Context, c call) (session.Effect, error) {
	want := c.line.Rest
	if want == "" {
		return g.say(c.ev, "Which one? `/model N`, `/model NAME` or `/model auto`. /models lists them."), nil
	}
	if strings.EqualFold(want, "auto") {
		return session.Effect{Act: session.Pick{}}, nil
	}
	models := c.scene.Models
	if n, err := strconv.Atoi(want); err == nil && n >= 1 && n <= len(models) {
		return session.Effect{Act: session.Pick{Model: models[n-1].Name}}, nil
	}
	for _, m := range models {
		if strings.EqualFold(m.Name, want) {
			return session.Effect{Act: session.Pick{Model: m.Name}}, nil
		}
	}
	return g.say(c.ev, fmt.Sprintf("I know no model %q. /models lists those there are.", want)), nil
}

func (g *Gateway) context(_ context.Context, c call) (session.Effect, error) {
	tokens, size := c.scene.Prompt(), c.scene.Model.Context
	var b strings.Builder
	fmt.Fprintf(&b, "The next prompt has about %s tokens", count(tokens))
	if size > 0 {
		fmt.Fprintf(&b, ", %d %% of the %s that **%s** takes", 100*tokens/size, count(size), c.scene.Model.Name)
	}
	fmt.Fprintf(&b, ". It holds %s", plural(len(c.scene.View.Entries), "entry", "entries"))
	if c.scene.View.Summary != "" {
		b.WriteString(" and a summary of what was before")
	}
	b.WriteString(". /compact sums up the older part, /clear forgets it.")
	return g.say(c.ev, b.String()), nil
}

func (g *Gateway) cost(_ context.Context, c call) (session.Effect, error) {
	spent := c.scene.View.Carried.Spent
	if len(spent) == 0 {
		return g.say(c.ev, "This conversation has cost nothing yet."), nil
	}
	var b strings.Builder
	total := 0.0
	b.WriteString("What this conversation has cost so far:\n\n")
	for _, name := range slices.Sorted(maps.Keys(spent)) {
		s := spent[name]
		total += s.Dollars
		fmt.Fprintf(&b, "- **%s**: %s, %s tokens in (%s of them cached), %s out%s, %s\n", name,
			plural(s.Requests, "request", "requests"), count(s.Usage.Input), count(s.Usage.Cached),
			count(s.Usage.Output), guessed(s.Usage), dollars(s.Dollars))
	}
	fmt.Fprintf(&b, "\nTogether %s.", dollars(total))
	return g.say(c.ev, b.String()), nil
}

func guessed(u llm.Usage) string {
	if u.Guessed {
		return " (partly guessed: the server does not count)"
	}
	return ""
}

func (g *Gateway) status(ctx context.Context, c call) (session.Effect, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "parley %s, up for %s.\n\n", g.version, span(g.now().Sub(g.born)))
	if c.scene.Turn == "" {
		b.WriteString("- Here: nothing is running")
	} else {
		fmt.Fprintf(&b, "- Here: at work for %s", span(g.now().Sub(c.scene.Since)))
	}
	if c.scene.Waiting > 0 {
		fmt.Fprintf(&b, ", %s waiting", plural(c.scene.Waiting, "message", "messages"))
	}
	fmt.Fprintf(&b, "\n- Model: %s\n", c.scene.Model.Name)
	if g.findings != nil && c.role.Reaches(access.Admin) {
		for _, f := range g.findings(ctx) {
			if f.Level != chat.Off {
				fmt.Fprintf(&b, "- %s (%s): %s\n", f.Part, f.Level, f.Says)
			}
		}
	}
	return g.say(c.ev, b.String()), nil
}

// count writes a number with separators: 12,345.
func count(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}

func dollars(d float64) string {
	if d > 0 && d < 0.01 {
		return fmt.Sprintf("$%.4f", d)
	}
	return fmt.Sprintf("$%.2f", d)
}

// span writes a duration as a person would say it.
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return plural(int(d.Seconds()), "second", "seconds")
	case d < time.Hour:
		return plural(int(d.Minutes()), "minute", "minutes")
	case d < 48*time.Hour:
		return fmt.Sprintf("%s %d min", plural(int(d.Hours()), "hour", "hours"), int(d.Minutes())%60)
	default:
		return plural(int(d.Hours())/24, "day", "days")
	}
}
