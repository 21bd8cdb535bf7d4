package fs

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	"parley/tools"
)

// prose holds what the model reads about each tool: NAME.md.
//
//go:embed *.md
var prose embed.FS

var (
	_ tools.Tool      = tool[any]{}
	_ tools.Describer = tool[any]{}
	_ tools.Targeter  = tool[any]{}
	_ tools.Previewer = change[any]{}
)

// tool is a file tool whose arguments are an A.
type tool[A any] struct {
	spec   tools.Spec
	writes bool
	path   func(A) string
	label  func(A) string
	do     func(ctx context.Context, call tools.Call, a A) (string, error)
}

// spec describes a tool of this package. properties and required are the
// inside of its JSON Schema.
func spec(name string, effect tools.Effect, properties string, required ...string) tools.Spec {
	text, err := prose.ReadFile(name + ".md")
	if err != nil {
		panic(err) // it was not compiled in
	}
	must, err := json.Marshal(append([]string{}, required...))
	if err != nil {
		panic(err)
	}
	schema := fmt.Sprintf(`{"type":"object","properties":{%s},"required":%s,"additionalProperties":false}`, properties, must)
	var small bytes.Buffer
	if err := json.Compact(&small, []byte(schema)); err != nil {
		panic(fmt.Sprintf("schema of %s: %v", name, err))
	}
	return tools.Spec{
		Name:        name,
		Description: strings.TrimSpace(string(text)),
		Schema:      small.Bytes(),
		Category:    tools.Filesystem,
		Effect:      effect,
		Source:      tools.Core,
	}
}

// Spec implements [tools.Tool].
func (t tool[A]) Spec() tools.Spec { return t.spec }

// Run implements [tools.Tool].
func (t tool[A]) Run(ctx context.Context, call tools.Call) tools.Execution {
	return tools.Func(ctx, func(ctx context.Context) tools.Outcome {
		a, err := decode[A](call.Args)
		if err != nil {
			return tools.Fault("%v", err)
		}
		text, err := t.do(ctx, call, a)
		if err != nil {
			return tools.Fault("%s", sentence(err))
		}
		return tools.Done(text)
	})
}

// Describe implements [tools.Describer].
func (t tool[A]) Describe(args json.RawMessage, length tools.Length) string {
	a, err := decode[A](args)
	if err != nil {
		return t.spec.Name
	}
	return tools.Label(t.label(a), length)
}

// Target implements [tools.Targeter].
func (t tool[A]) Target(args json.RawMessage) (path string, write bool) {
	a, err := decode[A](args)
	if err != nil {
		return "", t.writes
	}
	return t.path(a), t.writes
}

// decode reads arguments. They have passed the schema; what is said of trouble
// is for the model all the same.
func decode[A any](args json.RawMessage) (a A, err error) {
	if err := json.Unmarshal(args, &a); err != nil {
		return a, fmt.Errorf("reading the arguments: %w", err)
	}
	return a, nil
}

// whole is a whole number, which models also write as 10.0.
type whole int

// UnmarshalJSON implements [json.Unmarshaler].
func (w *whole) UnmarshalJSON(data []byte) error {
	var f float64
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	if f != float64(int32(f)) {
		return fmt.Errorf("%s is not a whole number of a usable size", data)
	}
	*w = whole(f)
	return nil
}

// within returns w if it is set and at most most, and otherwise unset or most.
func (w whole) within(unset, most int) int {
	switch n := int(w); {
	case n <= 0:
		return unset
	case n > most:
		return most
	default:
		return n
	}
}
