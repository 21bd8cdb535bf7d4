package tools

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// finder finds the first thing that is wrong with arguments and says it in a
// sentence that a model can mend. Whether something is wrong is decided by the
// library; the finder knows the keywords that tools use and may find nothing.
type finder struct {
	root map[string]any
}

// find returns what is wrong with a value, "" if nothing was found. at names
// the value: "" are the arguments themselves.
func (f finder) find(schema, value any, at string) string {
	s, ok := schema.(map[string]any)
	if !ok {
		if schema == false {
			return called(at) + " must be left out"
		}
		return ""
	}
	if ref, ok := s["$ref"]; ok {
		target, _ := lookup(f.root, ref)
		if problem := f.find(target, value, at); problem != "" {
			return problem
		}
	}
	if t, ok := s["type"]; ok && !fits(t, value) {
		return fmt.Sprintf("%s must be %s, not %s", called(at), f.wanted(s), shown(value))
	}
	if enum, ok := s["enum"].([]any); ok && !slices.ContainsFunc(enum, func(e any) bool { return jsonschema.Equal(e, value) }) {
		return fmt.Sprintf("%s must be %s, not %s", called(at), oneOf(enum), shown(value))
	}
	if c, ok := s["const"]; ok && !jsonschema.Equal(c, value) {
		return fmt.Sprintf("%s must be %s, not %s", called(at), shown(c), shown(value))
	}
	if problem := f.inside(s, value, at); problem != "" {
		return problem
	}
	return f.choices(s, value, at)
}

// inside looks at what the value holds.
func (f finder) inside(s map[string]any, value any, at string) string {
	switch v := value.(type) {
	case map[string]any:
		return f.object(s, v, at)
	case []any:
		return f.list(s, v, at)
	case string:
		n := utf8.RuneCountInString(v)
		if p, ok := s["pattern"].(string); ok && compiles(p) && !pattern(p, v) {
			return fmt.Sprintf("%s must match the pattern %s, which %s does not", called(at), Label(p, Full), shown(v))
		}
		return size(s, "Length", "characters long", float64(n), at)
	case float64:
		return number(s, v, at)
	}
	return ""
}

func (f finder) object(s, v map[string]any, at string) string {
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, r := range required {
		name, _ := r.(string)
		if _, has := v[name]; !has {
			return fmt.Sprintf("%s is missing: it must be %s", called(within(at, name)), f.wanted(properties[name]))
		}
	}
	if s["additionalProperties"] == false && s["patternProperties"] == nil {
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if _, known := properties[name]; !known {
				return stranger(name, at, properties)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		p, known := properties[name]
		if !known && s["patternProperties"] == nil {
			p = s["additionalProperties"]
		}
		if problem := f.find(p, v[name], within(at, name)); problem != "" {
			return problem
		}
	}
	return size(s, "Properties", "fields large", float64(len(v)), at)
}

// stranger says that there is no such argument, and which there are.
func stranger(name, at string, properties map[string]any) string {
	names := slices.Sorted(maps.Keys(properties))
	for i := range names {
		names[i] = strconv.Quote(names[i])
	}
	known := "there are none"
	if len(names) > 0 {
		known = "there are " + enumerate(names, "and")
	}
	if len(names) == 1 {
		known = "there is only " + names[0]
	}
	if at == "" {
		return fmt.Sprintf("there is no argument %s: %s", quoted(name), known)
	}
	return fmt.Sprintf("%s has no field %s: %s", called(at), quoted(name), known)
}

func (f finder) list(s map[string]any, v []any, at string) string {
	prefix, _ := s["prefixItems"].([]any)
	for i, item := range v {
		schema := s["items"]
		if i < len(prefix) {
			schema = prefix[i]
		}
		if problem := f.find(schema, item, fmt.Sprintf("%s[%d]", at, i)); problem != "" {
			return problem
		}
	}
	return size(s, "Items", "items long", float64(len(v)), at)
}

// choices looks at what a value must fit as well.
func (f finder) choices(s map[string]any, value any, at string) string {
	all, _ := s["allOf"].([]any)
	for _, other := range all {
		if problem := f.find(other, value, at); problem != "" {
			return problem
		}
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		list, _ := s[k].([]any)
		if problem := f.choice(list, value, at); problem != "" {
			return problem
		}
	}
	return ""
}

// choice says why a value fits none of the choices. If one alone is of its
// type, that is the one that was meant.
func (f finder) choice(list []any, value any, at string) string {
	var wants, near []string
	for _, c := range list {
		problem := f.find(c, value, at)
		if problem == "" {
			return ""
		}
		wants = append(wants, f.wanted(c))
		if s, ok := f.followed(c).(map[string]any); ok && s["type"] != nil && fits(s["type"], value) {
			near = append(near, problem)
		}
	}
	if len(list) == 0 {
		return ""
	}
	if len(near) == 1 {
		return near[0]
	}
	return fmt.Sprintf("%s must be %s, not %s", called(at), enumerate(wants, "or"), shown(value))
}

func (f finder) followed(schema any) any {
	for range 8 {
		s, _ := schema.(map[string]any)
		ref, ok := s["$ref"]
		if !ok {
			break
		}
		schema, _ = lookup(f.root, ref)
	}
	return schema
}

// wanted says what a schema asks for: "an integer".
func (f finder) wanted(schema any) string {
	s, ok := f.followed(schema).(map[string]any)
	if !ok {
		return "a value"
	}
	if enum, ok := s["enum"].([]any); ok {
		return oneOf(enum)
	}
	list, ok := s["type"].([]any)
	if !ok {
		list = []any{s["type"]}
	}
	var words []string
	for _, t := range list {
		switch t {
		case "object", "array", "integer":
			words = append(words, fmt.Sprint("an ", t))
		case "string", "number", "boolean":
			words = append(words, fmt.Sprint("a ", t))
		case "null":
			words = append(words, "null")
		default:
			words = append(words, "a value")
		}
	}
	return enumerate(words, "or")
}

// fits reports whether a value is of a type or of one of several.
func fits(t, value any) bool {
	switch v := value.(type) {
	case nil:
		return typeHas(t, "null")
	case bool:
		return typeHas(t, "boolean")
	case string:
		return typeHas(t, "string")
	case []any:
		return typeHas(t, "array")
	case map[string]any:
		return typeHas(t, "object")
	case float64:
		return typeHas(t, "number") || v == math.Trunc(v) && typeHas(t, "integer")
	default:
		return true
	}
}

// number says which bound a number breaks.
func number(s map[string]any, v float64, at string) string {
	for _, b := range []struct {
		key, want string
		broken    func(bound float64) bool
	}{
		{"minimum", "at least", func(b float64) bool { return v < b }},
		{"maximum", "at most", func(b float64) bool { return v > b }},
		{"exclusiveMinimum", "more than", func(b float64) bool { return v <= b }},
		{"exclusiveMaximum", "less than", func(b float64) bool { return v >= b }},
	} {
		if bound, ok := s[b.key].(float64); ok && b.broken(bound) {
			return fmt.Sprintf("%s must be %s %s, not %s", called(at), b.want, shown(bound), shown(v))
		}
	}
	return ""
}

// size says which bound a size breaks.
func size(s map[string]any, what, unit string, n float64, at string) string {
	if least, ok := s["min"+what].(float64); ok && n < least {
		return fmt.Sprintf("%s must be at least %s %s, not %s", called(at), shown(least), unit, shown(n))
	}
	if most, ok := s["max"+what].(float64); ok && n > most {
		return fmt.Sprintf("%s must be at most %s %s, not %s", called(at), shown(most), unit, shown(n))
	}
	return ""
}
