package policy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
)

// Config is what the program says about calls. The zero Config plants the
// rules that come with parley and has no paths.
type Config struct {
	// Workspace is the workspace's directory, absolute and resolved.
	Workspace string `yaml:"-"`
	// Denied are directories that no tool may enter whatever the rules say,
	// absolute and resolved: data_dir.
	Denied []string `yaml:"-"`
	// Rules stand in their groups beside those that commands add. Commands
	// cannot change them. Without a priority they are numbered from 1 in
	// their order; the rule that matches everything comes last.
	Rules []Rule `yaml:"rules"`
	// Contexts are the run contexts of chats, roles, jobs and agents.
	// Commands cannot change them.
	Contexts []Setting `yaml:"contexts"`

	// Users names who is in a group: roles, jobs. A group that somebody is
	// in is not deleted or renamed. Nil: nobody.
	Users func(ctx context.Context, group string) []string `yaml:"-"`
	// FoldCase says that names that differ only in case are one file. It is
	// so on macOS and Windows without being said.
	FoldCase bool `yaml:"-"`
	// Now is the clock, nil for time.Now.
	Now func() time.Time `yaml:"-"`
	// Rand is where ids come from, nil for crypto/rand. It must be safe for
	// concurrent use.
	Rand io.Reader `yaml:"-"`
}

// Validate reports everything that is wrong, each problem with its key and the
// remedy.
func (c Config) Validate() error {
	var wrong []error
	if c.Workspace != "" && !plainDir(c.Workspace) {
		wrong = append(wrong, fmt.Errorf("workspace: %s is no absolute path", quoted(c.Workspace)))
	}
	for i, dir := range c.Denied {
		switch {
		case !plainDir(dir):
			wrong = append(wrong, fmt.Errorf("denied[%d]: %s is no absolute path", i, quoted(dir)))
		case c.Workspace != "" && within(path.Clean(dir), path.Clean(c.Workspace), strings.EqualFold):
			wrong = append(wrong, fmt.Errorf("denied[%d]: the workspace lies in %s, which no tool may enter; put it elsewhere", i, quoted(dir)))
		}
	}
	wrong = append(wrong, c.checkRules()...)
	wrong = append(wrong, c.checkContexts()...)
	return errors.Join(wrong...)
}

// plainDir reports whether a text is an absolute path without detours.
func plainDir(dir string) bool { return tidyDir(dir) != "" }

func (c Config) checkRules() []error {
	var wrong []error
	last := make(map[string]int) // group -> its catch-all
	for i := range c.Rules {
		r := c.rule(i)
		for _, p := range r.problems() {
			wrong = append(wrong, fmt.Errorf("rules[%d].%s: %s", i, p.key, p.text))
		}
		if !r.catchAll() {
			continue
		}
		if first, known := last[r.Group]; !known {
			last[r.Group] = i
		} else if o := c.rule(first); o.Action != r.Action {
			wrong = append(wrong, fmt.Errorf("rules[%d].action: rules[%d] says %s for everything in group %s already; take one of them out", i, first, o.Action, r.Group))
		}
	}
	return wrong
}

func (c Config) checkContexts() []error {
	var wrong []error
	seen := make(map[string]int)
	for i, s := range c.Contexts {
		s = s.tidied()
		for _, p := range s.problems(c.Workspace, c.Denied) {
			wrong = append(wrong, fmt.Errorf("contexts[%d].%s: %s", i, p.key, p.text))
		}
		if first, known := seen[s.For]; known {
			wrong = append(wrong, fmt.Errorf("contexts[%d].for: contexts[%d] is for %s already; make one of them", i, first, quoted(s.For)))
		} else {
			seen[s.For] = i
		}
	}
	return wrong
}

// rule is a rule of config.yaml with its id and its priority.
func (c Config) rule(i int) Rule {
	r := c.Rules[i].tidied()
	r.ID, r.Seed = fmt.Sprintf("%s%d", fixedID, i), ""
	if r.Priority == 0 {
		r.Priority = i + 1
		if r.catchAll() {
			r.Priority = Last
		}
	}
	return r
}

// fixedID begins the ids of rules that stand in config.yaml.
const fixedID = "config."
