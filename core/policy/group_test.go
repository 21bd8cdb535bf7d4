package policy_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"parley/core/policy"
)

func TestCopyGroup(t *testing.T) {
	w := seeded(t, policy.Config{Rules: []policy.Rule{{Group: "member", Tool: "x", Action: deny}}})
	w.did(w.CopyGroup(ctx, "member", "team"))
	from, to := must(w.Rules(ctx, "member")), must(w.Rules(ctx, "team"))
	if len(from) != len(to) {
		t.Fatalf("%d rules became %d", len(from), len(to))
	}
	for _, c := range []policy.Call{tool("x"), tool("execute_cmd"), tool("notify"), mcp("evil", "notify"), reads("/a"), tool("unheard_of")} {
		if was, is := w.Judge(ctx, in("member", c)), w.Judge(ctx, in("team", c)); was.Action != is.Action {
			t.Errorf("%s: %s became %s", c.Tool.Name, was.Action, is.Action)
		}
	}
	w.did(w.Delete(ctx, w.idOf("team", "x"))) // in the copy it is an ordinary row
	w.wants(deny, in("member", tool("x")))
	w.wants(require, in("team", tool("x")))
	for _, names := range [][2]string{{"nobody", "x"}, {"", "x"}} {
		c, err := w.CopyGroup(ctx, names[0], names[1])
		w.refuses("unknown group", c, err)
	}
	for _, name := range []string{"", "A", "a b", "a.b", strings.Repeat("x", 1e6)} {
		c, err := w.CopyGroup(ctx, "member", name)
		w.refuses("no name for a group", c, err)
	}
	for _, name := range []string{"team", "guest", "default"} {
		c, err := w.CopyGroup(ctx, "member", name)
		w.refuses("group exists", c, err)
	}
}

// A copy has one rule for everything: the one that counted.
func TestCopyOfTwoRulesForEverything(t *testing.T) {
	w := seeded(t, policy.Config{Rules: []policy.Rule{{Group: "guest", Tool: "*", Action: deny}}})
	w.did(w.CopyGroup(ctx, "guest", "strangers"))
	w.wants(deny, in("strangers", tool("unheard_of")))
	last := 0
	for _, r := range must(w.Rules(ctx, "strangers")) {
		if r.Tool == "*" && r.Path == "" {
			last++
		}
	}
	if last != 1 {
		t.Errorf("%d rules for everything", last)
	}
}

func TestRenameGroup(t *testing.T) {
	w := seeded(t, policy.Config{Contexts: []policy.Setting{{For: "job:backup", Group: "admin"}}})
	w.put(policy.Rule{Group: "guest", Tool: "x", Action: allow})
	w.did(w.SetContext(ctx, policy.Setting{For: "telegram:5", Group: "guest"}))
	w.did(w.RenameGroup(ctx, "guest", "stranger"))
	w.wants(allow, in("stranger", tool("x")))
	w.wants(deny, in("stranger", tool("execute_cmd")))
	if names := must(w.Groups(ctx)); !slices.Equal(names, []string{"admin", "default", "member", "owner", "stranger"}) {
		t.Error(names)
	}
	if got := must(w.ContextOf(ctx, policy.Who{Chat: key("5")})); got.Group != "stranger" {
		t.Errorf("%+v", got)
	}
	if ops := must(w.Seed(ctx)); len(ops) > 0 {
		t.Errorf("planted again: %v", ops)
	}
	c, err := w.RenameGroup(ctx, "default", "base")
	w.refuses("the group default", c, err)
	c, err = w.RenameGroup(ctx, "admin", "boss")
	if w.refuses("group in use", c, err); !strings.Contains(c.Reply, "contexts[0] in config.yaml") {
		t.Error(c.Reply)
	}
}

func TestDeleteGroup(t *testing.T) {
	users := []string{"role guest"}
	w := seeded(t, policy.Config{
		Rules: []policy.Rule{{Group: "ops", Tool: "x", Action: allow}},
		Users: func(_ context.Context, group string) []string {
			if group == "guest" {
				return users
			}
			return nil
		},
	})
	c, err := w.DeleteGroup(ctx, "default")
	w.refuses("the group default", c, err)
	c, err = w.DeleteGroup(ctx, "nobody")
	w.refuses("unknown group", c, err)
	c, err = w.DeleteGroup(ctx, "ops")
	w.refuses("group in use", c, err)
	c, err = w.DeleteGroup(ctx, "guest")
	if w.refuses("group in use", c, err); !strings.Contains(c.Reply, "role guest") {
		t.Error(c.Reply)
	}
	w.did(w.SetContext(ctx, policy.Setting{For: "telegram:5", Group: "guest"}))
	users = nil
	c, err = w.DeleteGroup(ctx, "guest")
	if w.refuses("group in use", c, err); !strings.Contains(c.Reply, "`telegram:5`") {
		t.Error(c.Reply)
	}
	users = slices.Repeat([]string{"somebody"}, 5000)
	c, err = w.DeleteGroup(ctx, "guest")
	if w.refuses("group in use", c, err); !strings.Contains(c.Reply, "4993 more") {
		t.Error(c.Reply)
	}
	users = nil
	w.did(w.SetContext(ctx, policy.Setting{For: "telegram:5"}))
	w.put(policy.Rule{Group: "guest", Tool: "x", Action: allow})
	w.did(w.DeleteGroup(ctx, "guest"))
	if names := must(w.Groups(ctx)); slices.Contains(names, "guest") {
		t.Error(names)
	}
	if ops := must(w.Seed(ctx)); len(ops) > 0 {
		t.Errorf("planted again: %v", ops)
	}
	w.wants(require, in("guest", tool("execute_cmd"))) // the group default's
}
