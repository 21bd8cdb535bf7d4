package ask

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"parley/core/chat"
)

// How long what others chose may be in a line of ours, in characters.
const (
	longestName  = 40
	longestTitle = 120
)

// hidden reports whether a character cannot be seen, or can pass for another,
// or moves those around it. Line breaks and tabs are not for this.
func hidden(r rune) bool {
	switch {
	case r == '\u3000': // the space of Chinese and Japanese text
		return false
	case r == '\u115f', r == '\u1160', r == '\u3164', r == '\uffa0', r == '\u2800': // letters that are blank
		return true
	case r >= 0xe0100 && r <= 0xe01ef: // variation selectors that nothing uses
		return true
	default:
		return !unicode.IsPrint(r)
	}
}

// visible spells out what is hidden, but for line breaks and tabs.
func visible(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r != '\n' && r != '\t' && hidden(r):
			b.WriteString(spelled(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// clean makes a text that somebody chose fit for a line: nothing hidden, runs
// of space as one, at most so many characters.
func clean(s string, most int) string {
	var b strings.Builder
	count := 0
	for word := range strings.FieldsSeq(s) {
		word = strings.Map(func(r rune) rune {
			if r == utf8.RuneError || hidden(r) {
				return -1
			}
			return r
		}, word)
		if word != "" && count > 0 {
			word = " " + word
		}
		n := utf8.RuneCountInString(word)
		if count+n > most {
			b.WriteString(string([]rune(word)[:most-count]) + "…")
			break
		}
		b.WriteString(word)
		count += n
	}
	return b.String()
}

// escaper keeps a text that somebody chose from being read as Markdown.
var escaper = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "(", `\(`, ")", `\)`,
	"<", `\<`, ">", `\>`, "~", `\~`, "#", `\#`, "|", `\|`, "!", `\!`, "&", `\&`,
)

// short is at most so many characters of a text.
func short(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n == most {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// plain is clean for use in Markdown.
func plain(s string, most int) string { return escaper.Replace(clean(s, most)) }

// mono is a name, an id or a line to type as a code span that it cannot leave.
func mono(s string) string { return span(s, longestTitle) }

// path is the same for what can be long and of which every part counts.
func path(s string) string { return span(s, 1000) }

// span keeps every space of the text and spells out what is hidden in it.
func span(s string, most int) string {
	s = strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(visible(short(s, most)))
	if s == "" {
		return "that"
	}
	run := longestRun(s)
	fence := strings.Repeat("`", run+1)
	if run > 0 || s != strings.Trim(s, " ") {
		s = " " + s + " " // Markdown takes these off again
	}
	return fence + s + fence
}

// fenced is a text as a code block that it cannot leave.
func fenced(language, s string) string {
	s = visible(s)
	fence := strings.Repeat("`", max(3, longestRun(s)+1))
	return fence + language + "\n" + strings.TrimSuffix(s, "\n") + "\n" + fence
}

// longestRun is the length of the longest run of backticks.
func longestRun(s string) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// quote is Markdown that somebody else wrote, as a block that it cannot leave:
// whatever it opens ends with the quote.
func quote(s string, most int) string {
	s = strings.TrimSpace(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n").Replace(s))
	return "> " + strings.ReplaceAll(strings.TrimSpace(short(s, most)), "\n", "\n> ")
}

// when is a moment as people read it, in the zone of the clock it is from.
func when(t time.Time) string {
	text := t.Format("2 Jan 15:04 ") + "UTC"
	if _, offset := t.Zone(); offset != 0 {
		text += t.Format("-07:00")
	}
	return text
}

// name is a person in a sentence.
func name(u chat.User) string {
	if s := plain(u.Label(), longestName); s != "" {
		return s
	}
	return "somebody"
}

// called is a person with the id that nobody else can take.
func called(u chat.User) string {
	if s := plain(u.Label(), longestName); s != "" && u.Label() != string(u.ID) {
		return s + " (" + mono(string(u.ID)) + ")"
	}
	return mono(string(u.ID))
}

// paragraphs joins those that are not empty.
func paragraphs(list ...string) string {
	var b strings.Builder
	for _, p := range list {
		if p == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(p)
	}
	return b.String()
}
