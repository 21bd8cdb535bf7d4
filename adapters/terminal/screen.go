package terminal

import (
	"io"
	"strconv"
	"strings"
)

// point is a spot in the live region, counted from its first row and column.
type point struct{ row, col int }

// screen draws a transcript that grows and a live region below it. It writes
// rows that changed and leaves the others alone, each frame in one write. Rows
// must fit the width, and the live region the height. It is not safe for
// concurrent use.
type screen struct {
	out           io.Writer
	width, height int

	drawn  []row // the live region as it stands on the terminal
	cursor point // where the cursor is in it
	b      strings.Builder
	exist  int // rows from the top of the live region that the terminal has
}

const (
	// Within these the terminal shows nothing half-drawn, hides its cursor
	// and doesn't wrap: a row that is wider than we think is cut, instead of
	// shifting all that follows.
	frameBegin = "\x1b[?2026h\x1b[?25l\x1b[?7l"
	frameEnd   = "\x1b[?7h\x1b[?25h\x1b[?2026l"
)

// frame moves rows into the transcript and shows live below. The rows of both
// are compared with what stands there, so what only becomes settled costs
// nothing. An error is the writer's.
func (s *screen) frame(settled, live []row, cursor point) error {
	if len(live) == 0 {
		live, cursor = []row{{}}, point{}
	}
	all := append(settled[:len(settled):len(settled)], live...)
	s.b.Reset()
	s.b.WriteString(frameBegin)
	s.exist = max(len(s.drawn), 1)
	for i, r := range all {
		if i >= len(s.drawn) || s.drawn[i] != r {
			s.write(i, r)
		}
	}
	if s.exist > len(all) {
		s.moveTo(point{row: len(all)})
		s.b.WriteString("\x1b[J")
	}
	s.moveTo(point{row: len(settled) + cursor.row, col: cursor.col})
	s.b.WriteString(frameEnd)
	s.drawn, s.cursor = live, cursor
	_, err := io.WriteString(s.out, s.b.String())
	return err
}

func (s *screen) write(i int, r row) {
	s.moveTo(point{row: i})
	s.b.WriteString(r.text)
	s.cursor.col = r.width
	if r.width < s.width { // in the last column this would erase it
		s.b.WriteString("\x1b[K")
	}
}

// moveTo goes to a row of the region, making it if there is none yet.
func (s *screen) moveTo(p point) {
	s.b.WriteByte('\r')
	target := min(p.row, s.exist-1)
	s.step(target-s.cursor.row, 'B', 'A')
	for target < p.row {
		s.b.WriteString("\r\n")
		target++
		s.exist++
	}
	s.step(p.col, 'C', 'D')
	s.cursor = p
}

func (s *screen) step(n int, forward, back byte) {
	if n == 0 {
		return
	}
	s.b.WriteString("\x1b[")
	if n < 0 {
		n, forward = -n, back
	}
	s.b.WriteString(strconv.Itoa(n))
	s.b.WriteByte(forward)
}

// resize takes the live region away before it is drawn for another size.
// Terminals wrap the rows anew when they become narrower, so its top is higher
// up than it was.
func (s *screen) resize(width, height int) error {
	width, height = max(width, 1), max(height, 1)
	up := s.cursor.col / width
	for _, r := range s.drawn[:min(s.cursor.row, len(s.drawn))] {
		up += max(1, (r.width+width-1)/width)
	}
	s.width, s.height = width, height
	s.b.Reset()
	s.b.WriteByte('\r')
	s.step(-min(up, height-1), 'B', 'A')
	s.b.WriteString("\x1b[J")
	s.anew()
	_, err := io.WriteString(s.out, s.b.String())
	return err
}

// anew forgets what stands there: the next frame begins in the row of the
// cursor.
func (s *screen) anew() { s.drawn, s.cursor = nil, point{} }

// clear empties the screen; the next frame begins at its top.
func (s *screen) clear() error {
	s.anew()
	_, err := io.WriteString(s.out, "\x1b[H\x1b[2J")
	return err
}
