package session

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"parley/core/llm"
)

//go:embed summary.md
var summaryPrompt string

// errNothing is returned when there is nothing that could be summed up.
var errNothing = errors.New("there is nothing older to sum up")

// errBlankSummary is returned when the model found no words.
var errBlankSummary = errors.New("the model gave an empty summary")

// fit sums up the older part of a conversation when the next prompt would pass
// the configured share of the model's context. That this fails is no reason to
// fail the turn: the request may still go through.
func (t *turn) fit(ctx context.Context, view View) (View, error) {
	limit := t.threshold()
	if limit == 0 || t.whole || t.size(view) < limit {
		return view, nil
	}
	shorter, err := t.shrink(ctx, view)
	switch {
	case err == nil:
		return shorter, nil
	case ctx.Err() != nil:
		return view, context.Cause(ctx)
	case errors.Is(err, errNothing):
		return view, nil
	default:
		t.whole = true
		t.host.log.Warn().Err(err).Stringer("key", t.key).Msg("summing up failed, going on without")
		return view, nil
	}
}

// threshold is how many tokens a prompt may have before it is shortened, 0 for
// no limit known.
func (t *turn) threshold() int {
	return int(float64(t.order[0].Info().Context) * t.host.config.CompactAt)
}

// shrink replaces the older part of the conversation by a summary and returns
// what it looks like then.
func (t *turn) shrink(ctx context.Context, view View) (View, error) {
	old := older(view.Entries, t.host.config.KeepRaw)
	if len(old) == 0 {
		return view, errNothing
	}
	summary, err := t.summarise(ctx, view.Summary, old)
	if err != nil {
		return view, err
	}
	return t.ask(ctx, wantSummary{summary})
}

// older returns the entries that a summary may stand for: all but the newest
// keep, cut where no call is parted from its results. When that leaves nothing,
// fewer are kept, at least one.
func older(entries []Entry, keep int) []Entry {
	for ; keep > 0; keep /= 2 {
		if cut := border(entries, len(entries)-keep); cut > 0 {
			return entries[:cut]
		}
	}
	return nil
}

// border returns the last place at or before i where a log may be cut: between
// a finished unit (a message; an answer with the results of all its calls) and
// the next.
func border(entries []Entry, i int) int {
	open := make(map[string]bool)
	cut := 0
	for n, e := range entries {
		if n > i {
			break
		}
		if len(open) == 0 {
			cut = n
		}
		switch b := e.Body.(type) {
		case AssistantSaid:
			for _, c := range b.Calls {
				open[c.ID] = true
			}
		case ToolStated:
			if b.State.Ended() {
				delete(open, b.Call)
			}
		}
	}
	return cut
}

// summarise has a model sum up entries, folding in the summary before them.
// What does not fit one request is done in several, each folding in the last.
func (t *turn) summarise(ctx context.Context, before string, old []Entry) (Summarised, error) {
	order := t.summarisers()
	room := charsPerToken * order[0].Info().Context / 2
	if room == 0 {
		room = defaultRoom
	}
	sum := Summarised{Through: old[len(old)-1].Seq, Text: before}
	for _, chunk := range chunks(transcript(old), room) {
		reply, err := t.host.models.Answer(ctx, order, t.spare, summaryRequest(sum.Text, chunk), nil)
		if ctx.Err() != nil {
			return sum, context.Cause(ctx)
		}
		if err != nil {
			return sum, err
		}
		if trim(reply.Text) == "" {
			return sum, errBlankSummary
		}
		sum.Text, sum.Model = trim(reply.Text), reply.Model
		sum.Usage, sum.Cost = sum.Usage.Add(reply.Usage), sum.Cost+reply.Cost
	}
	return sum, nil
}

// summarisers returns the models that sum up, in the order in which they are
// asked.
func (t *turn) summarisers() []llm.Model {
	if t.host.config.SummaryBy == "" {
		return t.order
	}
	return t.host.models.ByStrength(t.host.config.SummaryBy)
}

// defaultRoom is how much text is summed up at once by a model whose context
// is not known, in bytes.
const defaultRoom = 32 << 10

func summaryRequest(before, chunk string) llm.Request {
	var text strings.Builder
	if before != "" {
		fmt.Fprintf(&text, "The summary so far:\n\n%s\n\n", fence("summary", before))
	}
	fmt.Fprintf(&text, "What was said since:\n\n%s", fence("transcript", chunk))
	return llm.Request{Messages: []llm.Message{
		{Role: llm.System, Text: summaryPrompt},
		{Role: llm.User, Text: text.String()},
	}}
}

// transcript writes entries down for a summary, one text for each.
func transcript(entries []Entry) []string {
	const most = 8 << 10 // of one entry; a summary needs no more of it
	var lines []string
	for _, e := range entries {
		if line := spoken(e.Body); line != "" {
			lines = append(lines, cutMiddle(line, most))
		}
	}
	return lines
}

func spoken(body Body) string {
	switch b := body.(type) {
	case UserSaid:
		return b.From.Label() + ": " + b.Text
	case Noted:
		return "(" + b.Text + ")"
	case AssistantSaid:
		line := "Assistant: " + b.Text
		for _, c := range b.Calls {
			line += fmt.Sprintf("\n(called %s with %s)", c.Name, c.Args)
		}
		return line
	case ToolStated:
		if !b.State.Ended() {
			return ""
		}
		return fmt.Sprintf("(%s %s: %s)", b.Name, b.State, b.Result)
	default:
		return ""
	}
}

// chunks joins lines into texts of at most room bytes, or of one line.
func chunks(lines []string, room int) []string {
	var list []string
	var b strings.Builder
	for _, line := range lines {
		if b.Len() > 0 && b.Len()+len(line) > room {
			list = append(list, b.String())
			b.Reset()
		}
		b.WriteString(line)
		b.WriteString("\n\n")
	}
	if b.Len() > 0 {
		list = append(list, b.String())
	}
	return list
}

// compactNow runs a /compact beside the actor. The command stays in the inbox
// until it is done, so a restart begins it again.
func (a *actor) compactNow(w waiting) error {
	if a.session == "" {
		return a.compacted(w, ending{compared: Compacted{Sentence: "There is nothing to sum up yet."}}, nil)
	}
	view := a.ledger.view()
	t := a.newTurn("")
	a.host.outbox.Typing(a.key, true)
	a.start(t, &w, func(ctx context.Context) ending {
		ctx, cancel := context.WithTimeoutCause(ctx, a.host.config.TurnTimeout, errTimeUp)
		defer cancel()
		before := t.size(view)
		shorter, err := t.shrink(ctx, view)
		switch {
		case err == nil:
			return ending{how: Final, compared: Compacted{Before: before, After: t.size(shorter)}}
		case errors.Is(err, errNothing):
			return ending{how: Final, compared: Compacted{Sentence: "There is nothing older to sum up."}}
		case errors.Is(err, errBlankSummary):
			return ending{how: Broken, sentence: "The model gave an empty summary, so I left everything as it was."}
		default:
			return *t.failed(err)
		}
	})
	return nil
}

// compacted ends a /compact and says what it did. One that parley's own end
// interrupted stays in the inbox.
func (a *actor) compacted(w waiting, e ending, h *halting) error {
	switch {
	case h == nil && e.reason == errSuspended.Error():
		return nil
	case h != nil && e.how != Final:
		e.compared = Compacted{Sentence: "I was stopped before I had summed up."}
	case e.compared == Compacted{}:
		e.compared.Sentence = e.sentence
	}
	b := batch{posts: a.reply(w.ev, nil, e.compared)}
	b.finish(w.item)
	if err := a.commit(b); err != nil || h == nil {
		return err
	}
	return a.halt(h, &e)
}
