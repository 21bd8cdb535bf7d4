package terminal

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/core/chat"
)

// keys does what was pressed and reports whether the person leaves. It blocks
// while a line is being accepted.
func (c *console) keys(ctx context.Context, in chat.Inbound, ks []key) (left bool) {
	defer c.redraw()
	for _, k := range ks {
		switch k.code {
		case keyInterrupt:
			left = c.interrupt(ctx, in)
		case keyEnter:
			c.enter(ctx, in)
		default:
			left = c.key(k)
		}
		if left {
			return true
		}
	}
	return false
}

// interrupt is Ctrl-C: it takes a prompt back, else sends /stop, and leaves if
// the last thing that happened was another one, a moment ago.
func (c *console) interrupt(ctx context.Context, in chat.Inbound) (left bool) {
	now := c.config.Now()
	s, leave := c.interrupted(now)
	if leave || s == nil {
		return leave
	}
	c.send(ctx, in, s)
	return false
}

func (c *console) interrupted(now time.Time) (s *sending, leave bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asking != nil {
		c.asking = nil
		c.editor().set("")
		return nil, false
	}
	if !c.stopped.IsZero() && now.Sub(c.stopped) < twice {
		return nil, true
	}
	c.stopped = now
	c.hint = "Ctrl-C again leaves"
	c.wake()
	return c.saying("/stop", ""), false
}

// key does what is neither sending nor stopping.
func (c *console) key(k key) (left bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped, c.hint = time.Time{}, ""
	if k.cut {
		c.hint = "this was too much to paste: it was cut after 1 MiB"
	}
	e := c.editor()
	switch {
	case k.code == keyEOF && e.text == "" && c.asking == nil:
		return true
	case k.code == keyEOF && e.text == "":
		c.asking = nil
	case k.code == keyEOF:
		e.edit(key{code: keyDelete})
	case k.code == keyClear:
		c.stage.screen.clear()
	case k.code == keyTab:
		c.complete()
	case e.edit(k):
	case k.code == keyUp:
		c.leaf(c.history.older(e.text))
	case k.code == keyDown:
		c.leaf(c.history.newer())
	}
	return false
}

func (c *console) editor() *editor { return &c.stage.editor }

func (c *console) leaf(text string, ok bool) {
	if ok && c.asking == nil {
		c.editor().set(text)
	}
}

// complete finishes the command under the cursor, or lists those it may be.
func (c *console) complete() {
	e := c.editor()
	if !strings.HasPrefix(e.text, "/") || strings.ContainsAny(e.text[:e.at], " \n") || e.at != len(e.text) {
		return
	}
	var fit []string
	for _, cmd := range c.config.Commands {
		if name := "/" + cmd.Name; cmd.Where != chat.GroupsOnly && strings.HasPrefix(name, e.text) {
			fit = append(fit, name)
		}
	}
	slices.Sort(fit)
	switch len(fit) {
	case 0:
	case 1:
		e.set(fit[0] + " ")
	default:
		e.set(common(fit[0], fit[len(fit)-1]))
		c.hint = strings.Join(fit, " ")
	}
}

// common is what two strings begin with.
func common(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// sending is a line on its way to the core.
type sending struct {
	event chat.Event
	shown *item   // the line in the transcript, not finished until accepted
	line  string  // what goes back to the editor if it isn't
	ask   *choice // the prompt it answered
	keep  bool    // in the history
}

// enter sends the line, or asks for the text that a button wants first.
func (c *console) enter(ctx context.Context, in chat.Inbound) {
	if s := c.entered(); s != nil {
		c.send(ctx, in, s)
	}
}

func (c *console) entered() *sending {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped, c.hint = time.Time{}, ""
	line := c.editor().text
	text := strings.TrimSpace(line)
	picked, isNumber := c.choices.pick(text)
	switch {
	case c.asking != nil:
		return c.answering(*c.asking, text)
	case text == "":
		return nil
	case isNumber && picked.button.Prompt != "":
		c.editor().set("")
		c.asking = &picked
		return nil
	case isNumber:
		return c.pressing(picked, "", line)
	case c.choices.stale(text):
		c.hint = fmt.Sprintf("%s is no button any more; the newest: %s", text, c.choices.span())
		return nil
	}
	return c.saying(text, line)
}

// saying prepares a message; line is what goes back to the editor.
func (c *console) saying(text, line string) *sending {
	s := &sending{event: c.again("said "+text, func() chat.Event { return c.mint.said(text) }), line: line, keep: line != ""}
	if !strings.HasPrefix(text, "/") { // commands are answered beside a turn
		c.pending[s.event.ID] = true
	}
	c.echo(s, text)
	return s
}

// answering prepares the press of a button with its text. None takes it back.
func (c *console) answering(on choice, text string) *sending {
	c.asking = nil
	if text == "" {
		c.editor().set("")
		return nil
	}
	s := c.pressing(on, text, text)
	s.ask = &on
	return s
}

func (c *console) pressing(on choice, text, line string) *sending {
	command := on.line(text)
	mint := func() chat.Event { return c.mint.pressed(on.on, command) }
	s := &sending{event: c.again("pressed "+string(on.on)+" "+command, mint), line: line}
	echo := fmt.Sprintf("%d) %s", on.number, oneLine(on.button.Label))
	if text != "" {
		echo += ": " + text
	}
	c.echo(s, echo)
	return s
}

// again returns the event that could not be accepted if this is the same once
// more: it keeps its id, since it may be on disk after all.
func (c *console) again(as string, mint func() chat.Event) chat.Event {
	if c.unsentAs != as {
		c.unsent, c.unsentAs = mint(), as
	}
	return c.unsent
}

// echo moves the line from the editor into the transcript.
func (c *console) echo(s *sending, text string) {
	var lines []line
	for l := range strings.SplitSeq(clean(text), "\n") {
		next := plainLine(l, 0)
		next.first, next.rest = indent, indent
		lines = append(lines, next)
	}
	lines[0].first = cells("> ", bold)
	s.shown = textItem(lines...)
	s.shown.done = false
	c.stage.items = append(c.stage.items, s.shown)
	if s.line != "" {
		c.editor().set("")
	}
	c.draw()
}

// send hands the line to the core, without a lock: it may answer before it
// returns.
func (c *console) send(ctx context.Context, in chat.Inbound, s *sending) {
	err := in.Accept(ctx, chat.Cursor{}, s.event)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.unsend(s, err)
		return
	}
	s.shown.done, c.unsentAs = true, ""
	if !s.keep {
		return
	}
	if err := c.history.add(s.line); err != nil {
		c.history.path = "" // said once is enough
		c.note(err.Error())
	}
}

// unsend gives the line back.
func (c *console) unsend(s *sending, err error) {
	c.stage.remove(s.shown)
	delete(c.pending, s.event.ID)
	if s.line != "" {
		c.editor().set(s.line)
	}
	c.asking = s.ask
	c.note(fmt.Sprintf("Not sent, since it could not be stored (%v). Enter tries again.", err))
}
