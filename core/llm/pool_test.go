package llm_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/core/llm"
)

// step is what a scripted model does once.
type step struct {
	kind  llm.Kind // "" answers
	after time.Duration
	text  string // streamed before it fails
}

// scripted is a model that does one step after another, the last one for ever.
type scripted struct {
	info  llm.Info
	mu    sync.Mutex
	steps []step
	asked int
}

func (m *scripted) Info() llm.Info { return m.info }

func (m *scripted) Stream(_ context.Context, _ llm.Request, each func(llm.Delta)) (llm.Reply, error) {
	m.mu.Lock()
	s := m.steps[0]
	if len(m.steps) > 1 {
		m.steps = m.steps[1:]
	}
	m.asked++
	m.mu.Unlock()
	if s.text != "" {
		each(llm.Delta{Text: s.text})
	}
	if s.kind != "" {
		return llm.Reply{}, &llm.Error{Kind: s.kind, Model: m.info.Name, After: s.after, Err: errors.New("scripted")}
	}
	return llm.Reply{Text: s.text, Model: m.info.Name}, nil
}

// model parses steps such as "silent limited ok": kinds, the last for ever. A
// kind may be followed by =33s for the wait that is asked for.
func model(name string, room int, script string) *scripted {
	m := &scripted{info: llm.Info{Name: name, Strength: "medium", Context: room}}
	for word := range strings.FieldsSeq(script) {
		kind, after, _ := strings.Cut(word, "=")
		s := step{kind: llm.Kind(strings.ReplaceAll(kind, "-", " ")), text: "text of " + name}
		if kind == "ok" {
			s.kind = ""
		}
		s.after, _ = time.ParseDuration(after)
		m.steps = append(m.steps, s)
	}
	return m
}

// TestAnswer: models fail as their scripts say; who answers, how often each is
// asked, how long it takes at least, what the person reads.
func TestAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		main, backup string // backup "" means none; it has more room
		want         string // who answers, or the kind of the error
		asked        [2]int
		least        time.Duration
		most         time.Duration
		note         string
	}{
		"at once":            {main: "ok", backup: "ok", want: "main", asked: [2]int{1, 0}},
		"heals":              {main: "silent overloaded ok", want: "main", asked: [2]int{3, 0}, least: time.Second, most: 5 * time.Second},
		"LLM12 mixed":        {main: "silent silent limited", backup: "ok", want: "backup", asked: [2]int{3, 1}, least: time.Second, most: 5 * time.Second, note: `The model "main" takes no more requests for now, so "backup" answered instead.`},
		"refused":            {main: "refused", backup: "ok", want: "backup", asked: [2]int{1, 1}, note: `The model "main" refused the key, so "backup" answered instead.`},
		"missing":            {main: "missing", backup: "ok", want: "backup", asked: [2]int{1, 1}, note: `The model "main" was not found at its server, so "backup" answered instead.`},
		"bad":                {main: "bad-request", backup: "ok", want: "backup", asked: [2]int{1, 1}, note: `The model "main" did not accept the request, so "backup" answered instead.`},
		"spent":              {main: "spent", backup: "ok", want: "backup", asked: [2]int{1, 1}, note: `The model "main" has no credit left, so "backup" answered instead.`},
		"short wait":         {main: "limited=7s ok", backup: "ok", want: "main", asked: [2]int{2, 0}, least: 7 * time.Second, most: 7 * time.Second},
		"long wait":          {main: "limited=33s ok", backup: "ok", want: "backup", asked: [2]int{1, 1}, note: `The model "main" takes no more requests for now, so "backup" answered instead.`},
		"long wait, alone":   {main: "limited=33s ok", want: "main", asked: [2]int{2, 0}, least: 33 * time.Second, most: 33 * time.Second},
		"hours, alone":       {main: "limited=2h ok", want: "main", asked: [2]int{2, 0}, least: time.Minute, most: time.Minute},
		"long wait, no help": {main: "limited=33s ok", backup: "refused", want: "main", asked: [2]int{2, 1}, least: 33 * time.Second, most: 33 * time.Second},
		"too long, room":     {main: "too-long", backup: "ok", want: "backup", asked: [2]int{1, 1}, note: `The model "main" cannot read a conversation this long, so "backup" answered instead.`},
		"too long, alone":    {main: "too-long", want: "too long", asked: [2]int{1, 0}},
		"too long, no help":  {main: "too-long", backup: "refused", want: "too long", asked: [2]int{1, 1}},
		"too long, both":     {main: "too-long", backup: "too-long", want: "too long", asked: [2]int{1, 1}},
		"all fail":           {main: "cut", backup: "overloaded", want: "cut", asked: [2]int{3, 3}, least: time.Second, most: 10 * time.Second},
		"refused, alone":     {main: "refused", want: "refused", asked: [2]int{1, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				main := model("main", 1000, c.main)
				backup := model("backup", 2000, cmp.Or(c.backup, "ok"))
				order := []llm.Model{main}
				if c.backup != "" {
					order = append(order, backup)
				}
				begin, s := time.Now(), &shown{}
				reply, err := llm.NewPool(order, llm.Options{}).Answer(t.Context(), order, llm.NewBudget(0), hello(), s.take)
				took := time.Since(begin)
				got := reply.Model
				var e *llm.Error
				if errors.As(err, &e) {
					got = string(e.Kind)
				}
				if got != c.want || main.asked != c.asked[0] || backup.asked != c.asked[1] {
					t.Errorf("%s, asked %d and %d: %v", got, main.asked, backup.asked, err)
				}
				if took < c.least || took > c.most {
					t.Errorf("took %s", took)
				}
				if notes := strings.Join(reply.Notes, "|"); notes != c.note {
					t.Errorf("notes %q", notes)
				}
				if err == nil && s.text.String() != reply.Text {
					t.Errorf("streamed %q, replied %q", s.text.String(), reply.Text)
				}
			})
		})
	}
}

// TestLLM12Rounds: success in one round of a turn buys no new tries for the
// next, and a model that is out stays out.
func TestLLM12Rounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		main, backup := model("main", 1, "silent ok limited ok overloaded ok"), model("backup", 1, "ok")
		p := llm.NewPool([]llm.Model{main, backup}, llm.Options{})
		b := llm.NewBudget(3)
		var who []string
		for range 5 {
			reply, err := p.Answer(t.Context(), p.Order(""), b, hello(), nil)
			if err != nil {
				t.Fatal(err)
			}
			who = append(who, reply.Model)
		}
		if want := []string{"main", "main", "backup", "backup", "backup"}; !slices.Equal(who, want) || main.asked != 5 {
			t.Errorf("answered by %v, main asked %d times", who, main.asked)
		}
	})
}

// TestTooLongIsFree: after the session shortened the prompt, the same budget
// lets the same model try again.
func TestTooLongIsFree(t *testing.T) {
	main := model("main", 1, "too-long too-long too-long too-long ok")
	p, b := llm.NewPool([]llm.Model{main}, llm.Options{}), llm.NewBudget(1)
	for range 4 {
		if _, err := p.Answer(t.Context(), p.Order(""), b, hello(), nil); err == nil {
			t.Fatal("it fits")
		}
	}
	if _, err := p.Answer(t.Context(), p.Order(""), b, hello(), nil); err != nil {
		t.Error(err)
	}
}

func TestAllFailed(t *testing.T) {
	order := []llm.Model{model("main", 1, "refused"), model("backup", 1, "missing")}
	var failed []string
	p := llm.NewPool(order, llm.Options{Failed: func(e *llm.Error) { failed = append(failed, e.Model) }})
	_, err := p.Answer(t.Context(), order, nil, hello(), nil)
	want := `No model answered: "main" refused the key, "backup" was not found at its server. Check api_key in the configuration, and that the key may use this model.`
	if got := llm.Sentence(err); got != want {
		t.Errorf("got %q", got)
	}
	if !slices.Equal(failed, []string{"main", "backup"}) {
		t.Errorf("told of %v", failed)
	}
	if _, err := p.Answer(t.Context(), nil, nil, hello(), nil); err == nil || llm.Sentence(err) == "" {
		t.Errorf("without models: %v", err)
	}
}

// TestStopWhileWaiting: /stop ends the wait between two tries at once.
func TestStopWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		main := model("main", 1, "limited=50s")
		p := llm.NewPool([]llm.Model{main}, llm.Options{})
		begin := time.Now()
		_, err := p.Answer(ctx, p.Order(""), nil, hello(), nil)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
	})
}

// TestBudgetTogether: sub-agents share a turn's budget.
func TestBudgetTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		main, backup := model("main", 1, "overloaded"), model("backup", 1, "ok")
		p, b := llm.NewPool([]llm.Model{main, backup}, llm.Options{}), llm.NewBudget(3)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if _, err := p.Answer(t.Context(), p.Order(""), b, hello(), nil); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if main.asked > 3+8 { // each may be under way when the budget ends
			t.Errorf("asked %d times", main.asked)
		}
	})
}

func TestPoolOrder(t *testing.T) {
	a, b, c := model("a", 1, "ok"), model("b", 1, "ok"), model("c", 1, "ok")
	a.info.Strength, b.info.Strength, c.info.Strength = "medium", "high", "low"
	p := llm.NewPool([]llm.Model{a, b, c}, llm.Options{})
	for pick, want := range map[string]string{"": "abc", "auto": "abc", "a": "abc", "b": "bac", "c": "cab", "gone": "abc"} {
		got := ""
		for _, m := range p.Order(pick) {
			got += m.Info().Name
		}
		if got != want {
			t.Errorf("%q: %s", pick, got)
		}
	}
	if got := p.ByStrength("low"); got[0] != llm.Model(c) || got[1] != llm.Model(a) || len(p.Models()) != 3 {
		t.Error(got)
	}
}
