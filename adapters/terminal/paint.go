package terminal

import "strings"

// style is how a character looks: any of these together.
type style uint8

const (
	bold style = 1 << iota
	italic
	dim
	code
	underline
	strike
)

// attributes are the numbers of "select graphic rendition", in the order of
// the bits above.
var attributes = [...]string{";1", ";3", ";2", ";36", ";4", ";9"}

func (s style) sequence() string {
	var b strings.Builder
	b.WriteString("\x1b[0")
	for i, a := range attributes {
		if s&(1<<i) != 0 {
			b.WriteString(a)
		}
	}
	b.WriteByte('m')
	return b.String()
}

// cell is one character as a person sees it, with the columns it takes.
type cell struct {
	text  string
	width int
	style style
}

// cells splits clean text without line breaks. A tab becomes four columns: the
// next tab stop would move when the text is wrapped.
func cells(s string, st style) []cell {
	out := make([]cell, 0, len(s))
	for len(s) > 0 {
		n, w := cluster(s)
		c := cell{text: s[:n], width: w, style: st}
		if c.text == "\t" {
			c.text, c.width = "    ", 4
		}
		out = append(out, c)
		s = s[n:]
	}
	return out
}

// row is one row of the screen: what is written and the columns that takes.
type row struct {
	text  string
	width int
}

// paint writes cells as one row, with attributes if colour is set. The row
// ends with none set.
func paint(colour bool, runs ...[]cell) row {
	var b strings.Builder
	r := row{}
	now := style(0)
	for _, run := range runs {
		for _, c := range run {
			if colour && c.style != now {
				b.WriteString(c.style.sequence())
				now = c.style
			}
			b.WriteString(c.text)
			r.width += c.width
		}
	}
	if now != 0 {
		b.WriteString(style(0).sequence())
	}
	r.text = b.String()
	return r
}
