package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// What a schema may be at most. It is sent with every request, so a larger one
// would cost more than its tool is worth.
const (
	MaxSchema = 64 << 10 // bytes
	maxDepth  = 64       // schemas within schemas
)

// Mend completes the schema of a tool's arguments so that every provider takes
// it, or refuses it and says why; the tool is then to be left out, by name, and
// harms no other. A schema that lacks nothing comes back as it is.
//
// Completed are: no schema at all, no type, objects without properties, arrays
// without items, required properties that are not declared, old spellings, and
// a root that is a reference or a choice, which becomes one object with the
// properties of all. Refused are: what is not an object, unknown types,
// references that lead nowhere, outside or round in a circle, and what is too
// large.
func Mend(schema json.RawMessage) (json.RawMessage, error) {
	root, changed, err := mended(schema)
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	if _, err := compile(root); err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	if !changed {
		return schema, nil
	}
	return encodeSchema(root)
}

// mended reads and completes a schema and reports whether that changed it.
func mended(schema json.RawMessage) (root map[string]any, changed bool, err error) {
	m := &mender{}
	if m.root, err = m.read(schema); err != nil {
		return nil, false, err
	}
	if err := m.flatten(); err != nil {
		return nil, false, err
	}
	if _, err := m.node(m.root, "", "the root", 0); err != nil {
		return nil, false, err
	}
	if err := endless(m.root); err != nil {
		return nil, false, err
	}
	return m.root, m.changed, nil
}

func encodeSchema(root map[string]any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(root); err != nil {
		return nil, fmt.Errorf("encoding the schema: %w", err)
	}
	// A root that referred to a part of itself now holds it twice.
	if b.Len() > MaxSchema {
		return nil, fmt.Errorf("the schema has %d bytes when it is completed, more than %d", b.Len(), MaxSchema)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// mender completes one schema.
type mender struct {
	root    map[string]any
	changed bool
}

func (m *mender) read(schema json.RawMessage) (map[string]any, error) {
	if len(schema) > MaxSchema {
		return nil, fmt.Errorf("it has %d bytes, more than %d", len(schema), MaxSchema)
	}
	var root any = true
	if len(bytes.TrimSpace(schema)) > 0 {
		d := json.NewDecoder(bytes.NewReader(schema))
		d.UseNumber()
		if err := d.Decode(&root); err != nil {
			return nil, err
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return nil, errors.New("something follows it")
		}
	}
	if root == nil || root == true {
		m.changed = true
		return map[string]any{}, nil
	}
	object, ok := root.(map[string]any)
	if !ok {
		return nil, errors.New("it is not an object")
	}
	return object, nil
}

// flatten makes the root one plain object: providers refuse references and
// choices there.
func (m *mender) flatten() error {
	if err := m.inline(m.root, 0); err != nil {
		return err
	}
	for _, k := range []string{"not", "enum", "const"} {
		m.drop(m.root, k)
	}
	switch t := m.root["type"].(type) {
	case nil:
		m.set(m.root, "type", "object")
	case string:
		if t != "object" {
			return fmt.Errorf("it is for a value of type %.20q, not for an object", t)
		}
	case []any:
		if !slices.Contains(t, any("object")) {
			return errors.New("it is not for an object")
		}
		m.set(m.root, "type", "object")
	}
	return nil
}

// inline takes the reference and the choices of an object into it.
func (m *mender) inline(object map[string]any, depth int) error {
	if depth > 8 {
		return errors.New("its root refers to itself, or too often")
	}
	if ref, ok := object["$ref"]; ok {
		target, err := lookup(m.root, ref)
		if err != nil {
			return err
		}
		m.drop(object, "$ref")
		if whole, ok := target.(map[string]any); ok {
			for k, v := range whole {
				if _, has := object[k]; !has {
					m.set(object, k, v)
				}
			}
		}
		return m.inline(object, depth+1)
	}
	for _, kind := range []string{"allOf", "anyOf", "oneOf"} {
		branches, ok := object[kind].([]any)
		m.drop(object, kind)
		if ok {
			if err := m.join(object, branches, kind == "allOf", depth); err != nil {
				return err
			}
		}
	}
	return nil
}

// join adds the properties of branches to an object. What all of them require,
// or any if all hold at once, the object requires.
func (m *mender) join(object map[string]any, branches []any, all bool, depth int) error {
	var needs [][]any
	for _, b := range branches {
		branch, ok := b.(map[string]any)
		if !ok {
			continue
		}
		branch = cloneMap(branch)
		if err := m.inline(branch, depth+1); err != nil {
			return err
		}
		if t, typed := branch["type"]; typed && !typeHas(t, "object") {
			continue
		}
		properties, _ := branch["properties"].(map[string]any)
		own, _ := object["properties"].(map[string]any)
		own = cloneMap(own)
		for name, p := range properties {
			if _, has := own[name]; !has {
				own[name] = p
			}
		}
		object["properties"], object["type"] = own, "object"
		required, _ := branch["required"].([]any)
		needs = append(needs, required)
	}
	need, _ := object["required"].([]any)
	if need = append(slices.Clone(need), common(needs, all)...); len(need) > 0 {
		object["required"] = need
	}
	return nil
}

// common lists the strings that are in every list, or in any if all is set.
func common(lists [][]any, all bool) []any {
	var found []any
	for _, list := range lists {
		for _, name := range list {
			_, isName := name.(string)
			missing := func(other []any) bool { return !contains(other, name) }
			if isName && !contains(found, name) && (all || !slices.ContainsFunc(lists, missing)) {
				found = append(found, name)
			}
		}
	}
	return found
}

// contains is slices.Contains for values of JSON, of which some cannot be
// compared.
func contains(list []any, name any) bool {
	want, ok := name.(string)
	return ok && slices.ContainsFunc(list, func(v any) bool { s, is := v.(string); return is && s == want })
}

func (m *mender) set(object map[string]any, k string, v any) { object[k], m.changed = v, true }

func (m *mender) drop(object map[string]any, k string) {
	if _, ok := object[k]; ok {
		delete(object, k)
		m.changed = true
	}
}

func cloneMap(m map[string]any) map[string]any {
	c := make(map[string]any, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}
