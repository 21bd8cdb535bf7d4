package policy_test

import (
	"strings"
	"testing"

	"parley/core/chat"
	"parley/core/policy"
)

// An edit changes what it says and leaves the rest.
func TestEdit(t *testing.T) {
	w := seeded(t, policy.Config{Rules: []policy.Rule{{Tool: "x", Action: allow}}})
	c := w.did(w.Put(ctx, policy.Rule{Group: "team", Tool: "web_*", Path: "/srv/*", Action: deny, Note: "no web"}))
	w.did(w.Edit(ctx, c.ID, func(r *policy.Rule) { r.Action, r.ID, r.Seed = allow, "other", "9" }))
	want := policy.Rule{ID: c.ID, Group: "team", Tool: "web_*", Path: "/srv/*", Action: allow, Priority: policy.Usual, Note: "no web"}
	if got := must(w.Rules(ctx, "team")); len(got) != 2 || got[1] != want {
		t.Fatalf("%+v", got)
	}
	w.did(w.Edit(ctx, " owner.execute_cmd ", func(r *policy.Rule) { r.Action = allow }))
	for _, r := range must(w.Rules(ctx, "owner")) {
		if r.Changed != (r.ID == "owner.execute_cmd") {
			t.Errorf("%+v", r)
		}
	}
	refused, err := w.Edit(ctx, "nope", func(*policy.Rule) {})
	w.refuses("unknown rule", refused, err)
	refused, err = w.Edit(ctx, "", func(*policy.Rule) {})
	w.refuses("unknown rule", refused, err)
	refused, err = w.Edit(ctx, "config.0", func(*policy.Rule) {})
	w.refuses("a rule of config.yaml", refused, err)
	refused, err = w.Edit(ctx, c.ID, func(r *policy.Rule) { r.Tool = "" })
	w.refuses("not a rule", refused, err)
	refused, err = w.Edit(ctx, "owner.last", func(r *policy.Rule) { r.Group = "team" })
	w.refuses("another group", refused, err)
	w.apply(nil, w.store.Apply(ctx, putRow("rules", "bad", `{"tool":7}`), putRow("policy", "revision", `{}`)))
	refused, err = w.Edit(ctx, "bad", func(*policy.Rule) {})
	w.refuses("a rule that cannot be read", refused, err)
}

func TestEditContext(t *testing.T) {
	w := seeded(t, policy.Config{})
	w.did(w.EditContext(ctx, "telegram:-1", func(s *policy.Setting) { s.Group, s.Prompt, s.For = "guest", "Be brief.", "other" }))
	w.did(w.EditContext(ctx, " telegram:-1", func(s *policy.Setting) { s.Group, s.Reads = "", []string{"/srv/a"} }))
	all := must(w.Contexts(ctx))
	if len(all) != 1 || all[0].For != "telegram:-1" || all[0].Group != "" || all[0].Prompt != "Be brief." || len(all[0].Reads) != 1 {
		t.Errorf("%+v", all)
	}
	w.did(w.EditContext(ctx, "telegram:-1", func(s *policy.Setting) { *s = policy.Setting{} }))
	if all := must(w.Contexts(ctx)); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}

func TestFindings(t *testing.T) {
	w := seeded(t, policy.Config{Rules: []policy.Rule{{Tool: "x", Action: allow}}})
	n := len(must(w.Rules(ctx, "")))
	if f := w.Findings(ctx)[0]; n < 100 || f.Level != chat.Good || !strings.HasSuffix(f.Says, " in 5 groups, 1 of them in config.yaml.") {
		t.Errorf("%d: %+v", n, f)
	}
	w.apply(nil, w.store.Apply(ctx, putRow("rules", "bad", `{"tool":""}`), putRow("policy", "revision", `{}`)))
	if f := w.Findings(ctx)[0]; f.Level != chat.Fail || !strings.Contains(f.Says, "`bad`") || f.Remedy == "" {
		t.Errorf("%+v", f)
	}
	w.store.(*mem).fail = errDisk
	if f := w.Findings(ctx)[0]; f.Level != chat.Fail || !strings.Contains(f.Says, "disk on fire") {
		t.Errorf("%+v", f)
	}
}
