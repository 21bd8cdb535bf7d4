package terminal

import "slices"

// stage holds what a console shows: the items of the live region in order, and
// below them the status and the prompt. It is not safe for concurrent use.
type stage struct {
	screen screen
	colour bool
	items  []*item
	status string
	prompt []cell // nil while nobody is asked to type
	editor editor
}

// frame is what goes to the screen in one step.
type frame struct{ settled, live []row }

// draw brings the terminal up to date.
func (s *stage) draw() error {
	below, cursor := s.below()
	f := s.layout(s.screen.height - len(below))
	cursor.row += len(f.live)
	return s.screen.frame(f.settled, append(f.live, below...), cursor)
}

// below is the part under the items: at most half of the window.
func (s *stage) below() ([]row, point) {
	if s.prompt == nil {
		return nil, point{}
	}
	var rows []row
	limit := max(1, s.screen.height/2)
	if s.status != "" && s.screen.height > 2 {
		rows = append(rows, cutRow(s.status, s.screen.width, s.colour))
	}
	edited, cursor := s.editor.rows(s.prompt, s.screen.width, limit, s.colour)
	cursor.row += len(rows)
	return append(rows, edited...), cursor
}

func cutRow(text string, width int, colour bool) row {
	run := cells(text, dim)
	for span(run) > width {
		run = run[:len(run)-1]
	}
	return paint(colour, run)
}

// layout takes what is finished, and what has no room, off the top of the
// items. Whatever leaves the live region is in settled, once and in order.
// What cannot leave yet and has no room is not shown for now: the end of the
// items is.
func (s *stage) layout(room int) frame {
	var f frame
	room = max(room, 0)
	s.settleDone(&f)
	f.live = s.itemRows()
	for len(f.live) > room && s.makeRoom(&f, len(f.live)-room) {
		s.settleDone(&f)
		f.live = s.itemRows()
	}
	f.live = f.live[max(0, len(f.live)-room):]
	return f
}

// settleDone moves finished items at the top into the transcript, an empty row
// after each.
func (s *stage) settleDone(f *frame) {
	for len(s.items) > 0 && s.items[0].done {
		top := s.items[0]
		rows := top.rows(s.screen.width, s.colour)
		f.settled = append(f.settled, rows...)
		if len(rows) > 0 || len(top.told) > 0 {
			f.settled = append(f.settled, row{})
		}
		s.items = s.items[1:]
	}
}

// makeRoom moves about n rows into the transcript: complete lines of the first
// item, which still grows, or else a finished item that stands below it. It
// reports whether there was either.
func (s *stage) makeRoom(f *frame, n int) bool {
	top := s.items[0]
	if rows := top.give(n, s.screen.width, s.colour); len(rows) > 0 {
		f.settled = append(f.settled, rows...)
		return true
	}
	i := slices.IndexFunc(s.items, func(it *item) bool { return it.done })
	if i < 0 {
		return false
	}
	if len(top.told) > 0 {
		f.settled = append(f.settled, row{})
	}
	passing := s.items[i]
	s.items = slices.Insert(slices.Delete(s.items, i, i+1), 0, passing)
	return true
}

// itemRows are the rows of the items as they stand now, an empty row after
// each that has any.
func (s *stage) itemRows() []row {
	var rows []row
	for _, it := range s.items {
		own := it.rows(s.screen.width, s.colour)
		rows = append(rows, own...)
		if len(own) > 0 {
			rows = append(rows, row{})
		}
	}
	return rows
}

// draft finds the growing item of a post.
func (s *stage) draft(post string) *item {
	i := slices.IndexFunc(s.items, func(it *item) bool { return it.post == post && !it.done })
	if post == "" || i < 0 {
		return nil
	}
	return s.items[i]
}

func (s *stage) remove(it *item) {
	s.items = slices.DeleteFunc(s.items, func(other *item) bool { return other == it })
}

// streaming reports whether any text is growing.
func (s *stage) streaming() bool {
	return slices.ContainsFunc(s.items, func(it *item) bool { return it.post != "" && !it.done })
}
