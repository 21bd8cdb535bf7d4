package gateway_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"parley/core/chat"
	"parley/core/llm"
	"parley/core/session"
	"parley/storage"
)

// step is one thing that happens to a stack.
type step struct {
	do   string
	chat string
	n    int
}

// reply is what the model does with one request.
type reply struct {
	kind string
	n    int
	wait time.Duration
}

func drawSteps(t *rapid.T) []step {
	one := rapid.Custom(func(t *rapid.T) step {
		return step{
			do: rapid.SampledFrom([]string{
				"say", "say", "say", "say", "say", "two at once", "stop", "new", "clear", "model", "compact", "status", "unknown",
				"edit", "delete", "redeliver", "restart", "crash", "crash at commit", "sleep", "sleep", "idle",
				"disk fails", "screen is away", "screen is back",
			}).Draw(t, "do"),
			chat: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "chat"),
			n:    rapid.IntRange(0, 12).Draw(t, "n"),
		}
	})
	return rapid.SliceOfN(one, 1, 20).Draw(t, "steps")
}

func drawReplies(t *rapid.T) []reply {
	one := rapid.Custom(func(t *rapid.T) reply {
		return reply{
			kind: rapid.SampledFrom([]string{
				"text", "text", "text", "calls", "calls", "calls with text", "blank", "length", "cut calls",
				"too long", "refused", "overloaded", "silent", "panic", "cut", "hang",
			}).Draw(t, "kind"),
			n:    rapid.IntRange(1, 3).Draw(t, "n"),
			wait: time.Duration(rapid.SampledFrom([]int{0, 0, 1, 3, 20}).Draw(t, "wait")) * time.Second,
		}
	})
	return rapid.SliceOfN(one, 1, 20).Draw(t, "replies")
}

// mood is a model that does what was drawn, and answers well from then on.
type mood struct {
	mu      sync.Mutex
	replies []reply
	count   int
}

func (m *mood) next() (reply, int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count++
	if len(m.replies) == 0 {
		return reply{kind: "text"}, m.count
	}
	r := m.replies[0]
	m.replies = m.replies[1:]
	return r, m.count
}

func (m *mood) heal() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.replies = nil
}

func (m *mood) answer(ctx context.Context, req llm.Request, each func(llm.Delta)) (llm.Reply, error) {
	r, count := m.next()
	if each != nil && r.n > 1 {
		each(llm.Delta{Text: "begun "})
	}
	select {
	case <-time.After(r.wait):
	case <-ctx.Done():
		return llm.Reply{}, ctx.Err()
	}
	full := llm.Reply{Text: fmt.Sprint("answer ", count), Usage: llm.Usage{Input: 100, Output: 5}}
	for i := range r.n {
		full.Calls = append(full.Calls, llm.Call{ID: fmt.Sprintf("c%d.%d", count, i), Name: "weather", Args: json.RawMessage(`{}`)})
	}
	plain := full
	plain.Calls = nil
	switch r.kind {
	case "text":
		return plain, nil
	case "calls with text":
		return full, nil
	case "calls", "cut calls":
		full.Text = ""
		if r.kind == "cut calls" {
			full.Finish, full.Calls[0].Broken = llm.FinishLength, "cut"
		}
		return full, nil
	case "blank":
		return llm.Reply{Text: "\n \u200b"}, nil
	case "length":
		plain.Finish = llm.FinishLength
		return plain, nil
	case "panic":
		panic("drawn")
	case "hang":
		return hangs(ctx, req, each)
	default:
		return fails(llm.Kind(r.kind))(ctx, req, each)
	}
}

// player plays steps on a stack and keeps book of what it did.
type player struct {
	*stack
	events  []chat.Event
	deleted map[string]bool
	lost    []chat.Event // handed over while the store was dead
	stopped bool
}

// hand hands events over as a platform would: what was not acknowledged comes
// again.
func (p *player) hand(events ...chat.Event) {
	if err := p.gateway.Accept(p.t.Context(), chat.Cursor{}, events...); err != nil {
		p.lost = append(p.lost, events...)
	}
}

func (p *player) new(chatName string, body chat.Body) chat.Event {
	ev := p.event(ada, chatName, body)
	p.events = append(p.events, ev)
	return ev
}

// some is an earlier event of any kind, nil if there was none.
func (p *player) some(n int) *chat.Event {
	if len(p.events) == 0 {
		return nil
	}
	return &p.events[len(p.events)-1-n%len(p.events)]
}

var lines = map[string]string{
	"stop": "/stop", "new": "/new", "clear": "/clear", "model": "/model main",
	"compact": "/compact", "status": "/status", "unknown": "/nope",
}

func (p *player) play(s step) {
	if line, command := lines[s.do]; command {
		p.stopped = p.stopped || s.do == "stop"
		p.hand(p.new(s.chat, private(line)))
	}
	some := p.some(s.n)
	switch s.do {
	case "say":
		p.hand(p.new(s.chat, private(fmt.Sprint("message ", len(p.events)))))
	case "two at once":
		p.hand(p.new(s.chat, private("first of two")), p.new(s.chat, private("second of two")))
	case "edit":
		if some != nil {
			p.hand(p.event(ada, some.Key.Chat, chat.Edited{Message: chat.MessageID(some.ID), Text: "edited"}))
		}
	case "delete":
		if some != nil {
			p.deleted[some.ID] = true
			p.hand(p.event(ada, some.Key.Chat, chat.Deleted{Message: chat.MessageID(some.ID)}))
		}
	case "redeliver":
		if some != nil {
			p.hand(*some)
		}
	case "restart":
		if p.store.dead.Load() {
			p.again()
			return
		}
		p.restart()
	case "crash":
		p.again()
	case "crash at commit":
		window := p.window
		p.store.dieAfter(s.n+1, func() { window.dead.Store(true) })
	case "disk fails":
		left := atomic.Int32{}
		left.Store(int32(s.n))
		p.store.beforeApply(func([]storage.Op) error {
			if left.Add(-1) < 0 {
				return nil
			}
			return errDisk
		})
	case "screen is away":
		p.screen.fail(func(chat.Part) error { return errAway })
	case "screen is back":
		p.screen.fail(nil)
	case "sleep":
		time.Sleep(time.Duration(s.n) * time.Second)
	case "idle":
		time.Sleep(p.config.Idle + time.Second)
	}
	if s.n%2 == 0 {
		synctest.Wait()
	}
}

// again is a kill and a start.
func (p *player) again() {
	p.crash()
	p.hand(p.lost...)
	p.lost = nil
}

// settle lets everything come to rest and checks what must hold then.
func (p *player) settle(model *mood) {
	model.heal()
	p.screen.fail(nil)
	p.again()
	for range 10 {
		time.Sleep(time.Hour)
	}
	p.free()
	answers := p.settlements()
	for _, ev := range p.events {
		switch n := len(answers[ev.ID]); {
		case n == 0 && !p.deleted[ev.ID]:
			p.t.Errorf("event %s (%v) was never settled", ev.ID, ev.Body)
		case n > 1 && !p.stopped:
			p.t.Errorf("event %s (%v) was settled by %q", ev.ID, ev.Body, answers[ev.ID])
		}
	}
	for _, name := range []string{"a", "b"} {
		p.inOrder(name, answers)
		p.ends(name)
		p.paired(name)
		p.hand(p.new(name, private("at last")))
		synctest.Wait()
		p.settled(p.events[len(p.events)-1].ID)
	}
	p.free()
}

// inOrder checks that the answers of a chat stand in the order of what they
// answer. Notices may overtake answers, and a stop takes some of them away.
func (p *player) inOrder(chatName string, answers map[string][]string) {
	place := make(map[string]int)
	for i, l := range p.screen.in(chatName) {
		if _, again := place[l.part.Post]; !again && l.part.Kind == chat.Answer {
			place[l.part.Post] = i
		}
	}
	at, before := -1, ""
	for _, ev := range p.accepted() {
		if ev.Key.Chat != chatName || len(answers[ev.ID]) == 0 {
			continue
		}
		i, ok := place[answers[ev.ID][0]]
		if ok && i < at {
			p.t.Errorf("the answer to %s stands before the one to %s", ev.ID, before)
		}
		if ok {
			at, before = i, ev.ID
		}
	}
}

// accepted lists the events in the order in which they were stored, which is
// not the one in which they were first handed over when the disk failed.
func (p *player) accepted() []chat.Event {
	seq := make(map[string]uint64)
	for _, ev := range p.events {
		item, err := p.store.Item(p.t.Context(), session.Inbox, ev.ID)
		if err != nil {
			p.t.Errorf("event %s: %v", ev.ID, err)
		}
		seq[ev.ID] = item.Seq
	}
	return slices.SortedFunc(slices.Values(p.events), func(x, y chat.Event) int {
		return cmp.Compare(seq[x.ID], seq[y.ID])
	})
}

// paired checks that each call in a log has exactly one result.
func (p *player) paired(chatName string) {
	results := make(map[string]int)
	for _, e := range p.log(chatName) {
		switch b := e.Body.(type) {
		case session.AssistantSaid:
			for _, c := range b.Calls {
				results[c.ID] += 0
			}
		case session.ToolStated:
			if b.State.Ended() {
				results[b.Call]++
			}
		}
	}
	for call, n := range results {
		if n != 1 {
			p.t.Errorf("call %s has %d results in the log", call, n)
		}
	}
}

// record keeps what a stack complains about, for a test that is tried again
// with less.
type record struct {
	*testing.T
	mu    sync.Mutex
	found []string
}

func (r *record) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found = append(r.found, fmt.Sprintf(format, args...))
}

func (r *record) Fatalf(format string, args ...any) { r.Errorf(format, args...); panic(errGaveUp) }
func (r *record) Fatal(args ...any)                 { r.Fatalf("%s", fmt.Sprint(args...)) }
func (r *record) Helper()                           {}

type gaveUp struct{}

var errGaveUp = gaveUp{}

// TestWhateverHappens: messages, commands, edits, restarts, kills between any
// two commits, and a model that does what it likes. Every request is well
// formed, every event is settled, every log reads, and at the end everything
// is free.
func TestWhateverHappens(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		steps, replies := drawSteps(rt), drawReplies(rt)
		live := rapid.Bool().Draw(rt, "previews")
		small := rapid.Bool().Draw(rt, "small context")
		var found []string
		synctest.Test(t, func(t *testing.T) {
			r := &record{T: t}
			model := &mood{replies: replies}
			p := &player{stack: newStack(r, summing(says("a summary"), model.answer)), deleted: make(map[string]bool)}
			p.config.MaxRounds, p.config.Grace = 4, time.Second
			if live {
				preview(p.stack)
			}
			if small {
				p.main().info.Context, p.config.KeepRaw = 600, 3
			}
			defer func() { found = r.found }()
			defer func() {
				if e := recover(); e != nil && e != any(errGaveUp) {
					panic(e)
				}
			}()
			p.start()
			defer p.close()
			for _, s := range steps {
				p.play(s)
			}
			p.settle(model)
		})
		for _, f := range found {
			rt.Errorf("%s", f)
		}
	})
}
