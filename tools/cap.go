package tools

import (
	"fmt"
	"strings"
)

// Cap shortens a result to limit bytes, keeping its head and, as errors stand
// at the end, more of its tail. A line between them says how much is shown, of
// how much, and where the whole is: "out.txt, which can be read in parts".
// With where empty it says that the rest was not kept. A limit below the
// length of that line leaves the line alone. What is not UTF-8 is replaced.
func Cap(text string, limit int, where string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	total := len(text)
	if total <= limit {
		return text
	}
	rest := "the rest was not kept"
	if where != "" {
		rest = "the whole is in " + where
	}
	// The figures of the line have their greatest width while room is made.
	room := max(0, limit-len(capLine(total, total, total, rest)))
	head := runeBefore(text, room/4)
	tail := total - (room - room/4)
	for tail < total && text[tail]&0xC0 == 0x80 {
		tail++
	}
	return text[:head] + capLine(head, total-tail, total, rest) + text[tail:]
}

func capLine(head, tail, total int, rest string) string {
	return fmt.Sprintf("\n[cut here: shown are the first %d and the last %d of %d bytes; %s]\n", head, tail, total, rest)
}
