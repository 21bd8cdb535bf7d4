package policy

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"parley/core/chat"
)

// Setting is what is set of a run context. An empty field is left to what is
// less specific.
type Setting struct {
	// For is what it is for: a chat or thread ("telegram:-100123"),
	// role:NAME, job:ID, agent:NAME, or default.
	For string `yaml:"for" json:"-"`
	// Group is the permission group.
	Group string `yaml:"group" json:"group,omitempty"`
	// Prompt is what the agent is told beyond its own prompt.
	Prompt string `yaml:"prompt" json:"prompt,omitempty"`
	// Reads are directories that may be read without asking, absolute or
	// below $workspace/.
	Reads []string `yaml:"reads" json:"reads,omitempty"`
	// Writes are directories that may be written and read without asking.
	Writes []string `yaml:"writes" json:"writes,omitempty"`
	// Dir is the working directory.
	Dir string `yaml:"dir" json:"dir,omitempty"`
}

// Who is what a run context is looked up by.
type Who struct {
	Chat    chat.Key
	Private bool   // the chat is the private one of whoever talks
	Role    string // of whoever talks: owner, admin, member, guest
	Job     string // the id of the job that runs, "" for none
	Agent   string
}

// trusted reports whether an owner or admin talks.
func (w Who) trusted() bool { return w.Role == ownerGroup || w.Role == adminGroup }

// The groups that roles give. Each bears the role's name.
const (
	ownerGroup  = "owner"
	adminGroup  = "admin"
	memberGroup = "member"
	guestGroup  = "guest"
)

// What a setting's For may begin with, besides a chat.
const (
	forRole    = "role:"
	forJob     = "job:"
	forAgent   = "agent:"
	forDefault = "default"
)

// keys lists what settings may be for somebody, the most specific first.
func (w Who) keys() []string {
	var all []string
	add := func(prefix, name string) {
		if name != "" {
			all = append(all, prefix+name)
		}
	}
	add(forJob, w.Job)
	add(forAgent, w.Agent)
	if !w.Chat.IsZero() {
		all = append(all, w.Chat.String())
		if w.Chat.Thread != "" {
			all = append(all, chat.Key{Adapter: w.Chat.Adapter, Chat: w.Chat.Chat}.String())
		}
	}
	add(forRole, w.Role)
	return append(all, forDefault)
}

// ContextOf returns the run context. Each field comes from the most specific
// setting that has it: the job's, the agent's, the thread's, the chat's, the
// role's, the default's. The group of the role's name comes before the
// default's. The working directory is by default the workspace for owners and
// admins where they are alone, and a directory of its own for every other
// conversation. An error is the store's, or a setting that cannot be read; then
// nothing is known and the session should not run.
func (p *Policy) ContextOf(ctx context.Context, w Who) (Context, error) {
	b, err := p.book(ctx)
	if err != nil {
		return Context{}, err
	}
	c := Context{Workspace: p.workspace, Trusted: w.trusted()}
	for _, key := range w.keys() {
		if err := b.unread[key]; err != nil {
			return Context{}, err
		}
		if key == forDefault && groupProblem(w.Role) == "" {
			c.Group = cmp.Or(c.Group, w.Role)
		}
		s := p.setting(b, key)
		c.Group, c.Prompt = cmp.Or(c.Group, s.Group), cmp.Or(c.Prompt, s.Prompt)
		c.Dir = cmp.Or(c.Dir, p.expand(s.Dir))
		if c.Reads == nil {
			c.Reads = p.expandAll(s.Reads)
		}
		if c.Writes == nil {
			c.Writes = p.expandAll(s.Writes)
		}
	}
	c.Group = cmp.Or(c.Group, Default)
	c.Dir = cmp.Or(c.Dir, p.home(w))
	return c, nil
}

// setting is what stands for a key; config.yaml counts before commands.
func (p *Policy) setting(b *book, key string) Setting {
	for _, s := range p.settings {
		if s.For == key {
			return s
		}
	}
	return b.settings[key]
}

// fixed reports whether config.yaml has a setting for a key.
func (p *Policy) fixed(key string) bool {
	return slices.ContainsFunc(p.settings, func(s Setting) bool { return s.For == key })
}

// expand makes a directory of a setting absolute, "" if it cannot be.
func (p *Policy) expand(dir string) string {
	if rest, found := strings.CutPrefix(dir, inWorkspace); found {
		if p.workspace == "" {
			return ""
		}
		dir = p.workspace + rest
	}
	return tidyDir(dir)
}

func (p *Policy) expandAll(dirs []string) []string {
	var all []string
	for _, dir := range dirs {
		if dir = p.expand(dir); dir != "" {
			all = append(all, dir)
		}
	}
	return all
}

// home is the working directory of who has none set.
func (p *Policy) home(w Who) string {
	alone := w.Private || w.Chat.IsZero()
	switch {
	case p.workspace == "":
		return ""
	case alone && w.trusted():
		return p.workspace
	case !w.Chat.IsZero():
		return path.Join(p.workspace, "chats", folder(w.Chat))
	default:
		return path.Join(p.workspace, "chats", "none."+digest(w.Job+"\x00"+w.Agent+"\x00"+w.Role))
	}
}

// folder is a conversation as the name of a directory: readable, and another
// one for each key also where case does not count. A name with a dot is not the
// key as it stands.
func folder(k chat.Key) string {
	const most = 60
	exact := true
	safe := func(s string) string {
		return strings.Map(func(r rune) rune {
			if (r >= 'a' && r <= 'z') || (r >= '0' && r <= '9') || r == '-' {
				return r
			}
			exact = false
			if r >= 'A' && r <= 'Z' {
				return r - 'A' + 'a'
			}
			return '-'
		}, s)
	}
	name := safe(k.Adapter) + "_" + safe(k.Chat)
	if k.Thread != "" {
		name += "_" + safe(k.Thread)
	}
	if exact && len(name) <= most {
		return name
	}
	return name[:min(len(name), most)] + "." + digest(k.String())
}

// digest names a text.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

// Contexts lists what is set, by what it is for; config.yaml's first.
func (p *Policy) Contexts(ctx context.Context) ([]Setting, error) {
	b, err := p.book(ctx)
	if err != nil {
		return nil, err
	}
	var all []Setting
	for _, s := range p.settings {
		all = append(all, s.tidied())
	}
	for _, key := range slices.Sorted(maps.Keys(b.settings)) {
		if !p.fixed(key) {
			all = append(all, b.settings[key].tidied())
		}
	}
	return all, nil
}

// SetContext sets a run context in place of what a command set for the same
// before; one without any field removes it. It holds from the next round.
func (p *Policy) SetContext(ctx context.Context, s Setting) (Change, error) {
	return p.EditContext(ctx, s.For, func(old *Setting) { *old = s })
}

// EditContext changes what a command set of a run context before, or sets it;
// see [Policy.SetContext].
func (p *Policy) EditContext(ctx context.Context, of string, edit func(*Setting)) (Change, error) {
	b, err := p.book(ctx)
	if err != nil {
		return Change{}, err
	}
	key := Setting{For: of}.tidied().For
	s := b.settings[key].tidied()
	edit(&s)
	s.For = key
	s = s.tidied()
	if wrong := s.problems(p.workspace, p.denied); len(wrong) > 0 {
		return refuse("not a context", "That does not do. %s: %s.", wrong[0].key, wrong[0].text), nil
	}
	if p.fixed(s.For) {
		return refuse("a context of config.yaml", "The context of %s stands in config.yaml. Change it there and restart parley.", mono(s.For)), nil
	}
	if s.Group != "" && s.Group != Default && b.chapters[s.Group] == nil {
		return refuse("unknown group", "There is no group %s. There are %s.", mono(s.Group), strings.Join(b.names(), ", ")), nil
	}
	if s.empty() {
		return p.seal(b, Change{
			Reply: fmt.Sprintf("Nothing is set for %s any more.", mono(s.For)),
			Why:   "context of " + s.For + " removed",
		}, settings.Remove(s.For))
	}
	return p.seal(b, Change{
		Reply: fmt.Sprintf("The context of %s is set. It holds from the next round.", mono(s.For)),
		Why:   "context of " + s.For + " set",
	}, settings.Set(s.For, s))
}

func (s Setting) empty() bool {
	return s.Group == "" && s.Prompt == "" && s.Dir == "" && len(s.Reads)+len(s.Writes) == 0
}
