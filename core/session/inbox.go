package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"parley/core/chat"
	"parley/storage"
)

// claimFor is how long a claim on inbox items stands. It is renewed whenever
// the lane is read, and only matters where several processes share a store.
const claimFor = time.Hour

// laneSize is more than a lane can hold (the gateway refuses at 200), so one
// claim sees all of it.
const laneSize = 1000

// waiting is an inbox item with its event.
type waiting struct {
	item storage.Item
	ev   chat.Event
}

// work does all that can be done at once: control commands first, then the
// unfinished turn or the next message.
func (a *actor) work() error {
	if err := a.drainControl(); err != nil {
		return err
	}
	if err := a.hearAnswers(); err != nil {
		return err
	}
	if err := a.whileWaiting(); err != nil {
		return err
	}
	if a.running != nil || a.halting != nil || a.draining() {
		return nil
	}
	if a.ledger.turn != nil {
		return a.resume()
	}
	return a.next()
}

// drainControl runs what stands in the control lane, in order. A /stop that
// has to wait for its turn holds the rest. What arrives meanwhile is for the
// next time, so that a flood of commands starves nobody.
func (a *actor) drainControl() error {
	if a.halting != nil {
		return nil
	}
	items, err := a.claim(Control)
	if err != nil {
		return err
	}
	for _, w := range items {
		if err := a.command(w); err != nil || a.halting != nil {
			return err
		}
	}
	return nil
}

// next takes messages until a turn runs or none are left.
func (a *actor) next() error {
	for a.running == nil && !a.draining() {
		items, err := a.messages()
		if err != nil || len(items) == 0 {
			return err
		}
		if err := a.take(items); err != nil {
			return err
		}
	}
	return nil
}

// messages returns what waits in the messages lane, when everything that was
// accepted before it in the control lane has been dealt with: a message said
// after a /stop must not be taken by what that /stop ends. It returns none
// while a /stop is under way.
func (a *actor) messages() ([]waiting, error) {
	for {
		items, err := a.claim(Messages)
		if err != nil || len(items) == 0 {
			return nil, err
		}
		control, err := a.claim(Control)
		if err != nil {
			return nil, err
		}
		if len(control) == 0 || control[0].item.Seq > items[len(items)-1].item.Seq {
			return items, nil
		}
		if err := a.drainControl(); err != nil || a.halting != nil {
			return nil, err
		}
	}
}

// take handles the first of the waiting items, together with what later ones
// say about it.
func (a *actor) take(items []waiting) error {
	w := items[0]
	switch b := w.ev.Body.(type) {
	case chat.Said:
		if a.host.front.Command(w.ev) {
			return a.command(w)
		}
		return a.begin(items, album(items))
	case chat.Pressed:
		return a.command(w)
	case chat.Reported:
		return a.begin(items, 1)
	case chat.Edited, chat.Deleted:
		return a.note(w)
	case chat.Located, chat.Joined, chat.Moved:
		var done batch
		done.finish(w.item)
		return a.commit(done)
	default:
		panic(fmt.Sprintf("session: unknown event body %T", b))
	}
}

// album returns how many of the items are the first message: the pictures of
// an album are one.
func album(items []waiting) int {
	first, _ := items[0].ev.Body.(chat.Said)
	n := 1
	for ; n < len(items) && first.Album != ""; n++ {
		next, ok := items[n].ev.Body.(chat.Said)
		if !ok || next.Album != first.Album || items[n].ev.From.ID != items[0].ev.From.ID {
			break
		}
	}
	return n
}

// claim returns what waits in a lane. An item that cannot be read is buried
// with the reason and never holds up the rest.
func (a *actor) claim(lane string) ([]waiting, error) {
	store, ctx := a.host.store, a.life.work
	until := a.host.now().Add(claimFor)
	items, err := store.Claim(ctx, Inbox, a.key.String(), lane, a.host.name, until, laneSize)
	if err != nil {
		return nil, fmt.Errorf("reading the inbox of %s: %w", a.key, err)
	}
	list := make([]waiting, 0, len(items))
	for _, item := range items {
		w := waiting{item: item}
		if err := json.Unmarshal(item.Data, &w.ev); err != nil {
			a.host.log.Error().Err(err).Str("event", item.ID).Msg("unreadable event set aside")
			bury := batch{ops: []storage.Op{storage.Bury{Queue: Inbox, ID: item.ID, Reason: err.Error()}}}
			if err := a.commit(bury); err != nil {
				return nil, err
			}
			continue
		}
		list = append(list, w)
	}
	return list, nil
}

// note records that a message was edited or deleted after it had been taken,
// if the conversation knows it at all.
func (a *actor) note(w waiting) error {
	var b batch
	if text, known := a.remark(w.ev); known {
		b.entries = append(b.entries, Entry{Origin: w.ev.ID, Body: Noted{text}})
	}
	b.finish(w.item)
	return a.commit(b)
}

// remark says in words what an edit or a deletion did to a message that the
// log holds.
func (a *actor) remark(ev chat.Event) (text string, known bool) {
	who := speaker(ev.From)
	switch b := ev.Body.(type) {
	case chat.Edited:
		said, known := a.said(b.Message)
		return fmt.Sprintf("%s edited an earlier message, from %q to: %s", who, clip(said), b.Text), known
	case chat.Deleted:
		said, known := a.said(b.Message)
		return fmt.Sprintf("%s deleted an earlier message: %q", who, clip(said)), known
	default:
		return "", false
	}
}

func (a *actor) said(m chat.MessageID) (text string, known bool) {
	for _, e := range a.ledger.entries {
		if u, ok := e.Body.(UserSaid); ok && u.Message == m && m != "" {
			return u.Text, true
		}
	}
	return "", false
}

// clip shortens a text to what identifies it.
func clip(s string) string {
	const most = 80
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most]) + "…"
}

// command runs one command and commits what comes of it.
func (a *actor) command(w waiting) error {
	const tries = 5
	for range tries {
		effect, err := a.ask(w.ev)
		if err != nil {
			return a.puzzled(w, err)
		}
		err = a.perform(w, effect)
		if !errors.Is(err, storage.ErrConflict) {
			return err
		}
	}
	return a.puzzled(w, fmt.Errorf("running command: %w after %d tries", storage.ErrConflict, tries))
}

// ask has the front run a command; its panic is an error like any other.
func (a *actor) ask(ev chat.Event) (effect Effect, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("running command: panic: %v\n%s", p, debug.Stack())
		}
	}()
	return a.host.front.Run(a.life.work, ev, a.scene())
}

func (a *actor) puzzled(w waiting, cause error) error {
	ref := newID()[:6]
	a.host.log.Error().Err(cause).Str("ref", ref).Stringer("key", a.key).Msg("command failed")
	b := batch{posts: a.reply(w.ev, nil, Puzzled{ref})}
	b.finish(w.item)
	return a.commit(b)
}

// reply presents what came of an event to whoever caused it; further events
// may be settled with it.
func (a *actor) reply(ev chat.Event, also []string, h Happening) []Addressed {
	posts := a.show("event/"+ev.ID, "", append([]string{ev.ID}, also...), h)
	for i := range posts {
		posts[i].Post.For = ev.From
		if posts[i].Post.Kind == chat.Answer {
			posts[i].Post.Kind = chat.Notice
		}
	}
	if len(posts) > 0 {
		posts[0].Post.Ticket = ev.Ticket
	}
	return posts
}

// perform commits an effect. storage.ErrConflict means that nothing of it
// happened.
func (a *actor) perform(w waiting, e Effect) error {
	b := batch{ops: e.Ops, posts: e.Posts, wake: e.Wake, then: e.Then}
	switch act := e.Act.(type) {
	case nil:
		b.finish(w.item)
		return a.commit(b)
	case Stop:
		return a.stop(&halting{item: w.item, ev: w.ev, want: act, rest: e})
	case Renew:
		return a.renew(w, b)
	case Clear:
		if a.session != "" {
			b.log(Cleared{})
		}
		b.posts = append(b.posts, a.reply(w.ev, nil, Wiped{})...)
		b.finish(w.item)
		return a.commit(b)
	case Pick:
		return a.pick(w, b, act)
	case Compact:
		return a.compactNow(w)
	default:
		panic(fmt.Sprintf("session: unknown act %T", act))
	}
}

// renew begins a new conversation: the next message opens its log.
func (a *actor) renew(w waiting, b batch) error {
	b.ops = append(b.ops, routes.Remove(a.key.String()))
	b.posts = append(b.posts, a.reply(w.ev, nil, Renewed{})...)
	b.finish(w.item)
	if err := a.commit(b); err != nil {
		return err
	}
	if rules := a.host.toolbox.Policy; rules != nil {
		rules.Forget(a.session) // what was let through was let through there
	}
	a.session, a.row = "", Row{}
	a.ledger = ledger{lastTurn: a.ledger.lastTurn} // a /stop may still mean its posts
	return nil
}

func (a *actor) pick(w waiting, b batch, p Pick) error {
	b.ops = append(b.ops, a.open()...)
	b.log(ModelPicked(p))
	b.posts = append(b.posts, a.reply(w.ev, nil, Picked(p))...)
	b.finish(w.item)
	return a.commit(b)
}

// open returns the ops that create the conversation if there is none yet.
func (a *actor) open() []storage.Op {
	if a.session != "" {
		return nil
	}
	a.session = newID()
	a.row = Row{Key: a.key, From: 1, Born: a.host.now()}
	return []storage.Op{routes.Set(a.key.String(), a.session), sessions.Set(a.session, a.row)}
}
