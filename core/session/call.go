package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"parley/core/chat"
	"parley/core/policy"
	"parley/tools"
)

// job is one call on its way through the gate.
type job struct {
	openCall
	tool    tools.Tool
	spec    tools.Spec
	label   string
	path    string // the resolved target, "" if the call is about none
	write   bool
	run     policy.Context
	problem string // why it cannot run at all
	state   string // what the target held when a person approved
	allowed string // the target, if the rules or a person allowed it
}

// step is what a turn has ready to be logged. It waits for the next thing that
// must be durable, so that a call costs two commits.
type step struct {
	round  *wantRound // the answer that it follows from, nil for none
	bodies []Body
	shown  []shown
	audit  []Audit
}

// shown is what a tool has for the people in the chat.
type shown struct {
	call  string
	text  string
	files []chat.File
}

func (s step) empty() bool { return s.round == nil && len(s.bodies) == 0 && len(s.audit) == 0 }

// flush has what is ready logged.
func (t *turn) flush(ctx context.Context) (View, error) {
	ready := t.ready
	view, err := t.ask(ctx, wantStep{ready})
	if err == nil {
		t.ready = step{}
	}
	return view, err
}

// jobs resolves calls against what the round offered.
func (t *turn) jobs(calls []openCall) []*job {
	list := make([]*job, 0, len(calls))
	for _, c := range calls {
		j := &job{openCall: c, run: t.offered.context}
		j.problem = t.prepare(j)
		list = append(list, j)
	}
	return list
}

// prepare finds the tool of a call and checks the arguments. It returns what
// the model has to mend, "" for nothing.
func (t *turn) prepare(j *job) string {
	c := j.call
	tool, known := t.offered.find(c.Name)
	switch {
	case c.Broken != "":
		return "The arguments could not be read, and nothing was run: " + c.Broken
	case !known && j.began:
		return fmt.Sprintf("This was interrupted while it ran, and there is no tool named %q any more.", clip(c.Name))
	case !known:
		return fmt.Sprintf("There is no tool named %q.", clip(c.Name))
	}
	j.tool, j.spec = tool, tool.Spec()
	if err := t.host.checks.Validate(j.spec, c.Args); err != nil {
		return "The arguments are not right, and nothing was run: " + err.Error()
	}
	j.label = tools.Describe(tool, c.Args, tools.Full)
	path, write, err := tools.Target(tool, c.Args)
	if err == nil && path != "" {
		j.write = write
		j.path, err = tools.Resolve(j.run.Dir, path)
	}
	if err != nil {
		return fmt.Sprintf("Nothing was run: %v", err)
	}
	return ""
}

// carryOut takes the calls of a round through the gate and runs them, one
// after the other.
func (t *turn) carryOut(ctx context.Context, jobs []*job) (View, error) {
	for _, j := range jobs {
		if err := t.carry(ctx, j); err != nil {
			return View{}, err
		}
	}
	return t.flush(ctx)
}

// carry takes one call to its result.
func (t *turn) carry(ctx context.Context, j *job) error {
	if j.problem != "" {
		t.result(j, Failed, j.problem, false)
		return nil
	}
	may, why, err := t.pass(ctx, j)
	if err != nil {
		return err
	}
	if !may {
		t.result(j, Rejected, why, false)
		return nil
	}
	t.ready.bodies = append(t.ready.bodies, ToolStated{
		Call: j.call.ID, Name: j.call.Name, State: Running, Label: j.label, Target: j.path,
	})
	if _, err := t.flush(ctx); err != nil {
		return err
	}
	return t.execute(ctx, j)
}

// execute runs a call that may run and is logged as running.
func (t *turn) execute(ctx context.Context, j *job) error {
	t.host.outbox.Draft(t.key, post(t.id, t.round+1), "*"+j.label+" …*")
	outcome := tools.Drive(ctx, tools.Start(ctx, j.tool, t.toolCall(j)))
	if outcome.Stack != nil {
		t.host.log.Error().Str("tool", j.call.Name).Bytes("stack", outcome.Stack).Msg("a tool panicked")
	}
	if outcome.Say != "" || len(outcome.Show) > 0 {
		t.ready.shown = append(t.ready.shown, shown{j.call.ID, outcome.Say, outcome.Show})
	}
	t.result(j, logged(outcome.State), t.cap(j, t.host.toolbox.redact(outcome.Text)), !j.spec.Plumbing)
	if set, ok := scratchpad(j, outcome); ok {
		t.ready.bodies = append(t.ready.bodies, set)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

func logged(s tools.State) State {
	switch s {
	case tools.Completed:
		return Done
	case tools.Cancelled:
		return Cancelled
	case tools.Rejected:
		return Rejected
	default:
		return Failed
	}
}

// result makes the one result of a call ready.
func (t *turn) result(j *job, s State, text string, outside bool) {
	if trim(text) == "" {
		text = "(no output)"
	}
	t.ready.bodies = append(t.ready.bodies, ToolStated{
		Call: j.call.ID, Name: j.call.Name, State: s, Label: j.label, Target: j.path,
		Result: text, Outside: outside,
	})
	t.ready.audit = append(t.ready.audit, t.audit(j, string(s), ""))
}

// toolCall is the call as the tool sees it.
func (t *turn) toolCall(j *job) tools.Call {
	reach := tools.Reach{
		Dir: j.run.Dir, Reads: j.run.Reads, Writes: j.run.Writes, Denied: t.host.toolbox.Denied,
		Target: j.allowed, State: j.state,
	}
	return tools.Call{
		ID: j.call.ID, Name: j.call.Name, Args: j.call.Args, Session: t.sid, Key: t.key,
		Agent: MainAgent, By: t.by, Reach: reach,
		Ask: func(ctx context.Context, q tools.Question) (tools.Answer, error) {
			return t.question(ctx, j, q)
		},
		Progress: func(text string) {
			t.host.outbox.Draft(t.key, post(t.id, t.round+1), "*"+j.label+": "+tools.Label(text, tools.Full)+" …*")
		},
	}
}

// most is how long a result may be in the log and the prompt, in bytes.
const most = 100 << 10

// cap keeps a result within bounds. The whole of a longer one goes to a file
// that the agent can page through.
func (t *turn) cap(j *job, text string) string {
	if len(text) <= most {
		return text
	}
	where := filepath.Join(".parley", "output", safe(j.call.ID)+".txt")
	full := filepath.Join(j.run.Dir, where)
	err := os.MkdirAll(filepath.Dir(full), 0o700)
	if err == nil {
		err = os.WriteFile(full, []byte(text), 0o600)
	}
	if err != nil {
		t.host.log.Warn().Err(err).Msg("keeping the whole of a long result")
		where = ""
	}
	return tools.Cap(text, most, where)
}

// safe makes a file name of an id.
func safe(id string) string {
	name := []rune(id)
	for i, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' {
			name[i] = '_'
		}
	}
	return string(name[:min(len(name), 64)])
}

// errNobody means that people would have to be asked and cannot be.
var errNobody = errors.New("nobody can be asked")
