package tools

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// called names a value in a sentence.
func called(at string) string {
	if at == "" {
		return "the arguments"
	}
	return "the argument " + quoted(at)
}

// within names a field of the value called at.
func within(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

func quoted(s string) string { return strconv.Quote(Label(s, Full)) }

// shown is a value in a sentence: in full if it is short.
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return "the string " + strconv.Quote(Label(v, 40))
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	default:
		return fmt.Sprint(v)
	}
}

// oneOf says which values there are to choose from.
func oneOf(values []any) string {
	var words []string
	for _, v := range values {
		words = append(words, strings.TrimPrefix(shown(v), "the string "))
	}
	if len(words) == 1 {
		return words[0]
	}
	return "one of " + enumerate(words, "or")
}

// enumerate is "a, b and c"; of many the first.
func enumerate(words []string, last string) string {
	const most = 30
	if len(words) > most {
		words = append(words[:most:most], "others")
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	end := len(words) - 1
	return strings.Join(words[:end], ", ") + " " + last + " " + words[end]
}

func pattern(p, v string) bool {
	ok, err := regexp.MatchString(p, v)
	return ok || err != nil
}
