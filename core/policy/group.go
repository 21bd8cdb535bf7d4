package policy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"parley/storage"
)

// CopyGroup makes a new group with the rules of another, those of config.yaml
// among them. The new rules can all be changed.
func (p *Policy) CopyGroup(ctx context.Context, from, to string) (Change, error) {
	b, err := p.book(ctx)
	if err != nil {
		return Change{}, err
	}
	from, to = strings.TrimSpace(from), strings.TrimSpace(to)
	if refusal := b.unfitNames(from, to); refusal.Refused {
		return refusal, nil
	}
	if b.broken != nil {
		return refuse("broken rules", "These rules make no sense: %s. Put them anew or delete them first.", list(b.senseless)), nil
	}
	var ops []storage.Op
	var taken []string
	for _, e := range b.copied(from) {
		r := e.Rule
		if r.ID, err = p.newID(b, taken...); err != nil {
			return Change{}, err
		}
		taken = append(taken, r.ID)
		r.Group = to
		ops = append(ops, rows.Set(r.ID, row{Rule: r}))
	}
	return p.seal(b, Change{
		Reply: fmt.Sprintf("Group %s is there, with %d rules of %s.", to, len(ops), from),
		Why:   fmt.Sprintf("group %s copied to %s", from, to),
	}, ops...)
}

// copied is a group's rules without those that another rule for everything
// keeps from ever being asked: a copy has one of them.
func (b *book) copied(group string) []*entry {
	list := b.all(group)
	if end := slices.IndexFunc(list, func(e *entry) bool { return e.catchAll() }); end >= 0 {
		list = list[:end+1]
	}
	return list
}

// unfitNames refuses a group that does not exist, and a name for a new one
// that is taken or none.
func (b *book) unfitNames(from, to string) Change {
	if from == everyGroup || b.chapters[from] == nil {
		return refuse("unknown group", "There is no group %s. There are %s.", mono(from), strings.Join(b.names(), ", "))
	}
	if problem := groupProblem(to); problem != "" {
		return refuse("no name for a group", "That name does not do: %s.", problem)
	}
	if b.chapters[to] != nil || to == Default {
		return refuse("group exists", "There is a group %s already.", mono(to))
	}
	return Change{}
}

// RenameGroup gives a group another name. The contexts that commands set follow;
// a group that somebody else is in, or that config.yaml names, is not renamed.
func (p *Policy) RenameGroup(ctx context.Context, from, to string) (Change, error) {
	b, err := p.book(ctx)
	if err != nil {
		return Change{}, err
	}
	from, to = strings.TrimSpace(from), strings.TrimSpace(to)
	if refusal := b.unfitNames(from, to); refusal.Refused {
		return refusal, nil
	}
	if from == Default {
		return refuse("the group default", "The group %s keeps its name. /rules can copy it.", Default), nil
	}
	if users := append(p.fixedUsers(from), p.foreignUsers(ctx, from)...); len(users) > 0 {
		return refuse("group in use", "Group %s is used by %s, which would not follow. Copy it instead.", from, list(users)), nil
	}
	var ops []storage.Op
	for _, r := range b.rowsOf(from) {
		r.Group = to
		ops = append(ops, rows.Set(r.ID, r))
	}
	for _, key := range b.usedBy(from) {
		s := b.settings[key]
		s.Group = to
		ops = append(ops, settings.Set(key, s))
	}
	return p.seal(b, Change{
		Reply: fmt.Sprintf("Group %s is called %s now.", from, to),
		Why:   fmt.Sprintf("group %s renamed to %s", from, to),
	}, ops...)
}

// DeleteGroup removes a group with its rules. One that somebody is in names
// them instead, and default stays.
func (p *Policy) DeleteGroup(ctx context.Context, group string) (Change, error) {
	b, err := p.book(ctx)
	if err != nil {
		return Change{}, err
	}
	group = strings.TrimSpace(group)
	switch {
	case group == Default:
		return refuse("the group default", "The group %s cannot be deleted; its rules can be changed.", Default), nil
	case group == everyGroup || b.chapters[group] == nil:
		return refuse("unknown group", "There is no group %s. There are %s.", mono(group), strings.Join(b.names(), ", ")), nil
	}
	users := append(p.fixedUsers(group), p.foreignUsers(ctx, group)...)
	for _, key := range b.usedBy(group) {
		users = append(users, "the context of "+mono(key))
	}
	if len(users) > 0 {
		return refuse("group in use", "Group %s is used by %s. Give them another group first.", group, list(users)), nil
	}
	var ops []storage.Op
	for _, r := range b.rowsOf(group) {
		ops = append(ops, remove(r))
	}
	return p.seal(b, Change{
		Reply: fmt.Sprintf("Group %s is deleted, with %d rules.", group, len(ops)),
		Why:   fmt.Sprintf("group %s deleted", group),
	}, ops...)
}

// rowsOf lists the stored rules of a group by id.
func (b *book) rowsOf(group string) []row {
	var all []row
	for _, id := range slices.Sorted(maps.Keys(b.rows)) {
		if r := b.rows[id]; r.Group == group && !r.Gone {
			all = append(all, r)
		}
	}
	return all
}

// usedBy lists the stored contexts that put sessions into a group.
func (b *book) usedBy(group string) []string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(b.settings)) {
		if b.settings[key].Group == group {
			all = append(all, key)
		}
	}
	return all
}

// fixedUsers is what config.yaml says of a group.
func (p *Policy) fixedUsers(group string) []string {
	var all []string
	for i, s := range p.settings {
		if s.Group == group {
			all = append(all, fmt.Sprintf("contexts[%d] in config.yaml", i))
		}
	}
	for _, e := range p.rules {
		if e.Group == group {
			all = append(all, fmt.Sprintf("rules[%d] in config.yaml", e.place-1))
		}
	}
	return all
}

// foreignUsers is who else is in a group.
func (p *Policy) foreignUsers(ctx context.Context, group string) []string {
	if p.users == nil {
		return nil
	}
	return slices.Clone(p.users(ctx, group))
}

// list is names in a sentence, not too many of them.
func list(names []string) string {
	const most = 8
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(" and %d more", len(names)-most)
		names = names[:most]
	}
	return strings.Join(names, ", ") + more
}
