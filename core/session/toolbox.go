package session

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"sync/atomic"

	"parley/core/ask"
	"parley/core/chat"
	"parley/core/policy"
	"parley/tools"
)

// Toolbox is what the agent can act with, and what stands in its way. The zero
// Toolbox has no tools.
type Toolbox struct {
	// Sources are asked for their tools before every round, in order; of two
	// tools with one name the first counts.
	Sources []tools.Source
	// Discovery watches what is offered; nil: nobody does.
	Discovery *tools.Discovery
	// Policy judges every call. Without one every call needs approval.
	Policy *policy.Policy
	// Asks holds the questions to people. Without it nobody can be asked, and
	// what needs approval is rejected.
	Asks *ask.Asks
	// Role returns the role of an account, for its run context.
	Role func(ctx context.Context, u chat.UserID) (string, error)
	// Traits tells what a chat can do, for the scope of sources.
	Traits func(k chat.Key) chat.Traits
	// Denied are directories that no tool may enter.
	Denied []string
	// Redact takes secrets out of what an approver is shown.
	Redact func(string) string
}

// Panel is who may answer a request, and where it is shown.
type Panel struct {
	Answerers []chat.UserID
	Cards     []ask.Card // Key and Waiting; without posts yet
}

func (b Toolbox) redact(s string) string {
	if b.Redact == nil {
		return s
	}
	return b.Redact(s)
}

// MainAgent is the agent of every conversation.
const MainAgent = "main"

// context returns the run context of a turn.
func (t *turn) context(ctx context.Context) (policy.Context, error) {
	box := t.host.toolbox
	if box.Policy == nil {
		return policy.Context{Dir: t.host.config.Workdir, Workspace: t.host.config.Workdir}, nil
	}
	role := ""
	if box.Role != nil {
		var err error
		if role, err = box.Role(ctx, t.by.ID); err != nil {
			return policy.Context{}, err
		}
	}
	return box.Policy.ContextOf(ctx, policy.Who{Chat: t.key, Private: t.private, Role: role, Agent: MainAgent})
}

// offer is what one round may call: the array that the model is sent, and what
// its calls are resolved against.
type offer struct {
	context policy.Context
	tools   []offered
}

// offered is a tool as it described itself when it was offered.
type offered struct {
	tool tools.Tool
	spec tools.Spec
}

// offer puts the array of a round together. This is the one place where that
// happens.
func (t *turn) offer(ctx context.Context) (offer, error) {
	run, err := t.context(ctx)
	if err != nil {
		return offer{}, err
	}
	o := offer{context: run}
	seen := make(map[string]bool)
	for i, source := range t.host.sources() {
		list, err := t.host.offers(ctx, i, source, t.scope())
		if err != nil && ctx.Err() == nil {
			t.host.log.Error().Err(err).Stringer("key", t.key).Msg("a source of tools failed")
		}
		for _, x := range list {
			if t.admits(x.spec) && !seen[x.spec.Name] {
				seen[x.spec.Name] = true
				o.tools = append(o.tools, x)
			}
		}
	}
	if ctx.Err() != nil {
		return offer{}, context.Cause(ctx) // what was cut short is no offer
	}
	if d := t.host.toolbox.Discovery; d != nil {
		d.Observe(specs(o.tools))
	}
	o.tools = t.visible(ctx, run, o.tools)
	return o, nil
}

// offers asks the nth source for its tools. A tool that cannot say what it is,
// or that no provider would take, is left out. A source that does not come back
// is not asked again until it has.
func (h *Host) offers(ctx context.Context, n int, source tools.Source, scope tools.Scope) ([]offered, error) {
	stuck := &h.stuck[n]
	if stuck.Load() > 0 {
		return nil, fmt.Errorf("asking %T for its tools: %w", source, errSlow)
	}
	var back atomic.Bool // somebody has said what became of the question
	list, err := apart(ctx, lookTime, func() []offered {
		defer func() {
			if back.Swap(true) {
				stuck.Add(-1)
			}
		}()
		return h.ask(ctx, source, scope)
	})
	if err != nil && !back.Swap(true) {
		stuck.Add(1)
	}
	return list, err
}

func (h *Host) ask(ctx context.Context, source tools.Source, scope tools.Scope) []offered {
	all, err := tools.Offered(ctx, source, scope)
	if err != nil {
		h.log.Error().Err(err).Msg("a source of tools failed")
	}
	list := make([]offered, 0, len(all))
	for _, tool := range all {
		spec, err := specOf(tool)
		if err != nil {
			h.log.Error().Err(err).Msg("a tool is left out")
			continue
		}
		list = append(list, offered{tool, spec})
	}
	return list
}

// specOf asks a tool what it is. One name or schema that a provider refuses
// would cost every request.
func specOf(tool tools.Tool) (s tools.Spec, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("asking %T what it is: panic: %v", tool, p)
		}
	}()
	s = tool.Spec()
	switch {
	case s.Source == tools.Core && nameForm.MatchString(s.Name):
		return s, nil // checked when it was registered
	case !nameForm.MatchString(s.Name):
		return s, fmt.Errorf("offering %q of %s: no provider takes that name", clip(s.Name), s.Source)
	case len(s.Schema) > 0 && !json.Valid(s.Schema):
		return s, fmt.Errorf("offering %s of %s: its schema is no JSON", s.Name, s.Source)
	}
	return s, nil
}

// nameForm is what all providers take as the name of a tool.
var nameForm = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// sources are the core's own tools and those of the toolbox.
func (h *Host) sources() []tools.Source {
	if h.toolbox.Policy == nil {
		return nil
	}
	return append([]tools.Source{coreTools()}, h.toolbox.Sources...)
}

func (t *turn) scope() tools.Scope {
	s := tools.Scope{Agent: MainAgent, Session: tools.Interactive, Key: t.key}
	if t.host.toolbox.Traits != nil {
		s.Traits = t.host.toolbox.Traits(t.key)
	}
	return s
}

// admits reports whether a tool is for this agent and always on. Groups come
// with the agents that activate them.
func (t *turn) admits(s tools.Spec) bool { return s.Audience.Admits(0) && s.Group == "" }

// visible leaves out what the rules deny whatever it is called with.
func (t *turn) visible(ctx context.Context, run policy.Context, all []offered) []offered {
	var seen []offered
	for _, x := range all {
		call := policy.Call{
			Session: t.sid, Group: run.Group, Agent: MainAgent, Source: t.key.Adapter,
			Tool: x.spec, Context: run,
		}
		if !t.host.toolbox.Policy.Hides(ctx, call) {
			seen = append(seen, x)
		}
	}
	return seen
}

func specs(all []offered) []tools.Spec {
	list := make([]tools.Spec, 0, len(all))
	for _, x := range all {
		list = append(list, x.spec)
	}
	return list
}

// find returns a tool of the round by its name.
func (o offer) find(name string) (offered, bool) {
	for _, x := range o.tools {
		if x.spec.Name == name {
			return x, true
		}
	}
	return offered{}, false
}
