package policy_test

import (
	"strings"
	"testing"

	"parley/core/policy"
)

func TestPut(t *testing.T) {
	w := newWorld(t, policy.Config{})
	c := w.did(w.Put(ctx, policy.Rule{Tool: " web_* ", Action: "DENY", Note: "no web", Seed: "7"}))
	got := must(w.Rules(ctx, ""))
	want := policy.Rule{ID: c.ID, Tool: "web_*", Action: deny, Priority: policy.Usual, Note: "no web"}
	if len(got) != 1 || got[0] != want {
		t.Fatalf("%+v", got)
	}
	w.did(w.Put(ctx, policy.Rule{ID: c.ID, Tool: "web_*", Action: allow}))
	want.Action, want.Note = allow, ""
	if got := must(w.Rules(ctx, "default")); len(got) != 1 || got[0] != want {
		t.Fatalf("%+v", got)
	}
	c = w.did(w.Put(ctx, policy.Rule{Group: "team", Tool: "*", Action: allow}))
	if !strings.Contains(c.Reply, "The group is new") || must(w.Rules(ctx, "team"))[1].Priority != policy.Last {
		t.Errorf("%+v", c)
	}
	// Its own group and priority stay when nothing is said of them.
	w.did(w.Put(ctx, policy.Rule{ID: c.ID, Tool: "x", Action: allow}))
	if got := must(w.Rules(ctx, "team")); len(got) != 2 || got[1].Group != "team" || got[1].Priority != policy.Last {
		t.Errorf("%+v", got)
	}
	w.did(w.Delete(ctx, " "+c.ID+" "))
	if got := must(w.Rules(ctx, "")); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestRefusedChanges(t *testing.T) {
	w := seeded(t, policy.Config{Rules: []policy.Rule{{Tool: "x", Action: allow}}})
	for name, r := range map[string]policy.Rule{
		"no tool": {Action: deny}, "no action": {Tool: "x"}, "odd action": {Tool: "x", Action: "ask\x00\n"},
		"low": {Tool: "x", Action: deny, Priority: -1}, "high": {Tool: "x", Action: deny, Priority: 1 << 40},
		"group": {Group: "my team", Tool: "x", Action: deny}, "dotted group": {Group: "a.b", Tool: "x", Action: deny}, "long group": {Group: strings.Repeat("g", 65), Tool: "x", Action: deny},
		"agent": {Agent: "a\x1bb", Tool: "x", Action: deny}, "long source": {Source: strings.Repeat("s", 1e6), Tool: "x", Action: deny},
		"note": {Tool: "x", Action: deny, Note: "a\nb"}, "huge note": {Tool: "x", Action: deny, Note: strings.Repeat("n", 1e6)},
	} {
		c, err := w.Put(ctx, r)
		if w.refuses("not a rule", c, err); !strings.HasPrefix(c.Reply, "That is no rule.") {
			t.Errorf("%s: %s", name, c.Reply)
		}
	}
	for _, id := range []string{"nope", "", "\x00`", "member.never", strings.Repeat("x", 1e6)} {
		c, err := w.Delete(ctx, id)
		w.refuses("unknown rule", c, err)
		c, err = w.Move(ctx, id, 3)
		w.refuses("unknown rule", c, err)
	}
	c, err := w.Put(ctx, policy.Rule{ID: "nope", Tool: "x", Action: deny})
	w.refuses("unknown rule", c, err)
	for _, priority := range []int{0, -1, 1 << 40} {
		c, err := w.Move(ctx, "member.last", priority)
		w.refuses("priority out of range", c, err)
	}
	c, err = w.Put(ctx, policy.Rule{ID: "member.last", Group: "guest", Tool: "*", Action: deny})
	w.refuses("another group", c, err)
}

func TestOneRuleForEverything(t *testing.T) {
	w := seeded(t, policy.Config{})
	for _, pattern := range []string{"*", "**", "***"} {
		c, err := w.Put(ctx, policy.Rule{Group: "member", Tool: pattern, Action: allow})
		w.refuses("a second rule for everything", c, err)
		if !strings.Contains(c.Reply, "`member.last`") {
			t.Error(c.Reply)
		}
	}
	// The same again, one for an agent or a path, or in another group is fine.
	w.put(
		policy.Rule{Group: "member", Tool: "*", Action: require},
		policy.Rule{Group: "member", Tool: "*", Agent: "scout", Action: deny},
		policy.Rule{Group: "member", Tool: "*", Path: "/**", Action: deny},
		policy.Rule{Group: "team", Tool: "*", Action: deny},
	)
	w = seeded(t, policy.Config{})
	w.wants(require, in("member", tool("unheard_of")))
	w.did(w.Put(ctx, policy.Rule{ID: "member.last", Tool: "*", Action: allow}))
	w.wants(allow, in("member", tool("unheard_of")))
	w.wants(allow, in("member", mcp("github", "search")))
	w.wants(require, in("guest", tool("unheard_of")))
	// A rule that becomes one for everything is a second one, too.
	w.put(policy.Rule{Group: "member", Tool: "x", Action: deny})
	c, err := w.Put(ctx, policy.Rule{ID: w.idOf("member", "x"), Tool: "*", Action: deny})
	w.refuses("a second rule for everything", c, err)
}

func TestRulesOfConfig(t *testing.T) {
	w := seeded(t, policy.Config{Rules: []policy.Rule{
		{Group: "member", Tool: "web_*", Action: deny},
		{Group: "member", Tool: "web_search", Action: allow}, // behind the first
		{Group: "member", Tool: "late", Action: allow, Priority: 500},
		{Group: "guest", Tool: "*", Action: deny},
	}})
	w.wants(deny, in("member", tool("web_search")))
	w.put(policy.Rule{Group: "member", Tool: "late", Action: deny}, policy.Rule{Group: "member", Tool: "web_search", Action: allow})
	w.wants(deny, in("member", tool("late")))
	v := w.wants(deny, in("member", tool("web_search")))
	if v.Rule.ID != "config.0" {
		t.Errorf("%+v", v)
	}
	// It comes before the planted one, which says require.
	w.wants(deny, in("guest", tool("unheard_of")))
	w.wants(allow, in("guest", tool("notify")))
	for _, change := range []func() (policy.Change, error){
		func() (policy.Change, error) { return w.Delete(ctx, "config.0") },
		func() (policy.Change, error) { return w.Move(ctx, "config.0", 7) },
		func() (policy.Change, error) {
			return w.Put(ctx, policy.Rule{ID: "config.0", Tool: "web_*", Action: allow})
		},
	} {
		c, err := change()
		w.refuses("a rule of config.yaml", c, err)
	}
	c, err := w.Put(ctx, policy.Rule{Group: "guest", Tool: "*", Action: allow})
	w.refuses("a second rule for everything", c, err)
	if rules := must(w.Rules(ctx, "member")); rules[0].ID != "config.0" || rules[1].ID != "config.1" || rules[len(rules)-1].ID != "member.last" {
		t.Errorf("%+v", rules)
	}
}

func TestConfigProblems(t *testing.T) {
	_, err := policy.New(&mem{}, policy.Config{
		Workspace: "work", Denied: []string{"/a", "data"},
		Rules: []policy.Rule{{Group: "a", Tool: "*", Action: allow}, {Tool: "@fs", Action: "never", Group: "A"}, {Group: "a", Tool: "**", Action: deny}, {Tool: "*", Action: deny, Group: "b"}, {Tool: "*", Action: deny}},
		Contexts: []policy.Setting{
			{For: "me"}, {For: "role:guest", Group: "No", Dir: "x", Reads: []string{"/ok", "~/x"}, Writes: []string{"$workspace/../x"}},
			{For: "default"}, {For: " default "},
		},
	})
	for _, want := range []string{
		"workspace: ", "denied[1]: ", "rules[1].tool: ", "rules[1].action: ", "rules[1].group: ", "rules[2].action: rules[0] says allow", "rules[4].group: ",
		"contexts[0].for: ", "contexts[1].group: ", "contexts[1].dir: ", "contexts[1].reads[1]: ", "contexts[1].writes[0]: ", "contexts[3].for: contexts[2]",
	} {
		if err == nil || !strings.Contains("\n"+err.Error(), "\n"+want) {
			t.Errorf("no problem %q in:\n%v", want, err)
		}
	}
	if n := strings.Count(err.Error(), "\n") + 1; n != 13 {
		t.Errorf("%d problems:\n%v", n, err)
	}
	if _, err := policy.New(&mem{}, policy.Config{Workspace: "/a/b", Denied: []string{"/a"}}); err == nil {
		t.Error("the workspace may lie in the data")
	}
	if _, err := policy.New(&mem{}, policy.Config{}); err != nil {
		t.Error(err)
	}
}
