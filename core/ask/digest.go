package ask

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"parley/tools"
)

// Digest names what an approval is bound to: the tool's source and name, its
// schema, and the exact arguments. The order of members and the space between
// them do not matter, all else does.
func Digest(spec tools.Spec, args json.RawMessage) string {
	h := sha256.New()
	for _, s := range []string{spec.Source, spec.Name, canonical(spec.Schema), canonical(args)} {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func canonical(raw json.RawMessage) string {
	tree, ok := parse(raw)
	if !ok {
		return string(raw)
	}
	w := writer{sorted: true}
	w.write(tree, "")
	return w.b.String()
}

// Pretty writes arguments for people to read: indented, in the order and with
// the repetitions that they have, with invisible characters spelled out. Every
// string and number goes through redact, if there is one. What is no JSON is
// written as it is, visibly.
func Pretty(args json.RawMessage, redact func(string) string) string {
	if redact == nil {
		redact = func(s string) string { return s }
	}
	tree, ok := parse(args)
	if !ok {
		return visible(redact(string(args)))
	}
	w := writer{redact: redact, indent: "\n"}
	w.write(tree, w.indent)
	return w.b.String()
}

// node is a JSON value. Unlike a map it keeps the order of members and does
// not lose those whose names are there twice.
type node struct {
	open    json.Delim // { or [, 0 for a scalar
	scalar  any        // string, json.Number, bool or nil
	members []member
}

type member struct {
	name  string // of an object's member
	value node
}

// parse reads a JSON value. It reports false if there is none, or if reading it
// would lose something: what is not UTF-8 cannot be told apart afterwards.
func parse(raw json.RawMessage) (node, bool) {
	if !json.Valid(raw) { // also bounds the depth
		return node{}, false
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	n, lossless := next(dec)
	return n, lossless
}

// next reads the next value of valid JSON.
func next(dec *json.Decoder) (n node, lossless bool) {
	token, err := dec.Token()
	if err != nil {
		return node{}, false
	}
	open, nested := token.(json.Delim)
	if !nested {
		return node{scalar: token}, exact(token)
	}
	n.open, lossless = open, true
	for dec.More() {
		var m member
		if open == '{' {
			name, _ := dec.Token()
			m.name, _ = name.(string)
			lossless = lossless && exact(m.name)
		}
		value, ok := next(dec)
		m.value = value
		n.members, lossless = append(n.members, m), lossless && ok
	}
	_, err = dec.Token()
	return n, lossless && err == nil
}

// exact reports whether a token is what stood in the text: the decoder puts
// U+FFFD in the place of what it cannot read.
func exact(token any) bool {
	s, isString := token.(string)
	return !isString || !strings.ContainsRune(s, utf8.RuneError)
}

// deepest is how far lines are indented. Beyond it a deep nesting would take
// room that grows with its square.
const deepest = 64

// writer writes nodes.
type writer struct {
	b      strings.Builder
	indent string              // a line break, or "" for one line
	sorted bool                // members by name
	redact func(string) string // nil: nothing is
}

// write writes a value whose lines begin with lead.
func (w *writer) write(n node, lead string) {
	if n.open == 0 {
		w.scalar(n.scalar)
		return
	}
	if w.sorted && n.open == '{' {
		slices.SortStableFunc(n.members, func(x, y member) int { return strings.Compare(x.name, y.name) })
	}
	inner := lead
	if w.indent != "" && len(lead) < deepest {
		inner += "  "
	}
	w.b.WriteRune(rune(n.open))
	for i, m := range n.members {
		if i > 0 {
			w.b.WriteByte(',')
		}
		w.b.WriteString(inner)
		if n.open == '{' {
			w.scalar(m.name)
			w.b.WriteString(": ")
		}
		w.write(m.value, inner)
	}
	if len(n.members) > 0 {
		w.b.WriteString(lead)
	}
	w.b.WriteRune(rune(n.open + 2)) // { } and [ ] are two apart
}

func (w *writer) scalar(v any) {
	switch v := v.(type) {
	case string:
		if w.redact != nil {
			v = w.redact(v)
		}
		w.b.WriteString(quoted(v))
	case json.Number:
		if s := v.String(); w.redact == nil || w.redact(s) == s {
			w.b.WriteString(s)
		} else {
			w.b.WriteString(quoted(w.redact(s)))
		}
	case nil:
		w.b.WriteString("null")
	default:
		fmt.Fprint(&w.b, v)
	}
}

// quoted is a JSON string in which all that people can read stands as it is.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case hidden(r):
			b.WriteString(spelled(r))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// spelled is a character as its number in JSON.
func spelled(r rune) string {
	if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}
