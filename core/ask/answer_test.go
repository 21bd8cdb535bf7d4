package ask_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"parley/core/ask"
	"parley/core/chat"
	"parley/tools"
)

// A first reply, judged: what is stored and what is said.
func TestAnswer(t *testing.T) {
	mcp := approval()
	mcp.Category, mcp.Server, mcp.Tool = tools.NoCategory, "jira", "jira_close"
	tests := []struct {
		name     string
		open     ask.Request
		by       chat.User
		reply    ask.Reply
		want     ask.Answer // without By, Event and At; zero: it stays open
		sentence string
		report   string
	}{
		{"approve", approval(), ada, approve(), ask.Answer{Verdict: ask.Approved}, "Approved: `execute_cmd`, run make.", "approved by Ada"},
		{"15 minutes", approval(), bob, bypass(ask.QuarterHour, ask.ThisTool), ask.Answer{Verdict: ask.Approved, Bypass: ask.Bypass{Span: ask.QuarterHour}}, "and every call of `execute_cmd` for 15 minutes.", "approved by Bob"},
		{"category", approval(), ada, bypass(ask.WholeSession, ask.ThisCategory), ask.Answer{Verdict: ask.Approved, Bypass: ask.Bypass{Span: ask.WholeSession, Scope: ask.ThisCategory}}, "every call of a shell tool until this conversation ends.", "approved by Ada"},
		{"server", mcp, ada, bypass(ask.WholeSession, ask.ThisServer), ask.Answer{Verdict: ask.Approved, Bypass: ask.Bypass{Span: ask.WholeSession, Scope: ask.ThisServer}}, "every tool of the server `jira` until", "approved by Ada"},
		{"all", approval(), ada, bypass(ask.QuarterHour, ask.AllTools), ask.Answer{Verdict: ask.Approved, Bypass: ask.Bypass{Span: ask.QuarterHour, Scope: ask.AllTools}}, "every tool for 15 minutes.", "approved by Ada"},
		{"no category", mcp, ada, bypass(ask.WholeSession, ask.ThisCategory), ask.Answer{}, "`jira_close` has no category. Nothing was decided; choose tool, server or all.", ""},
		{"no server", approval(), ada, bypass(ask.WholeSession, ask.ThisServer), ask.Answer{}, "`execute_cmd` is of no MCP server. Nothing was decided", ""},
		{"once for all", approval(), ada, bypass(ask.Once, ask.AllTools), ask.Answer{}, "for its call alone", ""},
		{"odd span", approval(), ada, bypass("year", ask.AllTools), ask.Answer{}, "not for `year`", ""},
		{"odd scope", approval(), ada, bypass(ask.QuarterHour, "galaxy"), ask.Answer{}, "not `galaxy`", ""},
		{"reject", approval(), ada, reject(""), ask.Answer{Verdict: ask.Rejected}, "Rejected: `execute_cmd`, run make.", "rejected by Ada"},
		{"reject with reason", approval(), ada, reject("use *ninja*\n2×"), ask.Answer{Verdict: ask.Rejected, Text: "use *ninja*\n2×"}, "Rejected: ", "rejected by Ada: use *ninja*\n2×"},
		{"not asked", approval(), eve, approve(), ask.Answer{}, "You are not among those who may decide", ""},
		{"nobody", approval(), chat.User{}, approve(), ask.Answer{}, "You are not among those who may decide", ""},
		{"answer an approval", approval(), ada, ask.Typed("yes"), ask.Answer{}, "asks for an approval: `/approve ", ""},
		{"store an approval", approval(), ada, ask.Reply{Verdict: ask.Stored}, ask.Answer{}, "asks for an approval", ""},
		{"no verdict", approval(), ada, ask.Reply{}, ask.Answer{}, "asks for an approval", ""},

		{"text", question(), ada, ask.Typed("main, *please*"), ask.Answer{Verdict: ask.Replied, Text: "main, *please*"}, "Answered: Which branch?", "main, *please*"},
		{"choice", question("main", "dev"), ada, ask.Typed("#2"), ask.Answer{Verdict: ask.Replied, Choice: 2, Text: "dev"}, "Answered: Which branch?", "dev"},
		{"choice typed out", question("Main", "dev"), ada, ask.Typed(" main "), ask.Answer{Verdict: ask.Replied, Choice: 1, Text: "Main"}, "Answered", "Main"},
		{"another text", question("main", "dev"), ada, ask.Typed("2"), ask.Answer{Verdict: ask.Replied, Text: "2"}, "Answered", "2"},
		{"hash without choices", question(), ada, ask.Typed("#2"), ask.Answer{Verdict: ask.Replied, Text: "#2"}, "Answered", "#2"},
		{"bad choice", question("main", "dev"), ada, ask.Typed("#3"), ask.Answer{}, "There is no answer #3; 2 are suggested. Say `/answer ", ""},
		{"choice of none", question(), ada, ask.Reply{Verdict: ask.Replied, Choice: 1}, ask.Answer{}, "There is no answer #1; none are suggested", ""},
		{"negative choice", question("a"), ada, ask.Reply{Verdict: ask.Replied, Choice: -1}, ask.Answer{}, "only one is suggested", ""},
		{"no text", question(), ada, ask.Typed(" \n"), ask.Answer{}, "And the answer?", ""},
		{"decline", question(), ada, reject("busy"), ask.Answer{Verdict: ask.Rejected, Text: "busy"}, "Declined: Which branch?", "Ada declined to answer: busy"},
		{"approve a question", question(), ada, approve(), ask.Answer{}, "is a question: `/answer ", ""},
		{"another's question", question(), bob, ask.Typed("x"), ask.Answer{}, "You are not among those who were asked", ""},
		{"elicitation", elicitation(), ada, ask.Typed("OPS"), ask.Answer{Verdict: ask.Replied, Text: "OPS"}, "Answered: Which project?", "OPS"},
		{"elicitation declined", elicitation(), ada, reject(""), ask.Answer{Verdict: ask.Rejected}, "Declined: Which project?", "Ada declined to answer"},

		{"secret stored", secret(), ada, ask.Reply{Verdict: ask.Stored, Text: "hunter2"}, ask.Answer{Verdict: ask.Stored}, `Set: GITHUB\_TOKEN.`, "Ada has stored the secret"},
		{"secret declined", secret(), ada, reject("hunter2"), ask.Answer{Verdict: ask.Rejected}, "Declined: ", "Ada declined to answer"},
		{"secret as an answer", secret(), ada, ask.Typed("hunter2"), ask.Answer{}, "asks for a secret", ""},
	}
	w := newWorld(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := w.put(test.open)
			res := w.answer(r.ID, test.by, "e1", test.reply)
			has(t, res.Sentence, test.sentence)
			got := w.get(r.ID)
			if strings.Contains(asJSON(t, got), "hunter2") || strings.Contains(res.Sentence, "hunter2") {
				t.Error("a secret got out")
			}
			if got.Report() != test.report {
				t.Errorf("the model reads %q", got.Report())
			}
			if test.want == (ask.Answer{}) {
				if got.State != ask.Open || res.Settled || got.Approved() {
					t.Errorf("settled: %+v", got.Answer)
				}
				return
			}
			test.want.By, test.want.Event, test.want.At = test.by, "e1", w.now()
			if got.State != ask.Answered || got.Answer != test.want || got.Approved() != (test.want.Verdict == ask.Approved) {
				t.Errorf("got %s %+v", got.State, got.Answer)
			}
		})
	}
}

// What somebody is told who comes too late, or with a wrong id.
func TestLate(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	settle := map[string]func(id string){
		"approved": func(id string) { w.answer(id, ada, "e1", approve()) },
		"rejected": func(id string) { w.answer(id, ada, "e1", reject("no")) },
		"answered": func(id string) { w.answer(id, ada, "e1", ask.Typed("x")) },
		"declined": func(id string) { w.answer(id, ada, "e1", reject("")) },
		"set":      func(id string) { w.answer(id, ada, "e1", ask.Reply{Verdict: ask.Stored}) },
		"expired":  func(string) { w.pass(25 * time.Hour) },
		"withdrawn": func(id string) {
			_, ops, err := w.asks.Withdraw(ctx, "the turn was *stopped*", id)
			if err != nil {
				t.Fatal(err)
			}
			w.apply(ops...)
		},
	}
	both := func(r ask.Request) ask.Request { r.Answerers = []chat.UserID{ada.ID, bob.ID}; return r }
	tests := []struct {
		open     ask.Request
		how      string
		by       chat.User
		sentence string
	}{
		{approval(), "approved", bob, "` was already approved by Ada."},
		{approval(), "approved", ada, "` was already approved by you."},
		{approval(), "rejected", bob, "` was already rejected by Ada."},
		{approval(), "rejected", eve, "You are not among those who may decide"},
		{approval(), "expired", bob, "` expired at 3 Jan 15:04 UTC, which counts as a rejection. Nothing was run."},
		{approval(), "withdrawn", bob, "` is not asked any more: the turn was \\*stopped\\*."},
		{both(question()), "answered", bob, "` was already answered by Ada."},
		{both(question()), "declined", bob, "` was already declined by Ada."},
		{both(question()), "expired", bob, "so the answer comes too late."},
		{both(secret()), "set", bob, "` was already set by Ada."},
		{both(elicitation()), "withdrawn", bob, "is not asked any more"},
	}
	for _, test := range tests {
		w.clock = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
		r := w.put(test.open)
		settle[test.how](r.ID)
		before := w.get(r.ID)
		for _, reply := range []ask.Reply{approve(), reject("late"), ask.Typed("late"), {Verdict: ask.Stored}} {
			res := w.answer(r.ID, test.by, "e2", reply)
			has(t, res.Sentence, test.sentence)
			if res.Settled || len(res.Ops) > 0 {
				t.Errorf("%s: a late answer changed something", test.how)
			}
		}
		if after := w.get(r.ID); asJSON(t, after) != asJSON(t, before) {
			t.Errorf("%s: the row changed", test.how)
		}
	}
	for typed, sentence := range map[string]string{
		"zzzzzz":                 "There is no request `zzzzzz`, or none any more, so nothing was done.",
		"":                       "is not the id of a request",
		"k7f3":                   "`k7f3` is not the id of a request; one looks like",
		"``**x**``":              "is not the id of a request",
		strings.Repeat("a", 1e6): "is not the id of a request",
	} {
		res := w.answer(typed, ada, "e9", approve())
		has(t, res.Sentence, sentence)
		if len(res.Ops) > 0 || res.Settled || len(res.Sentence) > 500 {
			t.Errorf("%.20q: %+v", typed, res)
		}
	}
	if _, err := w.asks.Answer(ctx, "zzzzzz", ada, "", approve()); err == nil {
		t.Error("an answer without an event was taken")
	}
}

func TestOpenRefuses(t *testing.T) {
	w := newWorld(t)
	for name, change := range map[string]func(*ask.Request){
		"kind":    func(r *ask.Request) { r.Kind = "riddle" },
		"session": func(r *ask.Request) { r.Session = "" },
		"nobody":  func(r *ask.Request) { r.Answerers = nil },
	} {
		r := approval()
		change(&r)
		if _, ops, err := w.asks.Open(context.Background(), r); err == nil || len(ops) > 0 {
			t.Errorf("%s: opened", name)
		}
	}
}

// constant is a source of random bytes that runs dry of ideas.
type constant struct{ turns []byte }

func (c *constant) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = c.turns[0]
	}
	if len(c.turns) > 1 {
		c.turns = c.turns[1:]
	}
	return len(p), nil
}

func TestIDsAreUnique(t *testing.T) {
	w := newWorld(t)
	w.asks = ask.New(w.db, ask.Options{Now: w.now, Rand: &constant{[]byte{1, 1, 1, 2}}})
	first, second := w.put(approval()), w.put(approval())
	if first.ID != "111111" || second.ID != "222222" {
		t.Errorf("ids %s and %s", first.ID, second.ID)
	}
	if _, _, err := w.asks.Open(context.Background(), approval()); err == nil {
		t.Error("a third request got an id that is taken")
	}
}

func TestFinding(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	a := w.put(approval())
	w.pass(time.Second)
	q := w.put(question("x"))
	w.pass(time.Second)
	w.put(elicitation())
	other := question()
	other.Session, other.Key, other.Cards = "s10", chat.Key{Adapter: "telegram", Chat: "-1001"}, nil
	o := w.put(other)

	ids := func(list []ask.Request, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, r := range list {
			ids = append(ids, r.ID)
		}
		return strings.Join(ids, " ")
	}
	if got := ids(w.asks.OpenIn(ctx, group, ada.ID)); got != q.ID {
		t.Errorf("open in the group: %s", got)
	}
	if got := ids(w.asks.OpenIn(ctx, group, bob.ID)); got != "" {
		t.Errorf("open for somebody not asked: %s", got)
	}
	if got := ids(w.asks.OpenIn(ctx, other.Key, ada.ID)); got != o.ID {
		t.Errorf("open in the other chat: %s", got)
	}
	if got := ids(w.asks.ForPerson(ctx, bob.ID, "web:9")); got != a.ID {
		t.Errorf("Bob's inbox: %s", got)
	}
	w.answer(a.ID, bob, "e", approve())
	if got := ids(w.asks.ForPerson(ctx, bob.ID)); got != "" {
		t.Errorf("Bob's inbox afterwards: %s", got)
	}
	if got := ids(w.asks.ForSession(ctx, "s1")); !strings.HasPrefix(got, a.ID+" "+q.ID+" ") || len(got) != 20 {
		t.Errorf("of the session: %s", got)
	}
	if got := ids(w.asks.All(ctx)); len(got) != 27 {
		t.Errorf("all: %s", got)
	}

	list, err := w.asks.Move(ctx, group, chat.Key{Adapter: "telegram", Chat: "-200"})
	if err != nil || len(list) != 2 {
		t.Fatalf("moved %d: %v", len(list), err)
	}
	for _, res := range list {
		w.apply(res.Ops...)
	}
	if got := ids(w.asks.OpenIn(ctx, chat.Key{Adapter: "telegram", Chat: "-200"}, ada.ID)); got != q.ID {
		t.Errorf("open after the move: %s", got)
	}
	if got := ids(w.asks.OpenIn(ctx, group, ada.ID)); got != "" {
		t.Errorf("open where it was: %s", got)
	}
	if now := w.get(q.ID); now.Cards[0].Post != q.Cards[0].Post || ask.SettledPost(now, now.Cards[0]).Replaces != q.Cards[0].Post {
		t.Error("the move lost the card")
	}
}

func TestShow(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	r := w.put(approval())
	seen := map[string]bool{r.Cards[0].Post: true, r.Cards[1].Post: true}
	for _, k := range []chat.Key{home, home, {Adapter: "web", Chat: "1"}} {
		res, err := w.asks.Show(ctx, r.ID, ada, k, "e"+k.Chat)
		if err != nil || res.Settled || res.Sentence != "" {
			t.Fatal(res, err)
		}
		w.apply(res.Ops...)
		post := res.Request.Cards[len(res.Request.Cards)-1].Post
		if id, ok := ask.OfPost(post); seen[post] || !ok || id != r.ID {
			t.Errorf("post %s", post)
		}
		seen[post] = true
	}
	if res, _ := w.asks.Show(ctx, r.ID, eve, home, "e"); len(res.Ops) > 0 || len(res.Request.ID) > 0 {
		t.Error("shown to somebody not asked")
	}
	if res := w.answer(r.ID, ada, "e", approve()); len(res.Request.Cards) != 5 {
		t.Errorf("%d cards to settle", len(res.Request.Cards))
	}
	if res, _ := w.asks.Show(ctx, r.ID, ada, home, "e"); len(res.Ops) > 0 {
		t.Error("shown after it was settled")
	}
	for _, post := range []string{"", "ask/", "ask/k7f39q", "ask/k7f39q/card", "ask/k7f3/card/1", "t1/0/1", "ask/K7F39Q/card/1"} {
		if id, ok := ask.OfPost(post); ok {
			t.Errorf("%q is taken for a card of %s", post, id)
		}
	}
}

func TestExpiry(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	if at, err := w.asks.Next(ctx); err != nil || !at.IsZero() {
		t.Fatal(at, err)
	}
	late := question()
	late.Expires = w.now().Add(time.Hour)
	q, a := w.put(late), w.put(approval())
	if at, _ := w.asks.Next(ctx); !at.Equal(q.Expires) {
		t.Errorf("next at %s", at)
	}
	w.pass(time.Hour)
	expire := func(want ask.Request, report string) {
		t.Helper()
		list, err := w.asks.Expire(ctx)
		if err != nil || len(list) != 1 || list[0].Request.ID != want.ID || list[0].Request.State != ask.Expired {
			t.Fatalf("expired %+v: %v", list, err)
		}
		w.onlyOneConditional(list[0])
		w.apply(list[0].Ops...)
		if got := w.get(want.ID); got.Report() != report || got.Approved() {
			t.Errorf("report %q", got.Report())
		}
	}
	expire(q, "nobody answered in time")
	if at, _ := w.asks.Next(ctx); !at.Equal(a.Expires) {
		t.Errorf("next at %s", at)
	}
	w.reopen()
	w.pass(23 * time.Hour)
	expire(a, "nobody decided in time, which counts as a rejection")
	if list, err := w.asks.Expire(ctx); len(list) > 0 || err != nil {
		t.Error("expired twice")
	}

	w.pass(ask.Kept - 23*time.Hour - 1)
	if ops, err := w.asks.Tidy(ctx); len(ops) > 0 || err != nil {
		t.Error("forgotten too early", err)
	}
	w.pass(1)
	ops, err := w.asks.Tidy(ctx)
	if err != nil {
		t.Fatal(err)
	}
	w.apply(ops...)
	if all, _ := w.asks.All(ctx); len(all) != 1 || all[0].ID != a.ID {
		t.Errorf("kept %d", len(all))
	}
	w.pass(24 * time.Hour)
	ops, _ = w.asks.Tidy(ctx)
	w.apply(ops...)
	if rows, err := w.db.List(ctx, "ask_index", "", "", 10); len(rows) > 0 || err != nil {
		t.Errorf("left in the index: %v %v", rows, err)
	}
}
