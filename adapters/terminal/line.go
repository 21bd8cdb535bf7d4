package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// editor is the text being typed, with a cursor between two characters. The
// text may have several lines. It is not safe for concurrent use.
type editor struct {
	text   string
	at     int // bytes before the cursor
	killed string
}

func (e *editor) set(text string) { e.text, e.at = text, len(text) }

func (e *editor) insert(s string) {
	e.text = e.text[:e.at] + s + e.text[e.at:]
	e.at += len(s)
}

// cut removes what is between two spots and puts the cursor there.
func (e *editor) cut(from, to int) string {
	gone := e.text[from:to]
	e.text = e.text[:from] + e.text[to:]
	e.at = from
	return gone
}

// kill is cut for more than a character: yank brings it back.
func (e *editor) kill(from, to int) {
	if from < to {
		e.killed = e.cut(from, to)
	}
}

// edit does what a key says and reports whether it was one for the editor.
func (e *editor) edit(k key) bool {
	switch k.code {
	case keyText, keyPaste:
		e.insert(k.text)
	case keyNewline:
		e.insert("\n")
	case keyBackspace:
		e.cut(e.left(), e.at)
	case keyDelete:
		e.cut(e.at, e.right())
	case keyKillWord:
		e.kill(e.wordLeft(), e.at)
	case keyKillWordRight:
		e.kill(e.at, e.wordRight())
	case keyKillEnd:
		e.kill(e.at, e.end())
	case keyKillStart:
		e.kill(e.home(), e.at)
	case keyYank:
		e.insert(e.killed)
	default:
		return e.move(k)
	}
	return true
}

func (e *editor) move(k key) bool {
	switch k.code {
	case keyLeft:
		e.at = e.left()
	case keyRight:
		e.at = e.right()
	case keyWordLeft:
		e.at = e.wordLeft()
	case keyWordRight:
		e.at = e.wordRight()
	case keyHome:
		e.at = e.home()
	case keyEnd:
		e.at = e.end()
	case keyUp:
		return e.up()
	case keyDown:
		return e.down()
	default:
		return false
	}
	return true
}

func (e *editor) left() int {
	if e.at == 0 {
		return 0
	}
	return e.at - backCluster(e.text[:e.at])
}

func (e *editor) right() int {
	if e.at == len(e.text) {
		return e.at
	}
	n, _ := cluster(e.text[e.at:])
	return e.at + n
}

func (e *editor) home() int { return strings.LastIndexByte(e.text[:e.at], '\n') + 1 }

func (e *editor) end() int {
	if i := strings.IndexByte(e.text[e.at:], '\n'); i >= 0 {
		return e.at + i
	}
	return len(e.text)
}

func (e *editor) wordLeft() int {
	head := strings.TrimRightFunc(e.text[:e.at], unicode.IsSpace)
	i := strings.LastIndexFunc(head, unicode.IsSpace)
	if i < 0 {
		return 0
	}
	_, n := utf8.DecodeRuneInString(head[i:])
	return i + n
}

func (e *editor) wordRight() int {
	tail := strings.TrimLeftFunc(e.text[e.at:], unicode.IsSpace)
	start := len(e.text) - len(tail)
	if i := strings.IndexFunc(tail, unicode.IsSpace); i >= 0 {
		return start + i
	}
	return len(e.text)
}

// up moves to the line above; on the first line it is not the editor's key.
func (e *editor) up() bool {
	home := e.home()
	if home == 0 {
		return false
	}
	col := len(cells(e.text[home:e.at], 0))
	e.at = home - 1
	e.toColumn(col)
	return true
}

// down moves to the line below; on the last line it is not the editor's key.
func (e *editor) down() bool {
	end := e.end()
	if end == len(e.text) {
		return false
	}
	col := len(cells(e.text[e.home():e.at], 0))
	e.at = end + 1
	e.toColumn(col)
	return true
}

func (e *editor) toColumn(col int) {
	e.at = e.home()
	for end := e.end(); col > 0 && e.at < end; col-- {
		e.at = e.right()
	}
}

// rows lays the text out after a prompt and says where the cursor is. Of more
// rows than limit, those around the cursor are returned.
func (e *editor) rows(prompt []cell, width, limit int, colour bool) ([]row, point) {
	l := layout{width: width, colour: colour, rest: cells(strings.Repeat(" ", span(prompt)), 0)}
	if span(prompt) > width/2 {
		l.rest = nil
	}
	l.run, l.used = append(l.run, prompt...), span(prompt)
	for i := 0; i < len(e.text); {
		n, w := cluster(e.text[i:])
		l.put(e.text[i:i+n], w, i == e.at)
		i += n
	}
	if e.at == len(e.text) {
		l.mark()
	}
	l.push()
	top := min(max(0, l.cursor.row-limit+1), max(0, len(l.rows)-limit))
	if len(l.rows) > limit {
		l.rows = l.rows[top : top+limit]
	} else {
		top = 0
	}
	return l.rows, point{row: l.cursor.row - top, col: l.cursor.col}
}

// layout breaks typed text into rows, anywhere.
type layout struct {
	width  int
	colour bool
	rest   []cell // what every row but the first begins with
	run    []cell
	used   int
	rows   []row
	cursor point
}

// put adds a character; the cursor may be before it.
func (l *layout) put(text string, width int, cursor bool) {
	if text == "\t" {
		text, width = "    ", 4
	}
	if text == "\n" {
		width = 0
	}
	if l.used+width > l.width {
		l.push()
	}
	if cursor {
		l.mark()
	}
	if text == "\n" {
		l.push()
		return
	}
	l.run = append(l.run, cell{text: text, width: width})
	l.used += width
}

// mark puts the cursor here. After the last column there is no room for it: it
// then stands on a row of its own.
func (l *layout) mark() {
	if l.used >= l.width {
		l.push()
	}
	l.cursor = point{row: len(l.rows), col: l.used}
}

func (l *layout) push() {
	l.rows = append(l.rows, paint(l.colour, l.run))
	l.run, l.used = append([]cell(nil), l.rest...), span(l.rest)
}
