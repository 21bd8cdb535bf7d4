package gateway

import (
	"context"
	"fmt"
	"strings"

	"parley/core/access"
	"parley/core/policy"
	"parley/core/session"
	"parley/tools"
)

// Listed is a tool of the catalogue and what the rules say of it.
type Listed struct {
	tools.CatalogEntry
	Rule string // "require", "allow inside"
}

// ToolsFor lists every tool there is or ever was, with what the rules say of
// it to somebody of a role who is alone with the agent.
func (g *Gateway) ToolsFor(ctx context.Context, role access.Role) ([]Listed, error) {
	who := commandLine()
	who.who.Role = string(role)
	all, err := g.listed(ctx, who)
	list := make([]Listed, 0, len(all))
	for _, t := range all {
		list = append(list, t.Listed)
	}
	return list, err
}

// listing is a Listed with the call that it was judged by.
type listing struct {
	Listed
	call policy.Call
}

// listed judges the catalogue for somebody.
func (g *Gateway) listed(ctx context.Context, a asker) ([]listing, error) {
	if g.catalog == nil || g.policy == nil {
		return nil, nil
	}
	run, err := g.policy.ContextOf(ctx, a.who)
	if err != nil {
		return nil, err
	}
	var all []listing
	for _, entry := range g.catalog.List(ctx) {
		call := policy.Call{
			Session: a.session, Group: run.Group, Agent: a.who.Agent, Source: a.key.Adapter, Tool: entry.Spec(), Context: run,
		}
		all = append(all, listing{Listed{entry, g.standing(ctx, call)}, call})
	}
	return all, nil
}

// standing is what the rules say of a tool, in a word or two. What a file tool
// may do depends on where.
func (g *Gateway) standing(ctx context.Context, c policy.Call) string {
	at := func(path string) policy.Action {
		c.Path = path
		return g.policy.Judge(ctx, c).Action
	}
	dir := c.Context.Dir
	if c.Tool.Category != tools.Filesystem || strings.HasPrefix(c.Tool.Source, "mcp/") || dir == "" {
		return string(at(""))
	}
	c.Write = writesFiles(c.Tool)
	inside, outside := at(dir), at("/")
	switch {
	case inside == policy.Allow && outside == policy.Require:
		return "allow inside"
	case inside == policy.Allow && outside == policy.Deny:
		return "inside only"
	case inside != outside:
		return fmt.Sprintf("%s inside, %s outside", inside, outside)
	case inside == policy.Deny && c.Write && at(dir+"/scratch") == policy.Allow:
		return "scratch/ only"
	default:
		return string(inside)
	}
}

// writesFiles reports whether a tool about files changes them.
func writesFiles(s tools.Spec) bool {
	return s.Category == tools.Filesystem && s.Effect != tools.ReadOnly
}

// tools lists what the agent is offered in this chat.
func (g *Gateway) tools(ctx context.Context, c call) (session.Effect, error) {
	switch arg := c.line.Arg(0); {
	case strings.EqualFold(arg, "reset"):
		return g.say(c.ev, "There is nothing to take back: no group of tools is activated here."), nil
	case arg != "":
		return g.say(c.ev, "`/tools` lists the tools, `/tools reset` takes back activated groups, `/rules TOOL` says what applies to one."), nil
	}
	who := c.asker()
	all, err := g.listed(ctx, who)
	if err != nil {
		return session.Effect{}, err
	}
	var b strings.Builder
	var hidden []string
	for _, t := range all {
		switch {
		case !t.Present || t.Group != "" || !t.Audience.Admits(0):
		case g.policy.Hides(ctx, t.call):
			hidden = append(hidden, t.Name)
		default:
			fmt.Fprintf(&b, "- `%s`%s: %s\n", t.Name, bracketed(t.Category), t.Rule)
		}
	}
	if b.Len() == 0 {
		return g.say(c.ev, "The agent has no tools here."), nil
	}
	text := "What the agent can use here, and what the rules say of it:\n\n" + b.String()
	if len(hidden) > 0 && c.role.Reaches(access.Admin) {
		text += "\nDenied here, and so not offered: " + strings.Join(hidden, ", ") + ".\n"
	}
	text += g.letThrough(who.session)
	return g.say(c.ev, text+"\n`require` asks a person, `allow inside` asks outside the working directory. `/rules TOOL` says why."), nil
}

// bracketed is a category behind a name.
func bracketed(c tools.Category) string {
	if c == tools.NoCategory {
		return ""
	}
	return " (" + string(c) + ")"
}

// findTool returns a tool of the catalogue by its name.
func (g *Gateway) findTool(ctx context.Context, name string) (tools.Spec, bool) {
	if g.catalog == nil {
		return tools.Spec{}, false
	}
	entry, known := g.catalog.Find(ctx, name)
	return entry.Spec(), known
}

// unknownTool is the reply to what is neither a verb nor a tool.
func (g *Gateway) unknownTool(ctx context.Context, a asker, name string) string {
	best, least := "", 3
	consider := func(candidate string) {
		if d := tools.Distance(name, candidate); d < least {
			best, least = candidate, d
		}
	}
	if len(name) < 2*longestName {
		for _, v := range g.ruleVerbs() {
			consider(v.verb)
		}
		if g.catalog != nil {
			for _, t := range g.catalog.List(ctx) {
				consider(t.Name)
			}
		}
	}
	if best != "" {
		return fmt.Sprintf("There is no tool `%s`. Did you mean `%s`?", show(name), best)
	}
	return fmt.Sprintf("There is no tool `%s`. `%s` lists those there are.", show(name), a.tools)
}
