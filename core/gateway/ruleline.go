package gateway

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// ruleLine is what somebody says about rules: "add deny web_* group=member".
type ruleLine struct {
	verb   string
	words  []string            // those that stand for themselves
	fields map[string][]string // what was written as key=value
}

// word returns the nth word, "" when there are fewer.
func (l ruleLine) word(n int) string {
	if n < len(l.words) {
		return l.words[n]
	}
	return ""
}

// field returns what was written as key=value.
func (l ruleLine) field(key string) (value string, written bool) {
	values := l.fields[key]
	return strings.Join(values, " "), len(values) > 0
}

// set sets a text to what was written as key=value, if it was.
func (l ruleLine) set(text *string, key string) {
	if value, written := l.field(key); written {
		*text = value
	}
}

// dirs sets a list of directories to what was written as key=a,b, if it was.
func (l ruleLine) dirs(list *[]string, key string) {
	values, written := l.fields[key]
	if !written {
		return
	}
	*list = nil
	for dir := range strings.SplitSeq(strings.Join(values, ","), ",") {
		if dir = strings.TrimSpace(dir); dir != "" {
			*list = append(*list, dir)
		}
	}
}

// ruleGrammar is how the words behind a verb are read.
type ruleGrammar struct {
	verb        string
	usage       string // what stands behind the verb
	least, most int    // how many words stand for themselves
	keys        []string
	lists       bool   // a key may be written more than once
	rest        string // the key that further words belong to, "" for none
	begins      bool   // they need not be introduced by the key
}

// looksLikeField finds words that were meant as key=value.
var looksLikeField = regexp.MustCompile(`^[a-z_]+=`)

// read reads the words behind a verb, or says what is wrong with them.
func (g ruleGrammar) read(words []string) (l ruleLine, problem string) {
	l = ruleLine{verb: g.verb, fields: make(map[string][]string)}
	last := "" // the field that was written last
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		switch goesOn := g.rest != "" && last == g.rest; {
		case looksLikeField.MatchString(word) && slices.Contains(g.keys, key):
			if len(l.fields[key]) > 0 && !g.lists {
				return l, fmt.Sprintf("`%s` is written twice.", key)
			}
			l.fields[key], last = append(l.fields[key], value), key
		case goesOn:
			l.fields[g.rest] = append(l.fields[g.rest], word)
		case looksLikeField.MatchString(word):
			return l, fmt.Sprintf("`%s` is no field here; %s.", show(key), g.known())
		case len(l.words) < g.most:
			l.words = append(l.words, word)
		case g.begins:
			l.fields[g.rest], last = append(l.fields[g.rest], word), g.rest
		default:
			return l, fmt.Sprintf("I do not know what `%s` means there.", show(word))
		}
	}
	if len(l.words) < g.least {
		return l, "Something is missing."
	}
	return l, ""
}

// known lists the fields.
func (g ruleGrammar) known() string {
	if len(g.keys) == 0 {
		return "there are none"
	}
	return "there are " + strings.Join(g.keys, ", ")
}

// splitWords takes a line apart. A word, or what follows its first =, may
// stand in quotation marks and then holds spaces and line breaks. It reports
// whether all marks are closed.
func splitWords(line string) (words []string, closed bool) {
	for {
		line = strings.TrimLeftFunc(line, unicode.IsSpace)
		if line == "" {
			return words, true
		}
		word := ""
		if key := looksLikeField.FindString(line); key != "" {
			word, line = key, line[len(key):]
		}
		if rest, marks := opening(line); marks != "" {
			end := strings.IndexAny(rest, marks)
			if end < 0 {
				return nil, false
			}
			word += rest[:end]
			_, line = cutRune(rest[end:])
			words = append(words, word)
			continue
		}
		before, after, _ := cutSpace(line)
		words, line = append(words, word+before), after
	}
}

// opening cuts the quotation mark off that a text begins with, and returns the
// marks that close it, "" for none. A phone makes others of those on its keys.
func opening(s string) (rest, marks string) {
	switch mark, rest := cutRune(s); mark {
	case '"':
		return rest, `"`
	case '“', '”', '„':
		return rest, `“”"`
	default:
		return s, ""
	}
}

func cutRune(s string) (first rune, rest string) {
	for i, r := range s {
		if i > 0 {
			return first, s[i:]
		}
		first = r
	}
	return first, ""
}

// show is what somebody wrote as a piece of code, short.
func show(s string) string {
	const most = 60
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == '`' {
			return -1
		}
		return r
	}, s[:min(len(s), 4*most)])
	if cut := []rune(s); len(cut) > most {
		return string(cut[:most]) + "…"
	}
	return s
}
