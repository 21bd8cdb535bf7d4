package tools

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

const (
	maxCompiled = 1000    // schemas that a Validator keeps
	maxSteps    = 200_000 // schemas that one value may be held against
)

// Validator holds arguments against schemas. It compiles each schema once. The
// zero Validator is ready; Validate may be called from several goroutines at
// once.
type Validator struct {
	mu   sync.Mutex // guards seen
	seen map[[sha256.Size]byte]*compiled
}

// compiled is a schema ready for use, or why it cannot be used.
type compiled struct {
	once     sync.Once
	root     map[string]any // completed; not to be changed
	resolved *jsonschema.Resolved
	err      error
}

// Validate returns nil if args are what the spec's schema asks for. Otherwise
// the error is a sentence for the model that names the argument and what is
// wanted of it. No schema makes it panic or run for ever.
func (v *Validator) Validate(s Spec, args json.RawMessage) error {
	c := v.compiled(s.Schema)
	if c.err != nil {
		return fmt.Errorf("%s cannot be called: %w", Label(s.Name, Short), c.err)
	}
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage("{}")
	}
	var value any
	if err := json.Unmarshal(args, &value); err != nil {
		return fmt.Errorf("the arguments are not valid JSON (%v): send one complete JSON object", err)
	}
	object, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("the arguments must be one JSON object, not %s", shown(value))
	}
	return c.check(object)
}

func (v *Validator) compiled(schema json.RawMessage) *compiled {
	id := sha256.Sum256(schema)
	v.mu.Lock()
	c := v.seen[id]
	if c == nil {
		if v.seen == nil || len(v.seen) >= maxCompiled { // servers that change: begin anew
			v.seen = map[[sha256.Size]byte]*compiled{}
		}
		c = &compiled{}
		v.seen[id] = c
	}
	v.mu.Unlock()
	c.once.Do(func() {
		if c.root, _, c.err = mended(schema); c.err == nil {
			c.resolved, c.err = compile(c.root)
		}
		if c.err != nil {
			c.err = fmt.Errorf("its schema is broken: %w", c.err)
			return
		}
		plain(c.root)
	})
	return c
}

// check holds an object against the schema.
func (c *compiled) check(object map[string]any) error {
	steps := maxSteps
	if c.count(c.root, object, &steps); steps < 0 {
		return errors.New("the arguments are too large or too deeply nested to be checked: send less at once")
	}
	err := guard(func() error { return c.resolved.Validate(object) })
	if err == nil {
		return nil
	}
	f := finder{root: c.root}
	if problem := f.find(c.root, object, ""); problem != "" {
		return errors.New(problem)
	}
	return fmt.Errorf("the arguments do not fit the schema: %s", Label(err.Error(), 300))
}

// guard makes a panic of f an error.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
}

// count takes from steps at least as many as validating value needs, until
// they are used up. Choices within choices can need more than there is time.
func (c *compiled) count(schema, value any, steps *int) {
	s, ok := schema.(map[string]any)
	if *steps--; !ok || *steps < 0 {
		return
	}
	enum, _ := s["enum"].([]any)
	*steps -= len(enum)
	for _, other := range beside(c.root, s) {
		c.count(other, value, steps)
	}
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			prefix, _ := s["prefixItems"].([]any)
			if i < len(prefix) {
				c.count(prefix[i], item, steps)
			}
			for _, k := range []string{"items", "contains", "unevaluatedItems"} {
				c.count(s[k], item, steps)
			}
		}
	case map[string]any:
		properties, _ := s["properties"].(map[string]any)
		patterns, _ := s["patternProperties"].(map[string]any)
		for name, field := range value {
			c.count(properties[name], field, steps)
			for _, p := range patterns {
				c.count(p, field, steps)
			}
			for _, k := range []string{"additionalProperties", "unevaluatedProperties"} {
				c.count(s[k], field, steps)
			}
			c.count(s["propertyNames"], name, steps)
		}
	}
}

// compile compiles a completed schema. What our library would take for more
// than it is, or does not know, is left out of the copy that it gets: it is
// better to let a call through to its tool than to refuse a good one.
func compile(root map[string]any) (*jsonschema.Resolved, error) {
	raw, err := encodeSchema(root)
	if err != nil {
		return nil, err
	}
	var loose map[string]any
	if err := json.Unmarshal(raw, &loose); err != nil {
		return nil, err
	}
	if err := everywhere(loose, loosen, 0); err != nil {
		return nil, err
	}
	if raw, err = json.Marshal(loose); err != nil {
		return nil, err
	}
	var resolved *jsonschema.Resolved
	err = guard(func() error {
		s := &jsonschema.Schema{}
		if err := json.Unmarshal(raw, s); err != nil {
			return err
		}
		resolved, err = s.Resolve(nil)
		return err
	})
	if err != nil {
		return nil, errors.New(Label(err.Error(), 200))
	}
	return resolved, nil
}

// loosen takes out of one schema what cannot be checked.
func loosen(v any) error {
	s, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	for _, k := range []string{"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly",
		"$comment", "format", "contentEncoding", "contentMediaType", "contentSchema", "dependencies"} {
		delete(s, k)
	}
	for _, k := range []string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
		"minContains", "maxContains"} {
		if n, ok := s[k].(float64); ok && (n != math.Trunc(n) || math.Abs(n) > math.MaxInt32) {
			delete(s, k)
		}
	}
	if n, ok := s["multipleOf"].(float64); ok && (n < 1 || n != math.Trunc(n)) {
		delete(s, "multipleOf") // fractions are not exact in binary
	}
	if p, ok := s["pattern"].(string); ok && !compiles(p) {
		delete(s, "pattern")
	}
	patterns, _ := s["patternProperties"].(map[string]any)
	for p := range patterns {
		if !compiles(p) { // what it would have let through must not count as unknown
			delete(patterns, p)
			delete(s, "additionalProperties")
			delete(s, "unevaluatedProperties")
		}
	}
	return nil
}

// compiles reports whether a pattern is one that we can check: JavaScript's
// know more than ours.
func compiles(pattern string) bool {
	_, err := regexp.Compile(pattern)
	return err == nil
}
