package terminal

import (
	"slices"
	"strings"

	"parley/core/chat"
)

// ledger is what a pipe has sent and what of it is not answered yet, with the
// asks that wait for people. It is not safe for concurrent use.
type ledger struct {
	unanswered map[string]sent
	open       []openAsk
}

type sent struct {
	kind eventKind
	on   chat.MessageID // of a press
}

// eventKind is how an event was sent.
type eventKind int

const (
	messageEvent eventKind = iota
	urgentEvent
	pressEvent
)

// openAsk is a card with buttons that nobody settled.
type openAsk struct {
	message chat.MessageID
	id      string // "k7f3"
	line    string // what its first button would say
	// spoken: a line went in that may be the answer. Until something shows
	// what became of it no other line goes in on account of the ask.
	spoken bool
}

func (l *ledger) sent(e chat.Event, kind eventKind) {
	if l.unanswered == nil {
		l.unanswered = map[string]sent{}
	}
	s := sent{kind: kind}
	if b, ok := e.Body.(chat.Pressed); ok {
		s.on = b.Message
	}
	if kind == messageEvent && len(l.unanswered) > 0 {
		l.speak()
	}
	l.unanswered[e.ID] = s
}

func (l *ledger) speak() {
	for i := range l.open {
		l.open[i].spoken = true
	}
}

// free reports whether a message may go in: all before it is answered, or an
// ask is open that it may be the answer to.
func (l *ledger) free() bool { return len(l.unanswered) == 0 || l.asked() }

// asked reports whether an ask waits that nothing was said to.
func (l *ledger) asked() bool {
	return slices.ContainsFunc(l.open, func(a openAsk) bool { return !a.spoken })
}

// finished reports whether waiting would bring nothing: all is answered, or
// what is not waits for people.
func (l *ledger) finished() bool {
	for _, s := range l.unanswered {
		if s.kind != messageEvent || !l.asked() {
			return false
		}
	}
	return true
}

// shown notes a part that was printed for the first time: a card opens an ask,
// a notice says what became of the last line.
func (l *ledger) shown(m chat.MessageID, p chat.Part) {
	switch {
	case p.Kind == chat.Card && len(p.Buttons) > 0:
		l.close(m)
		l.open = append(l.open, newOpenAsk(m, p.Buttons))
	case p.Kind == chat.Notice:
		for i := range l.open {
			l.open[i].spoken = false
		}
	}
}

func newOpenAsk(m chat.MessageID, rows [][]chat.Button) openAsk {
	a := openAsk{message: m}
	for _, row := range rows {
		for _, b := range row {
			words := strings.Fields(b.Line)
			if a.id == "" && len(words) > 1 {
				a.id, a.line = words[1], b.Line
			}
		}
	}
	if a.id == "" {
		a.id = string(m)
	}
	return a
}

// edited notes what a message became.
func (l *ledger) edited(m chat.MessageID, now chat.Part) {
	if len(now.Buttons) > 0 {
		return
	}
	l.close(m)
	for id, s := range l.unanswered {
		if s.kind == pressEvent && s.on == m {
			delete(l.unanswered, id)
		}
	}
}

func (l *ledger) close(m chat.MessageID) {
	l.open = slices.DeleteFunc(l.open, func(a openAsk) bool { return a.message == m })
}

// answered takes off what a part settles.
func (l *ledger) answered(p chat.Part) {
	if !p.Last {
		return
	}
	for _, id := range p.Answers {
		delete(l.unanswered, id)
	}
}
