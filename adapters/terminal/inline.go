package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// reach is how far ahead the end of an emphasis is looked for. It bounds the
// work on text made to be slow.
const reach = 2000

// emphasis are the markers that set a style, longest first.
var emphasis = []struct {
	mark  string
	style style
}{
	{"***", bold | italic}, {"___", bold | italic},
	{"**", bold}, {"__", bold}, {"~~", strike}, {"*", italic}, {"_", italic},
}

// inline reads emphasis, code and links of one line. While open, the line is
// still being written: an emphasis without an end reaches to where it stops
// now.
func inline(s string, st style, open bool) []cell {
	p := inlineParser{src: s, style: st, open: open}
	for p.at < len(s) {
		p.step()
	}
	return p.out
}

type inlineParser struct {
	src   string
	at    int
	style style
	open  bool
	out   []cell
}

func (p *inlineParser) step() {
	rest := p.src[p.at:]
	taken := false
	switch rest[0] {
	case '\\':
		taken = p.escaped(rest)
	case '`':
		taken = p.code(rest)
	case '*', '_', '~':
		taken = p.emphasis(rest)
	case '[', '!':
		taken = p.link(rest)
	}
	if !taken {
		p.literal(rest)
	}
}

// literal takes text as it is, up to what might be more than text. Of a run of
// equal markers it takes all, so that what opened nothing isn't looked at
// again.
func (p *inlineParser) literal(rest string) {
	var n int
	if strings.ContainsAny(rest[:1], "`*_~") {
		n = len(rest) - len(strings.TrimLeft(rest, rest[:1]))
	} else if n = strings.IndexAny(rest[1:], "\\`*_~[!") + 1; n == 0 {
		n = len(rest)
	}
	p.out = append(p.out, cells(rest[:n], p.style)...)
	p.at += n
}

// escaped takes a punctuation mark that a backslash makes plain text.
func (p *inlineParser) escaped(rest string) bool {
	if len(rest) < 2 || rest[1] >= utf8.RuneSelf || !unicode.In(rune(rest[1]), unicode.P, unicode.S) {
		return false
	}
	p.out = append(p.out, cells(rest[1:2], p.style)...)
	p.at += 2
	return true
}

// code takes a code span: text between two runs of backticks of one length.
func (p *inlineParser) code(rest string) bool {
	n := len(rest) - len(strings.TrimLeft(rest, "`"))
	body := rest[n:]
	end := closing(body, rest[:n])
	size := n + end + n
	switch {
	case end < 0 && p.open && body != "" && len(body) < reach:
		end, size = len(body), len(rest)
	case end <= 0:
		return false
	}
	p.out = append(p.out, cells(body[:end], p.style|code)...)
	p.at += size
	return true
}

// closing finds a run of backticks that is exactly mark.
func closing(s, mark string) int {
	limit := min(len(s), reach)
	for i := 0; i < limit; {
		j := strings.IndexByte(s[i:limit], '`')
		if j < 0 {
			return -1
		}
		i += j
		n := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		if n == len(mark) {
			return i
		}
		i += n
	}
	return -1
}

// emphasis takes what stands between two equal markers. One within itself is
// no emphasis, so that the depth is bounded.
func (p *inlineParser) emphasis(rest string) bool {
	for _, e := range emphasis {
		body, ok := strings.CutPrefix(rest, e.mark)
		if !ok || p.style&e.style != 0 || !p.opens(body, e.mark) {
			continue
		}
		end := closer(body, e.mark)
		size := len(e.mark)*2 + end
		if end < 0 {
			if !p.open || len(body) >= reach {
				continue
			}
			end, size = len(body), len(rest)
		}
		p.out = append(p.out, inline(body[:end], p.style|e.style, p.open && size == len(rest))...)
		p.at += size
		return true
	}
	return false
}

// opens reports whether a marker before body can begin an emphasis: a word
// follows, and an underscore is not within one.
func (p *inlineParser) opens(body, mark string) bool {
	first, _ := utf8.DecodeRuneInString(body)
	if body == "" || unicode.IsSpace(first) || strings.HasPrefix(body, mark[:1]) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(p.src[:p.at])
	return mark[0] != '_' || !wordly(before)
}

// closer finds the marker that ends an emphasis: right after a word, and not
// part of a longer run.
func closer(s, mark string) int {
	limit := min(len(s), reach)
	for i := 1; i < limit; {
		j := strings.Index(s[i:limit], mark[:1])
		if j < 0 {
			return -1
		}
		i += j
		n := len(s[i:]) - len(strings.TrimLeft(s[i:], mark[:1]))
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(s[i+n:])
		fits := n == len(mark) || n > 2
		if fits && !unicode.IsSpace(before) && before != '\\' && (mark[0] != '_' || !wordly(after)) {
			return i + n - len(mark)
		}
		i += n
	}
	return -1
}

func wordly(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// link takes [text](url) and ![text](url) and shows both, since a person
// cannot look under a link here.
func (p *inlineParser) link(rest string) bool {
	text, ok := strings.CutPrefix(strings.TrimPrefix(rest, "!"), "[")
	if !ok {
		return false
	}
	window := text[:min(len(text), reach)]
	mid := strings.Index(window, "](")
	if mid < 0 || strings.Contains(window[:mid], "[") {
		return false
	}
	end := strings.IndexByte(window[mid:], ')')
	if end < 0 {
		return false
	}
	label, url := text[:mid], text[mid+2:mid+end]
	if label != url && label != "" {
		p.out = append(p.out, inline(label, p.style, false)...)
		p.out = append(p.out, cells(" (", p.style)...)
		p.out = append(p.out, cells(url, p.style|underline)...)
		p.out = append(p.out, cells(")", p.style)...)
	} else {
		p.out = append(p.out, cells(url, p.style|underline)...)
	}
	p.at += len(rest) - len(text) + mid + end + 1
	return true
}
