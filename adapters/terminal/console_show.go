package terminal

import (
	"reflect"
	"time"

	"parley/core/chat"
)

// deliver shows a part: in the place of its draft if there is one, else below
// everything that is there.
func (c *console) deliver(p chat.Part) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shown.has(p.ID) {
		return nil
	}
	c.place(p)
	if answered := c.answered(p); answered || p.Kind == chat.Answer {
		c.busy = time.Time{}
	}
	if p.Kind == chat.Card {
		c.stopped, c.hint = time.Time{}, "" // somebody asks: a Ctrl-C now is a first one
	}
	err := c.draw()
	if err == nil {
		c.shown.put(p.ID, p.Text)
	}
	return err
}

// answered reports whether the part is the last word on a message: whatever it
// says, nothing is at work on it any more.
func (c *console) answered(p chat.Part) bool {
	last := false
	for _, id := range p.Answers {
		last = last || c.pending[id]
		delete(c.pending, id)
	}
	return last
}

func (c *console) place(p chat.Part) {
	lines := c.lines(chat.MessageID(p.ID), p, true)
	it := c.stage.draft(p.Post)
	if it == nil {
		it = &item{post: p.Post}
		c.stage.items = append(c.stage.items, it)
	}
	it.settle(lines, notTheSame)
	if p.Last {
		c.ended.put(p.Post, "")
	}
}

// lines is a part as lines: its text, its buttons as numbers, its files.
func (c *console) lines(m chat.MessageID, p chat.Part, withText bool) []line {
	var look style
	if p.Kind == chat.Notice {
		look = dim
	}
	d := document{look: look}
	if withText {
		d.set(trim(clean(p.Text)), false)
	}
	lines := d.lines
	for _, group := range [][]string{fileLines(p.Files), c.choices.offer(m, p.Buttons)} {
		if len(group) > 0 && len(lines) > 0 {
			lines = append(lines, line{})
		}
		for _, l := range group {
			lines = append(lines, plainLine(l, bold))
		}
	}
	return lines
}

// edit prints what is new about a message; one that asks nothing any more has
// no numbers.
func (c *console) edit(m chat.MessageID, was, now chat.Part) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	news := now.Text != c.shown.or(string(m), was.Text)
	if !news && reflect.DeepEqual(was.Buttons, now.Buttons) {
		return nil
	}
	c.choices.withdraw(m)
	if c.asking != nil && c.asking.on == m {
		c.asking = nil
	}
	if lines := c.lines(m, now, news); len(lines) > 0 {
		c.stage.items = append(c.stage.items, textItem(lines...))
	}
	err := c.draw()
	if err == nil {
		c.shown.put(string(m), now.Text)
	}
	return err
}

func (c *console) signal(s chat.Signal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.running {
		return nil
	}
	switch s := s.(type) {
	case chat.Typing:
		c.busy = c.config.Now().Add(typingLasts)
		c.wake()
	case chat.Draft:
		c.draft(s)
	case chat.Reaction:
		return nil
	}
	return c.draw()
}

// draft shows how far a post is written. One that is complete already is left
// alone: signals and deliveries may overtake each other.
func (c *console) draft(d chat.Draft) {
	if d.Post == "" || c.ended.has(d.Post) {
		return
	}
	text := trim(clean(d.Text))
	it := c.stage.draft(d.Post)
	switch {
	case text == "" && it == nil:
	case text == "" && len(it.told) == 0:
		c.stage.remove(it)
	case text == "":
		it.settle(nil, takenBack)
	case it == nil:
		it = &item{post: d.Post}
		c.stage.items = append(c.stage.items, it)
		it.revise(text)
	default:
		it.revise(text)
	}
}
