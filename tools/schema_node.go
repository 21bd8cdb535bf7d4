package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
)

// Where a schema holds further schemas.
var (
	schemaMaps   = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
	schemaLists  = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	schemaValues = []string{"items", "additionalProperties", "not", "if", "then", "else", "contains",
		"propertyNames", "unevaluatedItems", "unevaluatedProperties", "contentSchema"}
)

var schemaTypes = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// each calls f with every schema that node holds and puts what it returns in
// its place, always in the same order.
func each(node map[string]any, f func(keyword, name string, child any) (any, error)) (err error) {
	for _, k := range schemaMaps {
		object, _ := node[k].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if object[name], err = f(k, name, object[name]); err != nil {
				return err
			}
		}
	}
	for _, k := range schemaLists {
		list, _ := node[k].([]any)
		for i := range list {
			if list[i], err = f(k, fmt.Sprint(i), list[i]); err != nil {
				return err
			}
		}
	}
	for _, k := range schemaValues {
		if child, ok := node[k]; ok {
			if node[k], err = f(k, "", child); err != nil {
				return err
			}
		}
	}
	return nil
}

// node completes one schema and those in it. keyword is what it stands under,
// at is where, for people.
func (m *mender) node(v any, keyword, at string, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("at %s it is more than %d levels deep", Label(at, Short), maxDepth)
	}
	switch s := v.(type) {
	case map[string]any:
		if err := m.tidy(s); err != nil {
			return nil, fmt.Errorf("at %s: %w", Label(at, Short), err)
		}
		return s, each(s, func(keyword, name string, child any) (any, error) {
			return m.node(child, keyword, strings.TrimPrefix(at+"."+step(keyword, name), "the root."), depth+1)
		})
	case bool:
		if s && !strings.HasPrefix(keyword, "additional") && !strings.HasPrefix(keyword, "unevaluated") {
			m.changed = true // some providers know no true here, and {} says the same
			return map[string]any{}, nil
		}
		return s, nil
	case nil:
		m.changed = true
		return map[string]any{}, nil
	default:
		return nil, fmt.Errorf("at %s: it is no schema", Label(at, Short))
	}
}

// step is the way to a schema as a person says it: a property by its name.
func step(keyword, name string) string {
	switch {
	case name == "":
		return keyword
	case keyword == "properties":
		return name
	default:
		return keyword + "." + name
	}
}

// tidy completes a schema itself.
func (m *mender) tidy(s map[string]any) error {
	for _, k := range []string{"$schema", "$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary"} {
		m.drop(s, k)
	}
	m.modernise(s)
	if err := m.shape(s); err != nil {
		return err
	}
	for _, k := range []string{"$dynamicRef", "$recursiveRef"} {
		if _, ok := s[k]; ok {
			return fmt.Errorf("%s is not supported", k)
		}
	}
	if ref, ok := s["$ref"]; ok {
		if _, err := lookup(m.root, ref); err != nil {
			return err
		}
	}
	if t, typed := s["type"]; typed {
		if err := knownType(t); err != nil {
			return err
		}
		m.fill(s, t)
	}
	m.require(s)
	return nil
}

// fill adds what a type must have beside it.
func (m *mender) fill(s map[string]any, t any) {
	if _, ok := s["properties"]; !ok && typeHas(t, "object") {
		m.set(s, "properties", map[string]any{})
	}
	if _, ok := s["items"]; !ok && typeHas(t, "array") {
		m.set(s, "items", map[string]any{})
	}
}

// modernise spells a schema as today's drafts do.
func (m *mender) modernise(s map[string]any) {
	if list, ok := s["items"].([]any); ok {
		m.drop(s, "items")
		m.set(s, "prefixItems", list)
		if rest, ok := s["additionalItems"]; ok {
			m.set(s, "items", rest)
		}
	}
	m.drop(s, "additionalItems")
	for exclusive, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		if is, ok := s[exclusive].(bool); ok {
			m.drop(s, exclusive)
			if n, has := s[bound]; is && has {
				m.drop(s, bound)
				m.set(s, exclusive, n)
			}
		}
	}
	for _, k := range []string{"title", "description"} {
		if _, ok := s[k].(string); !ok {
			m.drop(s, k)
		}
	}
}

// shape drops keywords without a value and refuses those of the wrong kind.
func (m *mender) shape(s map[string]any) error {
	for _, k := range append(append(slices.Clone(schemaValues), schemaLists...), "type", "enum", "properties") {
		if v, ok := s[k]; ok && v == nil {
			m.drop(s, k)
		}
	}
	for _, k := range append(slices.Clone(schemaLists), "enum") {
		v, ok := s[k]
		list, isList := v.([]any)
		if ok && !isList {
			return fmt.Errorf("%s is not a list", k)
		}
		if ok && len(list) == 0 {
			m.drop(s, k)
		}
	}
	for _, k := range schemaMaps {
		v, ok := s[k]
		if _, isMap := v.(map[string]any); ok && !isMap {
			return fmt.Errorf("%s is not an object", k)
		}
	}
	return nil
}

// require declares what is required and drops what cannot be.
func (m *mender) require(s map[string]any) {
	list, ok := s["required"].([]any)
	if !ok {
		m.drop(s, "required") // the oldest drafts marked each property
		return
	}
	names := common([][]any{list}, true)
	if len(names) != len(list) {
		m.set(s, "required", names)
	}
	properties, ok := s["properties"].(map[string]any)
	for _, name := range names {
		if _, has := properties[name.(string)]; ok && !has {
			m.set(properties, name.(string), map[string]any{})
		}
	}
}

func knownType(t any) error {
	list, ok := t.([]any)
	if !ok {
		list = []any{t}
	}
	if len(list) == 0 {
		return errors.New("it has an empty list of types")
	}
	for _, one := range list {
		if name, _ := one.(string); !slices.Contains(schemaTypes, name) {
			return fmt.Errorf("unknown type %s", Label(fmt.Sprint(one), Short))
		}
	}
	return nil
}

// typeHas reports whether the value of "type" is or lists one.
func typeHas(t any, one string) bool {
	list, ok := t.([]any)
	return t == any(one) || ok && contains(list, one)
}

// lookup follows a reference within the schema.
func lookup(root map[string]any, ref any) (any, error) {
	text, _ := ref.(string)
	path, ok := strings.CutPrefix(text, "#")
	if !ok || path != "" && path[0] != '/' {
		return nil, fmt.Errorf("the reference %s does not lead to a place in the schema", Label(fmt.Sprint(ref), Short))
	}
	var at any = root
	for _, step := range strings.Split(path, "/")[1:] {
		if plain, err := url.PathUnescape(step); err == nil {
			step = plain
		}
		at = child(at, strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
	}
	switch at.(type) {
	case map[string]any, bool:
		return at, nil
	default:
		return nil, fmt.Errorf("the reference %s leads nowhere", Label(text, Short))
	}
}

func child(at any, step string) any {
	switch v := at.(type) {
	case map[string]any:
		return v[step]
	case []any:
		for i := range v {
			if fmt.Sprint(i) == step {
				return v[i]
			}
		}
	}
	return nil
}

// beside lists the schemas that hold for the same value as a schema does.
func beside(root, s map[string]any) []any {
	var all []any
	if ref, ok := s["$ref"]; ok {
		if target, err := lookup(root, ref); err == nil {
			all = append(all, target)
		}
	}
	for _, k := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := s[k].([]any)
		all = append(all, list...)
	}
	for _, k := range []string{"not", "if", "then", "else"} {
		if v, ok := s[k]; ok {
			all = append(all, v)
		}
	}
	dependent, _ := s["dependentSchemas"].(map[string]any)
	return slices.AppendSeq(all, maps.Values(dependent))
}

// endless refuses a schema that a value would be held against for ever: one
// that comes back to itself without a step into the value.
func endless(root map[string]any) error {
	const open, closed = 1, 2
	state := map[uintptr]int{}
	var visit func(v any) error
	visit = func(v any) error {
		s, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		id := reflect.ValueOf(s).Pointer()
		if state[id] == closed {
			return nil
		}
		if state[id] == open {
			return errors.New("its references go round in a circle")
		}
		state[id] = open
		for _, other := range beside(root, s) {
			if err := visit(other); err != nil {
				return err
			}
		}
		state[id] = closed
		return nil
	}
	return everywhere(root, visit, 0)
}

// everywhere calls visit with every schema.
func everywhere(v any, visit func(v any) error, depth int) error {
	s, ok := v.(map[string]any)
	if !ok || depth > maxDepth {
		return nil
	}
	if err := visit(s); err != nil {
		return err
	}
	return each(s, func(_, _ string, child any) (any, error) {
		return child, everywhere(child, visit, depth+1)
	})
}

// plain makes the numbers of a JSON value floats.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
	}
	return v
}
