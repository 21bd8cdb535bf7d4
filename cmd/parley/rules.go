package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The commands about what the agent may do. The grammar behind `parley rules`
// is that of /rules in a chat.

type toolsCommand struct {
	Role string `enum:"owner,admin,member,guest" default:"owner" help:"Say what the rules mean for this role: owner, admin, member or guest."`
}

type auditCommand struct {
	Lines int `short:"n" default:"50" help:"How many lines, the newest."`
}

type rulesCommands struct {
	List    rulesListCommand    `cmd:"" default:"withargs" help:"List the rules in the order in which they are asked."`
	Explain rulesExplainCommand `cmd:"" help:"Say what applies to a tool, and why."`
	Add     rulesAddCommand     `cmd:"" help:"Add a rule."`
	Change  rulesChangeCommand  `cmd:"" help:"Change a rule."`
	Delete  rulesDeleteCommand  `cmd:"" help:"Delete a rule."`
	Move    rulesMoveCommand    `cmd:"" help:"Give a rule another priority."`
	Copy    rulesCopyCommand    `cmd:"" help:"Make a group with the rules of another."`
	Rename  rulesRenameCommand  `cmd:"" help:"Give a group another name."`
	Drop    rulesDropCommand    `cmd:"" help:"Delete a group with its rules."`
	Context rulesContextCommand `cmd:"" help:"Show or set where a chat, a role or a job runs, and as what."`
}

type (
	rulesListCommand struct {
		Group string `arg:"" optional:"" help:"The group; without one the rules of all, those that came with parley in short."`
	}
	rulesExplainCommand struct {
		Tool string   `arg:"" help:"The tool."`
		Rest []string `arg:"" optional:"" name:"path" help:"A path, from the agent's working directory. role=R, source=S: for somebody else than an owner."`
	}
	rulesAddCommand struct {
		Action string   `arg:"" help:"allow, require or deny."`
		Tool   string   `arg:"" help:"A tool, a pattern or a class; docs/rules.md lists them."`
		Rest   []string `arg:"" optional:"" name:"field" help:"path=P group=G agent=A source=S priority=N, then a note."`
	}
	rulesChangeCommand struct {
		ID   string   `arg:"" help:"The rule."`
		Rest []string `arg:"" optional:"" name:"field" help:"The new action, and tool=T path=P agent=A source=S priority=N note=…"`
	}
	rulesDeleteCommand struct {
		ID string `arg:"" help:"The rule."`
	}
	rulesMoveCommand struct {
		ID       string `arg:"" help:"The rule."`
		Priority int    `arg:"" help:"The lowest is asked first."`
	}
	rulesCopyCommand struct {
		Group string `arg:"" help:"The group."`
		New   string `arg:"" help:"The name of the new one."`
	}
	rulesRenameCommand struct {
		Group string `arg:"" help:"The group."`
		New   string `arg:"" help:"Its new name."`
	}
	rulesDropCommand struct {
		Group string `arg:"" help:"The group."`
	}
	rulesContextCommand struct {
		For  string   `arg:"" optional:"" help:"A chat, role:NAME, job:ID, agent:NAME or default; without one all are shown."`
		Rest []string `arg:"" optional:"" name:"field" help:"group=G dir=D reads=D,D writes=D,D prompt=…, or none to remove it."`
	}
)

// Run lists the catalogue.
func (c toolsCommand) Run(ctx context.Context, p *program) error {
	client, err := p.dial(ctx)
	if err != nil {
		return err
	}
	list, err := client.Tools(ctx, c.Role)
	if err != nil {
		return err
	}
	rows := [][]string{{"TOOL", "SOURCE", "CATEGORY", "RULE", "FIRST SEEN"}}
	for _, t := range list {
		source, seen := t.Source, "never offered yet"
		if t.Gone {
			source += " (gone)"
		}
		if !t.FirstSeen.IsZero() {
			seen = p.at(t.FirstSeen)
		}
		rows = append(rows, []string{t.Name, source, t.Category, t.Rule, seen})
	}
	p.table(rows)
	return nil
}

// Run lists rules.
func (c rulesListCommand) Run(ctx context.Context, p *program) error {
	client, err := p.dial(ctx)
	if err != nil {
		return err
	}
	list, err := client.Rules(ctx, c.Group)
	if err != nil {
		return err
	}
	rows := [][]string{{"GROUP", "PRIORITY", "ID", "ACTION", "TOOL", "PATH", "AGENT", "SOURCE", "NOTE"}}
	shipped := 0
	for i, r := range list {
		if c.Group == "" && r.Shipped {
			shipped++
			if i+1 == len(list) || !list[i+1].Shipped || list[i+1].Group != r.Group {
				says := fmt.Sprintf("%d that came with parley: `parley rules list %s`", shipped, r.Group)
				rows, shipped = append(rows, []string{r.Group, "", "…", "", "", "", "", "", says}), 0
			}
			continue
		}
		rows = append(rows, []string{cmp.Or(r.Group, "(every)"), strconv.Itoa(r.Priority), r.ID, r.Action, r.Tool, r.Path, r.Agent, r.Source, r.Note})
	}
	p.table(rows)
	return nil
}

// Run explains.
func (c rulesExplainCommand) Run(ctx context.Context, p *program) error {
	return p.askRules(ctx, append([]string{"explain", c.Tool}, c.Rest...)...)
}

// Run adds a rule.
func (c rulesAddCommand) Run(ctx context.Context, p *program) error {
	return p.orderRules(ctx, append([]string{"add", c.Action, c.Tool}, c.Rest...)...)
}

// Run changes a rule.
func (c rulesChangeCommand) Run(ctx context.Context, p *program) error {
	return p.orderRules(ctx, append([]string{"change", c.ID}, c.Rest...)...)
}

// Run deletes a rule.
func (c rulesDeleteCommand) Run(ctx context.Context, p *program) error {
	return p.orderRules(ctx, "delete", c.ID)
}

// Run moves a rule.
func (c rulesMoveCommand) Run(ctx context.Context, p *program) error {
	return p.orderRules(ctx, "move", c.ID, strconv.Itoa(c.Priority))
}

// Run copies a group.
func (c rulesCopyCommand) Run(ctx context.Context, p *program) error {
	return p.orderRules(ctx, "copy", c.Group, c.New)
}

// Run renames a group.
func (c rulesRenameCommand) Run(ctx context.Context, p *program) error {
	return p.orderRules(ctx, "rename", c.Group, c.New)
}

// Run deletes a group.
func (c rulesDropCommand) Run(ctx context.Context, p *program) error {
	return p.orderRules(ctx, "drop", c.Group)
}

// Run shows or sets contexts.
func (c rulesContextCommand) Run(ctx context.Context, p *program) error {
	words := []string{"context"}
	if c.For != "" {
		words = append(words, c.For)
	}
	if len(c.Rest) == 0 {
		return p.askRules(ctx, words...)
	}
	return p.orderRules(ctx, append(words, c.Rest...)...)
}

// Run shows what was decided.
func (c auditCommand) Run(ctx context.Context, p *program) error {
	client, err := p.dial(ctx)
	if err != nil {
		return err
	}
	list, err := client.Audit(ctx, c.Lines)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		p.say("Nothing was decided yet.")
		return nil
	}
	rows := [][]string{{"TIME", "WHO", "CHAT", "TOOL", "DECISION", "WHAT", "WHY"}}
	for _, l := range list {
		rows = append(rows, []string{p.at(l.At), l.Who, l.Chat, l.Tool, l.Decision, l.Label, l.Why})
	}
	p.table(rows)
	return nil
}

func (p *program) askRules(ctx context.Context, words ...string) error {
	client, err := p.dial(ctx)
	if err != nil {
		return err
	}
	text, err := client.AskRules(ctx, words...)
	if err == nil {
		p.say("%s", unmarked(text))
	}
	return err
}

func (p *program) orderRules(ctx context.Context, words ...string) error {
	client, err := p.dial(ctx)
	if err != nil {
		return err
	}
	text, err := client.OrderRules(ctx, words...)
	if err == nil {
		p.say("%s", unmarked(text))
	}
	return err
}

// unmarked takes out what Markdown means to a chat and a terminal only shows.
func unmarked(text string) string {
	return strings.TrimRight(strings.NewReplacer("**", "", `\*`, "*", `\_`, "_", `\[`, "[", `\]`, "]", `\<`, "<", `\\`, `\`).Replace(text), "\n")
}

// table shows rows in columns. A column that has nothing but its name is left
// out.
func (p *program) table(rows [][]string) {
	if len(rows) == 0 {
		return
	}
	wide := make([]int, len(rows[0]))
	filled := make([]bool, len(rows[0]))
	for i, row := range rows {
		for j, cell := range row {
			row[j] = visible(strings.Join(strings.Fields(cell), " "))
			wide[j] = max(wide[j], utf8.RuneCountInString(row[j]))
			filled[j] = filled[j] || i > 0 && row[j] != ""
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for j, cell := range row {
			if filled[j] {
				b.WriteString(cell + strings.Repeat(" ", wide[j]-utf8.RuneCountInString(cell)+2))
			}
		}
		p.say("%s", strings.TrimRight(b.String(), " "))
	}
}
