package access

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/core/chat"
)

// maxName is the longest name that is kept and shown, in characters.
const maxName = 40

// clean makes a text that somebody chose fit to be shown in a line: no control
// or formatting characters (line breaks, text direction, invisible ones), runs
// of space as one, at most maxName characters.
func clean(s string) string {
	var b strings.Builder
	count, space := 0, false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = count > 0
			continue
		case r == utf8.RuneError || !unicode.IsPrint(r):
			continue
		case count == maxName, space && count+1 == maxName:
			return b.String() + "…"
		case space:
			b.WriteByte(' ')
			count++
		}
		space = false
		b.WriteRune(r)
		count++
	}
	return b.String()
}

// escaper keeps a text that somebody chose from being read as Markdown.
var escaper = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "(", `\(`, ")", `\)`,
	"<", `\<`, ">", `\>`, "~", `\~`, "#", `\#`, "|", `\|`, "!", `\!`,
)

// plain is clean for use in a sentence.
func plain(s string) string { return escaper.Replace(clean(s)) }

// mono is an id or a command line of ours as a code span. Judge has seen to it
// that ids are short and of one word; this keeps any from leaving the span.
func mono(s string) string {
	return "`" + strings.Map(func(r rune) rune {
		if r == '`' || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s) + "`"
}

// typed is what somebody typed as a code span.
func typed(s string) string {
	if s = clean(s); s == "" {
		return "that"
	}
	return mono(s)
}

// nameOf is the clean name of an account, "" if it has none that can be shown.
func nameOf(u chat.User) string {
	if name := clean(u.Name); name != "" {
		return name
	}
	return clean(u.Handle)
}

// called is how an account appears in a sentence: the name, and the id that
// nobody else can take.
func called(name string, id chat.UserID) string {
	if name = plain(name); name == "" {
		return mono(string(id))
	}
	return name + " (" + mono(string(id)) + ")"
}
