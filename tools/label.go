package tools

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ellipsis ends a label that was cut.
const ellipsis = "…"

// Label makes text a label: one line without control characters, of at most
// length characters, cut between two characters as people see them.
func Label(text string, length Length) string {
	if length < 1 {
		return ""
	}
	most, cut := 64*int(length), false
	if len(text) > most { // what is far beyond the end need not be looked at
		text, cut = text[:runeBefore(text, most)], true
	}
	text = strings.Join(strings.Fields(strings.Map(labelRune, strings.ToValidUTF8(text, "\uFFFD"))), " ")
	if !cut && utf8.RuneCountInString(text) <= int(length) {
		return text
	}
	return strings.TrimRight(text[:border(text, int(length)-1)], " ") + ellipsis
}

// runeBefore returns the last border of a rune in text at or before i.
func runeBefore(text string, i int) int {
	for j := i; j >= max(0, i-utf8.UTFMax); j-- {
		if j == len(text) || utf8.RuneStart(text[j]) {
			return j
		}
	}
	return i // not UTF-8
}

// labelRune maps what breaks a line to a space and drops what is not to be
// seen: control characters and those that turn the direction of the text,
// which could make a label read as something else.
func labelRune(r rune) rune {
	switch {
	case r == '\u2028' || r == '\u2029' || unicode.IsSpace(r):
		return ' '
	case r == '\u200c' || r == '\u200d' || r >= 0xE0020 && r <= 0xE007F:
		return r // joiners and tags belong to characters
	case unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r):
		return -1
	default:
		return r
	}
}

// border returns where to cut text so that at most n runes stay and no
// character is split. A character longer than all of it is split all the same.
func border(text string, n int) int {
	var cut, count, flags int
	var before rune
	for i, r := range text {
		if !joined(before, r, flags) {
			cut = i
		}
		if count == n {
			if cut == 0 {
				return i
			}
			return cut
		}
		if flag(r) {
			flags++
		} else {
			flags = 0
		}
		before = r
		count++
	}
	return len(text)
}

// joined reports whether r continues the character that before belongs to.
// flags is how many flag letters in a row end at before: two make a flag.
func joined(before, r rune, flags int) bool {
	switch {
	case before == 0:
		return false
	case unicode.Is(unicode.M, r), r == '\u200c', r == '\u200d', r >= 0x1F3FB && r <= 0x1F3FF, r >= 0xE0020 && r <= 0xE007F:
		return true
	case before == '\u200d':
		return unicode.Is(unicode.So, r) || unicode.Is(unicode.Sk, r) || r == '\u2640' || r == '\u2642'
	case flag(r):
		return flags%2 == 1
	default:
		return false
	}
}

func flag(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

// Describe labels a call: in the tool's own words if it has some, and
// otherwise by its name. Arguments that the tool cannot read do no harm.
func Describe(t Tool, args json.RawMessage, length Length) (label string) {
	name := Label(t.Spec().Name, length)
	d, ok := t.(Describer)
	if !ok {
		return name
	}
	defer func() {
		if recover() != nil || label == "" {
			label = name
		}
	}()
	return Label(d.Describe(args, length), length)
}
