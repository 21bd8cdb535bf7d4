package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"parley/core/access"
	"parley/core/chat"
	"parley/core/policy"
	"parley/core/session"
	"parley/storage"
	"parley/tools"
)

// asker is who speaks of rules, and from where.
type asker struct {
	by      chat.User
	role    access.Role
	who     policy.Who
	key     chat.Key // zero on the command line
	session string
	prefix  string // what the verbs stand behind: /rules
	tools   string // what lists the tools: /tools
}

// asker is the person who said a command.
func (c call) asker() asker {
	return asker{
		by: c.ev.From, role: c.role, key: c.ev.Key, session: c.scene.Session, prefix: "/rules", tools: "/tools",
		who: policy.Who{Chat: c.ev.Key, Private: c.private(), Role: string(c.role), Agent: session.MainAgent},
	}
}

// commandLine is whoever uses the command line of this machine: an owner, alone.
func commandLine() asker {
	return asker{
		by: chat.User{ID: access.CLI, Name: "the command line"}, role: access.Owner, prefix: "parley rules", tools: "parley tools",
		who: policy.Who{Private: true, Role: string(access.Owner), Agent: session.MainAgent},
	}
}

// ruleVerb is a row of the table of what can be said about rules.
type ruleVerb struct {
	ruleGrammar
	role    access.Role // who may say it
	changes bool
	run     func(context.Context, asker, ruleLine) (policy.Change, error)
}

// Verbs of /rules. What is none of them is the name of a tool.
const (
	verbList    = "list"
	verbExplain = "explain"
	verbContext = "context"
)

// nothing as a context removes it.
const nothing = "none"

// ruleVerbs is the table.
func (g *Gateway) ruleVerbs() []ruleVerb {
	fields := []string{"path", "group", "agent", "source", "priority", "note"}
	edit := func(verb, usage string, least, most int, run func(context.Context, asker, ruleLine) (policy.Change, error)) ruleVerb {
		return ruleVerb{ruleGrammar{verb: verb, usage: usage, least: least, most: most}, access.Owner, true, run}
	}
	add := edit("add", "ACTION TOOL [path=P] [group=G] [agent=A] [source=S] [priority=N] [note]", 2, 2, g.addRule)
	add.keys, add.rest, add.begins = fields, "note", true
	change := edit("change", "ID [ACTION] [tool=T] [path=P] [agent=A] [source=S] [priority=N] [note=…]", 1, 2, g.changeRule)
	change.keys, change.rest = append([]string{"action", "tool"}, fields...), "note"
	run := edit(verbContext, "[FOR [group=G] [dir=D] [reads=D,D] [writes=D,D] [prompt=…]]", 0, 2, g.runContext)
	run.keys, run.rest, run.lists = []string{"group", "dir", "reads", "writes", "prompt"}, "prompt", true
	return []ruleVerb{
		{ruleGrammar{verb: verbList, usage: "[GROUP]", most: 1}, access.Admin, false, g.listRules},
		{ruleGrammar{verb: verbExplain, usage: "TOOL [PATH] [role=R] [source=S]", least: 1, most: 2, keys: []string{"role", "source"}}, access.Member, false, g.explain},
		add,
		change,
		edit("delete", "ID", 1, 1, func(ctx context.Context, _ asker, l ruleLine) (policy.Change, error) {
			return g.policy.Delete(ctx, l.word(0))
		}),
		edit("move", "ID N", 2, 2, g.moveRule),
		edit("copy", "GROUP NEW", 2, 2, func(ctx context.Context, _ asker, l ruleLine) (policy.Change, error) {
			return g.policy.CopyGroup(ctx, l.word(0), l.word(1))
		}),
		edit("rename", "GROUP NEW", 2, 2, func(ctx context.Context, _ asker, l ruleLine) (policy.Change, error) {
			return g.policy.RenameGroup(ctx, l.word(0), l.word(1))
		}),
		edit("drop", "GROUP", 1, 1, func(ctx context.Context, _ asker, l ruleLine) (policy.Change, error) {
			return g.policy.DeleteGroup(ctx, l.word(0))
		}),
		run,
	}
}

// changingVerbs lists the verbs that change something.
func (g *Gateway) changingVerbs() string {
	var names []string
	for _, v := range g.ruleVerbs() {
		if v.changes {
			names = append(names, v.verb)
		}
	}
	return strings.Join(names, ", ")
}

// refuse is a change that is none.
func refuse(format string, args ...any) (policy.Change, error) {
	return policy.Change{Reply: fmt.Sprintf(format, args...), Refused: true}, nil
}

// rules is the command of that name.
func (g *Gateway) rules(ctx context.Context, c call) (session.Effect, error) {
	words, closed := splitWords(c.line.Rest)
	if !closed {
		return g.say(c.ev, "A quotation mark is open: nothing closes it."), nil
	}
	who := c.asker()
	ch, err := g.aboutRules(ctx, who, words)
	if err != nil {
		return session.Effect{}, err
	}
	e := g.say(c.ev, ch.Reply)
	e.Ops = g.recorded(who, ch)
	return e, nil
}

// recorded is a change with the line of the audit stream that tells of it.
func (g *Gateway) recorded(a asker, ch policy.Change) []storage.Op {
	if len(ch.Ops) == 0 {
		return nil
	}
	return append(slices.Clone(ch.Ops), session.Record(session.Audit{
		At: g.now(), Session: a.session, Key: a.key, Label: "rules", Decision: "changed", Why: ch.Why, By: a.by,
	}))
}

// AskRules tells about rules, in Markdown, as /rules does in a chat: the words
// are those behind `parley rules`. What cannot be told is ErrRefused.
func (g *Gateway) AskRules(ctx context.Context, words []string) (string, error) {
	ch, err := g.aboutRules(ctx, commandLine(), words)
	if err == nil && len(ch.Ops) > 0 {
		ch, err = refuse("That would change something.")
	}
	return ch.Reply, refused(ch, err)
}

// OrderRules changes rules, as /rules does in a chat, and returns what is to be
// said of it. What was not done is ErrRefused.
func (g *Gateway) OrderRules(ctx context.Context, words []string) (string, error) {
	const tries = 5
	who := commandLine()
	for range tries {
		ch, err := g.aboutRules(ctx, who, words)
		if err == nil {
			err = g.store.Apply(ctx, g.recorded(who, ch)...)
		}
		if !errors.Is(err, storage.ErrConflict) {
			return ch.Reply, refused(ch, err)
		}
	}
	return "", fmt.Errorf("changing rules: %w after %d tries", storage.ErrConflict, tries)
}

func refused(ch policy.Change, err error) error {
	if err == nil && ch.Refused {
		return fmt.Errorf("%w: %s", ErrRefused, ch.Reply)
	}
	return err
}

// aboutRules works out what words about rules come to: a reply, and ops if they
// change something.
func (g *Gateway) aboutRules(ctx context.Context, a asker, words []string) (policy.Change, error) {
	if g.policy == nil {
		return refuse("There are no rules here.")
	}
	if len(words) == 0 {
		words = []string{verbList}
	}
	verbs := g.ruleVerbs()
	at := slices.IndexFunc(verbs, func(v ruleVerb) bool { return strings.EqualFold(v.verb, words[0]) })
	if at < 0 {
		at = slices.IndexFunc(verbs, func(v ruleVerb) bool { return v.verb == verbExplain })
		words = append([]string{verbExplain}, words...)
	}
	v := verbs[at]
	if !a.role.Reaches(v.role) {
		return refuse("%s", v.forbidden(a.role))
	}
	l, problem := v.read(words[1:])
	if problem != "" {
		return refuse("%s Say `%s %s %s`.", problem, a.prefix, v.verb, v.usage)
	}
	return v.run(ctx, a, l)
}

// forbidden is the refusal to somebody of a lesser role.
func (v ruleVerb) forbidden(role access.Role) string {
	what := "Seeing the rules"
	if v.changes {
		what = "Changing rules"
	}
	return fmt.Sprintf("%s is for people with the role %s or above; you have %s.", what, v.role, roleName(role))
}

func (g *Gateway) addRule(ctx context.Context, _ asker, l ruleLine) (policy.Change, error) {
	r := policy.Rule{Action: policy.Action(l.word(0)), Tool: l.word(1)}
	if problem := l.fill(&r); problem != "" {
		return refuse("%s", problem)
	}
	return g.policy.Put(ctx, r)
}

func (g *Gateway) changeRule(ctx context.Context, _ asker, l ruleLine) (policy.Change, error) {
	if len(l.words) < 2 && len(l.fields) == 0 {
		return refuse("Say what is to be different about rule `%s`: an action, or a field such as priority=50.", show(l.word(0)))
	}
	if problem := l.fill(&policy.Rule{}); problem != "" {
		return refuse("%s", problem)
	}
	return g.policy.Edit(ctx, l.word(0), func(r *policy.Rule) {
		if action := l.word(1); action != "" {
			r.Action = policy.Action(action)
		}
		_ = l.fill(r) // it was tried before
	})
}

// fill puts what was written as key=value into a rule, or says what is wrong
// with it.
func (l ruleLine) fill(r *policy.Rule) (problem string) {
	action := string(r.Action)
	for key, text := range map[string]*string{
		"action": &action, "tool": &r.Tool, "path": &r.Path, "group": &r.Group, "agent": &r.Agent, "source": &r.Source, "note": &r.Note,
	} {
		l.set(text, key)
	}
	r.Action = policy.Action(action)
	if text, written := l.field("priority"); written {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Sprintf("`%s` is no priority; write a number from 1, the lowest is asked first.", show(text))
		}
		r.Priority = n
	}
	return ""
}

func (g *Gateway) moveRule(ctx context.Context, _ asker, l ruleLine) (policy.Change, error) {
	n, err := strconv.Atoi(l.word(1))
	if err != nil {
		return refuse("`%s` is no priority; write a number from 1, the lowest is asked first.", show(l.word(1)))
	}
	return g.policy.Move(ctx, l.word(0), n)
}

// explain tells what applies to a tool and why: for the person who asks, where
// they ask.
func (g *Gateway) explain(ctx context.Context, a asker, l ruleLine) (policy.Change, error) {
	spec, known := g.findTool(ctx, l.word(0))
	if !known {
		return refuse("%s", g.unknownTool(ctx, a, l.word(0)))
	}
	who, source := a.who, a.key.Adapter
	if len(l.fields) > 0 {
		if !a.role.Reaches(access.Admin) {
			return refuse("You can ask what applies to yourself only.")
		}
		l.set(&source, "source")
		l.set(&who.Role, "role")
		if _, is := access.ParseRole(who.Role); !is {
			return refuse("`%s` is no role. There are owner, admin, member and guest.", show(who.Role))
		}
		a.session = "" // what was let through is let through here
	}
	run, err := g.policy.ContextOf(ctx, who)
	if err != nil {
		return policy.Change{}, err
	}
	call := policy.Call{Session: a.session, Group: run.Group, Agent: who.Agent, Source: source, Tool: spec, Context: run}
	if path := l.word(1); path != "" {
		if call.Path, err = tools.Resolve(run.Dir, path); err != nil {
			return refuse("No tool would run there: %v.", err)
		}
		call.Write = writesFiles(spec)
	}
	return policy.Change{Reply: g.policy.Explain(ctx, call)}, nil
}

// runContext shows or sets run contexts.
func (g *Gateway) runContext(ctx context.Context, a asker, l ruleLine) (policy.Change, error) {
	of, rest := l.word(0), l.word(1)
	switch {
	case of == "" && len(l.fields) > 0:
		return refuse("Say for what: a chat (/whoami there tells its name), role:NAME, job:ID, agent:NAME or default.")
	case rest == "" && len(l.fields) == 0:
		return g.showContexts(ctx, a, of)
	case rest != "" && (rest != nothing || len(l.fields) > 0):
		return refuse("I do not know what `%s` means there. Say `%s context %s %s` to remove what is set.", show(rest), a.prefix, show(of), nothing)
	}
	return g.policy.EditContext(ctx, of, func(s *policy.Setting) {
		if rest == nothing {
			*s = policy.Setting{}
		}
		l.set(&s.Group, "group")
		l.set(&s.Dir, "dir")
		l.set(&s.Prompt, "prompt")
		l.dirs(&s.Reads, "reads")
		l.dirs(&s.Writes, "writes")
	})
}

func (g *Gateway) showContexts(ctx context.Context, a asker, of string) (policy.Change, error) {
	all, err := g.policy.Contexts(ctx)
	if err != nil {
		return policy.Change{}, err
	}
	var b strings.Builder
	for _, s := range all {
		if of == "" || s.For == of {
			b.WriteString("- " + contextLine(s) + "\n")
		}
	}
	switch {
	case b.Len() > 0:
		return policy.Change{Reply: b.String()}, nil
	case of == "":
		return policy.Change{Reply: "No run context is set: everybody has the group of their role. `" + a.prefix + " context FOR group=G` sets one."}, nil
	default:
		return policy.Change{Reply: fmt.Sprintf("Nothing is set for `%s`.", show(of))}, nil
	}
}

// contextLine is a run context in a line.
func contextLine(s policy.Setting) string {
	parts := []string{"`" + show(s.For) + "`"}
	for _, field := range []struct{ name, value string }{
		{"group", s.Group}, {"dir", s.Dir}, {"reads", strings.Join(s.Reads, ", ")}, {"writes", strings.Join(s.Writes, ", ")}, {"prompt", s.Prompt},
	} {
		if field.value != "" {
			parts = append(parts, field.name+" `"+show(field.value)+"`")
		}
	}
	return strings.Join(parts, ", ")
}

// listRules lists the rules in the order in which they are asked.
func (g *Gateway) listRules(ctx context.Context, a asker, l ruleLine) (policy.Change, error) {
	group := strings.TrimSpace(l.word(0))
	list, refusal, err := g.rulesOf(ctx, group)
	if refusal != "" || err != nil {
		return policy.Change{Reply: refusal, Refused: true}, err
	}
	var b strings.Builder
	if group == "" {
		here, err := g.here(ctx, a)
		if err != nil {
			return policy.Change{}, err
		}
		b.WriteString(here)
		inShort(&b, list)
		fmt.Fprintf(&b, "\n`%s list GROUP` lists a group in full, `%s TOOL` says what applies to a tool and why.", a.prefix, a.prefix)
		if a.role.Reaches(access.Owner) {
			fmt.Fprintf(&b, " Owners change them with `%s` and one of %s; each says how.", a.prefix, g.changingVerbs())
		}
		return policy.Change{Reply: b.String()}, nil
	}
	fmt.Fprintf(&b, "The rules of group **%s**, in the order in which they are asked:\n\n", group)
	for _, r := range list {
		line := r.Line()
		if r.Group != group {
			line += " (in every group)"
		}
		b.WriteString("- " + line + "\n")
	}
	if group != policy.Default {
		fmt.Fprintf(&b, "\nWhat they do not decide, the group %s does.", policy.Default)
	}
	return policy.Change{Reply: b.String()}, nil
}

// rulesOf lists the rules of a group, "" for all, or says why there are none.
func (g *Gateway) rulesOf(ctx context.Context, group string) (list []policy.Rule, refusal string, err error) {
	if g.policy == nil {
		return nil, "There are no rules here.", nil
	}
	groups, err := g.policy.Groups(ctx)
	if err != nil {
		return nil, "", err
	}
	if group != "" && !slices.Contains(groups, group) {
		return nil, fmt.Sprintf("There is no group `%s`. There are %s.", show(group), strings.Join(groups, ", ")), nil
	}
	list, err = g.policy.Rules(ctx, group)
	return list, "", err
}

// RulesOf lists the rules of a group in order, every rule once for "". An
// unknown group is ErrRefused.
func (g *Gateway) RulesOf(ctx context.Context, group string) ([]policy.Rule, error) {
	list, refusal, err := g.rulesOf(ctx, group)
	return list, refused(policy.Change{Reply: refusal, Refused: refusal != ""}, err)
}

// here says what holds where somebody asks.
func (g *Gateway) here(ctx context.Context, a asker) (string, error) {
	if a.key.IsZero() {
		return "", nil
	}
	run, err := g.policy.ContextOf(ctx, a.who)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("Here you are in group **%s**; the agent works in `%s`.", run.Group, run.Dir)
	return text + g.letThrough(a.session) + "\n\n", nil
}

// letThrough says what needs no approval for a while.
func (g *Gateway) letThrough(session string) string {
	var b strings.Builder
	for _, bypass := range g.policy.Bypasses(session) {
		fmt.Fprintf(&b, "\n- Let through: %s.", bypass)
	}
	return b.String()
}

// Shipped reports whether a rule came with parley and stands as it came.
func Shipped(r policy.Rule) bool { return r.Seed != "" && !r.Changed }

// inShort lists rules by group. Those that came with parley and that nobody
// touched are counted.
func inShort(b *strings.Builder, list []policy.Rule) {
	for len(list) > 0 {
		group := list[0].Group
		end := slices.IndexFunc(list, func(r policy.Rule) bool { return r.Group != group })
		if end < 0 {
			end = len(list)
		}
		name := "**" + group + "**"
		if group == "" {
			name = "In every group"
		}
		fmt.Fprintf(b, "%s, %s:\n", name, plural(end, "rule", "rules"))
		shipped := 0
		for i, r := range list[:end] {
			if !Shipped(r) {
				b.WriteString("- " + r.Line() + "\n")
				continue
			}
			shipped++
			if last := i+1 == end || !Shipped(list[i+1]); last {
				fmt.Fprintf(b, "- %d that came with parley\n", shipped)
				shipped = 0
			}
		}
		list = list[end:]
	}
}
