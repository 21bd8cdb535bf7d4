package ask_test

import (
	"strings"
	"testing"

	"parley/core/ask"
)

func TestCutID(t *testing.T) {
	tests := []struct{ typed, id, rest string }{
		{"k7f39q", "k7f39q", ""},
		{" #K7F39Q ", "k7f39q", ""},
		{"k7 f3 9q once", "k7f39q", "once"},
		{"K7F-39Q", "k7f39q", ""},
		{"# k7f39q #2", "k7f39q", "#2"},
		{"`k7f39q` no  way ", "k7f39q", "no  way"},
		{"**k7f39q** no", "k7f39q", "no"},
		{"kOIlzz", "k011zz", ""},
		{"k7f39q: because", "k7f39q", "because"},
		{"k7f39q\nfirst\nsecond", "k7f39q", "first\nsecond"},
		{"k7f39q #k7f39q", "k7f39q", "#k7f39q"},
		{"", "", ""},
		{"k7f3", "", ""},
		{"k7f39qq", "", ""},
		{"k7f39q#2", "", ""},
		{"k7f39u", "", ""},
		{"k7é9q1", "", ""},
		{"k7f3/9q", "", ""},
		{"\xff\xffk7f39q", "", ""},
		{"k7f39q\xff", "", ""},
	}
	for _, test := range tests {
		id, rest, ok := ask.CutID(test.typed)
		if ok != (test.id != "") || ok && (id != test.id || rest != test.rest) {
			t.Errorf("%q: %q, %q, %v", test.typed, id, rest, ok)
		}
	}
}

func TestParse(t *testing.T) {
	approve := func(s ask.Span, c ask.Scope) ask.Reply { return bypass(s, c) }
	text := func(s string) ask.Reply { return ask.Reply{Verdict: ask.Replied, Text: s} }
	tests := []struct {
		parse   func(string) (string, ask.Reply, string)
		args    string
		want    ask.Reply
		problem string
	}{
		{ask.ParseApprove, "k7f39q", approve(ask.Once, ask.ThisTool), ""},
		{ask.ParseApprove, "K7F 39Q ONCE", approve(ask.Once, ask.ThisTool), ""},
		{ask.ParseApprove, "k7f39q once tool", approve(ask.Once, ask.ThisTool), ""},
		{ask.ParseApprove, "k7f39q 15m", approve(ask.QuarterHour, ask.ThisTool), ""},
		{ask.ParseApprove, "k7f39q 15min Category", approve(ask.QuarterHour, ask.ThisCategory), ""},
		{ask.ParseApprove, "k7f39q session server", approve(ask.WholeSession, ask.ThisServer), ""},
		{ask.ParseApprove, "k7f39q all session", approve(ask.WholeSession, ask.AllTools), ""},
		{ask.ParseApprove, "k7f39q all", ask.Reply{}, "For how long? `/approve k7f39q 15m all` or `/approve k7f39q session all`"},
		{ask.ParseApprove, "k7f39q forever", ask.Reply{}, "I do not understand `forever`. Say `/approve k7f39q [once|15m|session] [tool|category|server|all]`"},
		{ask.ParseApprove, "k7f39q 15m session", ask.Reply{}, "I do not understand `session`."},
		{ask.ParseApprove, "k7f39q 15m all server", ask.Reply{}, "I do not understand `server`."},
		{ask.ParseApprove, "k7f39q ``` x", ask.Reply{}, "I do not understand ```` ``` ````."},
		{ask.ParseApprove, "", ask.Reply{}, "Which one? Say `/approve ID`. /inbox lists what is open."},
		{ask.ParseApprove, "once", ask.Reply{}, "`once` is not the id of a request; one looks like `k7f39q`."},
		{ask.ParseReject, "k7f39q", reject(""), ""},
		{ask.ParseReject, "k7f39q -", reject(""), ""},
		{ask.ParseReject, "k7f39q  Not *this* way:\n1. ask  first", reject("Not *this* way:\n1. ask  first"), ""},
		{ask.ParseReject, " ", ask.Reply{}, "Which one? Say `/reject ID`."},
		{ask.ParseReject, "nope!", ask.Reply{}, "`nope!` is not the id of a request"},
		{ask.ParseAnswer, "k7f39q #2", ask.Reply{Verdict: ask.Replied, Choice: 2, Text: "#2"}, ""},
		{ask.ParseAnswer, "k7f39q # 12", ask.Reply{Verdict: ask.Replied, Choice: 12, Text: "# 12"}, ""},
		{ask.ParseAnswer, "k7f39q #0", text("#0"), ""},
		{ask.ParseAnswer, "k7f39q #2 or #3", text("#2 or #3"), ""},
		{ask.ParseAnswer, "k7f39q #99999999999999999999", text("#99999999999999999999"), ""},
		{ask.ParseAnswer, "k7f39q yes, both", text("yes, both"), ""},
		{ask.ParseAnswer, "k7f39q", ask.Reply{}, "And the answer? Say `/answer k7f39q TEXT`, or `/answer k7f39q #N`"},
		{ask.ParseAnswer, "", ask.Reply{}, "Which one? Say `/answer ID TEXT`."},
	}
	for _, test := range tests {
		id, got, problem := test.parse(test.args)
		switch {
		case test.problem != "":
			if has(t, problem, test.problem); id != "" || got != (ask.Reply{}) {
				t.Errorf("%q: both a problem and %q %+v", test.args, id, got)
			}
		case problem != "" || id != "k7f39q" || got != test.want:
			t.Errorf("%q: %q %+v, %s", test.args, id, got, problem)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"k7f39q 15m all", "#K7 F3 9Q\nno", "```", "\u202ek7f39q"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, parse := range []func(string) (string, ask.Reply, string){ask.ParseApprove, ask.ParseReject, ask.ParseAnswer} {
			id, _, problem := parse(s)
			if (id == "") == (problem == "") || len(id) != 0 && len(id) != 6 || len(problem) > 8000 {
				t.Errorf("%q: id %q, problem %.200q", s, id, problem)
			}
			if strings.Contains(problem, "\u202e") {
				t.Errorf("%q: the problem hides something: %q", s, problem)
			}
		}
	})
}
