package policy

import (
	"context"
	"strconv"
	"strings"

	"parley/storage"
	"parley/tools"
)

// seed is a rule that comes with parley. Within a group its name stays the same
// for ever, and its version is raised when it changes.
type seed struct {
	name     string // "" is made of the tool's
	version  int    // 0 means 1
	priority int
	action   Action
	tool     string
	path     string
	note     string
}

// edition is the seed's version.
func (s seed) edition() int { return max(s.version, 1) }

// id is the planted rule's.
func (s seed) id(group string) string {
	name := s.name
	if name == "" {
		name = strings.Trim(s.tool, "@*_")
	}
	return group + "." + name
}

// rule is the seed in a group.
func (s seed) rule(id, group string) Rule {
	return Rule{
		ID: id, Group: group, Tool: s.tool, Path: s.path, Action: s.action,
		Priority: s.priority, Note: s.note, Seed: strconv.Itoa(s.edition()),
	}
}

// each returns the seed once for each tool.
func (s seed) each(names ...string) []seed {
	var all []seed
	for _, name := range names {
		s.tool = name
		all = append(all, s)
	}
	return all
}

// Places of the planted rules. Those that share one speak of different tools.
const (
	first  = planted
	second = planted + 100
	third  = planted + 200
	fourth = planted + 300
)

// anyPath is every path there is: such a rule stands behind those that let
// some paths through.
const anyPath = "/*"

// rulesFor lists the seeds of a group.
func rulesFor(group string) []seed {
	all := talk()
	if group == guestGroup {
		all = append(all, forGuests()...)
	} else {
		all = append(all, forPeople()...)
	}
	return append(all, seed{name: "last", priority: Last, action: Require, tool: "*", note: "everything else"})
}

// talk is the plumbing: tools of the conversation itself. A file is shown if
// the session may read it anyway.
func talk() []seed {
	const note = "part of the conversation"
	all := seed{priority: first, action: Allow, note: note}.each(tools.WriteTodos, tools.UpdateScratchpad,
		tools.AskUserClarification, tools.ActivateTools, tools.Notify, tools.ReadNotification)
	return append(all,
		seed{priority: first, action: Allow, tool: tools.ShowFileToUser, path: isReadable, note: "what may be read may be shown"},
		seed{name: tools.ShowFileToUser + "-any", priority: third, action: Allow, tool: tools.ShowFileToUser, note: note},
	)
}

// forPeople are the rules for those who were let in.
func forPeople() []seed {
	all := []seed{
		{name: tools.ShowFileToUser + "-outside", priority: second, action: Require, tool: tools.ShowFileToUser, path: anyPath, note: "would leave by the chat"},
		{priority: first, action: Allow, tool: tools.SendAttachment, path: isReadable, note: "what may be read may be sent"},
		{name: tools.SendAttachment + "-outside", priority: second, action: Require, tool: tools.SendAttachment, note: "would leave by the chat"},
		{priority: fourth, action: Require, tool: "@fs_read", note: "eased in the working directory, docs/, skills/ and what was granted"},
		{priority: fourth, action: Require, tool: "@fs_write", note: "eased in scratch/, memory/ and what was granted"},
		{priority: first, action: Allow, tool: "memory_*"},
		{priority: second, action: Require, tool: tools.WebFetch, note: "an address can carry data out; eased for one that a person wrote or a search found"},
		{priority: fourth, action: Require, tool: "@config", note: "changes the set-up"},
	}
	all = append(all, seed{priority: first, action: Allow}.each(tools.ListItems, tools.ListSecrets, tools.ImageGenerateProvidersList,
		tools.ReadAgentResult, tools.WebSearch, tools.SendVoiceMessage)...)
	all = append(all, seed{priority: first, action: Allow, note: "each call inside is gated by itself"}.each(tools.ExecuteTask, tools.ExecuteSubtask)...)
	all = append(all, seed{priority: second, action: Require, note: "runs anything"}.each(tools.ExecuteCmd, tools.Restart)...)
	all = append(all, seed{priority: second, action: Require, note: "costs money"}.each(tools.ImageGenerate)...)
	return append(all, seed{priority: second, action: Require, note: "changes the set-up"}.each(setUp()...)...)
}

// setUp are the tools that change the set-up.
func setUp() []string {
	return []string{tools.ToggleItem, tools.RegisterMCP, tools.DeleteMCP, tools.ConfigurePlugin, tools.SetSecret, tools.DeleteCronJob}
}

// forGuests are the rules for strangers. They have the files of their own chat,
// docs/ and skills/; what would need an approval is mostly refused, so that
// nobody can flood the approvers with questions, and nothing tells them what
// is set up here.
func forGuests() []seed {
	const note = "not for guests"
	all := []seed{
		{name: tools.ShowFileToUser + "-outside", priority: second, action: Deny, tool: tools.ShowFileToUser, path: anyPath, note: note},
		{priority: first, action: Allow, tool: tools.SendAttachment, path: isReadable, note: "what may be read may be sent"},
		{name: tools.SendAttachment + "-outside", priority: second, action: Deny, tool: tools.SendAttachment, path: anyPath, note: note},
		{priority: first, action: Allow, tool: "@fs_read", path: isReadable, note: "the working directory, docs/, skills/ and what was granted"},
		{priority: first, action: Allow, tool: "@fs_write", path: isWritable, note: "scratch/, memory/ and what was granted"},
		{name: "fs-outside", priority: second, action: Deny, tool: "@fs_any", path: anyPath, note: note},
		{priority: first, action: Allow, tool: "memory_*"},
		{priority: second, action: Require, tool: tools.WebFetch, note: "eased for an address that a person wrote or a search found"},
		{priority: second, action: Require, tool: tools.ExecuteTask, note: "goes on when the guest has left"},
		{priority: fourth, action: Deny, tool: "@config", note: note},
		{priority: fourth, action: Deny, tool: "@shell", note: note},
	}
	all = append(all, seed{priority: first, action: Allow}.each(tools.ExecuteSubtask, tools.ReadAgentResult, tools.WebSearch, tools.SendVoiceMessage)...)
	all = append(all, seed{priority: second, action: Deny, note: note}.each(tools.ExecuteCmd, tools.Restart, tools.ImageGenerate)...)
	all = append(all, seed{priority: second, action: Deny, note: "tells what is set up"}.each(tools.ListItems, tools.ListSecrets, tools.ImageGenerateProvidersList)...)
	return append(all, seed{priority: second, action: Deny, note: note}.each(setUp()...)...)
}

// Seed returns the ops that plant the rules that come with parley, nil if all
// are there. Each is planted once: one that was changed or deleted since is
// left alone, and so is the whole of a group that was deleted; one that nobody
// touched is replaced when a newer version came. Call it at each start, before
// anything is judged.
func (p *Policy) Seed(ctx context.Context) ([]storage.Op, error) {
	b, err := p.book(ctx)
	if err != nil {
		return nil, err
	}
	var ops []storage.Op
	for _, group := range []string{Default, ownerGroup, adminGroup, memberGroup, guestGroup} {
		ops = append(ops, b.plant(group, rulesFor(group))...)
	}
	if len(ops) == 0 {
		return nil, nil
	}
	c, err := p.seal(b, Change{Why: "rules that come with parley planted"}, ops...)
	return c.Ops, err
}

// plant returns the ops that bring a group up to date.
func (b *book) plant(group string, seeds []seed) []storage.Op {
	home, gone := b.home(group)
	if gone {
		return nil
	}
	var ops []storage.Op
	for _, s := range seeds {
		id := s.id(group)
		r := s.rule(id, home)
		old, known := b.rows[id]
		switch {
		case !known && r.catchAll() && b.closed(home):
			continue
		case known && (old.Gone || old.Touched || old.bad != nil || old.edition() >= s.edition()):
			continue
		case known:
			r.Group = old.Group
		}
		ops = append(ops, rows.Set(id, row{Rule: r}))
	}
	return ops
}

// edition is the version of a planted rule.
func (r row) edition() int {
	n, _ := strconv.Atoi(r.Seed)
	return n
}

// home is what the group of planted rules is called by now, and whether it was
// deleted.
func (b *book) home(group string) (name string, gone bool) {
	name = group
	for id, r := range b.rows {
		switch {
		case !strings.HasPrefix(id, group+"."):
		case !r.Gone && r.bad == nil:
			return r.Group, false
		default:
			gone = true
		}
	}
	return name, gone && group != Default
}

// closed reports whether a group has a stored rule for everything.
func (b *book) closed(group string) bool {
	for _, r := range b.rows {
		if r.Group == group && !r.Gone && r.bad == nil && r.catchAll() {
			return true
		}
	}
	return false
}
