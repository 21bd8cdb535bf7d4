package policy_test

import (
	"strings"
	"testing"

	"parley/core/policy"
	"parley/tools"
)

func TestExplain(t *testing.T) {
	w := seeded(t, policy.Config{})
	w.put(
		policy.Rule{Group: "member", Tool: "execute_cmd", Path: "/a/*", Action: allow, Note: "a*b"},
		policy.Rule{Group: "member", Tool: "web_*", Action: deny},
	)
	for _, c := range []struct {
		name  string
		call  policy.Call
		words []string
	}{
		{"require", in("member", tool("execute_cmd")), []string{
			"`execute_cmd` in group `member`", "allow `execute_cmd`, path `/a/*` – a\\*b. Another path, or none", "Rule `member.execute_cmd` of group member (1100): require `execute_cmd`",
			"**It decides.**", "No bypass", "**A person is asked.**",
		}},
		{"deny", in("member", tool("web_search")), []string{"deny `web_*`. **It decides.**", "never eased", "**It is denied.**"}},
		{"allow", in("member", tool("notify")), []string{"member.notify", "**It runs.**"}},
		{"eased", in("member", reads(dir+"/a")), []string{"member.fs_read", "the working directory may be read", "**It runs.**"}},
		{"not eased", in("member", reads("/a")), []string{"not among those that need no approval", "**A person is asked.**"}},
		{"reader", in("member", reads("")), []string{"Reading in the working directory", "**A person is asked.**"}},
		{"writer", in("member", writes("")), []string{"Writing in scratch/"}},
		{"secrets", in("member", reads(workspace+"/secrets")), []string{"named secrets", "no approval changes that", "**It is denied.**"}},
		{"unresolved", in("member", reads("a/../b")), []string{"not resolved", "**It is denied.**"}},
		{"MCP", in("member", mcp("github", "search")), []string{"tools of `mcp/github`", "Rule `member.last`"}},
		{"fetch", tool(tools.WebFetch), []string{"An address that a person wrote"}},
		{"odd", in("a`b\x00", tool("x`\n")), []string{"`x` in group `ab`", "Rule `default.last`"}},
	} {
		got := w.Explain(ctx, c.call)
		for _, word := range c.words {
			if !strings.Contains(got, word) {
				t.Errorf("%s: no %q in\n%s", c.name, word, got)
			}
		}
		v := w.Judge(ctx, c.call)
		last := map[policy.Action]string{allow: "**It runs.**", require: "**A person is asked.**", deny: "**It is denied.**"}[v.Action]
		if !strings.HasSuffix(got, last) {
			t.Errorf("%s: the explanation is not what is done (%s)\n%s", c.name, v.Action, got)
		}
	}
	must(0, w.Grant("s", policy.Bypass{Tool: "execute_cmd"}))
	if got := w.Explain(ctx, in("member", tool("execute_cmd"))); !strings.Contains(got, "A person let `execute_cmd` through for this session.") {
		t.Error(got)
	}
	w = newWorld(t, policy.Config{})
	if got := w.Explain(ctx, tool("x")); !strings.Contains(got, "No rule matches") {
		t.Error(got)
	}
	for range 100 {
		w.put(rule(allow, "x", "/a"))
	}
	if got := w.Explain(ctx, tool("x")); len(got) > 4000 || !strings.Contains(got, "more rules") {
		t.Error(got)
	}
}
