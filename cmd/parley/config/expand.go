package config

import (
	"fmt"
	"strings"
)

// Env looks up an environment variable, as os.LookupEnv does. A nil Env knows
// none. It is called on the goroutine of Load.
type Env func(name string) (value string, set bool)

// or returns the variable, or other when it is unset or empty.
func (e Env) or(name, other string) string {
	if e == nil {
		return other
	}
	if value, _ := e(name); value != "" {
		return value
	}
	return other
}

// Expand replaces ${NAME} and ${NAME:-x} in one value. x stands in for a
// variable that is unset or empty; it is taken as it is, as is what a variable
// holds: nothing is expanded twice. $${ becomes a plain ${. An opening ${ that
// is no reference is an error that says how to write one.
func Expand(text string, env Env) (string, error) {
	if !strings.Contains(text, "${") {
		return text, nil
	}
	var out strings.Builder
	for text != "" {
		switch {
		case strings.HasPrefix(text, "$${"):
			out.WriteString("${")
			text = text[3:]
		case strings.HasPrefix(text, "${"):
			body, rest, closed := strings.Cut(text[2:], "}")
			name, other, _ := strings.Cut(body, ":-")
			if !closed || !isName(name) || strings.Contains(other, "${") {
				return "", fmt.Errorf("%q is no reference; want ${NAME} or ${NAME:-text}, not nested, and $${ for a plain ${", "${"+body)
			}
			out.WriteString(env.or(name, other))
			text = rest
		default:
			out.WriteByte(text[0])
			text = text[1:]
		}
	}
	return out.String(), nil
}

// Escape returns the text so written that Expand gives it back.
func Escape(text string) string { return strings.ReplaceAll(text, "${", "$${") }

// references names the variables that a value refers to.
func references(text string) []string {
	var names []string
	for {
		_, after, found := strings.Cut(text, "${")
		if !found {
			return names
		}
		body, _, _ := strings.Cut(after, "}")
		name, _, _ := strings.Cut(body, ":-")
		names = append(names, name)
		text = after
	}
}

func isName(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}
