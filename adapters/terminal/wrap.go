package terminal

// line is one line of a text before it is wrapped. The first row begins with
// first, those after it with rest, so that lists hang and code stays indented.
type line struct {
	first, rest []cell
	cells       []cell
	hard        bool // broken anywhere, as code is, rather than between words
}

// text is what the line says, without what it begins with.
func (l line) text() string {
	var b []byte
	for _, c := range l.cells {
		b = append(b, c.text...)
	}
	return string(b)
}

// plainLine is a line without any markup.
func plainLine(s string, st style) line { return line{cells: cells(s, st)} }

// wrap breaks lines into rows of at most width columns, at least one for each.
func wrap(lines []line, width int, colour bool) []row {
	var rows []row
	for _, l := range lines {
		prefix := l.first
		for at := 0; at == 0 || at < len(l.cells); prefix = l.rest {
			room := width - span(prefix)
			if room < width/2 {
				prefix, room = nil, width
			}
			end, next := l.breakAt(at, room)
			rows = append(rows, paint(colour, prefix, l.cells[at:end]))
			if at = next; at == 0 {
				break // an empty line
			}
		}
	}
	return rows
}

func span(run []cell) int {
	n := 0
	for _, c := range run {
		n += c.width
	}
	return n
}

// breakAt returns where the row that begins at start ends and where the next
// one begins; spaces between the two are not shown.
func (l line) breakAt(start, room int) (end, next int) {
	end = start
	for used := 0; end < len(l.cells); end++ {
		used += l.cells[end].width
		if used > room {
			break
		}
	}
	if end == len(l.cells) {
		return end, end
	}
	end = max(end, start+1)
	if !l.hard {
		end = l.softBreak(start, end)
	}
	next = end
	if !l.hard {
		for next < len(l.cells) && l.cells[next].text == " " {
			next++
		}
		for end > start+1 && l.cells[end-1].text == " " {
			end--
		}
	}
	return end, next
}

// softBreak moves a break back to the last place between words, if there is
// one. Wide characters may be parted anywhere.
func (l line) softBreak(start, end int) int {
	for i := end; i > start; i-- {
		if i == len(l.cells) {
			return i
		}
		before, after := l.cells[i-1], l.cells[i]
		if before.text == " " || after.text == " " || before.width > 1 || after.width > 1 {
			return i
		}
	}
	return end
}
