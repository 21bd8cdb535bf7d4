package policy

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"path"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"parley/core/chat"
	"parley/storage"
)

// Policy judges calls and works out changes of the rules.
type Policy struct {
	store     storage.Table
	workspace string
	denied    []string
	rules     []*entry  // of config.yaml
	settings  []Setting // of config.yaml
	users     func(ctx context.Context, group string) []string
	fold      bool
	now       func() time.Time
	rand      io.Reader

	current  atomic.Pointer[book] // the rules as last read
	reading  chan struct{}        // holds one token: who has it reads them
	bypasses bypasses
}

// New returns a Policy that reads from store. It touches nothing; an error is
// the configuration's.
func New(store storage.Table, c Config) (*Policy, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	p := &Policy{
		store:     store,
		workspace: tidyDir(c.Workspace),
		users:     c.Users,
		fold:      c.FoldCase || runtime.GOOS == "darwin" || runtime.GOOS == "windows",
		now:       c.Now,
		rand:      c.Rand,
		reading:   make(chan struct{}, 1),
	}
	if p.now == nil {
		p.now = time.Now
	}
	if p.rand == nil {
		p.rand = rand.Reader
	}
	for _, dir := range c.Denied {
		p.denied = append(p.denied, path.Clean(dir))
	}
	for i := range c.Rules {
		e, err := compile(c.rule(i), p.fold)
		if err != nil {
			return nil, err
		}
		e.place = i + 1
		p.rules = append(p.rules, e)
	}
	for _, s := range c.Contexts {
		p.settings = append(p.settings, s.tidied())
	}
	return p, nil
}

// Judge says whether a call may run. It never fails: what it cannot know means
// that a person is asked.
func (p *Policy) Judge(ctx context.Context, c Call) Verdict {
	c, why := p.settle(c)
	if why = cmp.Or(why, p.forbidden(&c)); why != "" {
		return Verdict{Action: Deny, Why: why}
	}
	b, err := p.usable(ctx)
	if err != nil {
		return Verdict{Action: Require, Why: "The rules could not be read, so a person has to be asked.", Err: err}
	}
	return p.conclude(&c, b.decide(&c))
}

// conclude is what comes of the rule that decided, nil for none.
func (p *Policy) conclude(c *Call, e *entry) Verdict {
	v := Verdict{Action: Require, Why: "No rule speaks of this call, so a person has to be asked."}
	if e != nil {
		v = Verdict{Action: e.Action, Rule: e.Rule, Why: fmt.Sprintf("Rule %s of %s says %s.", e.ID, e.home(), e.Action)}
	}
	if v.Action != Require {
		return v
	}
	if v.Eased = ease(c); v.Eased != "" {
		v.Action, v.Why = Allow, "No approval is needed: "+v.Eased+"."
		return v
	}
	if bypass, ok := p.bypasses.find(c, p.now()); ok {
		v.Action, v.Bypassed, v.Why = Allow, true, fmt.Sprintf("A person let %s through %s.", bypass.what(), bypass.span())
	}
	return v
}

// Hides reports whether a tool is not to be offered at all: the rules deny it
// whatever a call is about. A deny with a path pattern hides nothing, nor does
// any deny behind a rule that lets some paths through. MCP tools stay visible
// and are gated when they are called, and so does everything when the rules
// cannot be read.
func (p *Policy) Hides(ctx context.Context, c Call) bool {
	c.Path, c.Write = "", false
	c, _ = p.settle(c)
	if server(c.Tool) != "" {
		return false
	}
	b, err := p.usable(ctx)
	if err != nil {
		return false
	}
	for e := range b.about(&c) {
		switch {
		case e.Path == "":
			return e.Action == Deny
		case e.Action != Deny:
			return false
		}
	}
	return false
}

// Rules lists the rules of a group in the order in which they are asked, those
// of config.yaml and those without a group among them. For "" it lists every
// rule once.
func (p *Policy) Rules(ctx context.Context, group string) ([]Rule, error) {
	b, err := p.book(ctx)
	if err != nil {
		return nil, err
	}
	var all []Rule
	if group != "" {
		for e := range inOrder(b.all(group), b.all(everyGroup)) {
			all = append(all, e.Rule)
		}
		return all, nil
	}
	for _, name := range append([]string{everyGroup}, b.names()...) {
		for _, e := range b.all(name) {
			all = append(all, e.Rule)
		}
	}
	return all, nil
}

// Groups lists the groups that have rules, and default, which always exists.
func (p *Policy) Groups(ctx context.Context) ([]string, error) {
	b, err := p.book(ctx)
	if err != nil {
		return nil, err
	}
	names := b.names()
	if !slices.Contains(names, Default) {
		names = append([]string{Default}, names...)
	}
	return names, nil
}

// Findings says whether the rules can be used, for check and doctor.
func (p *Policy) Findings(ctx context.Context) []chat.Finding {
	f := chat.Finding{Part: "rules", Level: chat.Good}
	b, err := p.book(ctx)
	switch {
	case err != nil:
		f.Level, f.Says = chat.Fail, fmt.Sprintf("They cannot be read (%v), so a person is asked about every call.", err)
		f.Remedy = "See to the disk of data_dir."
	case b.broken != nil:
		f.Level, f.Says = chat.Fail, fmt.Sprintf("These make no sense, so a person is asked about every call: %s.", list(b.senseless))
		f.Remedy = "Remove each with `parley rules delete ID`, or use the parley that wrote them."
	default:
		n := 0
		for group := range b.chapters {
			n += len(b.all(group))
		}
		f.Says = fmt.Sprintf("%d in %d groups, %d of them in config.yaml.", n, len(b.names()), len(p.rules))
	}
	return []chat.Finding{f}
}
