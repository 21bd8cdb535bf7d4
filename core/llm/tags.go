package llm

import (
	"slices"
	"strings"
)

// The tags in these functions are in lower case and text is in any.

// tagAt returns the tag that s begins with, or "".
func tagAt(s string, tags []string) string {
	for _, tag := range tags {
		if len(s) >= len(tag) && strings.EqualFold(s[:len(tag)], tag) {
			return tag
		}
	}
	return ""
}

// mayBecome says whether s is the beginning of a tag.
func mayBecome(s string, tags []string) bool {
	for _, tag := range tags {
		if len(s) < len(tag) && strings.EqualFold(s, tag[:len(s)]) {
			return true
		}
	}
	return false
}

// find returns where the first tag stands in s and which one it is, or "".
func find(s string, tags []string) (int, string) {
	for i := range len(s) {
		if !starts(s[i]) {
			continue
		}
		if tag := tagAt(s[i:], tags); tag != "" {
			return i, tag
		}
	}
	return 0, ""
}

// tail returns the length of the end of s that may become a tag.
func tail(s string, tags []string) int {
	for i := max(0, len(s)-longestTag); i < len(s); i++ {
		if starts(s[i]) && mayBecome(s[i:], tags) {
			return len(s) - i
		}
	}
	return 0
}

const longestTag = 16

// starts says whether a tag can begin with b.
func starts(b byte) bool { return b == '<' || b == '[' || b == "◁"[0] }

func contains(tags []string, tag string) bool { return slices.Contains(tags, tag) }

// lineLen is the length of the first line of s, its end included.
func lineLen(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i + 1
	}
	return len(s)
}

// mentions are how a sentence goes on that begins with the name of a tag.
var mentions = []string{" tag ", " tags ", " and ", " or ", " means ", " marks ", " blocks ", " is a ", " is an ", " is the ", " elements "}

// isMention says whether what follows an opening tag speaks of the tag.
func isMention(rest string) bool { return tagAt(rest, mentions) != "" }

// mayBeMention says whether more text could make it one.
func mayBeMention(rest string) bool { return mayBecome(rest, mentions) }
