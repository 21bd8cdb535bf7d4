package terminal_test

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// vt is a terminal as far as the adapter needs one: a grid, what scrolled out
// of it, and a list of everything that it should never have been sent.
type vt struct {
	width, height int
	rows          [][]string // cells; the second cell of a wide character is ""
	scrolled      []string
	x, y          int
	wrap          bool
	pasting       bool
	styled        bool // any attribute was ever set
	buf           []byte
	bad           []string
}

func newVT(width, height int) *vt {
	v := &vt{width: width, height: height, wrap: true}
	for range height {
		v.rows = append(v.rows, v.blank())
	}
	return v
}

func (v *vt) blank() []string {
	row := make([]string, v.width)
	for i := range row {
		row[i] = " "
	}
	return row
}

// resize changes the window the way terminals without reflow do: rows leave at
// the top, lines are cut.
func (v *vt) resize(width, height int) {
	for len(v.rows) > height {
		if v.y > 0 {
			v.scrolled = append(v.scrolled, v.line(0))
			v.rows, v.y = v.rows[1:], v.y-1
			continue
		}
		v.rows = v.rows[:len(v.rows)-1]
	}
	v.width = width
	for len(v.rows) < height {
		v.rows = append(v.rows, v.blank())
	}
	for i, row := range v.rows {
		fresh := v.blank()
		copy(fresh, row)
		v.rows[i] = fresh
	}
	v.height = height
	v.x = min(v.x, width-1)
}

func (v *vt) line(y int) string { return strings.TrimRight(strings.Join(v.rows[y], ""), " ") }

// screen is what can be seen.
func (v *vt) screen() string {
	var b strings.Builder
	for y := range v.rows {
		b.WriteString(v.line(y) + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// all is what can be seen and what scrolled away before.
func (v *vt) all() string {
	return strings.TrimLeft(strings.Join(v.scrolled, "\n")+"\n"+v.screen(), "\n")
}

func (v *vt) Write(b []byte) (int, error) {
	v.buf = append(v.buf, b...)
	for len(v.buf) > 0 {
		n := v.next(v.buf)
		if n == 0 {
			break
		}
		v.buf = v.buf[n:]
	}
	return len(b), nil
}

func (v *vt) next(b []byte) int {
	switch c := b[0]; {
	case c == 0x1b:
		return v.escape(b)
	case c == '\r':
		v.x = 0
		return 1
	case c == '\n':
		v.feed()
		return 1
	case c < ' ' || c == 0x7f:
		v.bad = append(v.bad, fmt.Sprintf("control %#x", c))
		return 1
	}
	if !utf8.FullRune(b) {
		return 0
	}
	r, n := utf8.DecodeRune(b)
	if r >= 0x80 && r < 0xa0 || r == utf8.RuneError && n == 1 {
		v.bad = append(v.bad, fmt.Sprintf("character %#x", b[0]))
		return n
	}
	v.put(r)
	return n
}

func (v *vt) feed() {
	if v.y < v.height-1 {
		v.y++
		return
	}
	v.scrolled = append(v.scrolled, v.line(0))
	v.rows = append(v.rows[1:], v.blank())
}

func (v *vt) put(r rune) {
	w := runeWidth(r)
	if w == 0 {
		if v.x > 0 {
			v.rows[v.y][v.x-1] += string(r)
		}
		return
	}
	if v.x+w > v.width {
		v.bad = append(v.bad, fmt.Sprintf("%q after the last column", r))
		return
	}
	v.rows[v.y][v.x] = string(r)
	if w == 2 {
		v.rows[v.y][v.x+1] = ""
	}
	v.x += w
}

func runeWidth(r rune) int {
	switch {
	case r >= 0x300 && r < 0x370 || r == 0x200d || r == 0xfe0f:
		return 0
	case r >= 0x1100 && r < 0x1160, r >= 0x2e80 && r < 0xa4d0, r >= 0xac00 && r < 0xd7a4,
		r >= 0xff00 && r < 0xff61, r >= 0x1f300 && r < 0x1f650, r >= 0x20000 && r < 0x30000:
		return 2
	}
	return 1
}

func (v *vt) escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	if b[1] != '[' {
		v.bad = append(v.bad, fmt.Sprintf("escape %q", b[1]))
		return 2
	}
	n := 2
	for n < len(b) && b[n] < '@' {
		n++
	}
	if n == len(b) {
		return 0
	}
	v.control(string(b[2:n]), b[n])
	return n + 1
}

func (v *vt) control(args string, final byte) {
	count, _ := strconv.Atoi(args)
	switch final {
	case 'A':
		v.y = max(0, v.y-max(1, count))
	case 'B':
		v.y = min(v.height-1, v.y+max(1, count))
	case 'C':
		v.x = min(v.width-1, v.x+max(1, count))
	case 'H':
		v.x, v.y = 0, 0
	case 'J':
		v.erase(count)
	case 'K':
		copy(v.rows[v.y][min(v.x, v.width):], v.blank())
	case 'm':
		v.styled = v.styled || args != "0"
	case 'h', 'l':
		v.mode(args, final == 'h')
	default:
		v.bad = append(v.bad, fmt.Sprintf("sequence %s%c", args, final))
	}
}

func (v *vt) erase(how int) {
	if how == 0 {
		copy(v.rows[v.y][min(v.x, v.width):], v.blank())
	}
	for y := range v.rows {
		if how == 2 || y > v.y {
			v.rows[y] = v.blank()
		}
	}
}

func (v *vt) mode(name string, on bool) {
	switch name {
	case "?7":
		v.wrap = on
	case "?2004":
		v.pasting = on
	case "?25", "?2026":
	default:
		v.bad = append(v.bad, "mode "+name)
	}
}
