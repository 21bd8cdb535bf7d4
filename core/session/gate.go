package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"parley/core/ask"
	"parley/core/policy"
	"parley/tools"
)

// pass says whether a call may run, asking people where that is needed, and
// otherwise what the model is told.
func (t *turn) pass(ctx context.Context, j *job) (may bool, why string, err error) {
	if err := os.MkdirAll(j.run.Dir, 0o700); err != nil {
		return false, "", fmt.Errorf("making the working directory: %w", err)
	}
	v := t.judge(ctx, j)
	if v.Action == policy.Deny {
		return t.denied(j, v)
	}
	if j.began && !j.spec.Effect.Again() {
		v = policy.Verdict{Action: policy.Require, Why: "it was interrupted while it ran"}
	}
	if v.Action == policy.Require {
		approved, why, err := t.approve(ctx, j)
		if err != nil || !approved {
			return false, why, err
		}
		if v = t.judge(ctx, j); v.Action == policy.Deny { // a rule that came meanwhile
			return t.denied(j, v)
		}
	}
	j.allowed = j.path
	t.ready.audit = append(t.ready.audit, t.audit(j, "allowed", v.Why))
	return true, "", nil
}

func (t *turn) denied(j *job, v policy.Verdict) (bool, string, error) {
	t.ready.audit = append(t.ready.audit, t.audit(j, "denied", v.Why))
	return false, "Not allowed, and nothing was run: " + v.Why, nil
}

// judge asks the rules.
func (t *turn) judge(ctx context.Context, j *job) policy.Verdict {
	if t.host.toolbox.Policy == nil {
		return policy.Verdict{Action: policy.Require}
	}
	v := t.host.toolbox.Policy.Judge(ctx, policy.Call{
		Session: t.sid, Group: j.run.Group, Agent: MainAgent, Source: t.key.Adapter,
		Tool: j.spec, Path: j.path, Write: j.write, Context: j.run,
	})
	if v.Err != nil {
		t.host.log.Error().Err(v.Err).Msg("reading the rules")
	}
	return v
}

// approve asks people whether a call may run. What they said before a restart
// still counts, once: for the call as it was shown.
func (t *turn) approve(ctx context.Context, j *job) (approved bool, why string, err error) {
	digest := ask.Digest(j.spec, j.call.Args)
	if old, ok := t.earlier(j, digest); ok {
		answered, err := t.hear(ctx, j, old)
		if err != nil {
			return false, "", err
		}
		return t.settle(j, answered)
	}
	preview, problem := t.preview(ctx, j)
	if problem != "" {
		return false, problem, nil
	}
	answered, err := t.put(ctx, Asked{Kind: ask.Approval, Call: j.call.ID, Digest: digest, Again: j.began}, ask.Request{
		Tool: j.spec.Name, Category: j.spec.Category, Server: server(j.spec),
		Title: t.host.toolbox.redact(j.label), Question: interruption(j),
		Details: t.details(j, preview),
	})
	if errors.Is(err, errNobody) {
		return false, "Not run: this needs the approval of a person, and there is nobody who may give it.", nil
	}
	if err != nil {
		return false, "", err
	}
	return t.settle(j, answered)
}

// earlier finds the request that was made for this very call before a restart.
// One that was made before the call ran is spent.
func (t *turn) earlier(j *job, digest string) (Asked, bool) {
	i := slices.IndexFunc(j.asked, func(a Asked) bool {
		return a.Kind == ask.Approval && a.Digest == digest && a.Again == j.began
	})
	if i < 0 {
		return Asked{}, false
	}
	return j.asked[i], true
}

// interruption is what an approver should know of a call that ran before.
func interruption(j *job) string {
	if !j.began {
		return ""
	}
	return "This was interrupted while it ran, and may have done its work in part. Run it again?"
}

// settle turns an answer into what becomes of the call.
func (*turn) settle(j *job, a Answered) (bool, string, error) {
	if a.Approved {
		j.state = a.State
		return true, "", nil
	}
	return false, a.Text, nil
}

// preview asks the tool what it would do, for the approver.
func (t *turn) preview(ctx context.Context, j *job) (p tools.Preview, problem string) {
	previewer, ok := j.tool.(tools.Previewer)
	if !ok {
		return p, ""
	}
	j.allowed = j.path // to look, not to touch
	p, err := previewer.Preview(ctx, t.toolCall(j))
	j.allowed = ""
	if err != nil {
		return p, fmt.Sprintf("Nothing was run: %v", err)
	}
	return p, ""
}

// details are what an approver is shown.
func (t *turn) details(j *job, p tools.Preview) ask.Details {
	redact := t.host.toolbox.redact
	p.Text, p.Where = redact(p.Text), redact(p.Where)
	d := ask.Details{Target: j.path, Preview: p, Agent: MainAgent, Chat: t.key.String()}
	if p.Kind == tools.PreviewArgs { // else the preview says it all
		d.Args = ask.Pretty(j.call.Args, redact)
	}
	return d
}

// server is the MCP server that a tool comes from, "" for none.
func server(s tools.Spec) string {
	name, ok := strings.CutPrefix(s.Source, "mcp/")
	if !ok {
		return ""
	}
	return name
}
