package terminal

import (
	"fmt"
	"strconv"
	"strings"

	"parley/core/chat"
)

// choices are the buttons as numbers to type. Only the newest buttons can be
// picked, and numbers are never used again, so that one typed late cannot hit
// a card that came meanwhile. It is not safe for concurrent use.
type choices struct {
	issued int // the highest number so far
	on     chat.MessageID
	live   []chat.Button // the last of them has the number issued
}

// choice is a button that was picked.
type choice struct {
	number int
	on     chat.MessageID
	button chat.Button
}

// offer numbers the buttons of a message and returns the lines to show. A
// message without buttons changes nothing.
func (c *choices) offer(on chat.MessageID, rows [][]chat.Button) []string {
	var fresh []chat.Button
	for _, row := range rows {
		fresh = append(fresh, row...)
	}
	if len(fresh) == 0 {
		return nil
	}
	c.on, c.live = on, fresh
	lines := make([]string, len(fresh))
	for i, b := range fresh {
		lines[i] = fmt.Sprintf("%d) %s", c.issued+1+i, oneLine(b.Label))
	}
	c.issued += len(fresh)
	return lines
}

// withdraw takes the numbers of a message back.
func (c *choices) withdraw(on chat.MessageID) {
	if c.on == on {
		c.on, c.live = "", nil
	}
}

// pick finds the button that a line of nothing but its number means.
func (c *choices) pick(text string) (choice, bool) {
	n, ok := number(text)
	i := n - c.issued - 1 + len(c.live)
	if !ok || i < 0 || i >= len(c.live) {
		return choice{}, false
	}
	return choice{number: n, on: c.on, button: c.live[i]}, true
}

// stale reports whether the line is a number that was a button's, while others
// may be meant.
func (c *choices) stale(text string) bool {
	n, ok := number(text)
	return ok && len(c.live) > 0 && n <= c.issued-len(c.live)
}

// span names the numbers that can be picked now.
func (c *choices) span() string {
	first := c.issued - len(c.live) + 1
	if first == c.issued {
		return strconv.Itoa(first)
	}
	return fmt.Sprintf("%d to %d", first, c.issued)
}

func number(text string) (int, bool) {
	text = strings.TrimSpace(text)
	n, err := strconv.Atoi(text)
	return n, err == nil && n > 0 && text[0] != '+'
}

// line is the command line that pressing means; text is what the button's
// prompt was answered with.
func (c choice) line(text string) string {
	if text == "" {
		return c.button.Line
	}
	return c.button.Line + " " + text
}

// fileLines names the files of a part, one a line.
func fileLines(files []chat.File) []string {
	lines := make([]string, len(files))
	for i, f := range files {
		name := oneLine(f.Name)
		if name == "" {
			name = "unnamed"
		}
		lines[i] = fmt.Sprintf("[file: %s, %s]", name, size(f.Size))
	}
	return lines
}

func size(n int64) string {
	switch {
	case n <= 0:
		return "size unknown"
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000*1000:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	default:
		return fmt.Sprintf("%.1f MB", float64(n)/1000/1000)
	}
}
