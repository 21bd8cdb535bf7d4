package session

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"parley/core/chat"
	"parley/core/llm"
)

// running is a turn as the actor sees it: what it asks for, how it ended, and
// the way to end it.
type running struct {
	id     string
	since  time.Time
	item   *waiting // the /compact that this is, nil for a turn
	cancel context.CancelCauseFunc
	wishes chan wish
	ended  chan ending // gets one value, then is closed

	waits map[string]waiter // requests that it waits for people to answer
	told  map[string]bool   // messages whose senders know that they are read next
}

// wish is a turn's request to the actor: log this, and tell me what the
// conversation looks like now.
type wish struct {
	wants wants
	reply chan<- grant // holds one
}

// grant is what the actor says to a wish.
type grant struct {
	view  View
	heard <-chan Answered // where the answer to a request will be heard
	err   error
}

// wants is what a turn may ask for. The set is sealed.
type wants interface{ wants() }

// wantSteering ends a round: what people said meanwhile is taken in.
type wantSteering struct{}

// wantRound logs a complete answer that does not end the turn, and shows its
// text.
type wantRound struct {
	said  AssistantSaid
	notes []string
}

// wantStep logs what a turn has ready.
type wantStep struct{ step step }

// wantSummary logs a summary.
type wantSummary struct{ summary Summarised }

func (wantSteering) wants() {}
func (wantRound) wants()    {}
func (wantStep) wants()     {}
func (wantSummary) wants()  {}

// ending is how a turn came to its end.
type ending struct {
	how      How
	said     *AssistantSaid // the last answer, nil if there was none
	notes    []string
	sentence string // for the person, when there is no answer
	reason   string // for the operator
	partial  string // of a stopped turn: the answer as far as it had come
	late     step   // what was ready and not logged yet
	compared Compacted
}

// turn is what runs beside the actor: it owns nothing of the conversation and
// asks for everything.
type turn struct {
	host    *Host
	key     chat.Key
	id      string
	sid     string
	by      chat.User
	private bool
	order   []llm.Model
	budget  *llm.Budget
	spare   *llm.Budget // for summaries, whose failures must not cost the answer
	wishes  chan<- wish
	clock   *clock
	offered offer // what the round may call
	ready   step
	round   int  // complete answers so far
	cuts    int  // answers that met the output limit and were continued
	tight   bool // a request was refused as too long, and a summary was tried
	whole   bool // a summary failed, and none is tried before a request again

	noted   []string        // what people were told in this turn
	partial strings.Builder // of the answer under way
	sent    int             // estimated tokens of the prompt of that answer
}

// launch starts the goroutine of the open turn, behind the rounds it has made
// already.
func (a *actor) launch(rounds int) {
	open := a.ledger.turn
	view := a.ledger.view()
	t := a.newTurn(open.id)
	t.by, t.private = open.by, open.private
	t.round, t.cuts = rounds, open.lengthen
	calls := open.snapshot()
	a.start(t, nil, func(ctx context.Context) ending {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		t.clock = newClock(a.host.config.TurnTimeout, func() { cancel(errTimeUp) })
		defer t.clock.stop()
		end := t.run(ctx, view, calls)
		end.late = t.ready
		return end
	})
	a.host.outbox.Typing(a.key, true)
}

func (a *actor) newTurn(id string) *turn {
	return &turn{
		host: a.host, key: a.key, id: id, sid: a.session,
		order: a.order(), budget: llm.NewBudget(a.host.config.Tries), spare: llm.NewBudget(a.host.config.Tries),
	}
}

// start runs f beside the actor until it returns or is cancelled. Its panic is
// an ending like any other.
func (a *actor) start(t *turn, item *waiting, f func(context.Context) ending) {
	ctx, cancel := context.WithCancelCause(a.life.turns)
	wishes, ended := make(chan wish), make(chan ending, 1)
	t.wishes = wishes
	a.running = &running{id: t.id, since: a.host.now(), item: item, cancel: cancel, wishes: wishes, ended: ended}
	a.host.actors.Go(func() {
		defer close(ended)
		defer cancel(nil)
		ended <- guarded(ctx, f)
	})
}

func guarded(ctx context.Context, f func(context.Context) ending) (e ending) {
	defer func() {
		if p := recover(); p != nil {
			e = ending{
				how:      Broken,
				sentence: lost,
				reason:   fmt.Sprintf("panic: %v\n%s", p, debug.Stack()),
			}
		}
	}()
	return f(ctx)
}

// Reasons for which a turn's context ends.
var (
	errTimeUp  = errors.New("the turn took too long")
	errStopped = errors.New("stopped by a person")
	errRenewed = errors.New("a person began a new conversation")
)

// lost is what a person is told of a mistake of ours.
const lost = "Something went wrong inside parley, and this answer is lost. The log says what."

const tooManyAttempts = "I tried three times to answer this, and each time parley was ended before I could. " +
	"I leave it here; please ask again."

// ask has the actor do something and returns what the conversation looks like
// behind it.
func (t *turn) ask(ctx context.Context, w wants) (View, error) {
	g, err := t.tell(ctx, w)
	return g.view, err
}

// tell has the actor do something and waits for it. What the actor has taken up
// is waited for in any case: it will stand in the log, and who went away without
// knowing would have it logged twice.
func (t *turn) tell(ctx context.Context, w wants) (grant, error) {
	if ctx.Err() != nil {
		return grant{}, context.Cause(ctx)
	}
	reply := make(chan grant, 1)
	select {
	case t.wishes <- wish{w, reply}:
	case <-ctx.Done():
		return grant{}, context.Cause(ctx)
	}
	g := <-reply
	return g, g.err
}

// run makes rounds until the turn is over, beginning with the calls that the
// last one left open.
func (t *turn) run(ctx context.Context, view View, open []openCall) ending {
	if len(open) > 0 {
		next, end := t.goOn(ctx, open)
		if end != nil {
			return *end
		}
		view = next
	}
	for t.round < t.host.config.MaxRounds {
		next, end := t.makeRound(ctx, view)
		if end != nil {
			return *end
		}
		view = next
	}
	return ending{
		how:    Exhausted,
		reason: "rounds used up",
		sentence: fmt.Sprintf("I stopped after %d rounds without coming to an end. "+
			"Say \"go on\" if I should.", t.host.config.MaxRounds),
	}
}

// makeRound asks the model once. It returns what the conversation looks like
// behind the round, or how the turn ended.
func (t *turn) makeRound(ctx context.Context, view View) (View, *ending) {
	again := endsBlank(view.Entries)
	reply, view, err := t.consult(ctx, view)
	if err != nil {
		return view, t.failed(err)
	}
	t.round++
	said := t.said(reply)
	switch {
	case len(reply.Calls) > 0:
		return t.called(ctx, said, reply)
	case said.Text == "" && !again:
		t.round-- // it was none; the log has the next request ask for words
		said.Round = t.round
		return t.log(ctx, wantRound{said: said})
	case said.Text != "" && reply.Finish == llm.FinishLength && t.cuts == 0:
		t.cuts++
		return t.log(ctx, wantRound{said, t.news(reply)})
	default:
		return view, t.final(said, reply)
	}
}

// called carries out the calls of a round. Behind the last round that the turn
// may make nothing is steered in, since nobody would read it.
func (t *turn) called(ctx context.Context, said AssistantSaid, r llm.Reply) (View, *ending) {
	calls := make([]openCall, 0, len(said.Calls))
	for _, c := range said.Calls {
		calls = append(calls, openCall{call: c})
	}
	t.ready.round = &wantRound{said, t.news(r)}
	t.partial.Reset()
	if said.Text == "" && len(t.ready.round.notes) == 0 {
		t.host.outbox.Draft(t.key, post(t.id, t.round), "") // the line about the last call: no post takes its place
	}
	return t.work(ctx, calls)
}

// goOn takes up the calls that a former process left without a result.
func (t *turn) goOn(ctx context.Context, open []openCall) (View, *ending) {
	offered, err := t.offer(ctx)
	if err != nil {
		return View{}, t.failed(err)
	}
	t.offered = offered
	return t.work(ctx, open)
}

// work carries out calls and then takes in what people said meanwhile.
func (t *turn) work(ctx context.Context, calls []openCall) (View, *ending) {
	view, err := t.carryOut(ctx, calls)
	if err == nil && t.round < t.host.config.MaxRounds {
		view, err = t.ask(ctx, wantSteering{})
	}
	if err != nil {
		return view, t.failed(err)
	}
	return view, nil
}

// log has an answer logged that does not end the turn.
func (t *turn) log(ctx context.Context, w wantRound) (View, *ending) {
	view, err := t.ask(ctx, w)
	if err != nil {
		end := t.failed(err)
		if end.how == Stopped {
			end.said = &w.said // it has been paid for
		}
		return view, end
	}
	t.partial.Reset()
	return view, nil
}

func (t *turn) said(r llm.Reply) AssistantSaid {
	return AssistantSaid{
		Turn: t.id, Round: t.round,
		Text: trim(r.Text), Reasoning: r.Reasoning, ReasonedBy: r.ModelID,
		Calls: distinct(r.Calls), Finish: r.Finish,
		Model: r.Model, Usage: r.Usage, Cost: r.Cost,
		Estimate: t.sent,
	}
}

// distinct gives each call of an answer an id of its own: its result is found
// by it.
func distinct(calls []llm.Call) []llm.Call {
	const longest = 200
	seen := make(map[string]bool, len(calls))
	list := slices.Clone(calls)
	for i := range list {
		id := &list[i].ID
		for *id == "" || len(*id) > longest || !utf8.ValidString(*id) || seen[*id] {
			*id = newID()
		}
		seen[*id] = true
	}
	return list
}

func (t *turn) final(said AssistantSaid, r llm.Reply) *ending {
	if said.Text == "" {
		return &ending{
			how: Broken, said: &said, reason: "empty answer twice",
			sentence: "The model had nothing to say, also when asked again. Try to put it differently.",
		}
	}
	return &ending{how: Final, said: &said, notes: t.news(r)}
}

// news returns the notes of a reply that were not told yet in this turn.
func (t *turn) news(r llm.Reply) []string {
	var fresh []string
	for _, n := range r.Notes {
		if !slices.Contains(t.noted, n) {
			fresh = append(fresh, n)
		}
	}
	t.noted = append(t.noted, fresh...)
	return fresh
}

// failed says how a turn ends that an error ended.
func (t *turn) failed(err error) *ending {
	var trouble interface{ Sentence() string }
	switch {
	case errors.Is(err, errSuspended):
		return &ending{reason: errSuspended.Error()}
	case errors.Is(err, errStopped):
		return &ending{how: Stopped, partial: trim(t.partial.String())}
	case errors.Is(err, errRenewed):
		return &ending{how: Stopped, sentence: "I leave this: a new conversation begins."}
	case errors.Is(err, errTimeUp):
		return &ending{
			how: Exhausted, reason: err.Error(),
			sentence: fmt.Sprintf("I gave up: this took longer than %s.", t.host.config.TurnTimeout),
		}
	case errors.As(err, &trouble):
		return &ending{how: Broken, reason: err.Error(), sentence: trouble.Sentence()}
	default:
		return &ending{
			how: Broken, reason: err.Error(),
			sentence: lost,
		}
	}
}

// post is the id of the post that shows the text of a round.
func post(turn string, round int) string { return fmt.Sprintf("%s/0/%d", turn, round) }

// consult sends the prompt and streams the answer to the chat. A prompt that
// is too long is shortened by a summary first.
func (t *turn) consult(ctx context.Context, view View) (llm.Reply, View, error) {
	view, err := t.fit(ctx, view)
	if err != nil {
		return llm.Reply{}, view, err
	}
	reply, err := t.stream(ctx, view)
	var trouble *llm.Error
	if !errors.As(err, &trouble) || trouble.Kind != llm.TooLong || t.tight {
		return reply, view, err
	}
	t.tight = true
	shorter, failed := t.shrink(ctx, view)
	switch {
	case ctx.Err() != nil:
		return llm.Reply{}, view, context.Cause(ctx)
	case failed != nil: // the refusal says more than why it could not be helped
		t.host.log.Warn().Err(failed).Stringer("key", t.key).Msg("summing up a prompt that is too long")
		return llm.Reply{}, view, err
	}
	reply, err = t.stream(ctx, shorter)
	return reply, shorter, err
}

// stream makes one request. What the model says shows in the chat as it comes.
// If that comes to nothing the actor takes it back when the turn ends; a turn
// that is only suspended goes on editing the same preview.
func (t *turn) stream(ctx context.Context, view View) (llm.Reply, error) {
	id := post(t.id, t.round+1)
	t.partial.Reset()
	request, err := t.request(ctx, view)
	if err != nil {
		return llm.Reply{}, err
	}
	t.sent = estimate(request.Messages)
	reply, err := t.host.models.Answer(ctx, t.order, t.budget, request, func(d llm.Delta) {
		if d.Restart {
			t.partial.Reset()
		}
		t.partial.WriteString(d.Text)
		if d.Restart || trim(d.Text) != "" {
			t.host.outbox.Draft(t.key, id, t.partial.String())
		}
	})
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return reply, err
}
