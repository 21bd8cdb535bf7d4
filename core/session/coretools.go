package session

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"parley/tools"
)

//go:embed update_scratchpad.md
var scratchpadText string

//go:embed write_todos.md
var todosText string

//go:embed ask_user_clarification.md
var clarificationText string

// coreTools are the tools of the conversation itself, made when they are first
// needed: their schemas cost a start time that most commands have no use for.
var coreTools = sync.OnceValue(func() *tools.Registry {
	return tools.NewRegistry(
		plumbing{tools.UpdateScratchpad, scratchpadText, scratchpadSchema, noteDown},
		plumbing{tools.WriteTodos, todosText, todosSchema, writeTodos},
		plumbing{tools.AskUserClarification, clarificationText, clarificationSchema, clarify},
	)
})

// CoreTools is the source of the conversation's own tools, for listings.
func CoreTools() tools.Source {
	return tools.SourceFunc(func(ctx context.Context, s tools.Scope) []tools.Tool { return coreTools().Tools(ctx, s) })
}

// Schemas of their arguments.
const (
	scratchpadSchema = `{"type":"object","additionalProperties":false,"required":["content"],"properties":{
		"content":{"type":"string","maxLength":20000,"description":"everything the scratchpad shall hold from now on"}}}`
	todosSchema = `{"type":"object","additionalProperties":false,"required":["todos"],"properties":{
		"todos":{"type":"array","maxItems":50,"items":{"type":"object","additionalProperties":false,"required":["text","state"],"properties":{
			"text":{"type":"string","maxLength":500},
			"state":{"type":"string","enum":["pending","in_progress","done","cancelled"]}}}}}}`
	clarificationSchema = `{"type":"object","additionalProperties":false,"required":["title","question"],"properties":{
		"title":{"type":"string","maxLength":80,"description":"what it is about, in a few words"},
		"question":{"type":"string","maxLength":2000},
		"suggestions":{"type":"array","maxItems":8,"items":{"type":"string","maxLength":100},"description":"answers to choose from; another one can always be typed"}}}`
)

// plumbing is a tool of the conversation: it reaches nothing outside.
type plumbing struct {
	name, text, schema string
	run                func(ctx context.Context, call tools.Call) tools.Outcome
}

// Spec implements [tools.Tool].
func (p plumbing) Spec() tools.Spec {
	return tools.Spec{
		Name: p.name, Description: strings.TrimSpace(p.text), Schema: json.RawMessage(p.schema),
		Effect: tools.Repeatable, Source: tools.Core, Plumbing: true,
	}
}

// Run implements [tools.Tool].
func (p plumbing) Run(ctx context.Context, call tools.Call) tools.Execution {
	return tools.Func(ctx, func(ctx context.Context) tools.Outcome { return p.run(ctx, call) })
}

// noteDown leaves the work to the session, which logs what the call wants.
func noteDown(context.Context, tools.Call) tools.Outcome { return tools.Done("noted") }

// scratchpad is what a finished call wants the scratchpad to hold.
func scratchpad(j *job, o tools.Outcome) (ScratchpadSet, bool) {
	if j.spec.Name != tools.UpdateScratchpad || o.State != tools.Completed {
		return ScratchpadSet{}, false
	}
	var args struct{ Content string }
	if err := json.Unmarshal(j.call.Args, &args); err != nil {
		return ScratchpadSet{}, false // validated before; nothing is noted of what cannot be read
	}
	return ScratchpadSet{args.Content}, true
}

// writeTodos gives the list back: it stands in the conversation, and nowhere
// else.
func writeTodos(_ context.Context, call tools.Call) tools.Outcome {
	var args struct {
		Todos []struct{ Text, State string }
	}
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return tools.Fault("reading the list: %v", err)
	}
	var b strings.Builder
	marks := map[string]string{"pending": "[ ]", "in_progress": "[>]", "done": "[x]", "cancelled": "[-]"}
	for _, todo := range args.Todos {
		fmt.Fprintf(&b, "%s %s\n", marks[todo.State], todo.Text)
	}
	return tools.Done(b.String())
}

// clarify asks the person and waits.
func clarify(ctx context.Context, call tools.Call) tools.Outcome {
	var args struct {
		Title, Question string
		Suggestions     []string
	}
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return tools.Fault("reading the question: %v", err)
	}
	answer, err := call.Ask(ctx, tools.Question{Title: args.Title, Text: args.Question, Choices: args.Suggestions})
	switch {
	case err != nil:
		return tools.Fault("asking: %v", err)
	case answer.None:
		return tools.Done("Nobody answered in time. Go on with what is most likely right, and say what you assumed.")
	default:
		return tools.Done(answer.By.Label() + " answered: " + answer.Text)
	}
}
