package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// scalar is one parsed value with its references resolved.
type scalar struct {
	text string // resolved
	raw  string // as the file has it
	kind kind
}

type kind string

const (
	textual kind = "text"
	number  kind = "number"
	boolean kind = "boolean"
)

// scalarOf reads a node that is a single value. ok is false for lists, blocks
// and what YAML has beyond.
func scalarOf(n ast.Node) (s scalar, ok bool) {
	switch v := n.(type) {
	case *ast.StringNode:
		return scalar{v.Value, v.Value, textual}, true
	case *ast.LiteralNode:
		return scalar{v.Value.Value, v.Value.Value, textual}, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		text := n.GetToken().Value
		return scalar{text, text, number}, true
	case *ast.BoolNode:
		text := n.GetToken().Value
		return scalar{text, text, boolean}, true
	}
	return scalar{}, false
}

// void reports whether references resolved to nothing: the key then counts as
// not given.
func (s scalar) void() bool { return s.text == "" && s.raw != "" }

// found says what is there, for a message. The value of a variable whose name
// speaks of a credential is kept back.
func (s scalar) found() string {
	switch s.kind {
	case number:
		return "found the number " + s.text
	case boolean:
		return "found " + s.text
	}
	return "found the text " + s.shown()
}

// shown is the value in quotes, with the same care.
func (s scalar) shown() string {
	if s.text == s.raw {
		return quote(s.text)
	}
	if slices.ContainsFunc(references(s.raw), speaksOfCredential) {
		return quote(s.raw)
	}
	return quote(s.text) + " (from " + s.raw + ")"
}

// quote puts a text of bounded length in quotes.
func quote(s string) string {
	const most = 60
	if len(s) > most {
		return strconv.Quote(s[:most]) + "…"
	}
	return strconv.Quote(s)
}

// notBlock says what a node is where a block belongs. It shows no text: somebody
// may have written a token where the block of its platform should be.
func notBlock(n ast.Node) string {
	if s, ok := scalarOf(n); ok && s.kind == textual {
		return "found a text"
	}
	return foundNode(n)
}

// foundNode says what a node is that is no single value.
func foundNode(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode:
		return "found a block of keys"
	case *ast.SequenceNode:
		return "found a list"
	case nil, *ast.NullNode:
		return "found nothing"
	case *ast.AnchorNode, *ast.AliasNode:
		return "found an anchor or alias, which this file cannot have"
	case *ast.TagNode:
		return "found a tag, which this file cannot have"
	}
	if s, ok := scalarOf(n); ok {
		return s.found()
	}
	return "found something else"
}

const (
	wantInt      = "want a whole number"
	wantFloat    = "want a number"
	wantBool     = "want true or false"
	wantDuration = "want a duration such as 90s, 2m or 1h30m"
	wantSize     = "want a size such as 512KB or 20MB"
	wantText     = "want a text"
)

func (s scalar) int() (int64, bool) {
	n, err := strconv.ParseInt(strings.ReplaceAll(s.text, "_", ""), 10, 64)
	return n, err == nil
}

func (s scalar) float() (float64, bool) {
	f, err := strconv.ParseFloat(s.text, 64)
	return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
}

func (s scalar) bool() (value, ok bool) {
	switch strings.ToLower(s.text) {
	case "true":
		return true, true
	case "false":
		return false, true
	}
	return false, false
}

func (s scalar) duration() (time.Duration, bool) {
	d, err := time.ParseDuration(s.text)
	return d, err == nil && s.text != "0"
}

func (s scalar) size() (Size, bool) { return parseSize(s.text) }

var units = []struct {
	suffix string
	bytes  int64
}{{"KB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}, {"B", 1}}

// parseSize reads 512KB or 20MB; the unit must be there.
func parseSize(text string) (Size, bool) {
	for _, u := range units {
		digits, found := strings.CutSuffix(strings.ToUpper(text), u.suffix)
		if !found {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/u.bytes {
			return 0, false
		}
		return Size(n * u.bytes), true
	}
	return 0, false
}

// String writes the size in the largest unit that divides it.
func (s Size) String() string {
	for _, u := range []int{2, 1, 0} {
		if n := int64(s); n != 0 && n%units[u].bytes == 0 {
			return fmt.Sprintf("%d%s", n/units[u].bytes, units[u].suffix)
		}
	}
	return fmt.Sprintf("%dB", int64(s))
}
