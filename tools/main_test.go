package tools_test

import (
	"context"
	"encoding/json"
	"testing"

	"go.uber.org/goleak"

	"parley/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a tool of functions.
type fake struct {
	spec     tools.Spec
	run      func(ctx context.Context, call tools.Call) tools.Outcome
	describe func(args json.RawMessage, length tools.Length) string
	target   func(args json.RawMessage) (string, bool)
}

const pathSchema = `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`

func tool(name string) fake {
	return fake{spec: tools.Spec{Name: name, Description: "It does " + name + ".", Source: tools.Core, Schema: json.RawMessage(pathSchema)}}
}

func (f fake) Spec() tools.Spec { return f.spec }

func (f fake) Run(ctx context.Context, call tools.Call) tools.Execution {
	if f.run == nil {
		return tools.Finished(tools.Done("did " + call.Name))
	}
	return tools.Func(ctx, func(ctx context.Context) tools.Outcome { return f.run(ctx, call) })
}

// able is a fake with all abilities.
type able struct{ fake }

func (a able) Describe(args json.RawMessage, length tools.Length) string {
	return a.describe(args, length)
}
func (a able) Target(args json.RawMessage) (string, bool) { return a.target(args) }

// odd is an execution of functions.
type odd struct {
	state func() tools.State
	wait  func(ctx context.Context) tools.Outcome
	stop  func(ctx context.Context)
}

func (o odd) State() tools.State {
	if o.state == nil {
		return tools.Running
	}
	return o.state()
}
func (o odd) Wait(ctx context.Context) tools.Outcome { return o.wait(ctx) }
func (o odd) Stop(ctx context.Context) {
	if o.stop != nil {
		o.stop(ctx)
	}
}
