package session

import "parley/core/llm"

// serve does what a turn asks for.
func (a *actor) serve(w wants) (View, error) {
	if a.halting != nil {
		return View{}, errStopped
	}
	var err error
	switch w := w.(type) {
	case wantSteering:
		if a.draining() {
			return View{}, errSuspended
		}
		err = a.steer()
	case wantRound:
		err = a.commit(a.roundBatch(w))
	case wantSummary:
		err = a.commit(a.summaryBatch(w.summary))
	default:
		panic("session: unknown request of a turn")
	}
	return a.ledger.view(), err
}

func (a *actor) roundBatch(w wantRound) batch {
	var b batch
	b.log(w.said)
	for _, r := range w.results {
		b.log(r)
	}
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
		return a.suspend()
	}
	if e.reason != "" {
		a.host.log.Warn().Stringer("key", a.key).Str("turn", a.ledger.turn.id).
			Str("how", string(e.how)).Str("reason", e.reason).Msg("turn ended without an answer")
	}
	t := a.ledger.turn
	draft := post(t.id, t.rounds+1)
	b := a.close(e)
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
// one.
func (a *actor) close(e ending) batch {
	t := a.ledger.turn
	var b batch
	if e.said != nil {
		b.log(*e.said)
	}
	for _, c := range t.pending {
		b.log(ToolStated{c.ID, c.Name, Cancelled, "cancelled: the turn ended before this was done"})
	}
	b.log(TurnEnded{t.id, e.how, e.reason})
	b.ops = append(b.ops, turns.Remove(a.session))
	return b
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
func (a *actor) suspend() error {
	var b batch
	b.log(Suspended{a.ledger.turn.id})
	return a.commit(b)
}
