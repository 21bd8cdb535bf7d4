package config

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// decoder lays a parsed file over a Config. It goes on after a problem, so
// that one run tells them all.
type decoder struct {
	file     string // as it is called in messages
	dir      string // what relative paths are seen from
	env      Env
	at       map[string]place // where each key that was given stands
	problems []Problem
	open     bool // a secret stands in the file itself
}

type place struct{ line, col int }

func placeOf(n ast.Node) place {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return place{}
	}
	p := n.GetToken().Position
	return place{p.Line, p.Column}
}

// spot is where the walk is: the key so far and its place.
type spot struct {
	key string
	at  place
	tag reflect.StructTag
}

// child is the spot of a key inside a block.
func (s spot) child(key string, at place, tag reflect.StructTag) spot {
	if s.key != "" {
		key = s.key + "." + key
	}
	return spot{key, at, tag}
}

func (d *decoder) problem(s spot, format string, args ...any) {
	d.problems = append(d.problems, Problem{d.file, s.at.line, s.at.col, s.key, fmt.Sprintf(format, args...)})
}

var (
	secretType   = reflect.TypeFor[Secret]()
	headersType  = reflect.TypeFor[Headers]()
	durationType = reflect.TypeFor[time.Duration]()
	sizeType     = reflect.TypeFor[Size]()
	modelType    = reflect.TypeFor[Model]()
)

// value decodes a node into v, which holds the default.
func (d *decoder) value(n ast.Node, s spot, v reflect.Value) {
	d.at[s.key] = s.at
	if n == nil || n.Type() == ast.NullType {
		if v.Kind() == reflect.Slice || v.Kind() == reflect.Map {
			v.SetZero()
		}
		return
	}
	switch {
	case v.Type() == headersType:
		d.headers(n, s, v)
	case v.Kind() == reflect.Map:
		d.free(n, s, v)
	case v.Kind() == reflect.Slice:
		d.list(n, s, v)
	case isBlock(v.Type()):
		d.block(n, s, v)
	case v.Kind() == reflect.Pointer:
		fresh := reflect.New(v.Type().Elem())
		if d.scalar(n, s, fresh.Elem()) {
			v.Set(fresh)
		}
	default:
		d.scalar(n, s, v)
	}
}

// isBlock reports whether a type is written as a block of keys.
func isBlock(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != secretType && !reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// block decodes a block of known keys.
func (d *decoder) block(n ast.Node, s spot, v reflect.Value) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		d.problem(s, "%s, want a block of keys: %s", notBlock(n), strings.Join(keysOf(v.Type()), ", "))
		return
	}
	twins := map[string]twin{}
	d.entries(m, s, func(key string, value ast.Node, at place) {
		field, isTwin, known := lookup(v.Type(), key)
		in := s.child(key, at, field.Tag)
		switch {
		case !known:
			d.problem(in, "unknown key; %s", hint(key, keysOf(v.Type())))
		case isTwin:
			var name string
			if d.scalar(value, in, reflect.ValueOf(&name).Elem()) && name != "" {
				twins[field.Name] = twin{in, name}
			}
		default:
			d.value(value, in, v.FieldByIndex(field.Index))
		}
	})
	for name, t := range twins {
		d.fromFile(t, v.FieldByName(name))
	}
}

// entries calls each for every entry of a block whose key is a plain text that
// was not given before.
func (d *decoder) entries(m *ast.MappingNode, s spot, each func(key string, value ast.Node, at place)) {
	seen := map[string]place{}
	for _, e := range m.Values {
		at := placeOf(e.Key)
		text, ok := e.Key.(*ast.StringNode)
		if !ok {
			d.problem(s.child(e.Key.String(), at, ""), "is no key; want a plain word")
			continue
		}
		key := text.Value
		if first, twice := seen[key]; twice {
			d.problem(s.child(key, at, ""), "is given twice, first on line %d; keep one of them", first.line)
			continue
		}
		seen[key] = at
		each(key, e.Value, at)
	}
}

// hint says what an unknown key may have been meant to be.
func hint(key string, known []string) string {
	if near := nearest(key, known); near != "" {
		return "did you mean " + near + "?"
	}
	return "known here: " + strings.Join(known, ", ")
}

// list decodes a list, in place of the default list.
func (d *decoder) list(n ast.Node, s spot, v reflect.Value) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		if text, single := scalarOf(n); single && d.expandsToNothing(text) {
			return
		}
		d.problem(s, "%s, want a list", foundNode(n))
		return
	}
	v.SetZero()
	for i, e := range seq.Values {
		in := spot{fmt.Sprintf("%s[%d]", s.key, i), placeOf(e), s.tag}
		if m, ok := e.(*ast.MappingNode); ok && len(m.Values) > 0 {
			in.at = placeOf(m.Values[0].Key)
		}
		item := reflect.New(v.Type().Elem()).Elem()
		if item.Type() == modelType {
			item.Set(reflect.ValueOf(defaultModel()))
		}
		if e == nil || e.Type() == ast.NullType {
			d.problem(in, "found nothing, want a value")
			continue
		}
		d.value(e, in, item)
		v.Set(reflect.Append(v, item))
	}
}

func (d *decoder) expandsToNothing(s scalar) bool {
	text, err := Expand(s.raw, d.env)
	return err == nil && text == "" && s.raw != ""
}

// free decodes a map whose content is not parley's.
func (d *decoder) free(n ast.Node, s spot, v reflect.Value) {
	if _, ok := n.(*ast.MappingNode); !ok {
		d.problem(s, "%s, want a block of keys", notBlock(n))
		return
	}
	v.Set(reflect.ValueOf(d.any(n, s)))
}

// any decodes a node as JSON has it.
func (d *decoder) any(n ast.Node, s spot) any {
	switch node := n.(type) {
	case nil, *ast.NullNode:
		return nil
	case *ast.MappingNode:
		m := map[string]any{}
		d.entries(node, s, func(key string, value ast.Node, at place) {
			m[key] = d.any(value, s.child(key, at, ""))
		})
		return m
	case *ast.SequenceNode:
		list := []any{}
		for i, e := range node.Values {
			list = append(list, d.any(e, spot{fmt.Sprintf("%s[%d]", s.key, i), placeOf(e), ""}))
		}
		return list
	}
	text, ok := d.resolve(n, s)
	if !ok {
		return nil
	}
	return text.any()
}

// any gives a number, a truth value or a text, as the file wrote it.
func (s scalar) any() any {
	switch s.kind {
	case number:
		if i, ok := s.int(); ok {
			return i
		}
		if f, ok := s.float(); ok {
			return f
		}
	case boolean:
		b, _ := s.bool()
		return b
	}
	return s.text
}

// resolve reads a single value and its references.
func (d *decoder) resolve(n ast.Node, s spot) (scalar, bool) {
	text, ok := scalarOf(n)
	if !ok {
		d.problem(s, "%s, want a single value", foundNode(n))
		return text, false
	}
	if text.kind != textual {
		return text, true
	}
	var err error
	if text.text, err = Expand(text.raw, d.env); err != nil {
		d.problem(s, "%v", err)
		return text, false
	}
	return text, true
}

// keysOf lists the keys of a block, twins included, in the order of the tree.
func keysOf(t reflect.Type) []string {
	var keys []string
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("yaml")
		if name == "" || name == "-" {
			continue
		}
		keys = append(keys, name)
		if f.Type == secretType {
			keys = append(keys, name+fileSuffix)
		}
	}
	return keys
}

// lookup finds the field of a key, and whether the key is its _file twin.
func lookup(t reflect.Type, key string) (field reflect.StructField, twin, known bool) {
	if !slices.Contains(keysOf(t), key) {
		return field, false, false
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("yaml")
		if name == key {
			return f, false, true
		}
		if f.Type == secretType && name+fileSuffix == key {
			return f, true, true
		}
	}
	return field, false, false
}
