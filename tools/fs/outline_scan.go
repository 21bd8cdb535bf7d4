package fs

import (
	"context"
	"regexp"
	"strings"
)

// scanned is said of outlines that come from reading line by line.
const scanned = "found by a scan of the text, not by a parser"

// rows returns the lines of a file, without the ends, from 1.
func rows(data []byte) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		n := 0
		for row := range strings.Lines(strings.TrimPrefix(string(data), byteOrderMark)) {
			n++
			if !yield(n, strings.TrimRight(row, "\r\n")) {
				return
			}
		}
	}
}

// heading is "## Title", with or without marks at its end.
var heading = regexp.MustCompile(`^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$`)

// outlineMarkdown lists the headings: those with marks, and those that are
// underlined. A section goes on to the next heading of its rank.
func outlineMarkdown(_ context.Context, _ string, data []byte) ([]symbol, string, error) {
	var all []symbol
	fence, before, total := "", "", 0
	for n, row := range rows(data) {
		total = n
		if fence != "" || opens(row) != "" {
			fence = fenced(fence, row)
			before = ""
			continue
		}
		rank, text, at := 0, "", n
		if m := heading.FindStringSubmatch(row); m != nil {
			rank, text = len(m[1]), row
		} else if rank = underline(row); rank > 0 && before != "" {
			text, at = strings.Repeat("#", rank)+" "+before, n-1
		} else {
			rank = 0
		}
		if before = ""; rank == 0 && paragraph(row) {
			before = strings.TrimSpace(row)
		}
		if rank > 0 {
			all = append(all, symbol{at, 0, rank - 1, text})
		}
	}
	sections(all, total)
	return all, "", nil
}

// sections sets where the sections of headings end.
func sections(all []symbol, total int) {
	for i := range all {
		all[i].last = total
		for _, next := range all[i+1:] {
			if next.deep <= all[i].deep {
				all[i].last = next.first - 1
				break
			}
		}
	}
}

// paragraph reports whether a line may be a heading that the next underlines.
func paragraph(row string) bool {
	text := strings.TrimSpace(row)
	return text != "" && !strings.HasPrefix(row, "    ") && !strings.ContainsAny(text[:1], ">-*+|")
}

// underline returns the rank that a line of = or - gives to the one before.
func underline(row string) int {
	switch text := strings.TrimSpace(row); {
	case text == "":
		return 0
	case strings.Trim(text, "=") == "":
		return 1
	case strings.Trim(text, "-") == "":
		return 2
	default:
		return 0
	}
}

// opens returns the mark that begins a block of code.
func opens(row string) string {
	text := strings.TrimLeft(row, " ")
	for _, c := range []string{"`", "~"} {
		if mark := text[:len(text)-len(strings.TrimLeft(text, c))]; len(mark) >= 3 && len(row)-len(text) < 4 {
			return mark
		}
	}
	return ""
}

// fenced returns the mark of the block of code that holds after row.
func fenced(fence, row string) string {
	mark := opens(row)
	switch {
	case fence == "":
		return mark
	case strings.HasPrefix(mark, fence) && strings.TrimSpace(row) == mark:
		return ""
	default:
		return fence
	}
}

// A table is alone on its line; a key may be dotted and quoted.
var (
	tomlTable = regexp.MustCompile(`^\s*(\[\[?[^\[\]]+\]\]?)\s*(?:#.*)?$`)
	tomlKey   = regexp.MustCompile(`^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=`)
)

// outlineTOML lists the tables and the keys in them.
func outlineTOML(_ context.Context, _ string, data []byte) ([]symbol, string, error) {
	var all []symbol
	deep, quote, nested := 0, "", 0
	for n, row := range rows(data) {
		switch m := tomlTable.FindStringSubmatch(row); {
		case quote != "":
			if strings.Contains(row, quote) {
				quote = ""
			}
			continue
		case nested > 0: // inside of an array that goes over several lines
		case m != nil:
			all = append(all, symbol{first: n, text: m[1]})
			deep = 1
			continue
		default:
			if m := tomlKey.FindStringSubmatch(row); m != nil {
				all = append(all, symbol{first: n, deep: deep, text: m[1]})
			}
		}
		for _, q := range []string{`"""`, `'''`} {
			if strings.Count(row, q)%2 == 1 {
				quote = q
			}
		}
		if bare, _, _ := strings.Cut(row, "#"); quote == "" {
			nested = max(0, nested+strings.Count(bare, "[")-strings.Count(bare, "]"))
		}
	}
	return all, scanned, nil
}

// sqlCreate is a statement that makes something, up to its name.
var sqlCreate = regexp.MustCompile(`(?i)^\s*(create\s+(?:or\s+replace\s+)?(?:(?:global|local|temp|temporary|unique|materialized|recursive|unlogged|virtual|external|constraint|clustered|fulltext|definer\s*=\s*\S+)\s+)*` +
	`(?:table|view|index|function|procedure|trigger|type|schema|sequence|domain|extension|database|role|user|policy|event|package(?:\s+body)?)` +
	`\s+(?:concurrently\s+)?(?:if\s+not\s+exists\s+)?[^\s(;]+)`)

// outlineSQL lists what CREATE statements create.
func outlineSQL(_ context.Context, _ string, data []byte) ([]symbol, string, error) {
	var all []symbol
	comment := false
	for n, row := range rows(data) {
		before := comment
		if comment = commented(comment, row); comment || before {
			continue
		}
		if m := sqlCreate.FindStringSubmatch(row); m != nil {
			all = append(all, symbol{first: n, text: m[1]})
		}
	}
	return all, scanned, nil
}

// commented reports whether a block comment goes on behind row.
func commented(before bool, row string) bool {
	open, end := strings.LastIndex(row, "/*"), strings.LastIndex(row, "*/")
	switch {
	case open < 0 && end < 0:
		return before
	default:
		return open > end
	}
}

// kotlinDecl is a declaration with its modifiers, up to its body or value.
var kotlinDecl = regexp.MustCompile(`^(\s*)((?:@[\w.:]+(?:\([^)]*\))?\s+)*(?:(?:public|private|protected|internal|open|abstract|final|sealed|data|enum|annotation|inner|value|inline|noinline|crossinline|tailrec|suspend|operator|infix|external|override|const|lateinit|expect|actual|companion|fun|vararg)\s+)*` +
	`(?:class|interface|object|fun|val|var|typealias|package)\b[^={]*)`)

// outlineKotlin lists classes, objects, functions and properties. Properties
// deep inside are most likely variables of functions and left out.
func outlineKotlin(_ context.Context, _ string, data []byte) ([]symbol, string, error) {
	var all []symbol
	comment := false
	for n, row := range rows(data) {
		before := comment
		if comment = commented(comment, row); comment || before {
			continue
		}
		m := kotlinDecl.FindStringSubmatch(row)
		if m == nil {
			continue
		}
		indent := len(strings.ReplaceAll(m[1], "\t", "    "))
		if local := kotlinLocal.MatchString(m[2]); local && indent > 4 {
			continue
		}
		all = append(all, symbol{first: n, deep: indent / 4, text: m[2]})
	}
	return all, scanned, nil
}

// kotlinLocal tells properties, which functions have too, from the rest.
var kotlinLocal = regexp.MustCompile(`(?:^|\s)va[lr]\s`)
