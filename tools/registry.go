package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
)

// ErrUnknown is what Dispatch returns for a name that nobody registered; the
// model is to be told that there is no such tool.
var ErrUnknown = errors.New("no such tool")

// nameForm is what the name of a built-in tool looks like.
var nameForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// Registry holds the built-in tools. It is filled at the assembly and read by
// everyone; its methods may be called from several goroutines at once. The
// zero Registry is empty and ready.
type Registry struct {
	tools  atomic.Pointer[[]Tool] // by name; replaced, never changed
	checks Validator
}

// NewRegistry returns a registry of these tools.
func NewRegistry(tools ...Tool) *Registry {
	r := &Registry{}
	r.Register(tools...)
	return r
}

// Register adds tools. It panics if one is nil, has a name that is taken or a
// spec that is no good: these are mistakes of the program.
func (r *Registry) Register(tools ...Tool) {
	for {
		old := r.tools.Load()
		var all []Tool
		if old != nil {
			all = slices.Clone(*old)
		}
		for _, t := range tools {
			all = insert(all, t)
		}
		all = slices.Clip(all)
		if r.tools.CompareAndSwap(old, &all) {
			return
		}
	}
}

// insert puts a tool in its place by name.
func insert(all []Tool, t Tool) []Tool {
	if t == nil {
		panic("tools: registering a nil tool")
	}
	s := t.Spec()
	if err := s.check(); err != nil {
		panic(fmt.Sprintf("tools: registering %q: %v", s.Name, err))
	}
	i, taken := slices.BinarySearchFunc(all, s.Name, byName)
	if taken {
		panic(fmt.Sprintf("tools: registering %q: the name is taken", s.Name))
	}
	return slices.Insert(all, i, t)
}

func byName(t Tool, name string) int { return strings.Compare(t.Spec().Name, name) }

// check says what is wrong with the spec of a built-in tool.
func (s Spec) check() error {
	if !nameForm.MatchString(s.Name) {
		return fmt.Errorf("the name does not match %s", nameForm)
	}
	if strings.TrimSpace(s.Description) == "" {
		return errors.New("it has no description")
	}
	if s.Source == "" {
		return errors.New("it does not say its source")
	}
	if s.Category != NoCategory && !slices.Contains(Categories(), s.Category) {
		return fmt.Errorf("unknown category %q", s.Category)
	}
	if s.Audience != Everyone && s.Audience != RootOnly && s.Audience != SubAgentsOnly {
		return fmt.Errorf("unknown audience %q", s.Audience)
	}
	if s.Effect != Once && !s.Effect.Again() {
		return fmt.Errorf("unknown effect %q", s.Effect)
	}
	if s.Plumbing && s.Category != NoCategory {
		return errors.New("plumbing has no category")
	}
	if !json.Valid(s.Schema) {
		return errors.New("its schema is not JSON")
	}
	return nil
}

// Verify checks the schemas of all tools: each has to be what [Mend] would make
// of it. That takes milliseconds, which a start has no time for, so a test of
// the assembled program calls it and Register does not.
func (r *Registry) Verify() error {
	var wrong []error
	for _, s := range r.Definitions() {
		mended, err := Mend(s.Schema)
		switch {
		case err != nil:
			wrong = append(wrong, fmt.Errorf("the schema of %q: %w", s.Name, err))
		case string(mended) != string(s.Schema):
			wrong = append(wrong, fmt.Errorf("the schema of %q is not complete; complete it is %s", s.Name, mended))
		}
	}
	return errors.Join(wrong...)
}

func (r *Registry) all() []Tool {
	if all := r.tools.Load(); all != nil {
		return *all
	}
	return nil
}

// Tools implements [Source]: all tools by name, in every scope. Audiences and
// groups are sorted out where the array of a round is put together.
func (r *Registry) Tools(context.Context, Scope) []Tool { return r.all() }

// Find returns a tool by its name.
func (r *Registry) Find(name string) (Tool, bool) {
	all := r.all()
	if i, ok := slices.BinarySearchFunc(all, name, byName); ok {
		return all[i], true
	}
	return nil, false
}

// Pick says which tools a listing is to have.
type Pick func(Spec) bool

// AtDepth picks what an agent at that depth (0: the root) is offered.
func AtDepth(depth int) Pick { return func(s Spec) bool { return s.Audience.Admits(depth) } }

// InGroup picks the tools of a group.
func InGroup(group string) Pick { return func(s Spec) bool { return s.Group == group } }

// NotInGroup picks the tools outside a group.
func NotInGroup(group string) Pick { return func(s Spec) bool { return s.Group != group } }

// Definitions lists the specs that all picks agree on, sorted by name.
func (r *Registry) Definitions(picks ...Pick) []Spec {
	var specs []Spec
	for _, t := range r.all() {
		s := t.Spec()
		if !slices.ContainsFunc(picks, func(p Pick) bool { return !p(s) }) {
			specs = append(specs, s)
		}
	}
	return specs
}

// RootOnly lists the names that the root alone is offered, sorted.
func (r *Registry) RootOnly() []string {
	var names []string
	for _, s := range r.Definitions(func(s Spec) bool { return s.Audience == RootOnly }) {
		names = append(names, s.Name)
	}
	return names
}

// List is the registry as a part of the catalogue, sorted by name.
func (r *Registry) List() []CatalogEntry {
	var list []CatalogEntry
	for _, s := range r.Definitions() {
		list = append(list, entry(s))
	}
	return list
}

// Category returns the category of a tool, NoCategory if it has none or is
// unknown.
func (r *Registry) Category(name string) Category {
	if t, ok := r.Find(name); ok {
		return t.Spec().Category
	}
	return NoCategory
}

// Run starts a call, or reports that the tool is unknown. Arguments that do
// not fit the schema are an execution that has failed and says why. Whether
// the call may run is the caller's to know.
func (r *Registry) Run(ctx context.Context, call Call) (Execution, bool) {
	t, ok := r.Find(call.Name)
	if !ok {
		return nil, false
	}
	if err := r.checks.Validate(t.Spec(), call.Args); err != nil {
		return Finished(Fault("%v", err)), true
	}
	return Start(ctx, t, call), true
}

// Dispatch runs a call to its end. The error is ErrUnknown; all other trouble
// is an outcome.
func (r *Registry) Dispatch(ctx context.Context, call Call) (Outcome, error) {
	e, ok := r.Run(ctx, call)
	if !ok {
		return Outcome{}, fmt.Errorf("calling %q: %w", call.Name, ErrUnknown)
	}
	return Drive(ctx, e), nil
}

// Describe labels a call; for an unknown tool the label is its name.
func (r *Registry) Describe(name string, args json.RawMessage, length Length) string {
	if t, ok := r.Find(name); ok {
		return Describe(t, args, length)
	}
	return Label(name, length)
}

// Target returns the path that a call is about, as [Target] does. An unknown
// tool has none.
func (r *Registry) Target(name string, args json.RawMessage) (path string, write bool, err error) {
	if t, ok := r.Find(name); ok {
		return Target(t, args)
	}
	return "", false, nil
}

// Target returns the path that a call is about as it stands in the arguments,
// "" if there is none, and whether the call would write it. With an error
// nobody can say what the call would touch, and it must not run.
func Target(t Tool, args json.RawMessage) (path string, write bool, err error) {
	of, ok := t.(Targeter)
	if !ok {
		return "", false, nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("asking %s for its target: panic: %v", t.Spec().Name, p)
		}
	}()
	path, write = of.Target(args)
	return path, write, nil
}
