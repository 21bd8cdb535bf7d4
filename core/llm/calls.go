package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
)

// calls puts the fragments of tool calls together.
type calls struct {
	list []*draft
	last *draft
}

// draft is a call under way.
type draft struct {
	index *int
	id    string
	name  string
	args  []byte
	extra json.RawMessage
}

// add takes the fragments of one chunk and returns how many bytes they were.
func (c *calls) add(fragments []fragment) int {
	size := 0
	for i, f := range fragments {
		d := c.find(f, i, len(fragments))
		if d == nil {
			d = &draft{index: f.Index, id: f.ID}
			c.list = append(c.list, d)
		}
		c.last = d
		size += d.grow(f)
	}
	return size
}

// find returns the call a fragment goes on with, or nil for a new one: by
// index, by id, or by where it stands.
func (c *calls) find(f fragment, at, of int) *draft {
	if f.Index != nil {
		return c.byIndex(f)
	}
	if f.ID != "" {
		for _, d := range c.list {
			if d.id == f.ID {
				return d
			}
		}
		return nil
	}
	d := c.last
	if of > 1 {
		if d = nil; at < len(c.list) {
			d = c.list[at]
		}
	}
	if d == nil || f.Function.Name != "" && d.whole() {
		return nil
	}
	return d
}

// byIndex returns the latest call with the fragment's index. A provider that
// counts every call as 0 gives each a new id and name once the last is whole.
func (c *calls) byIndex(f fragment) *draft {
	for i := len(c.list) - 1; i >= 0; i-- {
		d := c.list[i]
		if d.index == nil || *d.index != *f.Index {
			continue
		}
		if f.ID != "" && d.id != "" && f.ID != d.id && f.Function.Name != "" && d.whole() {
			return nil
		}
		return d
	}
	return nil
}

// whole says whether the arguments so far are a JSON object.
func (d *draft) whole() bool { return len(d.args) > 0 && json.Valid(d.args) }

// grow appends a fragment. A name that is repeated is no longer name.
func (d *draft) grow(f fragment) int {
	if d.id == "" {
		d.id = f.ID
	}
	if name := f.Function.Name; name != d.name && len(d.args) == 0 {
		d.name += name
	}
	if len(f.Extra) > 0 && string(f.Extra) != "null" {
		d.extra = bytes.Clone(f.Extra)
	}
	args := argText(f.Function.Args)
	d.args = append(d.args, args...)
	return len(args) + len(f.Function.Name) + len(f.Extra)
}

// argText returns arguments sent as a JSON string, or as JSON itself.
func argText(raw json.RawMessage) []byte {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if raw[0] != '"' {
		return raw
	}
	var s string
	_ = json.Unmarshal(raw, &s)
	return []byte(s)
}

// done returns the calls with ids that are neither empty nor in used, which it
// adds them to.
func (c *calls) done(used map[string]bool) []Call {
	var out []Call
	for _, d := range c.list {
		call := Call{ID: uniqueID(d.id, used), Name: d.name, Extra: d.extra}
		args, err := parseArgs(d.args)
		call.Args = args
		if err != nil {
			call.Broken = err.Error()
		}
		if call.Name == "" {
			call.Name, call.Broken = "unnamed", "the call names no tool"
		}
		out = append(out, call)
	}
	return out
}

// uniqueID keeps id where it can and makes another otherwise. Nine letters and
// digits are what the strictest provider takes.
func uniqueID(id string, used map[string]bool) string {
	for id == "" || used[id] {
		const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789"
		b := make([]byte, 9)
		for i := range b {
			b[i] = alphabet[rand.IntN(len(alphabet))]
		}
		id = string(b)
	}
	used[id] = true
	return id
}

// usedIDs returns the ids of all calls in a prompt.
func usedIDs(rows []Message) map[string]bool {
	used := map[string]bool{}
	for _, m := range rows {
		for _, c := range m.Calls {
			used[c.ID] = true
		}
	}
	return used
}

var noArgs = json.RawMessage("{}")

// parseArgs makes a JSON object of what a model wrote as arguments: nothing is
// {}, an object in a string is taken out of it, an empty object before the real
// one is dropped. On an error the object is {}.
func parseArgs(raw []byte) (json.RawMessage, error) {
	text := bytes.TrimSpace([]byte(strings.ToValidUTF8(string(raw), "�")))
	if len(text) == 0 || string(text) == "null" {
		return noArgs, nil
	}
	if !json.Valid(text) {
		if rest, ok := bytes.CutPrefix(text, noArgs); ok && len(rest) > 0 {
			return parseArgs(rest)
		}
		return noArgs, syntaxError(text)
	}
	switch text[0] {
	case '{':
		return text, nil
	case '"':
		var inner string
		_ = json.Unmarshal(text, &inner)
		return parseArgs([]byte(inner))
	}
	return noArgs, errors.New("the arguments are JSON, but no object")
}

// syntaxError says where the arguments stop being JSON.
func syntaxError(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	var v any
	err := dec.Decode(&v)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the arguments break off in the middle")
	case err != nil:
		return fmt.Errorf("the arguments are no JSON: %w", err)
	}
	return errors.New("the arguments are followed by more text")
}
