package policy_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"parley/core/policy"
	"parley/storage"
	"parley/tools"
)

var (
	someTools = []string{"read_file", "write_file", "execute_cmd", "web_fetch", "x"}
	somePaths = []string{"", dir + "/a", dir + "/scratch/a", dir + "/memory/a", workspace + "/docs/a", workspace + "/secrets/a", "/etc/passwd", "/lib/a", data + "/a"}
)

func drawCall(t *rapid.T) policy.Call {
	pick := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(t, label) }
	c := policy.Call{
		Session: pick("session", "s", "t"), Group: pick("group", "", "default", "member", "team"), Agent: pick("agent", "main", "scout"),
		Source: pick("source", "telegram", "task"), Path: pick("path", somePaths...), Write: rapid.Bool().Draw(t, "write"), Known: rapid.Bool().Draw(t, "known"),
		Context: policy.Context{Dir: dir, Workspace: workspace, Reads: []string{"/lib"}, Trusted: rapid.Bool().Draw(t, "trusted")},
	}
	c.Tool = tools.Spec{
		Name: pick("tool", someTools...), Source: pick("tool source", "core", "", "mcp/github", "plugin/web"),
		Category: rapid.SampledFrom([]tools.Category{tools.NoCategory, tools.Filesystem, tools.Filesystem, tools.Shell}).Draw(t, "category"),
		Effect:   rapid.SampledFrom([]tools.Effect{tools.Once, tools.ReadOnly}).Draw(t, "effect"),
	}
	return c
}

func drawRule(t *rapid.T, actions ...policy.Action) policy.Rule {
	pick := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(t, label) }
	return policy.Rule{
		Group: pick("rule's group", "", "default", "member", "team"), Agent: pick("rule's agent", "", "", "scout"), Source: pick("rule's source", "", "", "task"),
		Tool:   pick("rule's tool", append([]string{"*", "*e*", "mcp/*/*", "@fs_read", "@fs_write", "@fs_any", "@shell"}, someTools...)...),
		Path:   pick("rule's path", "", "", "/**", "$workdir/*", "$workspace/docs/*", "/etc/*", "$readable", "$writable"),
		Action: rapid.SampledFrom(actions).Draw(t, "action"), Priority: rapid.IntRange(1, 9).Draw(t, "priority"),
	}
}

// offer puts a rule if it is not a second one for everything.
func (w *world) offer(r policy.Rule) (id string) {
	c, err := w.Put(ctx, r)
	if err != nil || (c.Refused && c.Why != "a second rule for everything" && (r.Group != "" || r.Tool != "*")) {
		w.t.Fatalf("%+v: %+v, %v", r, c, err)
	}
	w.apply(c.Ops, nil)
	return c.ID
}

func drawWorld(t *rapid.T) *world {
	w := newWorld(t, policy.Config{})
	for range rapid.IntRange(0, 8).Draw(t, "rules") {
		w.offer(drawRule(t, allow, require, deny))
	}
	for range rapid.IntRange(0, 2).Draw(t, "bypasses") {
		b := policy.Bypass{
			Tool: rapid.SampledFrom([]string{"", "x", "read_file"}).Draw(t, "bypass"), Server: rapid.SampledFrom([]string{"", "github"}).Draw(t, "server"),
			Category: rapid.SampledFrom([]tools.Category{"", tools.Shell, tools.Filesystem}).Draw(t, "bypassed"), All: rapid.Bool().Draw(t, "all"),
		}
		_ = w.Grant("s", b) // one that names nothing is refused
	}
	return w
}

// bare is what the rules alone say of a call: no easing, no bypass, by a search
// without an index.
func bare(w *world, c policy.Call) (policy.Action, policy.Rule) {
	group := c.Group
	if group == "" {
		group = policy.Default
	}
	for _, name := range slices.Compact([]string{group, policy.Default}) {
		rules := must(w.Rules(ctx, name))
		if name != group {
			rules = slices.DeleteFunc(rules, func(r policy.Rule) bool { return r.Group != name }) // they were asked
		}
		slices.SortStableFunc(rules, func(a, b policy.Rule) int { return a.Priority - b.Priority })
		for _, r := range rules {
			if alone(w.t, r, c) {
				return r.Action, r
			}
		}
	}
	return require, policy.Rule{}
}

// alone tells whether a rule matches a call, asked with no other rule about.
func alone(t fatal, r policy.Rule, c policy.Call) bool {
	w := newWorld(t, policy.Config{})
	r.ID, r.Action, r.Priority = "", deny, 1
	if r.Group != "" && r.Group != c.Group {
		r.Group = policy.Default
	}
	w.put(r)
	return w.Judge(ctx, c).Action == deny
}

func forbidden(c policy.Call) bool {
	return strings.Contains(c.Path, "/secrets") || strings.HasPrefix(c.Path, data)
}

func TestFirstMatchDecidesAndDenyWins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, c := drawWorld(t), drawCall(t)
		v := w.Judge(ctx, c)
		if forbidden(c) {
			if v.Action != deny {
				t.Fatalf("%+v", v)
			}
			return
		}
		action, r := bare(w, c)
		switch {
		case v.Rule != r:
			t.Fatalf("%+v decided, the model says %+v", v.Rule, r)
		case action != require && v.Action != action, action == deny && (v.Bypassed || v.Eased != ""):
			t.Fatalf("the rules say %s, it came to %+v", action, v)
		case action == require && v.Action == deny, (v.Action == allow && action == require) != (v.Bypassed != (v.Eased != "")):
			t.Fatalf("the rules say %s, it came to %+v", action, v)
		}
	})
}

func TestNothingMatchedIsNeverAllow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, c := drawWorld(t), drawCall(t)
		v := w.Judge(ctx, c)
		if v.Rule.ID == "" && v.Action == allow && v.Eased == "" && !v.Bypassed {
			t.Fatalf("%+v", v)
		}
	})
}

func TestLaterRulesChangeNothingThatIsDecided(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, c := drawWorld(t), drawCall(t)
		was := w.Judge(ctx, c)
		if was.Rule.ID == "" {
			return
		}
		r := drawRule(t, allow, require, deny)
		r.Priority = was.Rule.Priority + rapid.IntRange(1, 5).Draw(t, "later")
		if was.Rule.Group == policy.Default && was.Rule.Group != c.Group && r.Group != policy.Default {
			return // its group is asked before default
		}
		w.offer(r)
		if is := w.Judge(ctx, c); is != was {
			t.Fatalf("%+v\nbecame %+v\nby %+v", was, is, r)
		}
	})
}

// What is hidden would be denied, whatever the call is about.
func TestHiddenToolsAreDenied(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, c := drawWorld(t), drawCall(t)
		c.Write = c.Tool.Effect != tools.ReadOnly
		if !w.Hides(ctx, c) {
			return
		}
		for _, p := range somePaths {
			c.Path = p
			if v := w.Judge(ctx, c); v.Action != deny {
				t.Fatalf("hidden, yet on %q: %+v", p, v)
			}
		}
	})
}

// Whatever a Judge may have in memory, it says what a Policy that knows nothing
// yet says.
func TestMemoryIsNeverStale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &mem{}
		one, two := newWorldOn(t, s, policy.Config{}), newWorldOn(t, s, policy.Config{})
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			w := rapid.SampledFrom([]*world{one, two}).Draw(t, "who")
			rules := must(w.Rules(ctx, ""))
			switch n := rapid.IntRange(0, 3).Draw(t, "step"); {
			case n == 0 && len(rules) > 0:
				w.did(w.Delete(ctx, rapid.SampledFrom(rules).Draw(t, "gone").ID))
			case n == 1 && len(rules) > 0:
				w.did(w.Move(ctx, rapid.SampledFrom(rules).Draw(t, "moved").ID, rapid.IntRange(1, 9).Draw(t, "to")))
			default:
				w.offer(drawRule(t, allow, require, deny))
			}
			c := drawCall(t)
			a, b, fresh := one.Judge(ctx, c), two.Judge(ctx, c), newWorldOn(t, s, policy.Config{}).Judge(ctx, c)
			if a != fresh || b != fresh {
				t.Fatalf("%+v\n%+v\n%+v", a, b, fresh)
			}
		}
	})
}

// No change has more than one condition, and one that is applied twice is one.
func TestChangesAreOneCondition(t *testing.T) {
	w := seeded(t, policy.Config{})
	for _, c := range []policy.Change{
		must(w.Put(ctx, rule(allow, "x", ""))), must(w.Delete(ctx, "member.last")), must(w.Move(ctx, "member.last", 3)), must(w.CopyGroup(ctx, "member", "team")),
		must(w.RenameGroup(ctx, "member", "team")), must(w.DeleteGroup(ctx, "guest")), must(w.SetContext(ctx, policy.Setting{For: "default", Prompt: "x"})),
	} {
		if c.Refused || conditional(c.Ops) != 1 || !storage.Conditional(c.Ops[0]) {
			t.Errorf("%+v", c)
		}
	}
}
