package session

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"parley/core/ask"
	"parley/core/chat"
	"parley/core/llm"
	"parley/storage"
)

// Carried is what a conversation has set or summed up, apart from what was
// said. A [Summarised] holds a copy, so that the log need not be read from its
// beginning.
type Carried struct {
	Model string           `json:"model,omitempty"` // the picked model, "" for the configured order
	Spent map[string]Spend `json:"spent,omitempty"` // by model name
	// Ratio is how many tokens the provider counted for each that was
	// estimated, 0 when it has not told yet.
	Ratio float64 `json:"ratio,omitempty"`
	// Scratchpad is what the agent has noted down for itself.
	Scratchpad string `json:"scratchpad,omitempty"`
}

// Spend is what one model has cost in a conversation.
type Spend struct {
	Requests int       `json:"requests"`
	Usage    llm.Usage `json:"usage"`
	Dollars  float64   `json:"dollars"`
}

func (c Carried) clone() Carried {
	c.Spent = maps.Clone(c.Spent)
	return c
}

func (c *Carried) spend(model string, u llm.Usage, dollars float64) {
	if model == "" {
		return
	}
	if c.Spent == nil {
		c.Spent = make(map[string]Spend)
	}
	s := c.Spent[model]
	s.Requests++
	s.Usage = s.Usage.Add(u)
	s.Dollars += dollars
	c.Spent[model] = s
}

// openTurn is a turn that has started and not ended.
type openTurn struct {
	id       string
	began    uint64 // where in the log
	by       chat.User
	rounds   int            // complete answers so far
	events   []string       // what it took up, to be named when it ends
	replyTo  chat.MessageID // the message that started it, where others read along
	tries    int            // attempts in a row that have left nothing behind
	calls    []openCall     // of the last answer, those without a result
	private  bool           // the message that started it was said in private
	finish   llm.Finish     // how the last round ended
	lengthen int            // rounds in a row that met the output limit
}

// openCall is a call that has no result yet.
type openCall struct {
	call     llm.Call
	began    bool       // it was running when the log ends
	asked    []Asked    // what people were asked for it, in order
	answered []Answered // what became of that
}

// answer returns what became of a request, and whether anything did.
func (c openCall) answer(ask string) (Answered, bool) {
	i := slices.IndexFunc(c.answered, func(a Answered) bool { return a.Ask == ask })
	if i < 0 {
		return Answered{}, false
	}
	return c.answered[i], true
}

// waits lists the requests that the call waits for people to answer.
func (c openCall) waits() []string {
	var open []string
	for _, a := range c.asked {
		if _, done := c.answer(a.Ask); !done {
			open = append(open, a.Ask)
		}
	}
	return open
}

// approvals lists the requests that ask whether the call may run, and of which
// nobody has heard yet.
func (c openCall) approvals() []string {
	open := c.waits()
	return slices.DeleteFunc(open, func(id string) bool {
		return slices.ContainsFunc(c.asked, func(a Asked) bool { return a.Ask == id && a.Kind != ask.Approval })
	})
}

// forget drops what people were asked about whether the call may run: it runs,
// and that is spent, or they are asked anew.
func (c *openCall) forget() {
	c.asked = slices.DeleteFunc(slices.Clone(c.asked), func(a Asked) bool { return a.Kind == ask.Approval })
}

// waits lists the open requests of a turn.
func (t *openTurn) waits() []string {
	var open []string
	for _, c := range t.calls {
		open = append(open, c.waits()...)
	}
	return open
}

// call returns an open call by its id.
func (t *openTurn) call(id string) (openCall, bool) {
	i := slices.IndexFunc(t.calls, func(c openCall) bool { return c.call.ID == id })
	if i < 0 {
		return openCall{}, false
	}
	return t.calls[i], true
}

// snapshot copies the calls for the turn, which must not see them change.
func (t *openTurn) snapshot() []openCall {
	calls := slices.Clone(t.calls)
	for i := range calls {
		calls[i].asked, calls[i].answered = slices.Clone(calls[i].asked), slices.Clone(calls[i].answered)
	}
	return calls
}

// ledger is a conversation as its log tells it. The entries are what the
// prompt is made of; their slice only ever grows or is replaced, so a copy of
// the header is a snapshot.
type ledger struct {
	seq     uint64
	entries []Entry
	summary string
	carried Carried
	turn    *openTurn // nil when none is open

	lastTurn string // the newest that began, open or not
}

// readPage is how many records are read from the store at once.
const readPage = 512

// load reads a stream from a sequence number on.
func (l *ledger) load(ctx context.Context, from storage.Log, stream string, seq uint64) error {
	return each(ctx, from, stream, seq, l.add)
}

// each reads a stream from a sequence number on, entry by entry.
func each(ctx context.Context, from storage.Log, stream string, seq uint64, f func(Entry)) error {
	for {
		records, err := from.Read(ctx, stream, seq, readPage)
		if err != nil {
			return fmt.Errorf("reading %s: %w", stream, err)
		}
		for _, r := range records {
			e, err := decode(r.Seq, r.Data)
			if err != nil {
				return fmt.Errorf("reading %s: %w", stream, err)
			}
			f(e)
			seq = r.Seq + 1
		}
		if len(records) < readPage {
			return nil
		}
	}
}

// add folds one entry in.
func (l *ledger) add(e Entry) {
	l.seq = e.Seq
	if l.turn != nil {
		l.turn.add(e)
	}
	switch b := e.Body.(type) {
	case TurnStarted:
		l.turn, l.lastTurn = &openTurn{id: b.Turn, began: e.Seq, by: b.By, tries: 1}, b.Turn
	case TurnEnded:
		l.turn = nil
	case Summarised:
		l.summarise(b)
	case Cleared:
		l.entries, l.summary = nil, ""
	case ModelPicked:
		l.carried.Model = b.Model
	case AssistantSaid:
		l.carried.spend(b.Model, b.Usage, b.Cost)
		if b.Estimate > 0 && b.Usage.Input > 0 && !b.Usage.Guessed {
			l.carried.Ratio = float64(b.Usage.Input) / float64(b.Estimate)
		}
		l.entries = append(l.entries, e)
	case ScratchpadSet:
		l.carried.Scratchpad = b.Text
	case UserSaid, ToolStated, Noted:
		l.entries = append(l.entries, e)
	case Asked, Answered, Attempted, Suspended:
	default:
		panic(fmt.Sprintf("session: unknown entry %T", b))
	}
}

func (l *ledger) summarise(s Summarised) {
	keep := slices.IndexFunc(l.entries, func(e Entry) bool { return e.Seq > s.Through })
	if keep < 0 {
		keep = len(l.entries)
	}
	l.entries = slices.Clone(l.entries[keep:])
	l.summary = s.Text
	l.carried = s.Carried.clone()
	l.carried.spend(s.Model, s.Usage, s.Cost)
}

// add folds an entry into the open turn.
func (t *openTurn) add(e Entry) {
	switch b := e.Body.(type) {
	case UserSaid:
		if e.Origin != "" {
			t.events = append(t.events, e.Origin)
		}
		if t.replyTo == "" && !b.Private {
			t.replyTo = b.Message
		}
		t.private = t.private || b.Private
	case AssistantSaid:
		t.tries, t.rounds, t.finish = 0, b.Round, b.Finish
		t.calls = nil
		for _, c := range b.Calls {
			t.calls = append(t.calls, openCall{call: c})
		}
		if b.Finish == llm.FinishLength {
			t.lengthen++
		} else {
			t.lengthen = 0
		}
	case ToolStated:
		t.step(b)
	case Asked:
		t.tries = 0
		t.at(b.Call, func(c *openCall) {
			if b.Kind == ask.Approval {
				c.forget()
			}
			c.asked = append(c.asked, b)
		})
	case Answered:
		t.tries = 0
		t.at(b.Call, func(c *openCall) { c.answered = append(c.answered, b) })
	case Attempted:
		t.tries++
	case Summarised, Noted, Suspended, ScratchpadSet:
		t.tries = 0
	case TurnStarted, Cleared, ModelPicked, TurnEnded:
	default:
		panic(fmt.Sprintf("session: unknown entry %T", b))
	}
}

// step notes how far a call has come. That one which ran before runs again is
// nothing new: what ends the process each time it runs must not do so for ever.
// An approval counts for one run.
func (t *openTurn) step(b ToolStated) {
	if b.State.Ended() {
		t.tries = 0
		t.calls = slices.DeleteFunc(t.calls, func(c openCall) bool { return c.call.ID == b.Call })
		return
	}
	t.at(b.Call, func(c *openCall) {
		if b.State != Running {
			return
		}
		if !c.began {
			t.tries = 0
		}
		c.began = true
		c.forget()
	})
}

func (t *openTurn) at(call string, change func(*openCall)) {
	for i := range t.calls {
		if t.calls[i].call.ID == call {
			change(&t.calls[i])
		}
	}
}

// view returns a snapshot for those beside the actor.
func (l *ledger) view() View {
	return View{
		Entries: l.entries[:len(l.entries):len(l.entries)],
		Summary: l.summary,
		Carried: l.carried.clone(),
	}
}

// View is a conversation at one moment: a copy that nobody changes.
type View struct {
	Entries []Entry
	Summary string
	Carried Carried
}
