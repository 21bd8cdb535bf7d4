package outbox

import (
	"context"
	"fmt"
	"time"

	"parley/core/chat"
	"parley/storage"
)

// Letter is a post that could not be shown, kept until somebody revives or
// drops it.
type Letter struct {
	ID     string
	Key    chat.Key
	Post   chat.Post
	Shown  int // how many of its parts are on the screen
	Reason string
	At     time.Time
}

// apology is what a chat reads about a post that could not be shown whole.
const apology = "Part of this answer could not be shown."

// Dead lists the dead letters, the oldest first.
func (o *Outbox) Dead(ctx context.Context) ([]Letter, error) {
	var all []Letter
	err := o.eachItem(ctx, storage.Filter{State: storage.StateDead}, func(it storage.Item) {
		letter := Letter{ID: it.ID, Reason: it.Reason, At: it.Since}
		letter.Key, _ = chat.ParseKey(it.Key)
		if rec, err := decodeRecord(it); err == nil {
			letter.Post, letter.Shown = rec.Post, len(rec.Shown)
		}
		all = append(all, letter)
	})
	return all, err
}

// Revive puts a dead letter at the end of its lane again. It goes on at the
// first part that is not shown. An id that is no dead letter is an error, so a
// second call is.
func (o *Outbox) Revive(ctx context.Context, id string) error {
	k, err := o.settleLetter(ctx, id, storage.Revive{Queue: queue, ID: id})
	if err == nil {
		o.Wake(k)
	}
	return err
}

// Drop removes a dead letter for good, and its live preview from the chat. An
// id that is no dead letter is an error, so a second call is.
func (o *Outbox) Drop(ctx context.Context, id string) error {
	k, err := o.settleLetter(ctx, id, storage.Drop{Queue: queue, ID: id})
	if err == nil {
		o.tell(k, func(m *mail) { m.draft(id, "") })
	}
	return err
}

// settleLetter applies op to a dead letter and returns its chat.
func (o *Outbox) settleLetter(ctx context.Context, id string, op storage.Op) (chat.Key, error) {
	item, err := o.store.Item(ctx, queue, id)
	if err != nil {
		return chat.Key{}, fmt.Errorf("reading dead letter %q: %w", id, err)
	}
	if item.State != storage.StateDead {
		return chat.Key{}, fmt.Errorf("settling dead letter %q: it is %s", id, item.State)
	}
	if err := o.store.Apply(ctx, op); err != nil {
		return chat.Key{}, fmt.Errorf("settling dead letter %q: %w", id, err)
	}
	k, err := chat.ParseKey(item.Key)
	if err != nil {
		return chat.Key{}, fmt.Errorf("settling dead letter %q: %w", id, err)
	}
	return k, nil
}

// refused is what happens to a post whose next part the platform will not
// take: a reply to a ticket that ran out is shown without it, a post for one
// person goes to that person's private chat, all else is a dead letter.
func (j *job) refused(why error) {
	p := &j.rec.Post
	switch {
	case p.Only && !j.rec.Forwarded && !j.box.traits(j.key).Private:
		j.forward(why.Error())
	case j.rec.Forwarded && len(j.rec.Shown) == 0 && judge(why) == never:
		j.nowhere("the person's private chat refuses it: " + why.Error())
	case p.Ticket != "" && judge(why) == never:
		j.dropTicket()
	default:
		j.bury(why)
	}
}

// dropTicket makes an ordinary post of a reply, in its place.
func (j *job) dropTicket() {
	j.rec.Post.Ticket = ""
	for i := range j.rec.Parts {
		j.rec.Parts[i].Ticket = ""
	}
	if len(j.rec.Shown) == 0 {
		j.rec.Parts, j.rec.Over, j.rec.Stale = nil, nil, nil // decided anew
	}
	if j.commit(j.rec.update()) {
		j.recover()
	}
}

// bury makes the post a dead letter and tells the chat, if somebody there
// would miss something.
func (j *job) bury(why error) {
	j.log.Error().Err(why).Str("post", j.rec.Post.ID).Msg("post cannot be shown")
	j.rec.Tried = j.unsure()
	ops := []storage.Op{j.rec.update(), storage.Bury{Queue: queue, ID: j.item.ID, Reason: why.Error()}}
	if j.rec.Apology {
		ops = []storage.Op{storage.Drop{Queue: queue, ID: j.item.ID}}
	}
	ops = append(ops, j.heirs...)
	p := j.rec.Post
	if !j.rec.Apology && (len(j.rec.Shown) > 0 || p.Kind == chat.Answer) {
		ops = append(ops, sorry(p).enqueue(j.key))
	}
	if j.commit(ops...) {
		j.report(func(s *status) { s.since, s.why = time.Time{}, "" })
		j.through(j.item.ID)
		j.stale = true
	}
}

func sorry(p chat.Post) record {
	return record{Apology: true, Post: chat.Post{
		ID: p.ID + "/sorry", Kind: chat.Notice, Text: apology,
		For: p.For, Only: p.Only, Silent: p.Silent, Turn: p.Turn, Answers: p.Answers,
	}}
}

// discard buries an item that cannot even be read.
func (j *job) discard(why error) {
	j.log.Error().Err(why).Str("post", j.item.ID).Msg("post cannot be read")
	if j.commit(storage.Bury{Queue: queue, ID: j.item.ID, Reason: why.Error()}) {
		j.through(j.item.ID)
	}
}
