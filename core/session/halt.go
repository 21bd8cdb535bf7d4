package session

import (
	"slices"

	"parley/core/chat"
	"parley/storage"
)

// halting is a stop under way: the command, and what it wants.
type halting struct {
	item storage.Item
	ev   chat.Event
	want Stop
	rest Effect
}

// means reports whether the stop means what this account did.
func (h *halting) means(who chat.UserID) bool {
	return h.want.Only == nil || slices.Contains(h.want.Only, who)
}

// stop begins a /stop. With a turn running it is completed when that has
// ended; until then no further control command is looked at.
func (a *actor) stop(h *halting) error {
	switch {
	case !a.concerned(h):
		return a.halt(h, nil)
	case a.running == nil: // it was left open by a former process
		return a.halt(h, &ending{})
	default:
		a.halting = h
		a.running.cancel(errStopped)
		return nil
	}
}

// concerned reports whether a stop means the turn that is open, or the
// /compact that runs.
func (a *actor) concerned(h *halting) bool {
	if a.running != nil && a.running.item != nil {
		return h.means(a.running.item.ev.From.ID)
	}
	return a.ledger.turn != nil && h.means(a.ledger.turn.by.ID)
}

// halt completes a /stop: the turn that it ended is closed, what was accepted
// before the command is dropped, and so is what of the answer was not shown
// yet. One post says so and settles everything. However the turn ended, it is
// a stopped one now: it may have come to its answer while it was being told.
func (a *actor) halt(h *halting, ended *ending) error {
	b, happened, settles, err := a.breakOff(ended)
	if err != nil {
		return err
	}
	turn := a.ledger.lastTurn
	draft := ""
	if t := a.ledger.turn; t != nil && ended != nil {
		draft = post(t.id, t.rounds+1)
	}
	if ended != nil || h.want.Only == nil {
		withdrawn, err := a.host.outbox.Withdraw(a.life.work, a.key, turn)
		if err != nil {
			return err
		}
		happened.Withdrawn = len(withdrawn.Posts) > 0
		b.ops = append(b.ops, withdrawn.Ops...)
		settles = append(settles, withdrawn.Answers...)
	}
	dropped, err := a.before(h)
	if err != nil {
		return err
	}
	happened.Dropped = len(dropped)
	settles = append(settles, a.drop(&b, dropped)...)
	b.finish(h.item)
	b.ops = append(b.ops, h.rest.Ops...)
	b.posts = append(b.posts, a.halted(h, draft, settles, happened)...)
	b.posts = append(b.posts, h.rest.Posts...)
	b.wake = append(h.rest.Wake, a.key)
	if err := a.commit(b); err != nil {
		return err
	}
	if draft != "" && happened.Shown == "" {
		a.host.outbox.Draft(a.key, draft, "")
	}
	return nil
}

// breakOff closes the turn that a stop ended, if it is one that is open. It
// also returns the events that the turn had taken up.
func (a *actor) breakOff(ended *ending) (b batch, happened Halted, settles []string, err error) {
	happened.Turn = ended != nil
	t := a.ledger.turn
	if t == nil || ended == nil {
		return b, happened, nil, nil
	}
	said := broken(t, ended)
	if said != nil && a.host.outbox.Live(a.key) {
		happened.Shown = said.Text
	}
	b, err = a.close(ending{how: Stopped, said: said, late: ended.late})
	return b, happened, slices.Clone(t.events), err
}

// broken is the answer of a stopped turn, as far as it had come. Calls in it
// have not run, and nobody will ever answer them.
func broken(t *openTurn, e *ending) *AssistantSaid {
	said := AssistantSaid{Turn: t.id, Text: e.partial}
	if e.said != nil {
		said = *e.said
		said.Calls = nil
	} else if e.partial == "" {
		return nil
	}
	said.Round, said.Stopped = t.rounds+1, true
	return &said
}

// before lists the waiting messages that were accepted before the command.
func (a *actor) before(h *halting) ([]waiting, error) {
	items, err := a.claim(Messages)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(items, func(w waiting) bool {
		return w.item.Seq > h.item.Seq || !h.means(w.ev.From.ID)
	}), nil
}

// drop takes messages off the inbox unread. It returns the events that are
// still to be settled: what came with a ticket gets a post of its own.
func (a *actor) drop(b *batch, list []waiting) (unsettled []string) {
	for _, w := range list {
		b.finish(w.item)
		if w.ev.Ticket != "" {
			b.posts = append(b.posts, a.reply(w.ev, nil, Overtaken{})...)
			continue
		}
		unsettled = append(unsettled, w.item.ID)
	}
	return unsettled
}

// halted presents a stop. What stands in the chat of the answer is kept, by
// the post that it would have become.
func (a *actor) halted(h *halting, draft string, settles []string, happened Halted) []Addressed {
	if h.want.Only != nil && !happened.Turn && happened.Dropped == 0 {
		return nil
	}
	if happened.Shown == "" {
		return a.reply(h.ev, settles, happened)
	}
	if h.ev.Ticket == "" {
		return a.show(draft, "", append([]string{h.ev.ID}, settles...), happened)
	}
	notice := happened
	notice.Shown = ""
	return append(a.reply(h.ev, settles, notice), a.show(draft, "", nil, happened)...)
}
