package session

import (
	"context"

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
	tools   []tools.Tool
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
	for _, source := range t.host.sources() {
		list, err := tools.Offered(ctx, source, t.scope())
		if err != nil {
			t.host.log.Error().Err(err).Stringer("key", t.key).Msg("a source of tools failed")
		}
		for _, tool := range list {
			if s := tool.Spec(); t.admits(s) && !seen[s.Name] {
				seen[s.Name] = true
				o.tools = append(o.tools, tool)
			}
		}
	}
	if d := t.host.toolbox.Discovery; d != nil {
		d.Observe(specs(o.tools))
	}
	o.tools = t.visible(ctx, run, o.tools)
	return o, nil
}

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
func (t *turn) visible(ctx context.Context, run policy.Context, all []tools.Tool) []tools.Tool {
	var seen []tools.Tool
	for _, tool := range all {
		call := policy.Call{
			Session: t.sid, Group: run.Group, Agent: MainAgent, Source: t.key.Adapter,
			Tool: tool.Spec(), Context: run,
		}
		if !t.host.toolbox.Policy.Hides(ctx, call) {
			seen = append(seen, tool)
		}
	}
	return seen
}

func specs(all []tools.Tool) []tools.Spec {
	list := make([]tools.Spec, 0, len(all))
	for _, tool := range all {
		list = append(list, tool.Spec())
	}
	return list
}

// find returns a tool of the round by its name.
func (o offer) find(name string) (tools.Tool, bool) {
	for _, tool := range o.tools {
		if tool.Spec().Name == name {
			return tool, true
		}
	}
	return nil, false
}
