package session

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"parley/core/chat"
	"parley/core/policy"
	"parley/tools"
)

// job is one call on its way through the gate.
type job struct {
	openCall
	tool    tools.Tool
	spec    tools.Spec
	label   string // as people are shown it
	path    string // the resolved target, "" if the call is about none
	write   bool
	run     policy.Context
	problem string // why it cannot run at all
	state   string // what the target held when a person approved
	allowed string // the target, if the rules or a person allowed it

	mu    sync.Mutex      // guards heard
	heard map[string]bool // of asked: the questions that the call has taken up again
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
	post  string // its id
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

// prepare finds the tool of a call and checks the arguments. It returns what
// the model has to mend, "" for nothing.
func (t *turn) prepare(ctx context.Context, j *job) string {
	c := j.call
	x, known := t.offered.find(c.Name)
	switch {
	case c.Broken != "":
		return "The arguments could not be read, and nothing was run: " + c.Broken
	case !known && j.began:
		return fmt.Sprintf("This was interrupted while it ran, and there is no tool named %q any more.", clip(c.Name))
	case !known:
		return fmt.Sprintf("There is no tool named %q.", clip(c.Name))
	}
	j.tool, j.spec, j.label = x.tool, x.spec, x.spec.Name
	if err := t.host.checks.Validate(j.spec, c.Args); err != nil {
		return "The arguments are not right, and nothing was run: " + err.Error()
	}
	if err := t.look(ctx, j); err != nil {
		return t.host.toolbox.redact(fmt.Sprintf("Nothing was run: %v", err))
	}
	return ""
}

// look asks the tool what the call is about.
func (t *turn) look(ctx context.Context, j *job) error {
	type view struct {
		label, path string
		write       bool
		err         error
	}
	v, err := apart(ctx, lookTime, func() view {
		v := view{label: tools.Describe(j.tool, j.call.Args, tools.Full)}
		v.path, v.write, v.err = tools.Target(j.tool, j.call.Args)
		return v
	})
	if err = cmp.Or(err, v.err); err != nil {
		return fmt.Errorf("asking %s what the call is about: %w", j.spec.Name, err)
	}
	j.label = t.host.toolbox.redact(v.label)
	if v.path != "" {
		j.write = v.write
		j.path, err = tools.Resolve(j.run.Dir, v.path)
	}
	return err
}

// carryOut takes the calls of a round through the gate and runs them, one
// after the other. Each is looked at when it is its turn: those before it may
// have changed where its paths lead.
func (t *turn) carryOut(ctx context.Context, calls []openCall) (View, error) {
	for _, c := range calls {
		j := &job{openCall: c, run: t.offered.context}
		j.problem = t.prepare(ctx, j)
		if ctx.Err() != nil {
			return View{}, context.Cause(ctx)
		}
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
	barred, why, err := t.pass(ctx, j)
	if err != nil {
		return err
	}
	if barred != "" {
		t.result(j, barred, why, false)
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
	if !j.spec.Plumbing { // which is over at once, or puts a question below this line
		t.host.outbox.Draft(t.key, post(t.id, t.round+1), "*"+j.label+" …*")
	}
	life, end := context.WithCancelCause(ctx)
	outcome := drive(ctx, j.tool, t.toolCall(life, j))
	end(errCallOver)
	if outcome.Stack != nil {
		t.host.log.Error().Str("tool", j.call.Name).Bytes("stack", outcome.Stack).Msg("a tool panicked")
	}
	if outcome.State == tools.Cancelled && errors.Is(context.Cause(ctx), errSuspended) {
		return errSuspended // nobody stopped it: it is taken up again at the next start
	}
	if say := tools.Cap(t.host.toolbox.redact(outcome.Say), most, ""); trim(say) != "" || len(outcome.Show) > 0 {
		t.ready.shown = append(t.ready.shown, shown{t.showing(j), say, outcome.Show})
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

// showing is the id of the post that shows what a call has for people. The id
// of a call is the provider's, and can be any text.
func (t *turn) showing(j *job) string {
	sum := sha256.Sum256([]byte(j.call.ID))
	return fmt.Sprintf("%s/0/%d.%s", t.id, t.round, hex.EncodeToString(sum[:6]))
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

// errCallOver is what a tool hears that asks when its call is over.
var errCallOver = errors.New("the call is over")

// toolCall is the call as the tool sees it. Once life has ended it can neither
// ask nor tell anything.
func (t *turn) toolCall(life context.Context, j *job) tools.Call {
	draft := post(t.id, t.round+1)
	reach := tools.Reach{
		Dir: j.run.Dir, Reads: j.run.Reads, Writes: j.run.Writes, Denied: t.host.toolbox.Denied,
		Target: j.allowed, State: j.state,
	}
	return tools.Call{
		ID: j.call.ID, Name: j.call.Name, Args: j.call.Args, Session: t.sid, Key: t.key,
		Agent: MainAgent, By: t.by, Reach: reach,
		Ask: func(ctx context.Context, q tools.Question) (tools.Answer, error) {
			if life.Err() != nil {
				return tools.Answer{}, context.Cause(life)
			}
			ctx, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			defer context.AfterFunc(life, func() { cancel(context.Cause(life)) })()
			return t.question(ctx, j, q)
		},
		Progress: func(text string) {
			if life.Err() == nil {
				t.host.outbox.Draft(t.key, draft, "*"+j.label+": "+tools.Label(t.host.toolbox.redact(text), tools.Full)+" …*")
			}
		},
	}
}

// most is how long a result may be in the log and the prompt, in bytes.
const most = 100 << 10

// cap keeps a result within bounds. The whole of a longer one goes to a file
// that the agent can page through.
func (t *turn) cap(j *job, text string) string {
	if len(text) <= most {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	where := filepath.Join(".parley", "output", safe(t.id+"-"+j.call.ID)+".txt")
	if err := keep(j.run.Dir, where, text); err != nil {
		t.host.log.Warn().Err(err).Msg("keeping the whole of a long result")
		where = ""
	}
	return tools.Cap(text, most, where)
}

// keep writes a new file below a directory in which the agent may have put
// links: none is followed, and no file that stands there is written to.
func keep(dir, name, text string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	for at := filepath.Dir(name); at != "."; at = filepath.Dir(at) {
		info, err := root.Lstat(at)
		if err != nil || !info.IsDir() {
			return cmp.Or(err, fmt.Errorf("%s is no directory", at))
		}
	}
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
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
