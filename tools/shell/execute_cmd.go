package shell

import (
	"context"
	_ "embed"
	"encoding/json"
	"os"
	"strings"
	"sync"

	"parley/core/chat"
	"parley/tools"
)

//go:embed execute_cmd.md
var prose string

// Options are what the program decides about commands.
type Options struct {
	// Sandbox is what commands run in. "" is Auto.
	Sandbox Mode
	// Env adds to the environment of commands: NAME passes on a variable of
	// parley's own, NAME=value sets one.
	Env []string
	// Record keeps what is running. Without it nothing is recorded.
	Record Recorder
}

// Tool is execute_cmd.
type Tool struct {
	options Options
	shell   string
	run     string // names this run of parley in markers
	env     environment
	status  func() Status // detected when it is first needed
}

var (
	_ tools.Tool      = (*Tool)(nil)
	_ tools.Describer = (*Tool)(nil)
	_ tools.Previewer = (*Tool)(nil)
)

// New returns the tool. It makes this process a child sub-reaper, so that what
// commands leave behind stays below parley.
func New(o Options) *Tool {
	adopt()
	shell := findShell()
	return &Tool{
		options: o, shell: shell, run: newRun(), env: newEnvironment(shell, o.Env),
		status: sync.OnceValue(Detect),
	}
}

// findShell prefers bash, which models write for.
func findShell() string {
	for _, path := range []string{"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"} {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return "/bin/sh"
}

// Spec implements [tools.Tool].
func (t *Tool) Spec() tools.Spec {
	return tools.Spec{
		Name:        tools.ExecuteCmd,
		Description: strings.TrimSpace(strings.ReplaceAll(prose, "SHELL", t.shell)),
		Schema:      json.RawMessage(schema),
		Category:    tools.Shell,
		Source:      tools.Core,
	}
}

// Describe implements [tools.Describer]. What the model says the command is
// for comes second, since it need not be true.
func (t *Tool) Describe(raw json.RawMessage, length tools.Length) string {
	a, err := parse(raw)
	if err != nil {
		return ""
	}
	label := "$ " + a.shown()
	if a.Description != "" && length >= tools.Full {
		label += " — " + a.Description
	}
	return tools.Label(label, length)
}

// Preview implements [tools.Previewer].
func (t *Tool) Preview(_ context.Context, call tools.Call) (tools.Preview, error) {
	a, err := parse(call.Args)
	if err != nil {
		return tools.Preview{}, err
	}
	dir, err := workdir(call.Reach, a.Workdir)
	if err != nil {
		return tools.Preview{}, err
	}
	_, mode, err := t.sandbox()
	if err != nil {
		return tools.Preview{}, err
	}
	p := tools.Preview{Kind: tools.PreviewCommand, Text: a.shown(), Where: dir}
	if mode == None {
		p.Note = "No sandbox is in force: this command can read and change whatever parley can."
	}
	return p, nil
}

// sandbox returns what is in force. Where none is wanted, nothing is tried out.
func (t *Tool) sandbox() (Status, Mode, error) {
	var s Status
	if t.options.Sandbox != None {
		s = t.status()
	}
	mode, err := s.Choose(t.options.Sandbox)
	return s, mode, err
}

// Status returns what this machine has to offer. The first call tries it out
// and takes a moment.
func (t *Tool) Status() Status { return t.status() }

// Findings says what is in force, for check and doctor.
func (t *Tool) Findings() []chat.Finding {
	return []chat.Finding{t.status().finding(t.options.Sandbox)}
}

// Run implements [tools.Tool].
func (t *Tool) Run(ctx context.Context, call tools.Call) tools.Execution {
	a, err := parse(call.Args)
	if err != nil {
		return tools.Finished(tools.Fault("%v", err))
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &run{tool: t, call: call, args: a, cancel: cancel, done: make(chan struct{}), state: tools.Pending}
	go r.work(ctx)
	return r
}
