package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"parley/core/chat"
)

// CatalogEntry is one tool in a listing.
type CatalogEntry struct {
	Name        string    `json:"name"`
	Description string    `json:"description"`
	Category    Category  `json:"category,omitempty"`
	Source      string    `json:"source"`
	Audience    Audience  `json:"audience,omitempty"`
	Group       string    `json:"group,omitempty"`
	Effect      Effect    `json:"effect,omitempty"`
	Plumbing    bool      `json:"plumbing,omitempty"`
	Present     bool      `json:"present"` // somebody contributes it now
	Known       bool      `json:"known"`   // it was offered to a model at some time
	FirstSeen   time.Time `json:"first_seen,omitzero"`
}

func entry(s Spec) CatalogEntry {
	return CatalogEntry{
		Name: s.Name, Description: s.Description, Category: s.Category, Source: s.Source, Audience: s.Audience,
		Group: s.Group, Effect: s.Effect, Plumbing: s.Plumbing, Present: true,
	}
}

// Spec is the entry as rules see it, without a schema.
func (e CatalogEntry) Spec() Spec {
	return Spec{
		Name: e.Name, Description: e.Description, Category: e.Category, Source: e.Source, Audience: e.Audience,
		Group: e.Group, Effect: e.Effect, Plumbing: e.Plumbing,
	}
}

// Catalog is everything that can be or ever was called: the built-in tools,
// those that the core injects, what plugins and MCP servers contribute now,
// and what [Discovery] remembers. It is for rules, listings and labels; what a
// round offers is put together elsewhere. Its methods may be called from
// several goroutines at once, and what is registered is listed before anything
// ran.
type Catalog struct {
	sources   []Source
	discovery *Discovery
}

// NewCatalog returns a catalogue. Of two tools with one name that of the
// earlier source counts. Without a discovery nothing is remembered.
func NewCatalog(d *Discovery, sources ...Source) *Catalog {
	return &Catalog{slices.Clone(sources), d}
}

// List returns an entry for each name, sorted. The sources are asked in the
// scopes given, or else in those that most tools are made for.
func (c *Catalog) List(ctx context.Context, scopes ...Scope) []CatalogEntry {
	all := map[string]CatalogEntry{}
	for name, t := range c.present(ctx, scopes) {
		all[name] = entry(t.Spec())
	}
	for _, k := range c.known() {
		e, present := all[k.Name]
		if !present {
			e = CatalogEntry{Name: k.Name, Description: k.Description, Category: k.Category, Source: k.Source}
		}
		e.Known, e.FirstSeen = true, k.First
		all[k.Name] = e
	}
	return slices.SortedFunc(maps.Values(all), func(a, b CatalogEntry) int { return strings.Compare(a.Name, b.Name) })
}

// Find returns the entry of one name.
func (c *Catalog) Find(ctx context.Context, name string) (CatalogEntry, bool) {
	for _, e := range c.List(ctx) {
		if e.Name == name {
			return e, true
		}
	}
	return CatalogEntry{}, false
}

// Describe labels a call, with the plain name for a tool that nobody
// contributes now.
func (c *Catalog) Describe(ctx context.Context, name string, args json.RawMessage, length Length) string {
	if t, ok := c.present(ctx, nil)[name]; ok {
		return Describe(t, args, length)
	}
	return Label(name, length)
}

// present collects what the sources contribute now. A source that panics
// contributes nothing.
func (c *Catalog) present(ctx context.Context, scopes []Scope) map[string]Tool {
	if len(scopes) == 0 {
		scopes = allScopes()
	}
	all := map[string]Tool{}
	for _, source := range c.sources {
		for _, scope := range scopes {
			offered, _ := Offered(ctx, source, scope)
			for _, t := range offered {
				name := t.Spec().Name
				if _, taken := all[name]; !taken {
					all[name] = t
				}
			}
		}
	}
	return all
}

func (c *Catalog) known() []Known {
	if c.discovery == nil {
		return nil
	}
	return c.discovery.Known()
}

// allScopes are the scopes in which a listing asks: each kind of session and
// depth, in a chat that can do everything.
func allScopes() []Scope {
	able := chat.Traits{Buttons: true, Edits: true, Drafts: true, Typing: true, Ephemeral: true, Voice: true, Private: true}
	var all []Scope
	for _, kind := range []SessionKind{Interactive, Background, System} {
		for depth := range 2 {
			all = append(all, Scope{Depth: depth, Session: kind, Traits: able})
		}
	}
	return all
}

// Offered asks a source for its tools. An error says that it panicked; it
// then offers nothing, and the others go on.
func Offered(ctx context.Context, source Source, s Scope) (offered []Tool, err error) {
	defer func() {
		if p := recover(); p != nil {
			offered, err = nil, fmt.Errorf("asking %T for its tools: panic: %v", source, p)
		}
	}()
	offered = source.Tools(ctx, s)
	isNil := func(t Tool) bool { return t == nil }
	if slices.ContainsFunc(offered, isNil) {
		offered = slices.DeleteFunc(slices.Clone(offered), isNil)
	}
	return offered, nil
}
