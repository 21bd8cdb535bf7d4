package policy

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"parley/storage"
)

// Change is what a command comes to. The caller applies Ops together with the
// reply; on [storage.ErrConflict] it calls the method again.
type Change struct {
	Ops     []storage.Op
	Reply   string // what the person who asked is told, Markdown
	Refused bool   // nothing is changed; there are no Ops
	ID      string // the rule that was put
	Why     string // for the log and the audit
}

// refuse is a change that is none.
func refuse(why, format string, args ...any) Change {
	return Change{Reply: fmt.Sprintf(format, args...), Refused: true, Why: why}
}

// seal puts the condition in front of the ops of a change: everything still
// stands as the book had it.
func (p *Policy) seal(b *book, c Change, ops ...storage.Op) (Change, error) {
	id, err := p.random(12)
	if err != nil {
		return Change{}, err
	}
	swap := stamps.Swap(stampKey, stamp{At: p.now(), Why: c.Why}, b.rev, id)
	c.Ops = append([]storage.Op{swap}, ops...)
	return c, nil
}

// random is n bytes from the source of random numbers, in hex.
func (p *Policy) random(n int) (string, error) {
	bytes := make([]byte, n)
	if _, err := io.ReadFull(p.rand, bytes); err != nil {
		return "", fmt.Errorf("reading random bytes: %w", err)
	}
	return hex.EncodeToString(bytes), nil
}

// newID is an id that no rule has or had. It has no dot.
func (p *Policy) newID(b *book, taken ...string) (string, error) {
	const tries = 100
	for range tries {
		id, err := p.random(3)
		if err != nil {
			return "", err
		}
		if _, known := b.rows[id]; !known && !slices.Contains(taken, id) {
			return id, nil
		}
	}
	return "", fmt.Errorf("finding a free id: %d were taken", tries)
}

// find returns a stored rule that can be changed, or a refusal.
func (b *book) find(id string) (row, Change) {
	if strings.HasPrefix(id, fixedID) {
		return row{}, refuse("a rule of config.yaml", "Rule %s stands in config.yaml. Change it there and restart parley.", mono(id))
	}
	r, known := b.rows[id]
	if !known || r.Gone {
		return row{}, refuse("unknown rule", "There is no rule %s.", mono(id))
	}
	return r, Change{}
}

// Put adds a rule, or replaces the one with its ID. A new rule without a
// priority gets [Usual], before all that came with parley, or [Last] if it
// matches everything; a replaced one keeps its own, and its group if none is
// named.
func (p *Policy) Put(ctx context.Context, r Rule) (Change, error) {
	b, err := p.book(ctx)
	if err != nil {
		return Change{}, err
	}
	return p.put(b, r)
}

// Edit changes a rule that is there; see [Policy.Put].
func (p *Policy) Edit(ctx context.Context, id string, edit func(*Rule)) (Change, error) {
	b, err := p.book(ctx)
	if err != nil {
		return Change{}, err
	}
	old, refusal := b.find(strings.TrimSpace(id))
	switch {
	case refusal.Refused:
		return refusal, nil
	case old.bad != nil:
		return refuse("a rule that cannot be read", "Rule %s cannot be read. Delete it and add another.", mono(old.ID)), nil
	}
	r := old.Rule
	edit(&r)
	r.ID = old.ID
	return p.put(b, r)
}

func (p *Policy) put(b *book, r Rule) (Change, error) {
	next, refusal := b.next(r)
	if refusal.Refused {
		return refusal, nil
	}
	var err error
	verb := "changed"
	if next.ID == "" {
		verb = "added"
		if next.ID, err = p.newID(b); err != nil {
			return Change{}, err
		}
	}
	return p.seal(b, Change{
		ID:    next.ID,
		Reply: fmt.Sprintf("Rule %s of %s (%d): %s.%s", mono(next.ID), next.home(), next.Priority, next.Rule, b.remark(next.Group)),
		Why:   fmt.Sprintf("rule %s of %s %s: %s", next.ID, next.home(), verb, next.Rule),
	}, rows.Set(next.ID, next))
}

// next is the row that a rule will be, or a refusal.
func (b *book) next(r Rule) (row, Change) {
	var old row
	r.ID = strings.TrimSpace(r.ID)
	if r.ID != "" {
		var refusal Change
		if old, refusal = b.find(r.ID); refusal.Refused {
			return row{}, refusal
		}
	}
	r.Group = cmp.Or(strings.TrimSpace(r.Group), old.Group)
	r.Priority = cmp.Or(r.Priority, old.Priority)
	r = r.tidied()
	if r.Priority == 0 {
		r.Priority = Usual
		if r.catchAll() {
			r.Priority = Last
		}
	}
	r.Seed = old.Seed
	if old.came() && r.Group != old.Group && old.bad == nil {
		return row{}, refuse("another group", "Rule %s came with parley and stays in group %s. Add one to group %s instead.", mono(r.ID), old.Group, shown(r.Group))
	}
	return row{Rule: r, Touched: old.came()}, b.unfit(r)
}

// unfit refuses what is no rule, and a second rule for everything.
func (b *book) unfit(r Rule) Change {
	if wrong := r.problems(); len(wrong) > 0 {
		var lines []string
		for _, w := range wrong {
			lines = append(lines, w.key+": "+w.text)
		}
		return refuse("not a rule", "That is no rule. %s.", strings.Join(lines, "; "))
	}
	if !r.catchAll() {
		return Change{}
	}
	for _, e := range b.all(r.Group) {
		if e.catchAll() && e.ID != r.ID && e.Action != r.Action {
			return refuse("a second rule for everything", "Rule %s of group %s says %s for everything already. Change that one.", mono(e.ID), r.Group, e.Action)
		}
	}
	return Change{}
}

// remark says what is worth knowing about a group that a rule was put into.
func (b *book) remark(group string) string {
	if group == everyGroup || group == Default || b.chapters[group] != nil {
		return ""
	}
	return fmt.Sprintf(" The group is new: what it does not decide, the group %s does.", Default)
}

// Delete removes a rule. One that came with parley does not come back.
func (p *Policy) Delete(ctx context.Context, id string) (Change, error) {
	b, err := p.book(ctx)
	if err != nil {
		return Change{}, err
	}
	id = strings.TrimSpace(id)
	r, refusal := b.find(id)
	if refusal.Refused {
		return refusal, nil
	}
	c := Change{
		Reply: fmt.Sprintf("Rule %s is deleted.", mono(id)),
		Why:   fmt.Sprintf("rule %s of %s deleted: %s", id, r.home(), r.Rule),
	}
	if r.catchAll() && r.bad == nil && r.Group != Default {
		c.Reply += fmt.Sprintf(" What group %s does not decide, the group %s does now.", r.Group, Default)
	}
	return p.seal(b, c, remove(r))
}

// remove takes a rule away; one that came with parley leaves a mark.
func remove(r row) storage.Op {
	if !r.came() {
		return rows.Remove(r.ID)
	}
	r.Gone = true
	return rows.Set(r.ID, r)
}

// Move gives a rule another priority.
func (p *Policy) Move(ctx context.Context, id string, priority int) (Change, error) {
	b, err := p.book(ctx)
	if err != nil {
		return Change{}, err
	}
	r, refusal := b.find(strings.TrimSpace(id))
	if refusal.Refused {
		return refusal, nil
	}
	if priority < 1 || priority > farthest {
		return refuse("priority out of range", "%d is no priority. Write a number from 1 to %d; the lowest is asked first.", priority, farthest), nil
	}
	if r.bad != nil {
		return refuse("a rule that cannot be read", "Rule %s cannot be read. Put it anew or delete it.", mono(r.ID)), nil
	}
	r.Priority, r.Touched = priority, r.came()
	return p.seal(b, Change{
		ID:    r.ID,
		Reply: fmt.Sprintf("Rule %s of %s is at %d now.", mono(r.ID), r.home(), priority),
		Why:   fmt.Sprintf("rule %s of %s moved to %d", r.ID, r.home(), priority),
	}, rows.Set(r.ID, r))
}
