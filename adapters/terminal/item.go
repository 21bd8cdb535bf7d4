package terminal

// item is one entry of the live region: a draft that grows, or a text that
// stands. Its lines leave for the transcript from the top. It is not safe for
// concurrent use.
type item struct {
	post string // the post a draft becomes, "" for what is no draft
	doc  document
	done bool     // it will not change any more
	at   int      // the first line that is still here
	told []string // the lines that left already
}

// textItem is a finished item.
func textItem(lines ...line) *item {
	return &item{doc: document{lines: lines}, done: true}
}

// rows lays out what is still here.
func (it *item) rows(width int, colour bool) []row {
	return wrap(it.doc.lines[it.at:], width, colour)
}

// give takes complete lines off, n rows or a little more, and returns their
// rows. The line that is being written stays: its markup may change.
func (it *item) give(n, width int, colour bool) []row {
	var rows []row
	for it.at < it.doc.complete && len(rows) < n {
		l := it.doc.lines[it.at]
		rows = append(rows, wrap([]line{l}, width, colour)...)
		it.told = append(it.told[:it.at], l.text())
		it.at++
	}
	return rows
}

// revise sets the draft's text. What left already cannot be taken back: as
// long as the text goes on from there nothing needs to.
func (it *item) revise(text string) {
	it.doc.set(text, true)
	it.at = min(it.at, len(it.doc.lines))
}

// settle gives the item its final lines. If they differ from what left
// already, they are shown again from the line that differs on, after a note.
func (it *item) settle(lines []line, note string) {
	it.doc.lines, it.done = lines, true
	wrong := it.differs()
	if wrong < 0 {
		return
	}
	it.doc.lines = append([]line{plainLine(note, dim)}, lines[min(wrong, len(lines)):]...)
	it.at = 0
}

// differs returns the first line that isn't what the transcript has, -1 if
// all is well.
func (it *item) differs() int {
	for i, told := range it.told {
		if i >= len(it.doc.lines) || it.doc.lines[i].text() != told {
			return i
		}
	}
	return -1
}
