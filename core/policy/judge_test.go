package policy_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"parley/core/policy"
	"parley/tools"
)

const (
	allow   = policy.Allow
	require = policy.Require
	deny    = policy.Deny
)

func TestNothingMatchedIsRequire(t *testing.T) {
	w := newWorld(t, policy.Config{})
	v := w.wants(require, tool("x"))
	if v.Rule != (policy.Rule{}) || v.Bypassed || v.Eased != "" {
		t.Errorf("%+v", v)
	}
	w.put(rule(allow, "y", ""))
	w.wants(require, tool("x"))
	w.wants(require, policy.Call{})
}

func TestLowestPriorityFirst(t *testing.T) {
	w := newWorld(t, policy.Config{})
	w.put(
		policy.Rule{Tool: "a*", Action: deny, Priority: 20},
		policy.Rule{Tool: "ab", Action: allow, Priority: 10},
		policy.Rule{Group: "default", Tool: "*", Action: allow, Priority: 30},
	)
	if v := w.wants(allow, tool("ab")); v.Rule.Priority != 10 {
		t.Errorf("%+v", v)
	}
	w.wants(deny, tool("abc"))
	w.wants(allow, tool("b"))
	w.did(w.Move(ctx, w.idOf("default", "ab"), 25))
	w.wants(deny, tool("ab"))
}

func TestOfEqualPrioritiesTheStricterCounts(t *testing.T) {
	for _, order := range [][]policy.Action{{allow, require, deny}, {deny, require, allow}} {
		w := newWorld(t, policy.Config{})
		for _, a := range order {
			w.put(rule(a, "x", ""))
		}
		w.wants(deny, tool("x"))
	}
}

func TestGroupBeforeDefault(t *testing.T) {
	w := newWorld(t, policy.Config{})
	w.put(
		policy.Rule{Group: "default", Tool: "x", Action: deny, Priority: 1},
		policy.Rule{Group: "team", Tool: "x", Action: allow, Priority: 900},
		policy.Rule{Group: "default", Tool: "y", Action: allow},
		policy.Rule{Group: "other", Tool: "z", Action: allow},
	)
	w.wants(allow, in("team", tool("x")))
	w.wants(deny, tool("x"))
	w.wants(allow, in("team", tool("y")))
	w.wants(require, in("team", tool("z")))
	w.wants(deny, in("unheard of", tool("x")))
	c := tool("x")
	c.Context.Group = "team"
	w.wants(allow, c)
}

// A rule without a group stands in every group at its place.
func TestEveryGroup(t *testing.T) {
	w := seeded(t, policy.Config{Rules: []policy.Rule{{Tool: "notify", Action: deny}}})
	w.put(
		policy.Rule{Tool: "execute_cmd", Action: allow},
		policy.Rule{Tool: "web_*", Action: deny, Priority: 5000},
		policy.Rule{Group: "member", Tool: "restart", Action: allow, Priority: 10},
		policy.Rule{Tool: "restart", Action: deny, Priority: 20},
	)
	for _, group := range append(groups, "", "unheard_of") {
		w.wants(deny, in(group, tool("notify")))
		w.wants(allow, in(group, tool("execute_cmd")))
		if group != "unheard_of" {
			w.wants(allow, in(group, tool("web_search"))) // the planted rule comes first
		}
		if group != "member" {
			w.wants(deny, in(group, tool("restart")))
		}
	}
	w.wants(allow, in("member", tool("restart")))
	if got := must(w.Rules(ctx, "member")); got[0].ID != "config.0" || got[1].Tool != "restart" || got[2].Tool != "restart" || got[2].Group != "" {
		t.Errorf("%+v", got[:4])
	}
	if slices.Contains(must(w.Groups(ctx)), "") {
		t.Error("a group without a name")
	}
	c, err := w.Put(ctx, policy.Rule{Tool: "*", Action: deny})
	w.refuses("not a rule", c, err)
	for _, from := range []string{"", " "} {
		c, err = w.DeleteGroup(ctx, from)
		w.refuses("unknown group", c, err)
		c, err = w.RenameGroup(ctx, from, "x")
		w.refuses("unknown group", c, err)
	}
}

func TestAgentAndSource(t *testing.T) {
	w := newWorld(t, policy.Config{})
	w.put(
		policy.Rule{Agent: "scout", Tool: "x", Action: allow},
		policy.Rule{Source: "schedule", Tool: "y", Action: deny},
		policy.Rule{Source: "telegram", Tool: "y", Action: allow},
	)
	c := tool("x")
	w.wants(require, c)
	c.Agent = "scout"
	w.wants(allow, c)
	c = tool("y")
	w.wants(allow, c)
	c.Source = "schedule"
	w.wants(deny, c)
	c.Source = "slack"
	w.wants(require, c)
}

func TestToolPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern string
		call    policy.Call
		match   bool
	}{
		{"execute_cmd", tool("execute_cmd"), true},
		{"execute_cmd", tool("execute_cmd2"), false},
		{"execute_cmd", tool("Execute_cmd"), false},
		{"execute_cmd", mcp("evil", "execute_cmd"), true},
		{"memory_*", tool("memory_save"), true},
		{"memory_*", tool("memory"), false},
		{"*", mcp("x", "y"), true},
		{"**", tool("y"), true},
		{"?", tool("y"), true},
		{"{a,b}_c", tool("b_c"), true},
		{"[ab]_c", tool("c_c"), false},
		{`a\*`, tool("a*"), true},
		{`a\*`, tool("ab"), false},
		{"mcp/github/*", mcp("github", "search"), true},
		{"mcp/github/*", mcp("github2", "search"), false},
		{"mcp/*/search", mcp("github", "search"), true},
		{"core/search", mcp("core", "search"), false},
		{"core/search", tool("search"), true},
		{"@fs_read", reads("/a"), true},
		{"@fs_read", writes("/a"), false},
		{"@fs_write", reads("/a"), false},
		{"@fs_write", writes("/a"), true},
		{"@fs_any", reads(""), true},
		{"@fs_any", writes("/a"), true},
		{"@fs_any", tool("read_file"), false},
		{"@shell", tool("x"), false},
	} {
		w := newWorld(t, policy.Config{})
		w.put(policy.Rule{Group: "default", Tool: c.pattern, Action: deny})
		want := require
		if c.match {
			want = deny
		}
		if v := w.Judge(ctx, c.call); v.Action != want {
			t.Errorf("%s on %s/%s: %+v", c.pattern, c.call.Tool.Source, c.call.Tool.Name, v)
		}
	}
}

// A file tool that names no file is of the class that its effect says.
func TestClassWithoutPath(t *testing.T) {
	w := newWorld(t, policy.Config{})
	w.put(rule(allow, "@fs_read", ""), rule(deny, "@fs_write", ""))
	w.wants(allow, reads(""))
	c := writes("")
	c.Write = false
	w.wants(deny, c)
	c = mcp("files", "read")
	c.Tool.Category = tools.Filesystem
	w.wants(require, c)
}

func TestCategoryClasses(t *testing.T) {
	for _, category := range tools.Categories() {
		w := newWorld(t, policy.Config{})
		w.put(policy.Rule{Tool: "@" + string(category), Action: deny})
		c := tool("x")
		w.wants(require, c)
		c.Tool.Category = category
		w.wants(deny, c)
	}
}

func TestRuleWithPathSaysNothingWithoutOne(t *testing.T) {
	w := newWorld(t, policy.Config{})
	w.put(rule(deny, "*", "/**"), rule(allow, "@fs_any", "/*"))
	w.wants(require, tool("x"))
	w.wants(require, reads(""))
	w.wants(deny, reads("/a"))
}

func TestUnresolvedPathsAreDenied(t *testing.T) {
	w := newWorld(t, policy.Config{})
	w.put(rule(allow, "*", ""))
	for _, path := range []string{"a", "./a", "~/a", "/a/../b", "/..", "/a\x00b", "/" + strings.Repeat("x", 5000), "$workdir/x", " /a"} {
		w.wants(deny, reads(path))
	}
	for _, path := range []string{"/", "/a/", "//a", "/a/./b", "/..a", "/a..", "/\xff"} {
		w.wants(allow, reads(path))
	}
}

func TestHides(t *testing.T) {
	for _, c := range []struct {
		name  string
		rules []policy.Rule
		call  policy.Call
		hides bool
	}{
		{"nothing", nil, tool("x"), false},
		{"deny", []policy.Rule{rule(deny, "x", "")}, tool("x"), true},
		{"deny by class", []policy.Rule{rule(deny, "@fs_any", "")}, reads("/a"), true},
		{"deny writing", []policy.Rule{rule(deny, "@fs_write", "")}, writes("/a"), true},
		{"deny writing, a reader", []policy.Rule{rule(deny, "@fs_write", "")}, reads("/a"), false},
		{"deny with a path", []policy.Rule{rule(deny, "x", "/**")}, tool("x"), false},
		{"deny with a path, then deny", []policy.Rule{{Tool: "x", Path: "/a", Action: deny, Priority: 1}, rule(deny, "x", "")}, tool("x"), true},
		{"allow some paths, then deny", []policy.Rule{{Tool: "x", Path: "/a", Action: allow, Priority: 1}, rule(deny, "x", "")}, tool("x"), false},
		{"allow, then deny", []policy.Rule{{Tool: "x", Action: allow, Priority: 1}, rule(deny, "x", "")}, tool("x"), false},
		{"another agent's", []policy.Rule{{Tool: "x", Agent: "other", Action: deny}}, tool("x"), false},
		{"everything", []policy.Rule{rule(deny, "*", "")}, tool("x"), true},
		{"MCP", []policy.Rule{rule(deny, "*", "")}, mcp("github", "x"), false},
		{"group", []policy.Rule{{Group: "team", Tool: "x", Action: deny}}, in("team", tool("x")), true},
	} {
		w := newWorld(t, policy.Config{})
		w.put(c.rules...)
		if got := w.Hides(ctx, c.call); got != c.hides {
			t.Errorf("%s: hides %v", c.name, got)
		}
	}
}

func TestFailingStoreIsRequire(t *testing.T) {
	s := &mem{}
	w := newWorldOn(t, s, policy.Config{})
	w.put(rule(allow, "x", ""), rule(deny, "y", ""))
	w.wants(allow, tool("x"))
	must(0, w.Grant("s", policy.Bypass{All: true}))
	s.fail = errDisk
	for _, c := range []policy.Call{tool("x"), tool("y"), reads(dir + "/a"), tool("z")} {
		if v := w.wants(require, c); !errors.Is(v.Err, errDisk) || v.Bypassed || v.Eased != "" {
			t.Errorf("%+v", v)
		}
	}
	w.wants(deny, reads(data+"/parley.db"))
	if w.Hides(ctx, tool("y")) {
		t.Error("hidden by rules that nobody could read")
	}
	if _, err := w.Put(ctx, rule(allow, "x", "")); !errors.Is(err, errDisk) {
		t.Error(err)
	}
	if text := w.Explain(ctx, tool("x")); !strings.Contains(text, "could not be read") || strings.Contains(text, "fire") {
		t.Error(text)
	}
	s.fail = nil
	w.wants(allow, tool("x"))
	w.wants(deny, tool("y"))
}

// One rule that makes no sense may have been a deny: then none counts, until it
// is gone.
func TestSenselessRuleIsRequire(t *testing.T) {
	for name, value := range map[string]string{
		"no JSON": `{`, "another type": `[]`, "unknown action": `{"group":"default","tool":"x","action":"maybe","priority":1}`,
		"bad tool": `{"group":"default","tool":"[","action":"deny"}`, "bad path": `{"group":"default","tool":"x","path":"a/b","action":"deny"}`,
		"empty": `{}`, "null": `null`,
	} {
		for _, id := range []string{"bad", "default.bad"} {
			w := newWorld(t, policy.Config{})
			w.put(rule(allow, "*", ""))
			w.apply(w.Seed(ctx))
			(w.store.(*mem)).put(putRow("rules", id, value))
			w.put(rule(allow, "y", "")) // any change is seen
			must(0, w.Grant("s", policy.Bypass{All: true}))
			if v := w.wants(require, tool("x")); v.Err == nil {
				t.Errorf("%s: %+v", name, v)
			}
			if text := w.Explain(ctx, tool("x")); !strings.Contains(text, "`"+id+"`") {
				t.Errorf("%s: %s", name, text)
			}
			w.did(w.Delete(ctx, id))
			w.Forget("s")
			w.wants(allow, tool("x"))
		}
	}
}
