package fs

import (
	"fmt"
	"strings"
)

// page collects what fits of a long list: from an offset, so many items, and
// no more bytes than a result may have.
type page struct {
	skip, room int
	skipped    int
	shown      int
	more       bool
	text       strings.Builder
}

// before reports whether an item that was found stands before the page, and
// counts it then.
func (p *page) before() bool {
	if p.skipped < p.skip {
		p.skipped++
		return true
	}
	return false
}

// add puts an item on the page. errEnough: there was no room for it, and
// nothing more is wanted.
func (p *page) add(item string) error {
	if p.before() {
		return nil
	}
	if p.shown == p.room || p.shown > 0 && p.text.Len()+len(item) >= maxResult {
		p.more = true
		return errEnough
	}
	p.text.WriteString(item + "\n")
	p.shown++
	return nil
}

// result is the page as the model reads it.
func (p *page) result(none, items string, notes []string) string {
	text := strings.TrimSuffix(p.text.String(), "\n")
	switch {
	case p.shown == 0 && p.skipped > 0:
		text = fmt.Sprintf("there are only %d %s, all of them before this offset", p.skipped, items)
	case p.shown == 0:
		text = none
	case p.more:
		notes = append(notes, fmt.Sprintf("%s %d–%d; more follow: offset %d", items, p.skipped+1, p.skipped+p.shown, p.skipped+p.shown))
	case p.skipped > 0:
		notes = append(notes, fmt.Sprintf("%s %d–%d, the last ones", items, p.skipped+1, p.skipped+p.shown))
	}
	if len(notes) > 0 {
		text += "\n(" + strings.Join(notes, ")\n(") + ")"
	}
	return text
}
