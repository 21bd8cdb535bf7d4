package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"parley/core/ask"
	"parley/core/chat"
	"parley/core/outbox"
	"parley/storage"
	"parley/tools"
)

// wantAsk puts a request to people and logs what is ready with it.
type wantAsk struct {
	step    step
	asked   Asked // without its id
	request ask.Request
}

// wantHearing waits for a request that was made before a restart.
type wantHearing struct{ asked Asked }

func (wantAsk) wants()     {}
func (wantHearing) wants() {}

// put asks people and waits for what comes of it.
func (t *turn) put(ctx context.Context, a Asked, r ask.Request) (Answered, error) {
	ready := t.ready
	heard, err := t.appeal(ctx, wantAsk{ready, a, r})
	if err != nil {
		return Answered{}, err
	}
	t.ready = step{}
	return t.await(ctx, heard)
}

// hear waits for a request that the log holds.
func (t *turn) hear(ctx context.Context, j *job, a Asked) (Answered, error) {
	if answered, done := j.answer(a.Ask); done {
		return answered, nil
	}
	heard, err := t.appeal(ctx, wantHearing{a})
	if err != nil {
		return Answered{}, err
	}
	return t.await(ctx, heard)
}

// appeal has the actor ask people, and returns where the answer will be heard.
func (t *turn) appeal(ctx context.Context, w wants) (<-chan Answered, error) {
	reply, err := t.tell(ctx, w)
	return reply.heard, err
}

// await waits for an answer. The time that people take is not the turn's.
func (t *turn) await(ctx context.Context, heard <-chan Answered) (Answered, error) {
	t.clock.pause()
	defer t.clock.resume()
	select {
	case a := <-heard:
		return a, nil
	case <-ctx.Done():
		return Answered{}, context.Cause(ctx)
	}
}

// question is what tools.Call.Ask does: it is asked once, also when the call
// is run again after a restart.
func (t *turn) question(ctx context.Context, j *job, q tools.Question) (tools.Answer, error) {
	a := Asked{Kind: ask.Clarification, Call: j.call.ID, Digest: digestOf(q), Again: j.began}
	answered, err := t.clarify(ctx, j, a, q)
	if err != nil {
		return tools.Answer{}, err
	}
	return tools.Answer{Text: answered.Text, By: answered.By, None: answered.None}, nil
}

func (t *turn) clarify(ctx context.Context, j *job, a Asked, q tools.Question) (Answered, error) {
	if old, ok := j.recall(a); ok {
		return t.hear(ctx, j, old)
	}
	redact := t.host.toolbox.redact
	heard, err := t.appeal(ctx, wantAsk{step{}, a, ask.Request{
		Tool: j.spec.Name, Title: redact(q.Title), Question: redact(q.Text), Choices: q.Choices,
		Details: ask.Details{Agent: MainAgent, Chat: t.key.String()},
	}})
	if err != nil {
		return Answered{}, err
	}
	return t.await(ctx, heard)
}

// recall finds the question that was asked before a restart, the first of its
// kind that the call has not taken up again.
func (j *job) recall(a Asked) (Asked, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, old := range j.asked {
		if old.Kind != a.Kind || old.Digest != a.Digest || j.heard[old.Ask] {
			continue
		}
		if j.heard == nil {
			j.heard = make(map[string]bool)
		}
		j.heard[old.Ask] = true
		return old, true
	}
	return Asked{}, false
}

func digestOf(q tools.Question) string {
	text, err := json.Marshal(q)
	if err != nil {
		panic("session: " + err.Error()) // strings only
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// openAsk puts a request to people: the row, the entry and the cards are one
// commit.
func (a *actor) openAsk(w wantAsk) (<-chan Answered, error) {
	if _, open := a.ledger.turn.call(w.asked.Call); !open && w.step.round == nil {
		return nil, errCallOver
	}
	r, err := a.complete(w)
	if err != nil {
		return nil, err
	}
	r, ops, err := a.host.toolbox.Asks.Open(a.life.work, r)
	if errors.Is(err, ask.ErrNobody) {
		return nil, errNobody
	}
	if err != nil {
		return nil, err
	}
	w.asked.Ask = r.ID
	b := a.stepBatch(w.step)
	announced := len(b.posts) > 0 // the words that led to the question come first
	if err := a.release(&b, w.step); err != nil {
		return nil, err
	}
	if old, ok := a.ledger.turn.call(w.asked.Call); ok && r.Kind == ask.Approval {
		if err := a.withdraw(&b, "the call has changed, and is asked about anew", old.approvals()); err != nil {
			return nil, err
		}
	}
	b.ops = append(b.ops, ops...)
	b.log(w.asked)
	for _, card := range r.Cards {
		p := cardPost(ask.CardPost(r, card), card)
		p.Post.InOrder = announced && card.Key == a.key
		b.posts = append(b.posts, p)
	}
	b.audit(a.auditOf(r, "asked", ""))
	if err := a.commit(b); err != nil {
		return nil, err
	}
	return a.listen(w.asked), nil
}

func cardPost(p chat.Post, card ask.Card) Addressed { return Addressed{card.Key, p} }

// complete fills in where a request comes from and who may answer it.
func (a *actor) complete(w wantAsk) (ask.Request, error) {
	if a.host.toolbox.Asks == nil {
		return ask.Request{}, errNobody
	}
	r := w.request
	t := a.ledger.turn
	r.Kind, r.Session, r.Key, r.Turn, r.Call, r.Digest = w.asked.Kind, a.session, a.key, t.id, w.asked.Call, w.asked.Digest
	r.For = t.by
	panel, err := a.host.front.Panel(a.life.work, Asking{Key: a.key, By: t.by, Private: t.private, Kind: r.Kind})
	if err != nil {
		return r, fmt.Errorf("finding who may answer: %w", err)
	}
	r.Answerers, r.Cards = panel.Answerers, panel.Cards
	return r, a.attach(&r)
}

// attach keeps what is too long for a card in files beside it.
func (a *actor) attach(r *ask.Request) error {
	args, preview := r.Details.Overlong()
	for _, long := range []struct {
		is         bool
		name, text string
	}{{args, "arguments.json", r.Details.Args}, {preview, "preview.txt", r.Details.Preview.Text}} {
		if !long.is {
			continue
		}
		blob, err := a.host.store.PutBlob(a.life.work, strings.NewReader(long.text), int64(len(long.text)))
		if err != nil {
			return fmt.Errorf("keeping what is too long for a card: %w", err)
		}
		r.Details.Files = append(r.Details.Files, chat.File{Name: long.name, Type: "text/plain", Size: blob.Size, Blob: blob.ID})
	}
	return nil
}

// listen notes that a turn waits for a request.
func (a *actor) listen(asked Asked) <-chan Answered {
	heard := make(chan Answered, 1)
	if a.running.waits == nil {
		a.running.waits = make(map[string]waiter)
	}
	a.running.waits[asked.Ask] = waiter{asked, heard}
	a.host.outbox.Typing(a.key, false)
	return heard
}

// waiter is a turn that waits for people.
type waiter struct {
	asked Asked
	heard chan<- Answered // holds one
}

// hearAnswers looks which of the requests that the turn waits for have been
// settled, logs that, and lets the turn go on.
func (a *actor) hearAnswers() error {
	if a.running == nil || a.halting != nil {
		return nil
	}
	for id, w := range a.running.waits {
		r, known, err := a.host.toolbox.Asks.Get(a.life.work, id)
		if err != nil {
			return err
		}
		if known && r.State == ask.Open {
			continue
		}
		answered := outcome(w.asked, r, known)
		var b batch
		b.log(answered)
		b.audit(a.auditOf(r, string(r.State), answered.Text))
		if err := a.commit(b); err != nil {
			return err
		}
		delete(a.running.waits, id)
		w.heard <- answered
		a.host.outbox.Typing(a.key, true)
	}
	return nil
}

// outcome is what became of a request. One that is not known any more has
// expired.
func outcome(asked Asked, r ask.Request, known bool) Answered {
	a := Answered{Ask: asked.Ask, Call: asked.Call, None: true, Text: "Nobody answered in time."}
	if !known {
		return a
	}
	a.Approved, a.By, a.State = r.Approved(), r.Answer.By, r.Details.Preview.State
	a.None = r.State != ask.Answered
	a.Text = r.Report()
	if asked.Kind == ask.Clarification && r.State == ask.Answered && r.Answer.Verdict == ask.Replied {
		a.Text = r.Answer.Text
	}
	return a
}

// release withdraws what the calls of a step have asked people and need no
// answer to any more: whether they may run, once they do, and all else when
// they have ended.
func (a *actor) release(b *batch, s step) error {
	for _, body := range s.bodies {
		stated, ok := body.(ToolStated)
		if !ok || a.ledger.turn == nil {
			continue
		}
		call, open := a.ledger.turn.call(stated.Call)
		if !open {
			continue
		}
		useless := call.approvals()
		if stated.State.Ended() {
			useless = call.waits()
		}
		if err := a.withdraw(b, "it is not needed any more", useless); err != nil {
			return err
		}
	}
	return nil
}

// withdraw settles requests whose answers are of no use any more, and says so
// on their cards.
func (a *actor) withdraw(b *batch, why string, open []string) error {
	if a.host.toolbox.Asks == nil || len(open) == 0 {
		return nil
	}
	if a.running != nil {
		for _, id := range open {
			delete(a.running.waits, id)
		}
	}
	requests, ops, err := a.host.toolbox.Asks.Withdraw(a.life.work, why, open...)
	if err != nil {
		return fmt.Errorf("withdrawing questions: %w", err)
	}
	b.ops = append(b.ops, ops...)
	for _, r := range requests {
		b.posts = append(b.posts, Settled(r)...)
	}
	return nil
}

// Settled are the posts that take the place of a settled request's cards.
func Settled(r ask.Request) []Addressed {
	posts := make([]Addressed, 0, len(r.Cards))
	for _, card := range r.Cards {
		posts = append(posts, cardPost(ask.SettledPost(r, card), card))
	}
	return posts
}

// whileWaiting does what a turn that waits for people must not hold up. People
// who write are told that their message is read next; who begins a new
// conversation does not wait for an answer in the old one; and when parley stops
// there is nothing to wait for, since the turn goes on from where it is.
func (a *actor) whileWaiting() error {
	if a.running == nil || len(a.running.waits) == 0 || a.halting != nil {
		return nil
	}
	if a.draining() {
		a.running.cancel(errSuspended)
		return nil
	}
	items, err := a.claim(Messages)
	if err != nil {
		return err
	}
	for _, w := range items {
		if a.running.told[w.item.ID] {
			continue
		}
		if a.running.told == nil {
			a.running.told = make(map[string]bool)
		}
		a.running.told[w.item.ID] = true
		if err := a.acknowledge(w); err != nil {
			return err
		}
	}
	return nil
}

func (a *actor) acknowledge(w waiting) error {
	if a.host.front.Command(w.ev) {
		if effect, err := a.ask(w.ev); err == nil && effect.Act == (Renew{}) {
			a.running.cancel(errRenewed)
		}
		return nil
	}
	if _, said := w.ev.Body.(chat.Said); !said {
		return nil
	}
	next := slices.Min(slices.Collect(maps.Keys(a.running.waits)))
	return a.commit(batch{posts: a.show(Later(w.item.ID), "", nil, Postponed{For: next})})
}

// Later is the id of the post that says of a waiting message that it is read
// next.
func Later(event string) string { return "later/" + event }

// expire settles requests whose time is over, until ctx ends.
func (h *Host) expire(ctx context.Context) {
	if h.toolbox.Asks == nil {
		return
	}
	const every = 30 * time.Second
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		if err := h.expireNow(ctx); err != nil && ctx.Err() == nil {
			h.log.Error().Err(err).Msg("settling questions that nobody answered")
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

func (h *Host) expireNow(ctx context.Context) error {
	due, err := h.toolbox.Asks.Expire(ctx)
	if err != nil {
		return err
	}
	for _, result := range due {
		ops := result.Ops
		var keys []chat.Key
		for _, p := range Settled(result.Request) {
			ops = append(ops, outbox.Put(p.Key, p.Post))
			keys = append(keys, p.Key)
		}
		err := h.store.Apply(ctx, ops...)
		if errors.Is(err, storage.ErrConflict) {
			continue // somebody answered in the last moment
		}
		if err != nil {
			return err
		}
		h.outbox.Wake(keys...)
		h.Wake(result.Request.Key)
	}
	return nil
}
