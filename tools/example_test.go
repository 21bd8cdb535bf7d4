package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"parley/tools"
)

// wordCount counts words. A tool is a type with two methods; it keeps no state
// between calls.
type wordCount struct{}

type wordCountArgs struct {
	Text string `json:"text"`
}

// Spec describes the tool to the model, to the rules and to people.
func (wordCount) Spec() tools.Spec {
	return tools.Spec{
		Name:        "word_count",
		Description: "Counts the words of a text.",
		Schema: json.RawMessage(`{
			"type": "object",
			"properties": {"text": {"type": "string", "description": "the text to count"}},
			"required": ["text"],
			"additionalProperties": false
		}`),
		Category: tools.Introspection,
		Effect:   tools.ReadOnly,
		Source:   tools.Core,
	}
}

// Run starts one call. The arguments fit the schema; Func makes /stop prompt
// and a panic a failure.
func (wordCount) Run(ctx context.Context, call tools.Call) tools.Execution {
	return tools.Func(ctx, func(ctx context.Context) tools.Outcome {
		var args wordCountArgs
		if err := json.Unmarshal(call.Args, &args); err != nil {
			return tools.Fault("reading the arguments: %v", err)
		}
		return tools.Done(fmt.Sprintf("%d words", len(strings.Fields(args.Text))))
	})
}

// Describe is optional: a label for people, instead of the name alone.
func (wordCount) Describe(args json.RawMessage, _ tools.Length) string {
	var a wordCountArgs
	if json.Unmarshal(args, &a) != nil {
		return ""
	}
	return "count the words of " + a.Text
}

func Example() {
	registry := tools.NewRegistry(wordCount{})
	call := tools.Call{ID: "c1", Name: "word_count", Args: json.RawMessage(`{"text":"one two three"}`)}
	fmt.Println(registry.Describe(call.Name, call.Args, tools.Short))

	outcome, err := registry.Dispatch(context.Background(), call)
	fmt.Println(outcome.State, outcome.Text, err)

	call.Args = json.RawMessage(`{"txt":"one two three"}`)
	outcome, err = registry.Dispatch(context.Background(), call)
	fmt.Println(outcome.State, outcome.Text, err)
	// Output:
	// count the words of one two three
	// completed 3 words <nil>
	// failed the argument "text" is missing: it must be a string <nil>
}
