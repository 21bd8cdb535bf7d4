package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"parley/core/access"
	"parley/core/chat"
	"parley/core/outbox"
	"parley/core/session"
	"parley/storage"
)

// LaneSize is how many events one lane of the inbox holds.
const LaneSize = 200

// Accept takes events in; see [chat.Inbound]. It does not wait for a turn.
// Events of one chat are taken in one batch after another, so that what is
// delivered twice at once is judged once. An event that no adapter should make
// is logged and passed over: failing would have the platform hand it over for
// ever, and everything behind it.
func (g *Gateway) Accept(ctx context.Context, at chat.Cursor, events ...chat.Event) error {
	leave, err := g.doors.enter(ctx, events)
	if err != nil {
		return fmt.Errorf("accepting events: %w", err)
	}
	defer leave()
	in := intake{seen: make(map[string]bool), count: make(map[string]int), full: make(map[string]bool)}
	for _, ev := range events {
		if problem := malformed(ev); problem != "" {
			g.log.Error().Str("event", clip(ev.ID)).Stringer("key", ev.Key).Str("problem", problem).Msg("event passed over")
			continue
		}
		if err := g.admit(ctx, ev, &in); err != nil {
			return fmt.Errorf("accepting event %s: %w", ev.ID, err)
		}
	}
	if at.Name != "" {
		in.ops = append(in.ops, cursors.Set(at.Name, at.Value))
	}
	return g.flush(ctx, in)
}

// intake is what a batch of events comes to.
type intake struct {
	seen  map[string]bool // ids of this batch
	ops   []storage.Op
	count map[string]int  // events for each lane, of this batch
	full  map[string]bool // lanes that were found full, or not
	wake  []chat.Key
	shown []chat.Key
}

// flush commits a batch and tells those who wait for it.
func (g *Gateway) flush(ctx context.Context, in intake) error {
	if err := g.store.Apply(ctx, in.ops...); err != nil {
		return fmt.Errorf("accepting events: %w", err)
	}
	g.note(in.full)
	g.outbox.Wake(in.shown...)
	g.wake(in.wake...)
	return nil
}

// admit judges one event and adds what it comes to.
func (g *Gateway) admit(ctx context.Context, ev chat.Event, in *intake) error {
	if in.seen[ev.ID] {
		return nil
	}
	in.seen[ev.ID] = true
	_, err := g.store.Item(ctx, session.Inbox, ev.ID)
	if err == nil {
		return nil // a redelivery
	}
	if !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	if said, ok := ev.Body.(chat.Said); ok {
		if line, _ := Parse(said.Text); strayed(line, said) {
			return nil // another bot's, whoever listens to all that is said
		}
	}
	verdict, err := g.access.After(in.ops).Judge(ctx, ev)
	if err != nil {
		return err
	}
	in.ops = append(in.ops, verdict.Ops...)
	if verdict.Admit || verdict.Command && g.Command(ev) {
		if ev, err = g.answering(ctx, ev, in); err != nil {
			return err
		}
		return g.enqueue(ctx, ev, in)
	}
	g.refuse(ev, verdict, in)
	return nil
}

// longestID bounds what ids are made of: with what parley puts before them
// they have to be names in the store.
const longestID = 1 << 10

// malformed says what is wrong with an event that no adapter should make.
func malformed(ev chat.Event) string {
	key := ev.Key.String()
	read, err := chat.ParseKey(key)
	switch {
	case ev.ID == "":
		return "the event has no id"
	case ev.Key.IsZero():
		return "the event has no chat"
	case err != nil || read != ev.Key:
		return "the key of its chat cannot be stored"
	case len(ev.ID) > longestID || len(key) > longestID || len(ev.Ticket) > longestID:
		return "an id is too long"
	case !utf8.ValidString(ev.ID) || !utf8.ValidString(ev.Ticket):
		return "an id is not text"
	case ev.Body == nil:
		return "the event has no body"
	case ev.From.ID == system:
		return "the event claims to come from parley itself"
	default:
		return ""
	}
}

// clip shortens an id for the log.
func clip(id string) string { return id[:min(64, len(id))] }

// refuse answers an event that is not admitted, if there is anything to say,
// and makes it known, so that a redelivery is not answered again.
func (g *Gateway) refuse(ev chat.Event, v access.Verdict, in *intake) {
	g.log.Debug().Str("event", ev.ID).Str("from", string(ev.From.ID)).Str("why", v.Why).Msg("event refused")
	if v.Reply == "" && len(v.Ops) == 0 && ev.Ticket == "" {
		return // nothing to remember: the next one is refused as silently
	}
	in.ops = append(in.ops, storage.Enqueue{
		Queue: session.Inbox, ID: ev.ID, Key: ev.Key.String(), Lane: session.Messages, Done: true,
	})
	reply := v.Reply
	if reply == "" && ev.Ticket != "" {
		reply = "You may not do that here."
	}
	if reply != "" {
		in.show(ev, "refused/"+ev.ID, reply)
	}
}

// show adds a notice that settles an event.
func (in *intake) show(ev chat.Event, id, text string) {
	in.post(ev.Key, chat.Post{
		ID: id, Kind: chat.Notice, Text: text, Ticket: ev.Ticket,
		For: ev.From, Answers: []string{ev.ID},
	})
}

// tell adds a notice about an event that goes on.
func (in *intake) tell(ev chat.Event, id, text string) {
	in.post(ev.Key, chat.Post{ID: id, Kind: chat.Notice, Text: text, For: ev.From})
}

func (in *intake) post(key chat.Key, p chat.Post) {
	in.ops = append(in.ops, outbox.Put(key, p))
	in.shown = append(in.shown, key)
}

// enqueue puts an admitted event into its lane, or refuses it when that is
// full.
func (g *Gateway) enqueue(ctx context.Context, ev chat.Event, in *intake) error {
	lane := g.lane(ev)
	key := ev.Key.String()
	waiting, err := g.store.Waiting(ctx, session.Inbox, key, lane)
	if err != nil {
		return err
	}
	line := lane + " " + key
	full := waiting+in.count[line] >= LaneSize
	news := full && !in.full[line] && !g.knownFull(line)
	in.full[line] = full
	op := storage.Enqueue{Queue: session.Inbox, ID: ev.ID, Key: key, Lane: lane, Done: full}
	if !full {
		if op.Data, err = json.Marshal(ev); err != nil {
			return fmt.Errorf("encoding event: %w", err)
		}
		in.count[line]++
		in.wake = append(in.wake, ev.Key)
	}
	in.ops = append(in.ops, op)
	if news || full && ev.Ticket != "" {
		in.show(ev, "full/"+ev.ID, fmt.Sprintf(
			"There are %d messages waiting in this chat, so I did not take this one. Send it again when I have caught up, or say /stop to drop what waits.", LaneSize))
	}
	return nil
}

// knownFull reports whether people were told already that a lane is full.
func (g *Gateway) knownFull(line string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.full[line]
}

// note remembers which lanes were found full, until they are not.
func (g *Gateway) note(lanes map[string]bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for line, full := range lanes {
		if full {
			g.full[line] = true
		} else {
			delete(g.full, line)
		}
	}
}
