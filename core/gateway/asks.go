package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/core/access"
	"parley/core/ask"
	"parley/core/chat"
	"parley/core/policy"
	"parley/core/session"
	"parley/storage"
)

// Panel says who may answer a request and where it is shown; see
// [session.Front]. A question goes to the person whose turn it is. An approval
// goes to those who may approve: in the chat that asks, if somebody there may,
// and otherwise where the approvers are at home.
func (g *Gateway) Panel(ctx context.Context, a session.Asking) (session.Panel, error) {
	if a.Kind == ask.Clarification {
		person, err := g.access.PersonOf(ctx, a.By.ID)
		accounts := person.Accounts
		if !slices.Contains(accounts, a.By.ID) {
			accounts = append(accounts, a.By.ID)
		}
		return session.Panel{Answerers: accounts, Cards: []ask.Card{{Key: a.Key}}}, err
	}
	approvers, err := g.access.Approvers(ctx)
	if err != nil {
		return session.Panel{}, err
	}
	mine, err := g.access.MayApprove(ctx, a.By.ID, a.By.ID)
	if err != nil {
		return session.Panel{}, err
	}
	return panel(a, approvers, mine), nil
}

// panel lays out an approval: mine says that the person who asked may approve
// it.
func panel(a session.Asking, approvers []access.Person, mine bool) session.Panel {
	p := session.Panel{Cards: []ask.Card{{Key: a.Key, Waiting: a.Private && !mine}}}
	for _, person := range approvers {
		own := slices.Contains(person.Accounts, a.By.ID)
		if own && !mine {
			continue
		}
		p.Answerers = append(p.Answerers, person.Accounts...)
		if key, ok := reach(person); ok && !mine && key != a.Key {
			p.Cards = append(p.Cards, ask.Card{Key: key})
		}
	}
	if len(p.Cards) == 1 && p.Cards[0].Waiting {
		p.Answerers = nil // nobody would ever see it
	}
	return p
}

// reach is where a person is asked: at home, else in a private chat.
func reach(p access.Person) (chat.Key, bool) {
	if !p.Home.IsZero() {
		return p.Home, true
	}
	var keys []chat.Key
	for _, key := range p.Private {
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return chat.Key{}, false
	}
	return slices.MinFunc(keys, compareKeys), true
}

func (g *Gateway) approve(ctx context.Context, c call) (session.Effect, error) {
	return g.settle(ctx, c, ask.ParseApprove)
}

func (g *Gateway) reject(ctx context.Context, c call) (session.Effect, error) {
	return g.settle(ctx, c, ask.ParseReject)
}

func (g *Gateway) answer(ctx context.Context, c call) (session.Effect, error) {
	return g.settle(ctx, c, ask.ParseAnswer)
}

// settle works out what a reply to a request comes to: the row, the cards and
// the reply are one commit, and the conversation that waits is woken.
func (g *Gateway) settle(ctx context.Context, c call, parse func(string) (string, ask.Reply, string)) (session.Effect, error) {
	id, reply, problem := parse(c.line.Rest)
	if problem != "" || g.asks == nil {
		return g.say(c.ev, problem), nil
	}
	if refusal, err := g.demoted(ctx, c.ev.From.ID, id); refusal != "" || err != nil {
		return g.toMyself(c, refusal), err
	}
	result, err := g.asks.Answer(ctx, id, c.ev.From, c.ev.ID, reply)
	if err != nil {
		return session.Effect{}, err
	}
	if !result.Settled {
		return g.toMyself(c, result.Sentence), nil
	}
	e := g.say(c.ev, result.Sentence)
	e.Ops = result.Ops
	cards := session.Settled(result.Request)
	if _, pressed := c.ev.Body.(chat.Pressed); pressed {
		if i := slices.IndexFunc(cards, func(a session.Addressed) bool { return a.Key == c.ev.Key }); i >= 0 {
			cards[i].Post.Answers = []string{c.ev.ID} // the card itself tells what the press did
			e.Posts = nil
		}
	}
	e.Posts = append(e.Posts, cards...)
	e.Wake = []chat.Key{result.Request.Key}
	e.Then = func() { g.bypass(result.Request) }
	return e, nil
}

// toMyself answers a press that decided nothing: the others in the chat are not
// bothered with it.
func (g *Gateway) toMyself(c call, text string) session.Effect {
	e := g.say(c.ev, text)
	_, pressed := c.ev.Body.(chat.Pressed)
	for i := range e.Posts {
		e.Posts[i].Post.Only = pressed && !c.private()
	}
	return e
}

// demoted refuses somebody who could answer when the request was made and may
// not approve any more.
func (g *Gateway) demoted(ctx context.Context, who chat.UserID, id string) (string, error) {
	r, known, err := g.asks.Get(ctx, id)
	if err != nil || !known || r.Kind != ask.Approval || !slices.Contains(r.Answerers, who) {
		return "", err
	}
	may, err := g.access.MayApprove(ctx, who, r.For.ID)
	if may || err != nil {
		return "", err
	}
	return "You may not approve or reject any more. Nothing was decided.", nil
}

// bypass lets further calls through, if the approval said so.
func (g *Gateway) bypass(r ask.Request) {
	if !r.Approved() || r.Answer.Bypass.Span == ask.Once || g.policy == nil {
		return
	}
	b := policy.Bypass{}
	switch r.Answer.Bypass.Scope {
	case ask.ThisTool:
		b.Tool, b.Server = r.Tool, r.Server
	case ask.ThisCategory:
		b.Category = r.Category
	case ask.ThisServer:
		b.Server = r.Server
	case ask.AllTools:
		b.All = true
	}
	if r.Answer.Bypass.Span == ask.QuarterHour {
		b.Until = r.Answer.At.Add(15 * time.Minute)
	}
	if err := g.policy.Grant(r.Session, b); err != nil {
		g.log.Error().Err(err).Str("ask", r.ID).Msg("letting further calls through")
	}
}

// inbox lists what waits for the person, or shows one request in full.
func (g *Gateway) inbox(ctx context.Context, c call) (session.Effect, error) {
	if g.asks == nil {
		return g.say(c.ev, "Nothing waits for you."), nil
	}
	if c.line.Rest != "" {
		return g.showAsk(ctx, c)
	}
	person, err := g.access.PersonOf(ctx, c.ev.From.ID)
	if err != nil {
		return session.Effect{}, err
	}
	open, err := g.asks.ForPerson(ctx, append(person.Accounts, c.ev.From.ID)...)
	if err != nil {
		return session.Effect{}, err
	}
	e := g.say(c.ev, "Nothing waits for you.")
	if len(open) > 0 {
		list := ask.InboxPost(open)
		e.Posts[0].Post.Text, e.Posts[0].Post.Buttons = list.Text, list.Buttons
	}
	return e, nil
}

func (g *Gateway) showAsk(ctx context.Context, c call) (session.Effect, error) {
	result, err := g.asks.Show(ctx, c.line.Rest, c.ev.From, c.ev.Key, c.ev.ID)
	if err != nil {
		return session.Effect{}, err
	}
	cards := result.Request.Cards
	if len(result.Ops) == 0 || len(cards) == 0 {
		return g.say(c.ev, result.Sentence), nil
	}
	card := cards[len(cards)-1]
	post := ask.CardPost(result.Request, card)
	post.Answers, post.Ticket = []string{c.ev.ID}, c.ev.Ticket
	return session.Effect{Ops: result.Ops, Posts: []session.Addressed{{Key: card.Key, Post: post}}}, nil
}

// answering turns a message into the answer to a question that is open for its
// sender in its chat and was shown there. A reply to a card answers that card.
// With several open nothing is guessed: they are listed, and the message waits
// for the next turn.
func (g *Gateway) answering(ctx context.Context, ev chat.Event, in *intake) (chat.Event, error) {
	said, ok := ev.Body.(chat.Said)
	if !ok || g.asks == nil || len(said.Files) > 0 || strings.TrimSpace(said.Text) == "" || g.Command(ev) {
		return ev, nil
	}
	open, err := g.unanswered(ctx, ev, in)
	if err != nil || len(open) == 0 {
		return ev, err
	}
	shown, quoted, err := g.shownIn(ctx, ev.Key, open, said.Quoted)
	switch {
	case err != nil || len(shown) == 0:
		return ev, err
	case quoted != "":
	case len(shown) > 1:
		in.tell(ev, session.Later(ev.ID), ask.SeveralSentence(shown))
		return ev, nil
	default:
		quoted = shown[0].ID
	}
	ev.Body = chat.Pressed{
		Message: said.Message, Line: fmt.Sprintf("/%s %s %s", answerCommand, quoted, said.Text), Private: said.Private,
	}
	return ev, nil
}

// Commands that bear on a question before it is answered.
const (
	stopCommand   = "stop"
	newCommand    = "new"
	rejectCommand = "reject"
)

// unanswered lists the questions that a message may answer. What was accepted
// before it and waits for its turn counts as done: a question that has got its
// answer, or that a /stop or /new takes back, has no use for another one, and
// the message would be lost.
func (g *Gateway) unanswered(ctx context.Context, ev chat.Event, in *intake) ([]ask.Request, error) {
	open, err := g.asks.OpenIn(ctx, ev.Key, ev.From.ID)
	if err != nil || len(open) == 0 {
		return nil, err
	}
	before, err := g.before(ctx, ev.Key, in)
	if err != nil {
		return nil, err
	}
	// Once more: what is not waiting any more has been done by now.
	if open, err = g.asks.OpenIn(ctx, ev.Key, ev.From.ID); err != nil {
		return nil, err
	}
	for _, line := range before {
		switch line.Name {
		case stopCommand, newCommand:
			return nil, nil
		case answerCommand, rejectCommand:
			id, _, _ := ask.CutID(line.Rest)
			open = slices.DeleteFunc(open, func(r ask.Request) bool { return r.ID == id })
		}
	}
	return open, nil
}

// before lists the commands that wait in a chat, those of the batch that is
// being accepted too.
func (g *Gateway) before(ctx context.Context, key chat.Key, in *intake) ([]Line, error) {
	items, err := g.store.Items(ctx, session.Inbox, storage.Filter{Key: key.String()}, 0, 2*LaneSize)
	if err != nil {
		return nil, err
	}
	waiting := make([][]byte, 0, len(items)+len(in.ops))
	for _, item := range items {
		waiting = append(waiting, item.Data)
	}
	for _, op := range in.ops {
		if e, ok := op.(storage.Enqueue); ok && e.Queue == session.Inbox && e.Key == key.String() && !e.Done {
			waiting = append(waiting, e.Data)
		}
	}
	var lines []Line
	for _, data := range waiting {
		var ev chat.Event
		if json.Unmarshal(data, &ev) != nil {
			continue // the conversation sets it aside
		}
		if line, ok := g.line(ev); ok {
			lines = append(lines, line)
		}
	}
	return lines, nil
}

// shownIn picks the requests whose card was shown in a chat, and finds the one
// whose card a message replies to.
func (g *Gateway) shownIn(ctx context.Context, key chat.Key, open []ask.Request, q *chat.Quote) (shown []ask.Request, quoted string, err error) {
	for _, r := range open {
		there := false
		for _, card := range r.Cards {
			if card.Key != key {
				continue
			}
			receipt, known, err := g.outbox.Receipt(ctx, card.Post)
			if err != nil {
				return nil, "", err
			}
			there = there || known
			if known && q != nil && q.Message != "" && slices.Contains(slices.Concat(receipt.Messages...), q.Message) {
				quoted = r.ID
			}
		}
		if there {
			shown = append(shown, r)
		}
	}
	return shown, quoted, nil
}
