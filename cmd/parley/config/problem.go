package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a configuration.
type Problem struct {
	File      string // "" for the built-in defaults
	Line, Col int    // counted from 1; 0: not known
	Key       string // the whole key, "models[0].context"; "" for the file as such
	Says      string // what is wrong and what to write instead, one sentence
}

// String puts it into one line: "config.yaml:12:3: adapters.telegramm: unknown
// key; did you mean telegram?"
func (p Problem) String() string {
	place := p.File
	if place == "" {
		place = "built-in configuration"
	}
	if p.Line > 0 {
		place = fmt.Sprintf("%s:%d:%d", place, p.Line, p.Col)
	}
	if p.Key == "" {
		return place + ": " + p.Says
	}
	return place + ": " + p.Key + ": " + p.Says
}

// Error is what Load and Parse return for a configuration that was read and is
// wrong. It never holds a secret.
type Error struct{ Problems []Problem } // in the order of the file

// maxShown is how many problems are told at once: more is a wall.
const maxShown = 10

// Error gives a line for each problem, at most ten, and counts the rest.
func (e *Error) Error() string {
	var lines []string
	for i, p := range e.Problems {
		if i == maxShown {
			lines = append(lines, fmt.Sprintf("and %d more", len(e.Problems)-maxShown))
			break
		}
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

func errorOf(problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), cmp.Compare(a.Key, b.Key))
	})
	return &Error{problems}
}
