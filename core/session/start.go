package session

import (
	"fmt"
	"slices"

	"parley/core/chat"
	"parley/storage"
)

// taken is what the head of the messages lane comes to.
type taken struct {
	entries []Entry        // of the messages, with what was edited meanwhile
	items   []storage.Item // everything that is settled by taking them
	refused []waiting      // from people who may no longer talk here
}

// begin starts a turn with the first n of the waiting items.
func (a *actor) begin(items []waiting, n int) error {
	t, err := a.gather(items[:n], items[n:])
	if err != nil {
		return err
	}
	if len(t.entries) == 0 {
		return a.commit(a.dismiss(t))
	}
	b := a.dismiss(t)
	b.ops = append(b.ops, a.open()...)
	turn := OpenTurn{
		Key: a.key, Turn: fmt.Sprintf("%s.%d", a.session, a.ledger.seq+1),
		By: items[0].ev.From, Since: a.host.now(),
	}
	b.log(TurnStarted{turn.Turn, turn.By})
	a.add(&b, t.entries)
	b.ops = append(b.ops, turns.Set(a.session, turn))
	if err := a.commit(b); err != nil {
		return err
	}
	a.launch(0)
	return nil
}

// steer hands a running turn what people said meanwhile: all messages up to
// the first command, which keeps its place.
func (a *actor) steer() error {
	items, err := a.messages()
	if err != nil {
		return err
	}
	if a.halting != nil {
		return errStopped
	}
	end := slices.IndexFunc(items, func(w waiting) bool { return a.host.front.Command(w.ev) })
	if end < 0 {
		end = len(items)
	}
	if end == 0 {
		return nil
	}
	t, err := a.gather(items[:end], items[end:])
	if err != nil {
		return err
	}
	b := a.dismiss(t)
	a.add(&b, t.entries)
	return a.commit(b)
}

// add logs what people said and keeps the files that came with it.
func (a *actor) add(b *batch, entries []Entry) {
	b.entries = append(b.entries, entries...)
	for _, e := range entries {
		said, ok := e.Body.(UserSaid)
		if !ok {
			continue
		}
		for _, f := range said.Files {
			if f.Blob != "" {
				b.ops = append(b.ops, storage.Refer{Blob: f.Blob, Owner: stream(a.session)})
			}
		}
	}
}

// gather turns items into log entries. What later items say about a message
// among them is folded in: an edit replaces the text, a deletion removes the
// message.
func (a *actor) gather(items, later []waiting) (taken, error) {
	var t taken
	changes := slices.Concat(items, later)
	for _, w := range items {
		admitted, err := a.admits(w.ev)
		if err != nil {
			return taken{}, err
		}
		if !admitted {
			t.refused = append(t.refused, w)
			continue
		}
		if body := a.record(w.ev); body != nil && !fold(&body, changes, &t) {
			t.entries = append(t.entries, Entry{Origin: w.ev.ID, Body: body})
		}
		t.items = append(t.items, w.item)
	}
	return t, nil
}

// admits reports whether an event may still be taken. Only what people say is
// in question: a report comes from inside, and the rest says nothing by itself.
func (a *actor) admits(ev chat.Event) (bool, error) {
	if _, said := ev.Body.(chat.Said); !said {
		return true, nil
	}
	ok, err := a.host.front.Admits(a.life.work, ev)
	if err != nil {
		return false, fmt.Errorf("asking whether %s may talk: %w", ev.From.ID, err)
	}
	return ok, nil
}

// record is the entry that an event becomes, nil for none.
func (a *actor) record(ev chat.Event) Body {
	switch b := ev.Body.(type) {
	case chat.Said:
		return UserSaid{From: ev.From, Message: b.Message, Text: b.Text, Files: b.Files, Quoted: b.Quoted, Private: b.Private}
	case chat.Reported:
		return UserSaid{From: ev.From, Text: b.Text, Task: b.Task}
	case chat.Edited, chat.Deleted:
		if text, known := a.remark(ev); known {
			return Noted{text}
		}
		return nil
	case chat.Pressed, chat.Located, chat.Joined, chat.Moved:
		return nil
	default:
		panic(fmt.Sprintf("session: unknown event body %T", b))
	}
}

// fold applies the edits and deletions of a message that still waits, and
// settles them with it. It reports whether the message is gone.
func fold(body *Body, changes []waiting, t *taken) (gone bool) {
	said, ok := (*body).(UserSaid)
	if !ok || said.Message == "" {
		return false
	}
	for _, w := range changes {
		switch c := w.ev.Body.(type) {
		case chat.Edited:
			if c.Message != said.Message {
				continue
			}
			said.Text = c.Text
		case chat.Deleted:
			if c.Message != said.Message {
				continue
			}
			gone = true
		case chat.Said, chat.Pressed, chat.Located, chat.Joined, chat.Moved, chat.Reported:
			continue
		}
		t.items = append(t.items, w.item)
	}
	*body = said
	return gone
}

// dismiss settles what was taken and tells people who may no longer talk that
// they were not heard.
func (a *actor) dismiss(t taken) batch {
	var b batch
	b.finish(t.items...)
	for _, w := range t.refused {
		b.posts = append(b.posts, a.reply(w.ev, nil, Dismissed{w.ev.From})...)
		b.finish(w.item)
	}
	return b
}

// attempts is how often a turn is tried without anything coming of it, the
// first time included.
const attempts = 3

// resume goes on with a turn that a former process left open.
func (a *actor) resume() error {
	t := a.ledger.turn
	if t.tries >= attempts {
		return a.conclude(ending{how: Broken, reason: "too many attempts", sentence: tooManyAttempts})
	}
	if len(t.waits()) == 0 { // waiting for people is no attempt
		var b batch
		b.log(Attempted{t.id})
		if err := a.commit(b); err != nil {
			return err
		}
	}
	a.launch(t.rounds)
	return nil
}
