package tools_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"parley/tools"
)

func TestMend(t *testing.T) {
	empty := `{"properties":{},"type":"object"}`
	for in, want := range map[string]string{
		// what is whole stays as it is, to the letter
		`{ "type": "object", "properties": {} }`: `{ "type": "object", "properties": {} }`,
		pathSchema:                               pathSchema,
		`{"type":"object","properties":{"z":{"type":"integer","maximum":9007199254740993},"a":{"type":["string","null"]}},"required":[]}`:      ``,
		`{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}}}`: ``,
		`{"type":"object","properties":{"self":{"$ref":"#"}}}`:                                                                                 ``,
		`{"type":"object","properties":{"p":{"type":"string","pattern":"^(?!x)"}},"additionalProperties":true}`:                                ``,
		// nothing, and less than enough
		``: empty, `null`: empty, `true`: empty, `{}`: empty, `{"type":"object"}`: empty, `{"properties":null}`: empty,
		`{"type":["object","null"]}`: empty, `{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","$id":"x"}`: empty,
		`{"properties":{"a":{"type":"array"}}}`:                                                         `{"properties":{"a":{"items":{},"type":"array"}},"type":"object"}`,
		`{"type":"object","properties":{"a":true,"b":null,"c":{"type":["array","null"],"items":true}}}`: `{"properties":{"a":{},"b":{},"c":{"items":{},"type":["array","null"]}},"type":"object"}`,
		`{"type":"object","properties":{"a":{"type":"object"}}}`:                                        `{"properties":{"a":{"properties":{},"type":"object"}},"type":"object"}`,
		`{"type":"object","required":["a","a",1]}`:                                                      `{"properties":{"a":{}},"required":["a"],"type":"object"}`,
		// old spellings
		`{"type":"object","properties":{"a":{"type":"string","required":true}}}`:                                    `{"properties":{"a":{"type":"string"}},"type":"object"}`,
		`{"type":"object","properties":{"a":{"type":"number","minimum":1,"exclusiveMinimum":true}}}`:                `{"properties":{"a":{"exclusiveMinimum":1,"type":"number"}},"type":"object"}`,
		`{"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"}],"additionalItems":false}}}`: `{"properties":{"a":{"items":false,"prefixItems":[{"type":"string"}],"type":"array"}},"type":"object"}`,
		// no choices: empty ones count as none
		`{"type":"object","properties":{"a":{"enum":[],"anyOf":[],"not":null}}}`: `{"properties":{"a":{}},"type":"object"}`,
		// a root that is not plain
		`{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}}}`:                                                     `{"$defs":{"A":{"properties":{"x":{"type":"string"}},"required":["x"],"type":"object"}},"properties":{"x":{"type":"string"}},"required":["x"],"type":"object"}`,
		`{"anyOf":[{"type":"object","properties":{"a":{"type":"string"},"k":{}},"required":["a","k"]},{"properties":{"b":{},"k":{}},"required":["k"]},{"type":"null"}]}`: `{"properties":{"a":{"type":"string"},"b":{},"k":{}},"required":["k"],"type":"object"}`,
		`{"allOf":[{"properties":{"a":{}},"required":["a"]},{"oneOf":[{"properties":{"b":{}}}]}],"required":["a","c"]}`:                                                  `{"properties":{"a":{},"b":{},"c":{}},"required":["a","c"],"type":"object"}`,
		// a property may be called like a keyword
		`{"type":"object","properties":{"$schema":{"type":"string"},"required":{"type":"array"},"items":{"type":"object"}}}`: `{"properties":{"$schema":{"type":"string"},"items":{"properties":{},"type":"object"},"required":{"items":{},"type":"array"}},"type":"object"}`,
	} {
		if want == "" {
			want = in
		}
		got, err := tools.Mend(json.RawMessage(in))
		if err != nil || string(got) != want {
			t.Errorf("Mend(%s)\n got %s, %v\nwant %s", in, got, err, want)
			continue
		}
		if again, err := tools.Mend(got); err != nil || string(again) != string(got) {
			t.Errorf("mending %s again: %s, %v", got, again, err)
		}
	}
}

func TestMendRefuses(t *testing.T) {
	deep := strings.Repeat(`{"type":"object","properties":{"a":`, 200) + `{}` + strings.Repeat(`}}`, 200)
	for in, why := range map[string]string{
		`[]`: "not an object", `"x"`: "not an object", `false`: "not an object", `{`: "EOF", `{} {}`: "something follows",
		`{"type":"string"}`: `type "string"`, `{"type":["string","null"]}`: "not for an object", `{"type":7}`: "unknown type 7",
		`{"properties":{"a":{"type":"str"}}}`:                                                                   "at a: unknown type str",
		`{"properties":{"a":{"type":[]}}}`:                                                                      "empty list of types",
		`{"properties":{"a":{"properties":{"b":7}}}}`:                                                           "at a.b: it is no schema",
		`{"properties":[]}`:                                                                                     "properties is not an object",
		`{"properties":{"a":{"anyOf":{}}}}`:                                                                     "anyOf is not a list",
		`{"properties":{"a":{"$ref":"#/$defs/gone"}}}`:                                                          "leads nowhere",
		`{"properties":{"a":{"$ref":"https://example.com/x"}}}`:                                                 "does not lead to a place in the schema",
		`{"properties":{"a":{"$ref":"#anchor"}}}`:                                                               "does not lead to a place in the schema",
		`{"properties":{"a":{"$ref":7}}}`:                                                                       "does not lead to a place",
		`{"properties":{"a":{"$dynamicRef":"#a"}}}`:                                                             "not supported",
		`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`:                      "refers to itself",
		`{"anyOf":[{"$ref":"#"}]}`:                                                                              "",
		`{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"}]}}}`:                       "",
		`{"properties":{"a":{"$ref":"#/properties/a"}}}`:                                                        "round in a circle",
		`{"properties":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]}},"$defs":{"b":{"not":{"$ref":"#/properties/a"}}}}`: "round in a circle",
		`{"properties":{"a":{"$ref":"#/properties"}}}`:                                                          "",
		`{"properties":{"a":{"maximum":"7"}}}`:                                                                  "",
		`{"properties":{"a":{"description":"` + strings.Repeat("x", tools.MaxSchema) + `"}}}`:                   "more than 65536",
		deep: "levels deep",
	} {
		got, err := tools.Mend(json.RawMessage(in))
		if err == nil && why == "" {
			continue // harmless is fine too
		}
		if err == nil || !strings.Contains(err.Error(), why) || strings.ContainsAny(err.Error(), "\n") || len(err.Error()) > 400 {
			t.Errorf("Mend(%.100s) = %.100s, %v; want %q", in, got, err, why)
		}
	}
}

// drawSchema draws something like a schema: keywords with values that fit,
// mostly.
func drawSchema(t *rapid.T, depth int) any {
	if depth > 4 || rapid.IntRange(0, 9).Draw(t, "leaf") == 0 {
		return rapid.SampledFrom([]any{nil, true, false, 7, "x", []any{}, map[string]any{}, map[string]any{"type": "string"}}).Draw(t, "odd")
	}
	s := map[string]any{}
	for range rapid.IntRange(0, 4).Draw(t, "keywords") {
		sub := func() any { return drawSchema(t, depth+1) }
		k := rapid.SampledFrom([]string{"type", "$ref", "properties", "$defs", "anyOf", "allOf", "oneOf", "items", "not", "additionalProperties",
			"required", "enum", "const", "pattern", "minimum", "maxLength", "exclusiveMaximum", "if", "then", "prefixItems", "patternProperties",
			"propertyNames", "dependentSchemas", "uniqueItems", "multipleOf", "$id", "contains", "unevaluatedProperties", "default"}).Draw(t, "keyword")
		switch k {
		case "type":
			s[k] = rapid.SampledFrom([]any{"object", "array", "string", "integer", []any{"object", "null"}, "strange", nil}).Draw(t, k)
		case "$ref":
			s[k] = rapid.SampledFrom([]any{"#", "#/$defs/a", "#/properties/b", "#/items", "x", 7, "#/anyOf/0"}).Draw(t, k)
		case "properties", "$defs", "patternProperties", "dependentSchemas":
			s[k] = map[string]any{rapid.SampledFrom([]string{"a", "b", "("}).Draw(t, "name"): sub()}
		case "anyOf", "allOf", "oneOf", "prefixItems":
			s[k] = []any{sub(), sub()}
		case "required", "enum":
			s[k] = rapid.SampledFrom([]any{[]any{"a"}, []any{"a", 1, nil}, []any{}, true}).Draw(t, k)
		case "pattern":
			s[k] = rapid.SampledFrom([]any{"a+", "(?!a)", "("}).Draw(t, k)
		case "minimum", "maxLength", "exclusiveMaximum", "multipleOf":
			s[k] = rapid.SampledFrom([]any{0, 1, 1.5, 1e300, -1, true, "x"}).Draw(t, k)
		case "$id", "const", "default", "uniqueItems":
			s[k] = rapid.SampledFrom([]any{"a", true, 1}).Draw(t, k)
		default:
			s[k] = sub()
		}
	}
	return s
}

func drawValue(t *rapid.T, depth int) any {
	switch kind := rapid.IntRange(0, 7).Draw(t, "kind"); {
	case depth < 4 && kind < 2:
		m := map[string]any{}
		for range rapid.IntRange(0, 3).Draw(t, "fields") {
			m[rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "field")] = drawValue(t, depth+1)
		}
		return m
	case depth < 4 && kind == 2:
		return []any{drawValue(t, depth+1), drawValue(t, depth+1)}
	default:
		return rapid.SampledFrom([]any{nil, true, "a", "bcd", 1, -2.5, 1e300}).Draw(t, "value")
	}
}

// Whatever the schema, mending ends and is done once; what was mended is
// whole, and arguments can be held against it.
func TestMendProperties(t *testing.T) {
	mended := 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchema(t, 0)
		if m, ok := s.(map[string]any); ok {
			m["type"] = "object"
		}
		raw, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		args, err := json.Marshal(map[string]any{"a": drawValue(t, 0), "b": drawValue(t, 0)})
		if err != nil {
			t.Fatal(err)
		}
		var v tools.Validator
		invalid := v.Validate(tools.Spec{Name: "x", Schema: raw}, args)
		if invalid != nil && (strings.Contains(invalid.Error(), "\n") || strings.Contains(invalid.Error(), "panic")) {
			t.Fatalf("%s against %s: %v", args, raw, invalid)
		}
		got, err := tools.Mend(raw)
		if err != nil {
			if invalid == nil {
				t.Fatalf("%s was refused (%v) but lets %s through", raw, err, args)
			}
			return
		}
		mended++
		if again, err := tools.Mend(got); err != nil || string(again) != string(got) {
			t.Fatalf("%s\nis mended to %s\nand that to %s, %v", raw, got, again, err)
		}
		if after := v.Validate(tools.Spec{Name: "x", Schema: got}, args); (after == nil) != (invalid == nil) {
			t.Fatalf("%s\nagainst %s: %v\nagainst %s: %v", args, raw, invalid, got, after)
		}
	})
	if mended == 0 {
		t.Error("no schema was mended")
	}
}
