package shell

import "unicode/utf8"

// Longer escape sequences are none: somebody forgot to end them.
const (
	maxCSI    = 64
	maxString = 4096
)

// cleaner makes what a command prints fit to be read as text: valid UTF-8,
// lines that end in \n, no sequences that steer a terminal, control characters
// as pictures. It takes the text in pieces.
type cleaner struct {
	out   []byte
	carry []byte // the beginning of a character whose end has not come yet
	state state
	n     int // bytes of the sequence so far
	cr    bool
}

// state is where in an escape sequence a cleaner is.
type state byte

const (
	text      state = iota
	escape          // after ESC
	csi             // ESC [ …
	str             // ESC ] … and its like
	strEscape       // ESC within such a string
)

// clean returns the text in p. The result is valid until the next call.
func (c *cleaner) clean(p []byte) []byte {
	c.out = c.out[:0]
	if len(c.carry) > 0 {
		p = append(c.carry, p...)
		c.carry = nil
	}
	for len(p) > 0 {
		if c.state == text && !c.cr {
			n := printable(p)
			c.out = append(c.out, p[:n]...)
			if p = p[n:]; len(p) == 0 {
				break
			}
		}
		n := c.step(p)
		if n == 0 {
			c.carry = append([]byte(nil), p...)
			break
		}
		p = p[n:]
	}
	return c.out
}

// flush returns what was held back for something to follow.
func (c *cleaner) flush() []byte {
	c.out = c.out[:0]
	if c.cr {
		c.out = append(c.out, '\n')
	}
	if len(c.carry) > 0 {
		c.out = utf8.AppendRune(c.out, utf8.RuneError)
	}
	c.cr, c.carry = false, nil
	return c.out
}

// printable returns how many bytes at the beginning stay as they are.
func printable(p []byte) int {
	for i, b := range p {
		if (b < 0x20 && b != '\n' && b != '\t') || b >= 0x7f {
			return i
		}
	}
	return len(p)
}

// step takes the next character and returns its length, 0 if its end is still
// to come.
func (c *cleaner) step(p []byte) int {
	if c.state != text {
		c.sequence(p[0])
		return 1
	}
	if c.cr {
		c.cr = false
		c.out = append(c.out, '\n')
		if p[0] == '\n' {
			return 1
		}
	}
	switch b := p[0]; {
	case b == '\r':
		c.cr = true
	case b == 0x1b:
		c.state, c.n = escape, 0
	case b == '\n' || b == '\t' || b >= 0x20 && b < 0x7f:
		c.out = append(c.out, b)
	case b < 0x20:
		c.out = utf8.AppendRune(c.out, 0x2400+rune(b))
	case b == 0x7f:
		c.out = utf8.AppendRune(c.out, 0x2421)
	default:
		return c.char(p)
	}
	return 1
}

// char takes a character of more than one byte.
func (c *cleaner) char(p []byte) int {
	if !utf8.FullRune(p) {
		return 0
	}
	r, n := utf8.DecodeRune(p)
	if r >= 0x80 && r < 0xa0 { // the other control characters
		r = utf8.RuneError
	}
	c.out = utf8.AppendRune(c.out, r)
	return n
}

// sequence takes a byte of an escape sequence and drops it.
func (c *cleaner) sequence(b byte) {
	c.n++
	switch c.state {
	case escape:
		switch {
		case b == '[':
			c.state = csi
		case b == ']' || b == 'P' || b == 'X' || b == '^' || b == '_':
			c.state = str
		case b >= 0x20 && b < 0x30: // more follows: ESC ( B
		default:
			c.state = text
		}
	case csi:
		if b >= 0x40 && b < 0x7f || b == '\n' || c.n > maxCSI {
			c.state = text
		}
	case str:
		switch {
		case b == 0x1b:
			c.state = strEscape
		case b == 0x07 || c.n > maxString:
			c.state = text
		}
	case strEscape:
		c.state = str
		if b == '\\' {
			c.state = text
		}
	}
}
