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
	return await(ctx, heard)
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
	return await(ctx, heard)
}

// appeal has the actor ask people, and returns where the answer will be heard.
func (t *turn) appeal(ctx context.Context, w wants) (<-chan Answered, error) {
	reply, err := t.tell(ctx, w)
	return reply.heard, err
}

func await(ctx context.Context, heard <-chan Answered) (Answered, error) {
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
	for _, old := range j.asked {
		if old.Kind == a.Kind && old.Digest == a.Digest {
			return t.hear(ctx, j, old)
		}
	}
	heard, err := t.appeal(ctx, wantAsk{step{}, a, ask.Request{
		Tool: j.spec.Name, Title: q.Title, Question: q.Text, Choices: q.Choices,
		Details: ask.Details{Agent: MainAgent, Chat: t.key.String()},
	}})
	if err != nil {
		return Answered{}, err
	}
	return await(ctx, heard)
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
	b.ops = append(b.ops, ops...)
	b.log(w.asked)
	announced := len(b.posts) > 0 // the words that led to the question come first
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

// withdraw settles the open requests of the open turn and says so on their
// cards.
func (a *actor) withdraw(b *batch, why string) error {
	if a.ledger.turn == nil || a.host.toolbox.Asks == nil {
		return nil
	}
	open := a.ledger.turn.waits()
	if len(open) == 0 {
		return nil
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

// acknowledge tells people who write while a turn waits for an answer that
// their message is read next.
func (a *actor) acknowledge() error {
	if a.running == nil || len(a.running.waits) == 0 || a.halting != nil {
		return nil
	}
	items, err := a.claim(Messages)
	if err != nil {
		return err
	}
	for _, w := range items {
		if a.running.told[w.item.ID] || a.host.front.Command(w.ev) {
			continue
		}
		if a.running.told == nil {
			a.running.told = make(map[string]bool)
		}
		a.running.told[w.item.ID] = true
		posts := a.show("later/"+w.item.ID, "", nil, Postponed{For: slices.Min(slices.Collect(maps.Keys(a.running.waits)))})
		if err := a.commit(batch{posts: posts}); err != nil {
			return err
		}
	}
	return nil
}

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
