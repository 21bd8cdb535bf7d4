package gateway

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line is a chat command, typed or pressed: "/approve k7f3 once".
type Line struct {
	Name string   // without the slash, in lower case
	Bot  string   // what follows an @ behind the name: "/stop@parley_bot"
	Args []string // words behind it
	Rest string   // everything behind the name, trimmed
}

// Arg returns the nth word behind the name, "" when there are fewer.
func (l Line) Arg(n int) string {
	if n < len(l.Args) {
		return l.Args[n]
	}
	return ""
}

// After returns what follows the first n words, trimmed.
func (l Line) After(n int) string {
	rest := l.Rest
	for range n {
		_, rest, _ = cutSpace(rest)
	}
	return rest
}

// longestLead is how many runes may stand before a command: "你好 /stop".
const longestLead = 16

// longestName is how long a command's name may be; a longer word behind a
// slash is none.
const longestName = 32

// Parse reads a chat command. Before it only a few characters may stand, none
// of them an ASCII letter, digit or slash: an emoji, a greeting in another
// script. It reports false for everything that is not a command, such as a
// path; whether a command of that name exists is another matter.
func Parse(text string) (Line, bool) {
	at := strings.IndexAny(text, "/／")
	if at < 0 || !lead(text[:at]) {
		return Line{}, false
	}
	_, size := utf8.DecodeRuneInString(text[at:])
	word, rest, _ := cutSpace(text[at+size:])
	name, bot, _ := strings.Cut(word, "@")
	if !isName(name) || strings.ContainsAny(bot, "@/") {
		return Line{}, false
	}
	return Line{Name: strings.ToLower(name), Bot: bot, Args: strings.Fields(rest), Rest: rest}, true
}

// lead reports whether a text may stand before a command. It must end in
// something that is not part of a word.
func lead(s string) bool {
	if utf8.RuneCountInString(s) > longestLead || strings.ContainsFunc(s, asciiWord) {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(s)
	return s == "" || !unicode.IsLetter(last) && !unicode.IsDigit(last)
}

func asciiWord(r rune) bool {
	return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' || r == ':' || r == '~')
}

func isName(s string) bool {
	if s == "" || len(s) > longestName {
		return false
	}
	for _, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (r < '0' || r > '9') && r != '_' && r != '-' {
			return false
		}
	}
	return true
}

// cutSpace cuts s around its first run of white space.
func cutSpace(s string) (before, after string, found bool) {
	i := strings.IndexFunc(s, unicode.IsSpace)
	if i < 0 {
		return s, "", false
	}
	return s[:i], strings.TrimSpace(s[i:]), true
}
