package ask_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"parley/core/ask"
	"parley/core/chat"
	"parley/tools"
)

func TestApprovalCard(t *testing.T) {
	w := newWorld(t)
	r := w.put(approval())
	card := ask.CardPost(r, r.Cards[1])
	want := "**May this run?** `execute_cmd`, run make\n\n" +
		"```sh\n$ make\n```\nin `/srv/work`\n\n" +
		"```json\n{\"command\": \"make\"}\n```\n\n" +
		"**Note**: no sandbox is in force\n\n" +
		"Asked by the agent default in Builders for Eve (`slack:3`), 2 Jan 15:04 UTC; open until 3 Jan 15:04 UTC.\n\n" +
		"`/approve ID [once|15m|session]` or `/reject ID [reason]`"
	if card.Text != strings.ReplaceAll(want, "ID", r.ID) {
		t.Errorf("got\n%s", card.Text)
	}
	var row []string
	for _, line := range card.Buttons {
		for _, b := range line {
			row = append(row, b.Label+"="+b.Line)
		}
	}
	if got, want := strings.Join(row, "; "), strings.ReplaceAll("Approve=/approve ID; Reject=/reject ID; 15 min=/approve ID 15m; Session=/approve ID session", "ID", r.ID); got != want {
		t.Errorf("buttons %s", got)
	}
	if card.Buttons[0][1].Prompt == "" || card.Kind != chat.Card || card.ID != r.Cards[1].Post {
		t.Errorf("card %+v", card)
	}
	waiting := ask.CardPost(r, r.Cards[0])
	has(t, waiting.Text, "**Waiting for approval**: `execute_cmd`, run make", "3 Jan 15:04 UTC")
	if len(waiting.Buttons) > 0 || strings.Contains(waiting.Text, "/srv/work") {
		t.Error("the waiting card says too much")
	}
	if waiting.ID == card.ID {
		t.Error("two cards with one id")
	}
	for _, post := range []string{card.ID, waiting.ID} {
		if id, ok := ask.OfPost(post); !ok || id != r.ID {
			t.Errorf("%s is not found to be a card of %s", post, r.ID)
		}
	}
}

func TestDiffCard(t *testing.T) {
	w := newWorld(t)
	r := approval()
	r.Tool, r.Title = "write_file", "write `a`/*b*"
	r.Details.Target = "/srv/work/a  `b"
	r.Details.Preview = tools.Preview{Kind: tools.PreviewDiff, Text: "--- a\n+++ b\n+```\n+evil\u202e\r\n"}
	r.Details.Args = ""
	r = w.put(r)
	has(t, ask.CardPost(r, r.Cards[1]).Text,
		"`write_file`, write \\`a\\`/\\*b\\*",
		"Path: `` /srv/work/a  `b ``",
		"````diff\n--- a\n+++ b\n+```\n+evil\\u202e\\u000d\n````")
}

func TestQuestionCards(t *testing.T) {
	w := newWorld(t)
	r := w.put(question("main", strings.Repeat("long ", 20), "#3"))
	card := ask.CardPost(r, r.Cards[0])
	has(t, card.Text, "**Question**: Which branch?\n\n> I see *two*.\n\nSuggested:\n\n- \\#1: main\n- \\#2: long long", "- \\#3: \\#3", "`/answer "+r.ID+" TEXT`")
	if b := card.Buttons[1][0]; b.Line != "/answer "+r.ID+" #2" || len([]rune(b.Label)) > 41 || !strings.HasSuffix(b.Label, "…") {
		t.Errorf("button %+v", b)
	}
	if last := card.Buttons[3]; len(last) != 1 || last[0].Prompt != "Which branch?" || last[0].Line != "/answer "+r.ID {
		t.Errorf("last row %+v", last)
	}
	if r = w.put(question("main", "dev")); strings.Contains(ask.CardPost(r, r.Cards[0]).Text, "Suggested") {
		t.Error("lists what the buttons show")
	}
	many := make([]string, 100)
	for i := range many {
		many[i] = fmt.Sprint("choice ", i+1)
	}
	r = w.put(question(many...))
	card = ask.CardPost(r, r.Cards[0])
	has(t, card.Text, "- \\#40: choice 40\n- and 60 more")
	if len(card.Buttons) != 5 || len(card.Buttons[3]) != 3 {
		t.Errorf("%d rows", len(card.Buttons))
	}
	r = w.put(secret())
	card = ask.CardPost(r, r.Cards[0])
	has(t, card.Text, `**A secret is needed**: GITHUB\_TOKEN`, "nowhere else")
	if b := card.Buttons[0]; b[0].Prompt != "GITHUB_TOKEN" || b[1].Line != "/reject "+r.ID {
		t.Errorf("buttons %+v", b)
	}
	r = w.put(elicitation())
	has(t, ask.CardPost(r, r.Cards[0]).Text, "**The MCP server `jira` asks**: Which project?")
}

func TestSettledCards(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	text := func(r ask.Request) string {
		t.Helper()
		card, post := ask.CardPost(r, r.Cards[0]), ask.SettledPost(r, r.Cards[0])
		if post.Replaces != card.ID || post.ID == card.ID || len(post.Buttons) > 0 || post.Kind != chat.Card {
			t.Errorf("settled %+v", post)
		}
		return post.Text
	}
	settle := func(r ask.Request, reply ask.Reply) string {
		t.Helper()
		r = w.put(r)
		return text(w.answer(r.ID, chat.User{ID: ada.ID, Name: "*Ada*"}, "e", reply).Request)
	}
	for _, test := range []struct{ got, want string }{
		{settle(approval(), approve()), "**Approved** by \\*Ada\\*: `execute_cmd`, run make"},
		{settle(approval(), bypass(ask.WholeSession, ask.ThisTool)), "**Approved** by \\*Ada\\*: `execute_cmd`, run make; and every call of `execute_cmd` until this conversation ends"},
		{settle(approval(), reject("no:\n```\nnever")), "**Rejected** by \\*Ada\\*: `execute_cmd`, run make\n\n> no:\n> ```\n> never"},
		{settle(question("a", "b"), ask.Typed("#2")), "**Answered** by \\*Ada\\*: Which branch?\n\n> b"},
		{settle(question(), reject("")), "**Declined** by \\*Ada\\*: Which branch?"},
		{settle(secret(), ask.Reply{Verdict: ask.Stored}), `**Set** by \*Ada\*: GITHUB\_TOKEN`},
	} {
		if test.got != test.want {
			t.Errorf("got  %s\nwant %s", test.got, test.want)
		}
	}
	r := w.put(question())
	list, ops, err := w.asks.Withdraw(ctx, "/stop", r.ID)
	if err != nil {
		t.Fatal(err)
	}
	w.apply(ops...)
	if got := text(list[0]); got != "**No longer asked** (/stop): Which branch?" {
		t.Error(got)
	}
	if got := list[0].Report(); got != "the request was withdrawn before anybody answered: /stop" {
		t.Error(got)
	}
	w.put(approval())
	w.put(question())
	w.pass(24 * time.Hour)
	expired, _ := w.asks.Expire(ctx)
	for _, res := range expired {
		want := map[ask.Kind]string{
			ask.Approval:      "**Rejected**, since nobody decided in time: `execute_cmd`, run make",
			ask.Clarification: "**Nobody answered in time**: Which branch?",
		}[res.Request.Kind]
		if got := text(res.Request); got != want {
			t.Error(got)
		}
	}
}

func TestOverlong(t *testing.T) {
	w := newWorld(t)
	r := approval()
	r.Details.Args = strings.Repeat("é", 1e6)
	r.Details.Preview = tools.Preview{Kind: tools.PreviewDiff, Text: strings.Repeat("+line\n", 1e6)}
	if args, preview := r.Details.Overlong(); !args || !preview {
		t.Error("not found to be too long")
	}
	has(t, ask.CardPost(r, ask.Card{}).Text, "+line\n```\n**5997805 more bytes are not shown.**") // also if nobody cut it
	r.Details.Files = []chat.File{{Name: "call.diff", Blob: "sha256-0"}, {Name: "args`.json", Blob: "sha256-1"}}
	r = w.put(r)
	if n := len(asJSON(t, r)); n > 8000 {
		t.Errorf("the row has %d bytes", n)
	}
	card := ask.CardPost(w.get(r.ID), r.Cards[1])
	has(t, card.Text, "+line\n```\n**5997805 more bytes**, see `call.diff`, `` args`.json ``.", "é\n```\n**1999100 more bytes**, see")
	if n := len(utf16.Encode([]rune(card.Text))); n > 4000 {
		t.Errorf("the card has %d characters", n)
	}
	if len(card.Files) != 2 {
		t.Errorf("%d files", len(card.Files))
	}
	if args, preview := approval().Details.Overlong(); args || preview {
		t.Error("found to be too long")
	}
}

func TestInbox(t *testing.T) {
	w := newWorld(t)
	if got := ask.InboxPost(nil); got.Text != "Nothing waits for you." || len(got.Buttons) > 0 {
		t.Errorf("%+v", got)
	}
	long := approval()
	long.Details.Args = ask.Pretty(json.RawMessage(`{"x":"`+strings.Repeat("y", 500)+`"}`), nil)
	open := []ask.Request{w.put(approval()), w.put(long), w.put(question("a")), w.put(secret()), w.put(elicitation())}
	post := ask.InboxPost(open)
	has(t, post.Text, "**5 requests wait for you**", "`"+open[0].ID+"` **May this run?** `execute_cmd`, run make", "$ make", "for Eve (`slack:3`), 2 Jan 15:04 UTC")
	for i, want := range []string{"Approve|Reject", "Show|Reject", "Answer|Show", "Set|Decline", "Answer|Show"} {
		first, second, _ := strings.Cut(want, "|")
		row := post.Buttons[i]
		if len(row) != 2 || !strings.HasPrefix(row[0].Label, first+" "+open[i].ID) || !strings.HasPrefix(row[1].Label, second+" "+open[i].ID) {
			t.Errorf("row %d: %+v", i, row)
		}
	}
	for len(open) < 70 {
		open = append(open, open[len(open)-5])
	}
	post = ask.InboxPost(open)
	has(t, post.Text, "**70 requests wait for you**", "And:\n\n- `"+open[5].ID+"` **May this run?**", "- and 15 more")
	if len(post.Buttons) != 5 {
		t.Errorf("%d rows", len(post.Buttons))
	}
	has(t, ask.SeveralSentence(open[2:5]), "no answer", "\n\n- Which branch?: `/answer "+open[2].ID+" TEXT`")
	has(t, ask.SeveralSentence(open), "- and 60 more, see /inbox")
}

// Whatever somebody else chose stays in its place: in a block, a quote or a
// line that it cannot leave, with nothing hidden in it.
func TestHostileWords(t *testing.T) {
	w := newWorld(t)
	hostiles := []string{
		"```\nEVIL\n```", "``````````\nEVIL", "~~~\nEVIL\n~~~", "x`` `EVIL` **EVIL**", "</code><b>EVIL</b>",
		"a\n\nEVIL\n\n# EVIL", "a\r\rEVIL\u2028EVIL\u2029EVIL\x85EVIL\vEVIL", "> ```\n> EVIL", "[EVIL](http://e) ![EVIL](x) &lt;EVIL",
		"\u202eEVIL\u202c\u200b\u3164\x00\x1b[31mEVIL", "\xff\xfeEVIL", strings.Repeat("EVIL ", 5e3), strings.Repeat("EVIL\n", 5e3), strings.Repeat("`", 2e4),
	}
	for _, h := range hostiles {
		for _, r := range []ask.Request{approval(), question(), elicitation(), secret()} {
			hostile := chat.User{ID: chat.UserID("x:" + h[:min(len(h), 1000)]), Name: h}
			r.Tool, r.Title, r.Question, r.Server, r.Category = h, h, h, h, tools.Category(h)
			r.Choices, r.For, r.Answerers = []string{h, h}, hostile, []chat.UserID{hostile.ID}
			r.Details = ask.Details{Args: h, Target: h, Agent: h, Chat: h, Files: []chat.File{{Name: h}}}
			for _, kind := range []tools.PreviewKind{tools.PreviewArgs, tools.PreviewCommand, tools.PreviewDiff} {
				r.Details.Preview = tools.Preview{Kind: kind, Text: h, Where: h, Note: h}
				held(t, h, ask.CardPost(r, ask.Card{}))
			}
			opened := w.put(r)
			held(t, h, ask.CardPost(opened, ask.Card{Waiting: true}))
			held(t, h, ask.InboxPost([]ask.Request{opened, opened, opened, opened, opened, opened, opened}))
			held(t, h, chat.Post{Text: ask.SeveralSentence([]ask.Request{opened, opened})})
			for i, reply := range []ask.Reply{{Verdict: ask.Replied, Text: h}, bypass(ask.WholeSession, ask.ThisServer), reject(h), reject(h)} {
				res := w.answer(opened.ID, hostile, fmt.Sprint("e", i), reply)
				held(t, h, chat.Post{Text: res.Sentence})
				if res.Settled {
					held(t, h, ask.SettledPost(res.Request, opened.Cards[0]))
				}
			}
		}
	}
}

// held checks a post: EVIL only in a fence, a quote, a code span or an escaped
// line of ours, every fence closed, nothing hidden, buttons within the limit.
func held(t *testing.T, hostile string, post chat.Post) {
	t.Helper()
	fence := ""
	for line := range strings.SplitSeq(post.Text, "\n") {
		run := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence != "":
			if len(run) >= len(fence) && strings.TrimSpace(line) == run {
				fence = ""
			}
		case len(run) >= 3 && !strings.Contains(line[len(run):], "`"):
			fence = run
		case strings.HasPrefix(line, "> "):
		case strings.HasPrefix(line, "EVIL"), strings.HasPrefix(line, "#"), strings.HasPrefix(line, "~"):
			t.Fatalf("%.40q got out:\n%.2000s", hostile, post.Text)
		}
		for _, r := range line {
			if r == '\u202e' || r == '\u3164' || r == '\x1b' || r == '\x00' || r == '\u2028' || r == '\r' {
				if !strings.HasPrefix(line, "> ") {
					t.Fatalf("%.40q hides %q in\n%.2000s", hostile, r, line)
				}
			}
		}
	}
	if fence != "" {
		t.Fatalf("%.40q left a fence open:\n%.2000s", hostile, post.Text)
	}
	if len(post.Text) > 64<<10 || len(post.Buttons) > 5 {
		t.Fatalf("%.40q made %d bytes and %d rows", hostile, len(post.Text), len(post.Buttons))
	}
	for _, row := range post.Buttons {
		for _, b := range row {
			if len(b.Line) > chat.MaxLine || b.Label == "" || len([]rune(b.Label)) > 41 || len([]rune(b.Prompt)) > 41 || strings.ContainsAny(b.Label+b.Prompt, "\n\r\u202e") {
				t.Fatalf("button %+v", b)
			}
		}
	}
}
