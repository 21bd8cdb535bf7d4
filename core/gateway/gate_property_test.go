package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"parley/core/ask"
	"parley/core/chat"
	"parley/core/llm"
	"parley/core/policy"
	"parley/tools"
)

// counter is a set of tools that keeps book of what ran, for the processes of a
// whole test.
type counter struct {
	mu   sync.Mutex
	runs map[string]int    // by call
	tool map[string]string // by call
}

// list returns the tools: they differ in their effect, and the calls of each in
// how they end.
func (c *counter) list() []tools.Tool {
	one := func(name string, effect tools.Effect) tools.Tool {
		h := &hand{name: name, effect: effect}
		h.do = func(ctx context.Context, call tools.Call) tools.Outcome {
			c.mu.Lock()
			c.runs[call.ID]++
			c.tool[call.ID] = name
			c.mu.Unlock()
			return c.behave(ctx, call)
		}
		return h
	}
	return []tools.Tool{one("once", tools.Once), one("rep", tools.Repeatable), one("free", tools.Once), one("read", tools.ReadOnly)}
}

func (c *counter) behave(ctx context.Context, call tools.Call) tools.Outcome {
	var args struct{ Text string }
	_ = json.Unmarshal(call.Args, &args)
	switch args.Text {
	case "slow":
		select {
		case <-time.After(20 * time.Second):
		case <-ctx.Done():
		}
	case "deaf":
		time.Sleep(20 * time.Second)
	case "panic":
		panic("drawn")
	case "fault":
		return tools.Fault("drawn")
	case "asks":
		a, err := call.Ask(ctx, tools.Question{Text: "well?"})
		return tools.Done(fmt.Sprint(a.Text, err))
	case "shows":
		return tools.Outcome{Text: "done", Say: "look"}
	}
	return tools.Done("done")
}

// caller is a model that makes the calls that were drawn, round by round.
type caller struct {
	mood
	rounds [][]llm.Call
}

func (m *caller) answer(ctx context.Context, req llm.Request, each func(llm.Delta)) (llm.Reply, error) {
	m.mu.Lock()
	m.count++
	n := m.count
	var list []llm.Call
	if len(m.rounds) > 0 {
		list, m.rounds = m.rounds[0], m.rounds[1:]
	}
	m.mu.Unlock()
	reply := llm.Reply{Text: fmt.Sprint("answer ", n)}
	for i, c := range list {
		c.ID = fmt.Sprintf("k%d.%d", n, i)
		reply.Calls = append(reply.Calls, c)
	}
	return reply, nil
}

func drawRounds(t *rapid.T) [][]llm.Call {
	one := rapid.Custom(func(t *rapid.T) llm.Call {
		c := llm.Call{
			Name: rapid.SampledFrom([]string{"once", "once", "once", "rep", "free", "read", "nope", tools.AskUserClarification, tools.WriteTodos}).Draw(t, "tool"),
			Args: json.RawMessage(`{"text":"` + rapid.SampledFrom([]string{"", "slow", "slow", "slow", "deaf", "panic", "fault", "asks", "asks", "shows"}).Draw(t, "way") + `"}`),
		}
		if c.Name == tools.AskUserClarification {
			c.Args = json.RawMessage(colour)
		}
		return c
	})
	return rapid.SliceOfN(rapid.SliceOfN(one, 0, 3), 1, 8).Draw(t, "rounds")
}

func drawGateSteps(t *rapid.T) []step {
	one := rapid.Custom(func(t *rapid.T) step {
		return step{
			do: rapid.SampledFrom([]string{
				"say", "say", "say", "approve", "approve", "approve", "approve and crash", "approve and crash", "approve and crash", "reject", "answer", "press old", "stop", "new",
				"restart", "crash", "crash at commit", "crash at commit", "sleep", "sleep", "expire", "redeliver", "disk fails",
				"screen is away", "screen is back", "edit",
			}).Draw(t, "do"),
			chat: "a",
			n:    rapid.IntRange(0, 9).Draw(t, "n"),
		}
	})
	return rapid.SliceOfN(one, 1, 25).Draw(t, "steps")
}

// decide plays the steps that are about requests.
func (p *player) decide(s step) bool {
	var old, open []ask.Request
	if !p.store.dead.Load() {
		for _, r := range p.requests() {
			if r.State == ask.Open {
				open = append(open, r)
			} else {
				old = append(old, r)
			}
		}
	}
	pick := func(list []ask.Request, format string) {
		if len(list) > 0 {
			p.hand(p.new("a", chat.Pressed{Line: fmt.Sprintf(format, list[s.n%len(list)].ID), Private: true}))
		}
	}
	switch s.do {
	case "approve":
		pick(open, "/approve %s")
	case "approve and crash": // while it runs, if it takes its time
		pick(open, "/approve %s")
		synctest.Wait()
		p.again()
		synctest.Wait()
	case "reject":
		pick(open, "/reject %s no")
	case "answer":
		pick(open, "/answer %s yes")
	case "press old":
		pick(old, "/approve %s")
	case "expire":
		time.Sleep(25 * time.Hour)
	default:
		return false
	}
	if s.n%2 == 0 {
		synctest.Wait()
	}
	return true
}

// TestWhateverHappensAtTheGate: results, stops, crashes between any two commits,
// restarts, steering, approvals and rejections in any order. Every request pairs
// each call with one result, every event is settled, a call that may do harm
// runs once for each time that somebody let it, and at the end nothing is open.
func TestWhateverHappensAtTheGate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		steps, rounds := drawGateSteps(rt), drawRounds(rt)
		var found []string
		synctest.Test(t, func(t *testing.T) {
			r := &record{T: t}
			model := &caller{rounds: rounds}
			book := &counter{runs: make(map[string]int), tool: make(map[string]string)}
			p := &player{stack: newStack(r, model.answer), deleted: make(map[string]bool)}
			p.tools = book.list()
			p.rules = []policy.Rule{policyRule("free", "allow"), policyRule("read", "allow")}
			p.config.Grace = time.Second
			defer func() { found = r.found }()
			defer func() {
				if e := recover(); e != nil && e != any(errGaveUp) {
					panic(e)
				}
			}()
			p.start()
			defer p.close()
			for _, s := range steps {
				if !p.decide(s) {
					p.play(s)
				}
			}
			p.comeToRest(model)
			p.audited(book)
		})
		for _, f := range found {
			rt.Errorf("%s", f)
		}
	})
}

// comeToRest lets everything end, nobody answering any more, and checks what
// must hold then.
func (p *player) comeToRest(model *caller) {
	model.mu.Lock()
	model.rounds = nil
	model.mu.Unlock()
	p.screen.fail(nil)
	p.again()
	for range 5 {
		time.Sleep(25 * time.Hour)
		synctest.Wait()
	}
	p.free()
	p.noCards()
	answers := p.settlements()
	for _, ev := range p.events {
		if n := len(answers[ev.ID]); n == 0 && !p.deleted[ev.ID] || n > 1 && !p.stopped {
			p.t.Errorf("event %s (%v) was settled by %q", ev.ID, ev.Body, answers[ev.ID])
		}
	}
	p.results("a")
	p.ends("a")
	p.hand(p.new("a", private("at last")))
	synctest.Wait()
	p.settled(p.events[len(p.events)-1].ID)
	p.free()
}

// audited holds what ran against what people allowed.
func (p *player) audited(book *counter) {
	approved := make(map[string]int)
	for _, r := range p.requests() {
		if r.Approved() {
			approved[r.Call]++
		}
	}
	for call, n := range book.runs {
		most := approved[call]
		switch book.tool[call] {
		case "free":
			most++
		case "read":
			continue
		}
		if n > most {
			p.t.Errorf("call %s of %s ran %d times, and %d were allowed", call, book.tool[call], n, most)
		}
	}
}
