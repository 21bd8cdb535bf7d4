package session

import (
	"slices"

	"parley/core/llm"
)

// serve does what a turn asks for.
func (a *actor) serve(w wants) grant {
	if a.halting != nil {
		return grant{err: errStopped}
	}
	var err error
	var heard <-chan Answered
	switch w := w.(type) {
	case wantSteering:
		if a.draining() {
			return grant{err: errSuspended}
		}
		err = a.steer()
	case wantRound:
		err = a.commit(a.roundBatch(w))
	case wantStep:
		err = a.commitStep(w.step)
	case wantAsk:
		heard, err = a.openAsk(w)
	case wantHearing:
		heard = a.listen(w.asked)
	case wantSummary:
		err = a.commit(a.summaryBatch(w.summary))
	default:
		panic("session: unknown request of a turn")
	}
	return grant{a.ledger.view(), heard, err}
}

// commitStep logs what a turn has ready; nothing is fine.
func (a *actor) commitStep(s step) error {
	if s.empty() {
		return nil
	}
	b := a.stepBatch(s)
	if err := a.release(&b, s); err != nil {
		return err
	}
	return a.commit(b)
}

func (a *actor) stepBatch(s step) batch {
	var b batch
	if s.round != nil {
		b = a.roundBatch(*s.round)
	}
	b.log(s.bodies...)
	b.audit(s.audit...)
	for _, x := range s.shown {
		t := a.ledger.turn
		b.posts = append(b.posts, a.show(x.post, t.id, nil, Showed{x.text, x.files})...)
	}
	return b
}

func (a *actor) roundBatch(w wantRound) batch {
	var b batch
	b.log(w.said)
	if w.said.Text != "" || len(w.notes) > 0 {
		spoke := Spoke{Text: w.said.Text, Notes: w.notes, ReplyTo: a.ledger.turn.replyTo}
		b.posts = a.show(post(w.said.Turn, w.said.Round), w.said.Turn, nil, spoke)
	}
	return b
}

// summaryBatch logs a summary and moves the place from which the log is read:
// behind what it stands for, but never past the start of an open turn, or a
// restart would not find the turn.
func (a *actor) summaryBatch(s Summarised) batch {
	s.Carried = a.ledger.carried.clone()
	row := a.row
	row.From = s.Through + 1
	if t := a.ledger.turn; t != nil {
		row.From = min(row.From, t.began)
	}
	a.row = row
	var b batch
	b.log(s)
	b.ops = append(b.ops, sessions.Set(a.session, row))
	return b
}

// conclude ends the running turn, whatever ended it, in one commit: what it
// still has to say, its end, and the post that settles its events.
func (a *actor) conclude(e ending) error {
	running, halting := a.running, a.halting
	a.running, a.halting = nil, nil
	a.host.outbox.Typing(a.key, false)
	switch {
	case running != nil && running.item != nil:
		return a.compacted(*running.item, e, halting)
	case halting != nil:
		return a.halt(halting, &e)
	case e.how == "":
		return a.suspend(e)
	}
	if e.reason != "" {
		a.host.log.Warn().Stringer("key", a.key).Str("turn", a.ledger.turn.id).
			Str("how", string(e.how)).Str("reason", e.reason).Msg("turn ended without an answer")
	}
	t := a.ledger.turn
	draft := post(t.id, t.rounds+1)
	b, err := a.close(e)
	if err != nil {
		return err
	}
	b.posts = append(b.posts, a.lastWords(t, e)...)
	if err := a.commit(b); err != nil {
		return err
	}
	if e.how != Final {
		a.host.outbox.Draft(a.key, draft, "")
	}
	return nil
}

// close logs the end of the open turn. Every call that has no result gets
// one, and every request that is open is withdrawn.
func (a *actor) close(e ending) (batch, error) {
	t := a.ledger.turn
	b := a.stepBatch(e.late)
	if e.how == Stopped {
		b.posts = nil // what was not shown yet is not shown any more
	}
	if e.said != nil {
		b.log(*e.said)
	}
	for _, c := range unanswered(t, e.late) {
		b.log(ToolStated{Call: c.ID, Name: c.Name, State: Cancelled, Result: "cancelled: the turn ended before this was done"})
	}
	b.log(TurnEnded{t.id, e.how, e.reason})
	b.ops = append(b.ops, turns.Remove(a.session))
	return b, a.withdraw(&b, closing[e.how], t.waits())
}

// closing says on the card of an open request why its answer is of no use any
// more.
var closing = map[How]string{
	Stopped:   "stopped",
	Exhausted: "the turn ended before somebody answered",
	Broken:    "the turn failed before somebody answered",
	Final:     "the turn has ended",
}

// unanswered are the calls that have no result, what is logged late counted
// in.
func unanswered(t *openTurn, late step) []llm.Call {
	var calls []llm.Call
	for _, c := range t.calls {
		calls = append(calls, c.call)
	}
	if late.round != nil {
		calls = late.round.said.Calls
	}
	return slices.DeleteFunc(slices.Clone(calls), func(c llm.Call) bool {
		return slices.ContainsFunc(late.bodies, func(b Body) bool {
			s, ok := b.(ToolStated)
			return ok && s.Call == c.ID && s.State.Ended()
		})
	})
}

// lastWords is the post that ends a turn.
func (a *actor) lastWords(t *openTurn, e ending) []Addressed {
	if e.how == Final {
		spoke := Spoke{
			Text: e.said.Text, Notes: e.notes, Last: true,
			Cut: e.said.Finish == llm.FinishLength, ReplyTo: t.replyTo,
		}
		return a.show(post(t.id, e.said.Round), t.id, t.events, spoke)
	}
	return a.show(t.id+"/0/end", t.id, t.events, Faltered{e.how, e.sentence, t.replyTo})
}

// suspend records that the turn was left because parley stops, so that going
// on with it does not count as an attempt.
func (a *actor) suspend(e ending) error {
	b := a.stepBatch(e.late)
	if err := a.release(&b, e.late); err != nil {
		return err
	}
	b.log(Suspended{a.ledger.turn.id})
	return a.commit(b)
}
