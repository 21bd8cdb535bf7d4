package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"parley/core/ask"
	"parley/core/policy"
	"parley/tools"
)

// pass takes a call through the rules and to people where that is needed. A
// call that may not run is barred, and the model is told why.
func (t *turn) pass(ctx context.Context, j *job) (barred State, why string, err error) {
	v := t.judge(ctx, j)
	if v.Action == policy.Deny {
		return t.denied(j, v)
	}
	if err := os.MkdirAll(j.run.Dir, 0o700); err != nil {
		t.host.log.Error().Err(err).Stringer("key", t.key).Msg("making the working directory")
		return Failed, "Nothing was run: the working directory cannot be made.", nil
	}
	if j.began && !j.spec.Effect.Again() {
		v = policy.Verdict{Action: policy.Require, Why: "it was interrupted while it ran"}
	}
	if v.Action == policy.Require {
		barred, why, err := t.approve(ctx, j)
		if err != nil || barred != "" {
			return barred, why, err
		}
		if v = t.judge(ctx, j); v.Action == policy.Deny { // a rule that came meanwhile
			return t.denied(j, v)
		}
	}
	j.allowed = j.path
	t.ready.audit = append(t.ready.audit, t.audit(j, "allowed", v.Why))
	return "", "", nil
}

func (t *turn) denied(j *job, v policy.Verdict) (State, string, error) {
	t.ready.audit = append(t.ready.audit, t.audit(j, "denied", v.Why))
	return Rejected, "Not allowed, and nothing was run: " + v.Why, nil
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
func (t *turn) approve(ctx context.Context, j *job) (barred State, why string, err error) {
	digest := bound(j)
	if old, ok := t.earlier(j, digest); ok {
		answered, err := t.hear(ctx, j, old)
		if err != nil {
			return "", "", err
		}
		return t.settle(j, answered)
	}
	preview, err := t.preview(ctx, j)
	switch {
	case ctx.Err() != nil:
		return "", "", context.Cause(ctx)
	case err != nil:
		return Failed, t.host.toolbox.redact(fmt.Sprintf("Nothing was run: %v", err)), nil
	}
	answered, err := t.put(ctx, Asked{Kind: ask.Approval, Call: j.call.ID, Digest: digest, Again: j.began}, ask.Request{
		Tool: j.spec.Name, Category: j.spec.Category, Server: server(j.spec),
		Title: t.host.toolbox.redact(j.label), Question: interruption(j),
		Details: t.details(j, preview),
	})
	if errors.Is(err, errNobody) {
		return Rejected, "Not run: this needs the approval of a person, and there is nobody who may give it.", nil
	}
	if err != nil {
		return "", "", err
	}
	return t.settle(j, answered)
}

// bound names what an approval is for: the tool and the arguments, and where
// the path among them leads. A link that was changed behind the approver's back
// makes another call of it.
func bound(j *job) string {
	sum := sha256.Sum256([]byte(ask.Digest(j.spec, j.call.Args) + " " + j.path))
	return hex.EncodeToString(sum[:])
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
func (*turn) settle(j *job, a Answered) (State, string, error) {
	if a.Approved {
		j.state = a.State
		return "", "", nil
	}
	return Rejected, a.Text, nil
}

// preview asks the tool what it would do, for the approver.
func (t *turn) preview(ctx context.Context, j *job) (tools.Preview, error) {
	previewer, ok := j.tool.(tools.Previewer)
	if !ok {
		return tools.Preview{}, nil
	}
	over, end := context.WithCancelCause(ctx)
	end(errNotYet)
	call := t.toolCall(over, j)
	call.Reach.Target = j.path // to look, not to touch
	type view struct {
		preview tools.Preview
		err     error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	v, err := apart(ctx, previewTime, func() (v view) {
		v.preview, v.err = previewer.Preview(ctx, call)
		return v
	})
	if err != nil {
		t.host.log.Error().Err(err).Str("tool", j.spec.Name).Msg("looking at what a call would do")
		return tools.Preview{}, fmt.Errorf("what %s would do cannot be shown: %w", j.spec.Name, err)
	}
	return v.preview, v.err
}

// errNotYet is what a tool hears that asks people before it runs.
var errNotYet = errors.New("the call has not begun")

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
