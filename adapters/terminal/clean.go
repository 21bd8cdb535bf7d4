package terminal

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// clean makes text from models and other people harmless to a terminal. Line
// breaks and tabs stay; every other control character is shown as its picture
// (an escape as ␛), never dropped, so that nobody can hide that it was there.
// Characters that reorder what stands around them are shown by number.
func clean(s string) string {
	if plain(s) {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	var b strings.Builder
	b.Grow(len(s) + 16)
	for _, r := range s {
		cleanRune(&b, r)
	}
	return b.String()
}

// plain reports whether s is ASCII that needs no cleaning, as most text is.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || c == 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

func cleanRune(b *strings.Builder, r rune) {
	switch {
	case r == '\n' || r == '\t':
		b.WriteRune(r)
	case r < ' ':
		b.WriteRune('\u2400' + r)
	case r == 0x7f:
		b.WriteRune('\u2421')
	case r >= 0x80 && r < 0xa0, reorders(r):
		fmt.Fprintf(b, "<U+%04X>", r)
	case r == '\u2028' || r == '\u2029':
		b.WriteByte('\n')
	default:
		b.WriteRune(r) // what is no UTF-8 arrives here as U+FFFD
	}
}

// reorders reports the bidirectional embeddings, overrides and isolates. The
// plain direction marks are none of them.
func reorders(r rune) bool {
	return r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// oneLine is clean for what must not break the line: labels, file names.
func oneLine(s string) string {
	return strings.Join(strings.Fields(clean(s)), " ")
}

// trim cuts empty lines before a text and all white space after it. The first
// line keeps its indentation.
func trim(s string) string {
	s = strings.TrimRight(s, " \t\r\n")
	for {
		first, rest, more := strings.Cut(s, "\n")
		if !more || strings.TrimSpace(first) != "" {
			return s
		}
		s = rest
	}
}
