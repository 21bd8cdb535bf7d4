package terminal

import (
	"strings"
)

// document is a Markdown text as lines. The text may grow: what is before the
// last line break is parsed once. It is not safe for concurrent use.
type document struct {
	look  style // of all of it
	lines []line

	src      string
	mark     int    // the bytes of src before the last line break
	complete int    // the lines that came from them
	fence    string // the code fence open there, "" for none
}

// set makes the document say text, which is clean. While open, the text is
// still being written and its last line is read as if its emphasis were
// closed, so that markers don't flicker.
func (d *document) set(text string, open bool) {
	if !strings.HasPrefix(text, d.src[:d.mark]) {
		*d = document{look: d.look}
	}
	d.src = text
	d.lines = d.lines[:d.complete]
	for {
		i := strings.IndexByte(text[d.mark:], '\n')
		if i < 0 {
			break
		}
		d.add(text[d.mark:d.mark+i], false)
		d.mark += i + 1
		d.complete = len(d.lines)
	}
	fence := d.fence
	if last := text[d.mark:]; last != "" {
		d.add(last, open)
	}
	d.fence = fence
}

// add parses one line. The lines of fences are not shown, but for the name of
// the language.
func (d *document) add(s string, open bool) {
	mark, info := fence(s)
	switch {
	case d.fence != "" && strings.HasPrefix(mark, d.fence) && info == "":
		d.fence = ""
	case d.fence != "":
		d.push(line{cells: cells(s, d.look|code), hard: true}, indent)
	case mark != "":
		d.fence = mark
		if info != "" {
			d.push(plainLine(info, d.look|dim), indent)
		}
	default:
		d.lines = append(d.lines, block(s, d.look, open))
	}
}

var indent = cells("  ", 0)

func (d *document) push(l line, prefix []cell) {
	l.first, l.rest = prefix, prefix
	d.lines = append(d.lines, l)
}

// fence reads the marker of a code fence and what stands after it.
func fence(s string) (mark, info string) {
	s = strings.TrimSpace(s)
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(s, c)
		if n := len(s) - len(rest); n >= 3 && !strings.Contains(rest, "`") {
			return s[:n], strings.TrimSpace(rest)
		}
	}
	return "", ""
}

// block reads a line outside of code: heading, rule, quote, list or prose.
func block(s string, look style, open bool) line {
	body := strings.TrimLeft(s, " \t")
	lead := cells(s[:len(s)-len(body)], look)
	switch mark, text := marker(body); {
	case mark == "":
		return line{first: lead, rest: lead, cells: inline(body, look, open), hard: strings.HasPrefix(body, "|")}
	case mark == "---":
		return plainLine("────────────────────────", look|dim)
	case mark[0] == '#':
		return line{cells: inline(text, look|bold, open)}
	case mark == ">":
		bar := append(lead, cells("│ ", look|dim)...)
		return line{first: bar, rest: bar, cells: inline(text, look, open)}
	default:
		return bullet(lead, mark, text, look, open)
	}
}

// bullet is a list item; its further rows stand below its text.
func bullet(lead []cell, mark, text string, look style, open bool) line {
	if len(mark) == 1 {
		mark = "•"
	}
	first := append(lead[:len(lead):len(lead)], cells(mark+" ", look)...)
	rest := cells(strings.Repeat(" ", span(first)), look)
	return line{first: first, rest: rest, cells: inline(text, look, open)}
}

// marker splits what makes a line more than prose from its text; a rule comes
// back as "---".
func marker(s string) (mark, text string) {
	if rule(s) {
		return "---", ""
	}
	if rest, ok := strings.CutPrefix(s, ">"); ok {
		return ">", strings.TrimPrefix(rest, " ")
	}
	mark, text, ok := strings.Cut(s, " ")
	if !ok {
		return "", s
	}
	text = strings.TrimLeft(text, " ")
	switch {
	case mark == "-" || mark == "*" || mark == "+":
		return mark, text
	case len(mark) <= 6 && strings.Trim(mark, "#") == "" && mark != "":
		return mark, strings.TrimRight(text, " #")
	case ordinal(mark):
		return mark, text
	}
	return "", s
}

func rule(s string) bool {
	s = strings.ReplaceAll(strings.TrimSpace(s), " ", "")
	return len(s) >= 3 && strings.ContainsAny(s[:1], "-*_") && strings.Trim(s, s[:1]) == ""
}

func ordinal(s string) bool {
	digits := strings.TrimRight(s, ".)")
	return len(s) == len(digits)+1 && digits != "" && len(digits) < 10 && strings.Trim(digits, "0123456789") == ""
}
