package ask_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"parley/core/ask"
	"parley/core/chat"
)

// simple is what the package does, said simply: a list of requests in order.
type simple struct {
	id        string
	kind      ask.Kind
	session   string
	answerers []chat.UserID
	expires   time.Time
	state     ask.State
	by        chat.UserID
	event     string
	ended     time.Time
}

// Whatever sequence of questions, answers, withdrawals, restarts and time
// happens, the package agrees with the simple model.
func TestAgainstModel(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { walk(t, rand.New(rand.NewPCG(seed, 7))) })
	}
}

func walk(t *testing.T, rnd *rand.Rand) {
	w, ctx := newWorld(t), context.Background()
	var model []*simple
	for step := range 150 {
		switch pick := rnd.IntN(20); {
		case pick < 5 || len(model) == 0:
			model = append(model, openOne(w, rnd))
		case pick < 11:
			answerOne(t, w, rnd, model[rnd.IntN(len(model))], step)
		case pick < 13:
			m := model[rnd.IntN(len(model))]
			list, ops, err := w.asks.Withdraw(ctx, "why", m.id)
			if err != nil || (len(list) == 1) != (m.state == ask.Open) {
				t.Fatalf("withdrew %d of a request that is %s: %v", len(list), m.state, err)
			}
			w.apply(ops...)
			if m.state == ask.Open {
				m.state, m.ended = ask.Withdrawn, w.now()
			}
		case pick < 15:
			w.pass(time.Duration(rnd.IntN(20)) * time.Hour)
		case pick < 17:
			expireAll(t, w, model)
		case pick < 19:
			ops, err := w.asks.Tidy(ctx)
			if err != nil {
				t.Fatal(err)
			}
			w.apply(ops...)
			model = slices.DeleteFunc(model, func(m *simple) bool {
				return m.state != ask.Open && !w.now().Before(m.ended.Add(ask.Kept))
			})
		default:
			w.reopen()
		}
		agree(t, w, model)
	}
}

func openOne(w *world, rnd *rand.Rand) *simple {
	r := []func() ask.Request{approval, func() ask.Request { return question("a", "b") }, secret, elicitation}[rnd.IntN(4)]()
	r.Session = fmt.Sprintf("s%d", rnd.IntN(3))
	r.Answerers = [][]chat.UserID{{ada.ID}, {bob.ID}, {ada.ID, bob.ID}}[rnd.IntN(3)]
	r.Expires = w.now().Add(time.Duration(1+rnd.IntN(30)) * time.Hour)
	r = w.put(r)
	return &simple{id: r.ID, kind: r.Kind, session: r.Session, answerers: r.Answerers, expires: r.Expires, state: ask.Open}
}

func answerOne(t *testing.T, w *world, rnd *rand.Rand, m *simple, step int) {
	t.Helper()
	by := []chat.User{ada, bob, eve}[rnd.IntN(3)]
	event := fmt.Sprintf("e%d", step)
	if m.event != "" && rnd.IntN(2) == 0 {
		event = m.event
	}
	fits := map[ask.Kind]ask.Verdict{ask.Approval: ask.Approved, ask.Secret: ask.Stored}[m.kind]
	if fits == "" {
		fits = ask.Replied
	}
	verdict := []ask.Verdict{ask.Approved, ask.Rejected, ask.Replied, ask.Stored}[rnd.IntN(4)]
	res := w.answer(m.id, by, event, ask.Reply{Verdict: verdict, Text: "b"})

	may := slices.Contains(m.answerers, by.ID)
	first := may && m.state == ask.Open && w.now().Before(m.expires) && (verdict == fits || verdict == ask.Rejected)
	again := may && m.state == ask.Answered && event == m.event
	if res.Settled != (first || again) || res.Sentence == "" {
		t.Fatalf("%s by %s of %+v settled: %v, %q", verdict, by.ID, m, res.Settled, res.Sentence)
	}
	if first {
		m.state, m.by, m.event, m.ended = ask.Answered, by.ID, event, w.now()
	}
}

func expireAll(t *testing.T, w *world, model []*simple) {
	t.Helper()
	list, err := w.asks.Expire(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, m := range model {
		if m.state == ask.Open && !w.now().Before(m.expires) {
			m.state, m.ended = ask.Expired, w.now()
			n++
		}
	}
	if n != len(list) {
		t.Fatalf("%d expired, want %d", len(list), n)
	}
	for _, res := range list {
		w.apply(res.Ops...)
	}
}

func agree(t *testing.T, w *world, model []*simple) {
	t.Helper()
	ctx := context.Background()
	all, err := w.asks.All(ctx)
	if err != nil || len(all) != len(model) {
		t.Fatalf("%d requests, want %d: %v", len(all), len(model), err)
	}
	want := make(map[string]int) // of each list
	var next time.Time
	for _, m := range model {
		got := w.get(m.id)
		if got.State != m.state || got.Answer.By.ID != m.by || got.Answer.Event != m.event {
			t.Fatalf("%+v, want %+v", got, m)
		}
		want[m.session]++
		if m.state == ask.Open && (next.IsZero() || m.expires.Before(next)) {
			next = m.expires
		}
		if m.state == ask.Open && w.now().Before(m.expires) && slices.Contains(m.answerers, ada.ID) {
			want["inbox"]++
			if m.kind == ask.Clarification {
				want["chat"]++
			}
		}
	}
	have := make(map[string]int)
	for _, s := range []string{"s0", "s1", "s2"} {
		list, _ := w.asks.ForSession(ctx, s)
		have[s] = len(list)
	}
	inbox, _ := w.asks.ForPerson(ctx, ada.ID, "x:1")
	here, _ := w.asks.OpenIn(ctx, group, ada.ID)
	have["inbox"], have["chat"] = len(inbox), len(here)
	for k, n := range have {
		if want[k] != n {
			t.Fatalf("%s: %d, want %d", k, n, want[k])
		}
	}
	if at, err := w.asks.Next(ctx); err != nil || !at.Equal(next) {
		t.Fatalf("next at %s, want %s: %v", at, next, err)
	}
}
