package policy_test

import (
	"testing"
	"time"

	"parley/core/policy"
	"parley/tools"
)

func TestBypasses(t *testing.T) {
	shell := tool("execute_cmd")
	shell.Tool.Category = tools.Shell
	search := mcp("github", "search")
	for _, c := range []struct {
		name   string
		bypass policy.Bypass
		call   policy.Call
		want   policy.Action
	}{
		{"tool", policy.Bypass{Tool: "execute_cmd"}, shell, allow},
		{"another tool", policy.Bypass{Tool: "restart"}, shell, require},
		{"category", policy.Bypass{Category: tools.Shell}, shell, allow},
		{"another category", policy.Bypass{Category: tools.Config}, shell, require},
		{"category, a tool without", policy.Bypass{Category: tools.Shell}, tool("x"), require},
		{"server", policy.Bypass{Server: "github"}, search, allow},
		{"another server", policy.Bypass{Server: "git"}, search, require},
		{"server, core tool", policy.Bypass{Server: "core"}, shell, require},
		{"all", policy.Bypass{All: true}, search, allow},
		{"tool of a server", policy.Bypass{Tool: "search", Server: "github"}, search, allow},
		{"tool of another server", policy.Bypass{Tool: "search", Server: "other"}, search, require},
	} {
		w := newWorld(t, policy.Config{})
		must(0, w.Grant("s", c.bypass))
		v := w.Judge(ctx, c.call)
		if v.Action != c.want || v.Bypassed != (c.want == allow) {
			t.Errorf("%s: %+v", c.name, v)
		}
		c.call.Session = "another"
		w.wants(require, c.call)
	}
}

func TestCategoryBypassNeverReachesMCP(t *testing.T) {
	w := newWorld(t, policy.Config{})
	must(0, w.Grant("s", policy.Bypass{Category: tools.Shell}))
	c := mcp("evil", "run")
	c.Tool.Category = tools.Shell
	w.wants(require, c)
}

func TestBypassEnds(t *testing.T) {
	w := newWorld(t, policy.Config{})
	until := w.clock.Add(15 * time.Minute)
	must(0, w.Grant("s", policy.Bypass{Tool: "x", Until: until}))
	must(0, w.Grant("s", policy.Bypass{Tool: "y"}))
	must(0, w.Grant("t", policy.Bypass{Tool: "y"}))
	w.wants(allow, tool("x"))
	*w.clock = until.Add(-1)
	w.wants(allow, tool("x"))
	*w.clock = until
	w.wants(require, tool("x"))
	w.wants(allow, tool("y"))
	if got := w.Bypasses("s"); len(got) != 1 || got[0].Tool != "y" {
		t.Errorf("%+v", got)
	}
	w.Forget("s")
	w.wants(require, tool("y"))
	if len(w.Bypasses("s")) != 0 || len(w.Bypasses("t")) != 1 || len(w.Bypasses("never")) != 0 {
		t.Error(w.Bypasses("s"), w.Bypasses("t"))
	}
}

func TestGrant(t *testing.T) {
	w := newWorld(t, policy.Config{})
	for _, b := range []policy.Bypass{{}, {Until: *w.clock}, {Category: tools.NoCategory}} {
		if w.Grant("s", b) == nil {
			t.Errorf("%+v was granted", b)
		}
	}
	if w.Grant("", policy.Bypass{All: true}) == nil {
		t.Error("granted to no session")
	}
	for range 3 {
		must(0, w.Grant("s", policy.Bypass{Tool: "x", Until: w.clock.Add(time.Hour)}))
	}
	if got := w.Bypasses("s"); len(got) != 1 {
		t.Errorf("%+v", got)
	}
	for i := range 1000 {
		must(0, w.Grant("s", policy.Bypass{Tool: string(rune('a' + i))}))
	}
	if n := len(w.Bypasses("s")); n != 100 {
		t.Errorf("%d bypasses", n)
	}
	for b, want := range map[policy.Bypass]string{
		{Tool: "x"}: "`x` for this session", {All: true, Until: *w.clock}: "every tool until 12:00 UTC",
		{Tool: "s", Server: "g"}: "`s` of the MCP server `g` for this session", {Category: tools.Shell}: "the category `shell` for this session",
	} {
		if b.String() != want {
			t.Errorf("%s, want %s", b, want)
		}
	}
}

func TestDenyIsNeverBypassed(t *testing.T) {
	w := newWorld(t, policy.Config{})
	w.put(rule(deny, "x", ""))
	must(0, w.Grant("s", policy.Bypass{All: true}))
	must(0, w.Grant("s", policy.Bypass{Tool: "x"}))
	w.wants(deny, tool("x"))
	w.wants(allow, tool("y"))
}
