package session

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

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
	asks   chan ask
	ended  chan ending // gets one value, then is closed
}

// ask is a turn's request to the actor: log this, and tell me what the
// conversation looks like now.
type ask struct {
	wants wants
	reply chan<- answer // holds one
}

// answer is what the actor says to an ask.
type answer struct {
	view View
	err  error
}

// wants is what a turn may ask for. The set is sealed.
type wants interface{ wants() }

// wantSteering ends a round: what people said meanwhile is taken in.
type wantSteering struct{}

// wantRound logs a complete answer that does not end the turn, with the
// results of its calls, and shows its text.
type wantRound struct {
	said    AssistantSaid
	results []ToolStated
	notes   []string
}

// wantSummary logs a summary.
type wantSummary struct{ summary Summarised }

func (wantSteering) wants() {}
func (wantRound) wants()    {}
func (wantSummary) wants()  {}

// ending is how a turn came to its end.
type ending struct {
	how      How
	said     *AssistantSaid // the last answer, nil if there was none
	notes    []string
	sentence string // for the person, when there is no answer
	reason   string // for the operator
	partial  string // of a stopped turn: the answer as far as it had come
	compared Compacted
}

// turn is what runs beside the actor: it owns nothing of the conversation and
// asks for everything.
type turn struct {
	host   *Host
	key    chat.Key
	id     string
	sid    string
	order  []llm.Model
	budget *llm.Budget
	spare  *llm.Budget // for summaries, whose failures must not cost the answer
	asks   chan<- ask
	round  int  // complete answers so far
	cuts   int  // answers that met the output limit and were continued
	tight  bool // a request was refused as too long, and a summary was tried
	whole  bool // a summary failed, and none is tried before a request again

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
	t.round, t.cuts = rounds, open.lengthen
	a.start(t, nil, func(ctx context.Context) ending {
		ctx, cancel := context.WithTimeoutCause(ctx, a.host.config.TurnTimeout, errTimeUp)
		defer cancel()
		return t.run(ctx, view)
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
	asks, ended := make(chan ask), make(chan ending, 1)
	t.asks = asks
	a.running = &running{id: t.id, since: a.host.now(), item: item, cancel: cancel, asks: asks, ended: ended}
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
)

// lost is what a person is told of a mistake of ours.
const lost = "Something went wrong inside parley, and this answer is lost. The log says what."

const tooManyAttempts = "I tried three times to answer this, and each time parley was ended before I could. " +
	"I leave it here; please ask again."

// ask has the actor do something and waits for it.
func (t *turn) ask(ctx context.Context, w wants) (View, error) {
	reply := make(chan answer, 1)
	select {
	case t.asks <- ask{w, reply}:
	case <-ctx.Done():
		return View{}, context.Cause(ctx)
	}
	select {
	case a := <-reply:
		return a.view, a.err
	case <-ctx.Done():
		return View{}, context.Cause(ctx)
	}
}

// run makes rounds until the turn is over.
func (t *turn) run(ctx context.Context, view View) ending {
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
		return t.log(ctx, wantRound{said, nil, t.news(reply)})
	default:
		return view, t.final(said, reply)
	}
}

// called ends a round that asks for tools. Behind the last one that the turn
// may make nothing is steered in, since nobody would read it.
func (t *turn) called(ctx context.Context, said AssistantSaid, r llm.Reply) (View, *ending) {
	view, end := t.log(ctx, wantRound{said, t.results(r.Calls), t.news(r)})
	if end != nil || t.round >= t.host.config.MaxRounds {
		return view, end
	}
	view, err := t.ask(ctx, wantSteering{})
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
		Calls: r.Calls, Finish: r.Finish,
		Model: r.Model, Usage: r.Usage, Cost: r.Cost,
		Estimate: t.sent,
	}
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

// results answers the calls of a round.
func (t *turn) results(calls []llm.Call) []ToolStated {
	results := make([]ToolStated, 0, len(calls))
	for _, c := range calls {
		result := fmt.Sprintf("There is no tool named %q.", clip(c.Name))
		if c.Broken != "" {
			result = "The arguments could not be read, and nothing was run: " + c.Broken
		}
		results = append(results, ToolStated{c.ID, c.Name, Failed, result})
	}
	return results
}

// failed says how a turn ends that an error ended.
func (t *turn) failed(err error) *ending {
	var trouble interface{ Sentence() string }
	switch {
	case errors.Is(err, errSuspended):
		return &ending{reason: errSuspended.Error()}
	case errors.Is(err, errStopped):
		return &ending{how: Stopped, partial: trim(t.partial.String())}
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
	request := t.request(ctx, view)
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
