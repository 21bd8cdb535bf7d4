package policy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"parley/storage"
)

// row is a rule as it is stored; its key is the rule's id.
type row struct {
	Rule
	// Gone marks a rule that came with parley and was deleted. The row stays,
	// so that it is not planted again.
	Gone bool `json:"gone,omitempty"`
	// Touched marks a rule that came with parley and was changed. A newer
	// version of it is not planted over it.
	Touched bool `json:"touched,omitempty"`

	bad error // it could not be read
}

// came reports whether the rule was planted, and is not a copy of such a one.
func (r row) came() bool { return strings.Contains(r.ID, ".") }

// stamp is the one row that every change swaps. Its content is for reading
// only; its revision is what counts.
type stamp struct {
	At  time.Time `json:"at"`
	Why string    `json:"why,omitempty"`
}

const (
	rows     = storage.Typed[row]("rules")
	settings = storage.Typed[Setting]("contexts")
	stamps   = storage.Typed[stamp]("policy")
	stampKey = "revision"
)

// entry is a rule ready to be held against calls.
type entry struct {
	Rule
	tool  toolPattern
	path  pathPattern
	place int // in config.yaml, from 1; 0: stored
}

// compile parses a rule. An error is a rule that another version left, or a
// row that was damaged.
func compile(r Rule, fold bool) (*entry, error) {
	tool, path, wrong := r.parse()
	if len(wrong) > 0 {
		return nil, fmt.Errorf("rule %s: %s: %s", r.ID, wrong[0].key, wrong[0].text)
	}
	e := &entry{Rule: r, tool: tool, path: path}
	if fold && r.Action != Allow {
		e.path = e.path.folded()
	}
	return e, nil
}

// before orders the rules of a group: by priority, config.yaml's first and in
// their order, then the stricter first.
func (e *entry) before(o *entry) int {
	return cmp.Or(
		cmp.Compare(e.Priority, o.Priority),
		-cmp.Compare(min(e.place, 1), min(o.place, 1)),
		cmp.Compare(e.place, o.place),
		cmp.Compare(e.Action.strictness(), o.Action.strictness()),
		cmp.Compare(e.ID, o.ID),
	)
}

// speaks reports whether the rule matches a call, its path apart. A rule that
// came with parley means parley's own tools: an MCP server does not get what
// it allows by choosing a name.
func (e *entry) speaks(c *Call) bool {
	switch {
	case e.Agent != "" && e.Agent != c.Agent, e.Source != "" && e.Source != c.Source:
		return false
	case e.Seed != "" && e.tool.kind != anyTool && server(c.Tool) != "":
		return false
	default:
		return e.tool.match(c)
	}
}

// reaches reports whether the call's path is one that the rule means.
func (e *entry) reaches(c *Call) bool { return e.Path == "" || e.path.match(c) }

// chapter is the rules of one group in their order. Most rules name one tool,
// so they can be found by it.
type chapter struct {
	named map[string][]*entry
	rest  []*entry
}

func (ch *chapter) add(e *entry) {
	if e.tool.kind == oneTool {
		ch.named[e.tool.text] = append(ch.named[e.tool.text], e)
	} else {
		ch.rest = append(ch.rest, e)
	}
}

// lists returns the rules that may speak of a tool, in two sorted lists.
func (ch *chapter) lists(tool string) (named, rest []*entry) {
	if ch == nil {
		return nil, nil
	}
	return ch.named[tool], ch.rest
}

// inOrder yields sorted lists as one.
func inOrder(lists ...[]*entry) iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for {
			next := -1
			for i, list := range lists {
				if len(list) > 0 && (next < 0 || list[0].before(lists[next][0]) < 0) {
					next = i
				}
			}
			if next < 0 || !yield(lists[next][0]) {
				return
			}
			lists[next] = lists[next][1:]
		}
	}
}

// book is everything stored, as of one revision. It does not change.
type book struct {
	rev       uint64
	rows      map[string]row
	settings  map[string]Setting
	unread    map[string]error // settings that could not be read
	chapters  map[string]*chapter
	broken    error    // a rule that makes no sense: then none may be used
	senseless []string // the ids of all such rules, to be shown
}

// about yields the rules that speak of a call, its path apart, in the order in
// which they are asked.
func (b *book) about(c *Call) iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		here, hereToo := b.chapters[c.Group].lists(c.Tool.Name)
		all, allToo := b.chapters[everyGroup].lists(c.Tool.Name)
		for e := range inOrder(here, hereToo, all, allToo) {
			if e.speaks(c) && !yield(e) {
				return
			}
		}
		if c.Group == Default {
			return
		}
		here, hereToo = b.chapters[Default].lists(c.Tool.Name)
		for e := range inOrder(here, hereToo) {
			if e.speaks(c) && !yield(e) {
				return
			}
		}
	}
}

// decide returns the first rule that matches, nil for none.
func (b *book) decide(c *Call) *entry {
	for e := range b.about(c) {
		if e.reaches(c) {
			return e
		}
	}
	return nil
}

// all lists a group's rules in order.
func (b *book) all(group string) []*entry {
	ch := b.chapters[group]
	if ch == nil {
		return nil
	}
	list := slices.Clone(ch.rest)
	for _, named := range ch.named {
		list = append(list, named...)
	}
	slices.SortFunc(list, (*entry).before)
	return list
}

// names lists the groups, sorted.
func (b *book) names() []string {
	all := slices.Sorted(maps.Keys(b.chapters))
	return slices.DeleteFunc(all, func(name string) bool { return name == everyGroup })
}

// usable is the book if its rules can be used.
func (p *Policy) usable(ctx context.Context) (*book, error) {
	b, err := p.book(ctx)
	if err == nil {
		err = b.broken
	}
	return b, err
}

// book returns what is stored as of now: what is in memory if the revision
// still stands, else it is read anew. What is read while somebody writes is
// of no one moment and is read again.
func (p *Policy) book(ctx context.Context) (*book, error) {
	const tries = 16
	for range tries {
		rev, err := p.revision(ctx)
		if err != nil {
			return nil, err
		}
		if b := p.current.Load(); b != nil && b.rev == rev {
			return b, nil
		}
		b, err := p.reread(ctx, rev)
		if err != nil || b != nil {
			return b, err
		}
	}
	return nil, errors.New("reading rules: they change faster than they can be read")
}

// revision is how often anything was changed. The row's content is of no
// interest, so it is not decoded: this is on the way of every call.
func (p *Policy) revision(ctx context.Context) (uint64, error) {
	r, err := p.store.Get(ctx, string(stamps), stampKey)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return storage.NewRev, nil
	case err != nil:
		return 0, fmt.Errorf("reading the revision of the rules: %w", err)
	default:
		return r.Rev, nil
	}
}

// reread reads everything, one caller at a time; nil if it changed meanwhile.
func (p *Policy) reread(ctx context.Context, rev uint64) (*book, error) {
	select {
	case p.reading <- struct{}{}:
		defer func() { <-p.reading }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if b := p.current.Load(); b != nil && b.rev >= rev {
		return nil, nil // somebody was faster; look again
	}
	b := &book{rev: rev, rows: make(map[string]row), settings: make(map[string]Setting), unread: make(map[string]error)}
	err := each(ctx, p.store, string(rows), func(key string, value []byte) {
		var r row
		r.bad = json.Unmarshal(value, &r)
		r.ID = key
		b.rows[key] = r
	})
	if err != nil {
		return nil, err
	}
	err = each(ctx, p.store, string(settings), func(key string, value []byte) {
		var s Setting
		if err := json.Unmarshal(value, &s); err != nil {
			b.unread[key] = fmt.Errorf("decoding context %q: %w", key, err)
		}
		s.For = key
		b.settings[key] = s
	})
	if err != nil {
		return nil, err
	}
	if now, err := p.revision(ctx); err != nil || now != rev {
		return nil, err
	}
	b.bind(p.rules, p.fold)
	p.current.Store(b)
	return b, nil
}

// each calls f with every row of a table.
func each(ctx context.Context, from storage.Table, table string, f func(key string, value []byte)) error {
	const page = 1024
	for after := ""; ; {
		list, err := from.List(ctx, table, "", after, page)
		if err != nil {
			return fmt.Errorf("listing %s: %w", table, err)
		}
		for _, r := range list {
			f(r.Key, r.Value)
			after = r.Key
		}
		if len(list) < page {
			return nil
		}
	}
}

// bind makes chapters of the stored rules and those of config.yaml.
func (b *book) bind(fixed []*entry, fold bool) {
	list := slices.Clone(fixed)
	for _, key := range slices.Sorted(maps.Keys(b.rows)) {
		r := b.rows[key]
		if r.Gone {
			continue
		}
		r.Changed = r.Touched
		e, err := compile(r.Rule, fold)
		if err = cmp.Or(r.bad, err); err != nil {
			b.broken = cmp.Or(b.broken, fmt.Errorf("reading rule %q: %w", key, err))
			b.senseless = append(b.senseless, mono(key))
			continue
		}
		list = append(list, e)
	}
	slices.SortFunc(list, (*entry).before)
	b.chapters = make(map[string]*chapter)
	for _, e := range list {
		ch := b.chapters[e.Group]
		if ch == nil {
			ch = &chapter{named: make(map[string][]*entry)}
			b.chapters[e.Group] = ch
		}
		ch.add(e)
	}
}
