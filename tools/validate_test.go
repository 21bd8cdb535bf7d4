package tools_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"parley/tools"
)

const grepSchema = `{"type":"object","additionalProperties":false,"required":["pattern","path"],"properties":{
	"pattern":{"type":"string","minLength":1,"description":"what to look for"},
	"path":{"type":"string","pattern":"^[^:]*$"},
	"mode":{"enum":["content","files_only","count"]},
	"context":{"type":"integer","minimum":0,"maximum":10},
	"ratio":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1},
	"tags":{"type":"array","items":{"type":"string"},"maxItems":2,"uniqueItems":true},
	"todos":{"type":"array","items":{"$ref":"#/$defs/todo"}},
	"when":{"anyOf":[{"type":"string"},{"type":"integer"}]},
	"who":{"type":["string","null"]},
	"shape":{"oneOf":[{"type":"string"},{"type":"object","properties":{"w":{"type":"integer"}},"required":["w"]}]},
	"fixed":{"const":"yes"},
	"even":{"type":"integer","multipleOf":2},
	"never":false,
	"map":{"type":"object","properties":{},"additionalProperties":{"type":"boolean"}}
},"$defs":{"todo":{"type":"object","properties":{"state":{"type":"string","enum":["open","done"]}},"required":["state"],"additionalProperties":false}}}`

func TestValidate(t *testing.T) {
	var v tools.Validator
	spec := tools.Spec{Name: "grep", Schema: json.RawMessage(grepSchema)}
	for in, want := range map[string]string{
		`"mode":"count","context":3,"ratio":0.5,"tags":["a","b"],"todos":[{"state":"open"}],"when":7,"who":null,"shape":{"w":1},"fixed":"yes","even":4,"map":{"x":true}`: "",
		`"context":3.0`:                    "",
		`"mode":"counts"`:                  `the argument "mode" must be one of "content", "files_only" or "count", not the string "counts"`,
		`"context":"3"`:                    `the argument "context" must be an integer, not the string "3"`,
		`"context":3.5`:                    `the argument "context" must be an integer, not 3.5`,
		`"context":11`:                     `the argument "context" must be at most 10, not 11`,
		`"context":-1`:                     `the argument "context" must be at least 0, not -1`,
		`"ratio":1`:                        `the argument "ratio" must be less than 1, not 1`,
		`"ratio":0`:                        `the argument "ratio" must be more than 0, not 0`,
		`"tags":"a"`:                       `the argument "tags" must be an array, not the string "a"`,
		`"tags":["a",7]`:                   `the argument "tags[1]" must be a string, not 7`,
		`"tags":["a","b","c"]`:             `the argument "tags" must be at most 2 items long, not 3`,
		`"tags":["a","a"]`:                 `the arguments do not fit the schema: `,
		`"todos":[{"state":"open"},{}]`:    `the argument "todos[1].state" is missing: it must be one of "open" or "done"`,
		`"todos":[{"state":"late"}]`:       `the argument "todos[0].state" must be one of "open" or "done", not the string "late"`,
		`"todos":[{"state":"open","x":1}]`: `the argument "todos[0]" has no field "x": there is only "state"`,
		`"when":true`:                      `the argument "when" must be a string or an integer, not true`,
		`"who":7`:                          `the argument "who" must be a string or null, not 7`,
		`"shape":{}`:                       `the argument "shape.w" is missing: it must be an integer`,
		`"shape":[]`:                       `the argument "shape" must be a string or an object, not an array`,
		`"fixed":"no"`:                     `the argument "fixed" must be the string "yes", not the string "no"`,
		`"even":3`:                         `the arguments do not fit the schema: `,
		`"never":1`:                        `the argument "never" must be left out`,
		`"map":{"x":1}`:                    `the argument "map.x" must be a boolean, not 1`,
		`"path":"a:b"`:                     `the argument "path" must match the pattern ^[^:]*$, which the string "a:b" does not`,
		`"pattern":""`:                     `the argument "pattern" must be at least 1 characters long, not 0`,
		`"pattern":null`:                   `the argument "pattern" must be a string, not null`,
		`"pth":"x"`:                        `there is no argument "pth": there are "context", "even"`,
	} {
		args := `{"pattern":"x","path":"y",` + in + `}`
		err := v.Validate(spec, json.RawMessage(args))
		if got := fmt.Sprint(err); err == nil != (want == "") || err != nil && !strings.HasPrefix(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", in, got, want)
		}
	}
}

func TestValidateWhole(t *testing.T) {
	var v tools.Validator
	spec := tools.Spec{Name: "grep", Schema: json.RawMessage(grepSchema)}
	for in, want := range map[string]string{
		``:                        `the argument "pattern" is missing: it must be a string`,
		`{"pattern":"x"}`:         `the argument "path" is missing: it must be a string`,
		`[]`:                      `the arguments must be one JSON object, not an array`,
		`"x"`:                     `the arguments must be one JSON object, not the string "x"`,
		`null`:                    `the arguments must be one JSON object, not null`,
		`{"pattern":"x`:           `the arguments are not valid JSON (unexpected end of JSON input): send one complete JSON object`,
		`{"pattern":"x"} {}`:      `the arguments are not valid JSON (`,
		`{"pattern":"x","pa":1 }`: `the argument "path" is missing`,
	} {
		if got := fmt.Sprint(v.Validate(spec, json.RawMessage(in))); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	for _, schema := range []string{"", "null", "true", "{}", `{"type":"object"}`} {
		if err := v.Validate(tools.Spec{Name: "x", Schema: json.RawMessage(schema)}, json.RawMessage(`{"any":1}`)); err != nil {
			t.Errorf("the schema %q refuses: %v", schema, err)
		}
	}
}

// A broken schema makes its own tool useless and no other.
func TestValidateBrokenSchemas(t *testing.T) {
	var v tools.Validator
	good := tools.Spec{Name: "good", Schema: json.RawMessage(pathSchema)}
	for _, schema := range []string{
		`{"type":"string"}`, `{`, `7`, `{"properties":{"a":{"$ref":"#/properties/a"}}}`, `{"properties":{"a":{"$ref":"http://x/y"}}}`,
		`{"properties":{"a":{"allOf":[{"$ref":"#/properties/b"}]},"b":{"allOf":[{"$ref":"#/properties/a"}]}}}`,
		`{"properties":{"a":{"$dynamicRef":"#a"}}}`, `{"properties":{"a":{"type":"text"}}}`, `{"properties":{"a":{"maximum":"7"}}}`,
	} {
		err := v.Validate(tools.Spec{Name: "bad", Schema: json.RawMessage(schema)}, json.RawMessage(`{"a":1}`))
		if err == nil || !strings.HasPrefix(err.Error(), "bad cannot be called: its schema is broken: ") {
			t.Errorf("%s: %v", schema, err)
		}
		if err := v.Validate(good, json.RawMessage(`{"path":"x"}`)); err != nil {
			t.Errorf("after %s: %v", schema, err)
		}
	}
}

// What our library takes for more than it is refuses no good call.
func TestValidateIsLenientWhereItCannotTell(t *testing.T) {
	var v tools.Validator
	for schema, args := range map[string]string{
		`{"pattern":"^(?!x)y"}`:                                            `{"a":"zzz"}`,
		`{"multipleOf":0.1}`:                                               `{"a":0.3}`,
		`{"type":"string","maxLength":9007199254740991}`:                   `{"a":"x"}`,
		`{"type":"integer","maximum":9007199254740991}`:                    `{"a":9007199254740991}`,
		`{"patternProperties":{"^(?!x)":{}},"additionalProperties":false}`: `{"a":{"y":1}}`,
		`{"type":"string","format":"date","default":7}`:                    `{"a":"x"}`,
	} {
		full := `{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"a":` + schema + `}}`
		if err := v.Validate(tools.Spec{Name: "x", Schema: json.RawMessage(full)}, json.RawMessage(args)); err != nil {
			t.Errorf("%s: %v", schema, err)
		}
	}
}

// Choices within choices, and large values, end.
func TestValidateEnds(t *testing.T) {
	var v tools.Validator
	tree := `{"type":"object","properties":{"a":{"$ref":"#/$defs/t"}},"$defs":{"t":{"anyOf":[` +
		`{"properties":{"a":{"$ref":"#/$defs/t"},"x":{"type":"integer"}},"required":["x"]},` +
		`{"properties":{"a":{"$ref":"#/$defs/t"},"y":{"type":"integer"}},"required":["y"]}]}}}`
	args := strings.Repeat(`{"a":`, 60) + `1` + strings.Repeat(`}`, 60)
	err := v.Validate(tools.Spec{Name: "x", Schema: json.RawMessage(tree)}, json.RawMessage(args))
	if err == nil || !strings.Contains(err.Error(), "too deeply nested") {
		t.Errorf("%.200v", err)
	}
	var defs []string
	for i := range 40 {
		defs = append(defs, fmt.Sprintf(`"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i+1, i+1))
	}
	wide := `{"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{` + strings.Join(defs, ",") + `,"d40":{}}}`
	err = v.Validate(tools.Spec{Name: "x", Schema: json.RawMessage(wide)}, json.RawMessage(`{"a":1}`))
	if err == nil || !strings.Contains(err.Error(), "too deeply nested") {
		t.Errorf("%.200v", err)
	}
	big := `{"path":"` + strings.Repeat("x", 10<<20) + `","more":1}`
	err = v.Validate(tools.Spec{Name: "x", Schema: json.RawMessage(pathSchema)}, json.RawMessage(big))
	if err == nil || len(err.Error()) > 500 {
		t.Errorf("%.200v", err)
	}
}

func TestValidateAtOnce(t *testing.T) {
	var v tools.Validator
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 300 {
				schema := fmt.Sprintf(`{"type":"object","properties":{"a%d":{"type":"integer"}}}`, (i*j)%1200)
				if err := v.Validate(tools.Spec{Name: "x", Schema: json.RawMessage(schema)}, json.RawMessage(`{"b":1}`)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkValidate(b *testing.B) {
	var v tools.Validator
	spec := tools.Spec{Name: "grep", Schema: json.RawMessage(grepSchema)}
	args := json.RawMessage(`{"pattern":"x","path":"y","mode":"count","context":3}`)
	for b.Loop() {
		if err := v.Validate(spec, args); err != nil {
			b.Fatal(err)
		}
	}
}
