package llm

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
)

// longestAnswer bounds what one answer may hold, reasoning and calls included.
const longestAnswer = 16 << 20

var errAnswerTooLong = fmt.Errorf("the answer is longer than %d MiB", longestAnswer>>20)

// answer collects the events of one stream.
type answer struct {
	think  *think
	calls  calls
	finish string
	ended  bool   // the end mark came
	begun  bool   // a choice came
	whole  bool   // the answer was not streamed
	odd    string // the first event in which nothing was known
	usage  Usage
	known  bool // usage is the provider's
	cost   float64
	size   int
}

func newAnswer(each func(Delta)) *answer {
	return &answer{think: newThink(each)}
}

// read takes events until the stream is over. A watch may be silent after the
// finish reason without harm. Errors that are no *fault are the body's.
func (a *answer) read(body io.Reader, w *watch) error {
	s := newEvents(watched{body, w})
	for !a.ended {
		ev, err := s.next()
		if err != nil {
			return a.over(err, s.junk)
		}
		moved, err := a.take(ev)
		if err != nil {
			return err
		}
		if moved {
			w.went()
		}
		if a.finish != "" && !w.closing {
			w.ends(lastWords)
		}
	}
	drain(w, body)
	if !a.begun {
		return a.nothing(s.junk)
	}
	return nil
}

// over judges the end of a body without the end mark.
func (a *answer) over(err error, junk []byte) error {
	switch {
	case errors.Is(err, errPage), errors.Is(err, errJunk), errors.Is(err, errEventTooLong):
		return &fault{kind: Garbage, err: err, words: string(junk)}
	case a.finish != "" || a.whole:
		return nil
	case !errors.Is(err, io.EOF):
		return err
	case !a.begun:
		return a.nothing(junk)
	}
	return &fault{kind: Cut, err: errors.New("the stream ended without a finish reason")}
}

// nothing is the fault of a body that held no answer.
func (a *answer) nothing(junk []byte) error {
	if seen := cmp.Or(string(junk), a.odd); seen != "" {
		return &fault{kind: Garbage, err: errJunk, words: seen}
	}
	return &fault{kind: Cut, err: errors.New("the server sent no answer")}
}

// take adds one event and says whether the answer went on by it.
func (a *answer) take(ev event) (bool, error) {
	if isEnd(ev.data) {
		a.ended = true
		return true, nil
	}
	c, err := parseChunk(ev.data)
	switch {
	case err != nil && ev.torn:
		return false, &fault{kind: Cut, err: errors.New("the stream ended inside an event")}
	case err != nil:
		return false, &fault{kind: Garbage, err: fmt.Errorf("reading an event: %w", err), words: string(ev.data)}
	case hasError(c.Error):
		return false, faultOf(0, c.Error)
	case ev.name == "error", len(c.Choices) == 0 && !a.begun && looksLikeError(ev.data):
		return false, faultOf(0, ev.data)
	}
	for _, raw := range [][]byte{c.Usage, c.Groq.Usage} {
		if u, cost, ok := parseUsage(raw); ok {
			a.usage, a.cost, a.known = u, cost, true
		}
	}
	if c.Choices == nil && !a.known && a.odd == "" {
		a.odd = string(ev.data[:min(len(ev.data), longestQuote)])
	}
	return a.takeChoices(c.Choices)
}

// takeChoices adds the first choice: others were not asked for.
func (a *answer) takeChoices(list []choice) (bool, error) {
	moved := false
	for i := range list {
		c := &list[i]
		if c.Index != 0 {
			continue
		}
		a.begun = true
		if hasError(c.Error) {
			return false, faultOf(0, c.Error)
		}
		if c.Delta != nil {
			moved = a.add(c.Delta) || moved
		} else if c.Message != nil && a.size == 0 { // else it repeats the deltas
			a.whole = true
			moved = a.add(c.Message) || moved
		}
		if c.Finish != "" && c.Finish != "null" {
			a.finish, moved = c.Finish, true
		}
		if a.size > longestAnswer {
			return false, &fault{kind: Garbage, err: errAnswerTooLong}
		}
	}
	return moved, a.failed()
}

// failed returns the fault that a finish reason can be.
func (a *answer) failed() error {
	switch a.finish {
	case "error", "network_error", "abort", "insufficient_system_resource":
		return &fault{kind: Overloaded, err: fmt.Errorf("the answer finished with %q", a.finish)}
	}
	return nil
}

// add takes one piece and says whether there was anything in it.
func (a *answer) add(p *piece) bool {
	text := p.Content.text + p.Refusal
	thought := p.thought() + p.Content.thought
	a.think.reasoned(thought)
	a.think.write(text)
	n := len(text) + len(thought) + a.calls.add(p.Calls)
	if p.Function != nil {
		first := 0
		n += a.calls.add([]fragment{{Index: &first, Function: *p.Function}})
	}
	a.size += n
	return n > 0
}

// reply finishes the answer. used are the call ids that are taken.
func (a *answer) reply(used map[string]bool) Reply {
	r := Reply{Calls: a.calls.done(used)}
	r.Finish = finishOf(a.finish, len(r.Calls) > 0)
	a.think.end(len(r.Calls) > 0)
	r.Text, r.Reasoning = a.think.text.String(), a.think.reasoning.String()
	r.Usage = a.usage
	return r
}

// finishOf maps what providers say. Calls are what counts: some say stop.
func finishOf(reason string, calls bool) Finish {
	switch strings.ToLower(reason) {
	case "length", "max_tokens", "model_length", "max_output_tokens":
		return FinishLength
	case "content_filter", "safety", "sensitive", "refusal", "prohibited_content":
		return FinishFilter
	}
	if calls {
		return FinishCalls
	}
	return FinishStop
}
