package policy_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"parley/core/chat"
	"parley/core/policy"
)

func key(id string) chat.Key { return chat.Key{Adapter: "telegram", Chat: id} }

func TestDefaultContext(t *testing.T) {
	w := newWorld(t, policy.Config{})
	for _, c := range []struct {
		name    string
		who     policy.Who
		group   string
		dir     string
		trusted bool
	}{
		{"owner in private", policy.Who{Chat: key("1"), Private: true, Role: "owner"}, "owner", workspace, true},
		{"admin in private", policy.Who{Chat: key("1"), Private: true, Role: "admin"}, "admin", workspace, true},
		{"owner in a group", policy.Who{Chat: key("-100"), Role: "owner"}, "owner", workspace + "/chats/telegram_-100", true},
		{"member in private", policy.Who{Chat: key("2"), Private: true, Role: "member"}, "member", workspace + "/chats/telegram_2", false},
		{"guest", policy.Who{Chat: key("3"), Private: true, Role: "guest"}, "guest", workspace + "/chats/telegram_3", false},
		{"thread", policy.Who{Chat: chat.Key{Adapter: "telegram", Chat: "-100", Thread: "7"}, Role: "member"}, "member", workspace + "/chats/telegram_-100_7", false},
		{"no role", policy.Who{Chat: key("4"), Private: true}, "default", workspace + "/chats/telegram_4", false},
		{"role of an odd name", policy.Who{Chat: key("4"), Role: "../x"}, "default", workspace + "/chats/telegram_4", false},
		{"owner's job without a chat", policy.Who{Job: "backup", Role: "owner"}, "owner", workspace, true},
	} {
		got := must(w.ContextOf(ctx, c.who))
		if got.Group != c.group || got.Dir != c.dir || got.Trusted != c.trusted || got.Workspace != workspace || got.Prompt != "" || got.Reads != nil || got.Writes != nil {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	got := must(w.ContextOf(ctx, policy.Who{Job: "../../x", Role: "member"}))
	if !strings.HasPrefix(got.Dir, workspace+"/chats/none.") || strings.Contains(got.Dir, "..") {
		t.Errorf("%+v", got)
	}
}

// No two conversations share a directory, whatever their ids are, and none has
// one of another kind.
func TestDirectoriesOfChats(t *testing.T) {
	w := newWorld(t, policy.Config{})
	part := rapid.OneOf(rapid.SampledFrom([]string{"a", "A", "-1", "a_b", "a-b", "..", ".", "a/b", "secrets", "a\x00", "é", strings.Repeat("x", 300)}), rapid.StringN(1, 8, -1))
	draw := func(t *rapid.T) chat.Key {
		k := chat.Key{Adapter: rapid.SampledFrom([]string{"slack", "web", "slack_a"}).Draw(t, "adapter"), Chat: part.Draw(t, "chat")}
		if rapid.Bool().Draw(t, "threaded") {
			k.Thread = part.Draw(t, "thread")
		}
		return k
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t), draw(t)
		at := func(k chat.Key) string {
			dir := must(w.ContextOf(ctx, policy.Who{Chat: k, Role: "member"})).Dir
			name, found := strings.CutPrefix(dir, workspace+"/chats/")
			if !found || name == "" || len(name) > 120 || strings.ContainsAny(name, "/\\\x00 ") || strings.HasPrefix(name, ".") || name != strings.ToLower(name) {
				t.Fatalf("%#v works in %q", k, dir)
			}
			return dir
		}
		if (at(a) == at(b)) != (a == b) {
			t.Fatalf("%#v and %#v: %s, %s", a, b, at(a), at(b))
		}
	})
}

func TestMostSpecificContextFirst(t *testing.T) {
	w := seeded(t, policy.Config{Contexts: []policy.Setting{{For: "role:member", Prompt: "be brief", Dir: "$workspace/team"}}})
	thread := chat.Key{Adapter: "telegram", Chat: "-100", Thread: "7"}
	for _, s := range []policy.Setting{
		{For: "default", Group: "admin", Prompt: "default", Reads: []string{"/lib"}, Writes: []string{"/out"}},
		{For: "telegram:-100", Group: "owner", Reads: []string{"$workspace/shared", "/b"}},
		{For: "telegram:-100/7", Prompt: "thread"},
		{For: "agent:scout", Dir: "/scouts"},
		{For: "job:backup", Prompt: "job", Group: "guest"},
		{For: "role:guest", Writes: []string{"/guests"}},
	} {
		w.did(w.SetContext(ctx, s))
	}
	for _, c := range []struct {
		who                               policy.Who
		group, prompt, dir, reads, writes string
	}{
		{policy.Who{Chat: key("1"), Role: "guest"}, "guest", "default", workspace + "/chats/telegram_1", "/lib", "/guests"},
		{policy.Who{Chat: key("1")}, "admin", "default", workspace + "/chats/telegram_1", "/lib", "/out"},
		{policy.Who{Chat: key("1"), Role: "member"}, "member", "be brief", workspace + "/team", "/lib", "/out"},
		{policy.Who{Chat: key("-100"), Role: "member"}, "owner", "be brief", workspace + "/team", workspace + "/shared,/b", "/out"},
		{policy.Who{Chat: thread, Role: "member"}, "owner", "thread", workspace + "/team", workspace + "/shared,/b", "/out"},
		{policy.Who{Chat: thread, Role: "member", Agent: "scout", Job: "backup"}, "guest", "job", "/scouts", workspace + "/shared,/b", "/out"},
	} {
		got := must(w.ContextOf(ctx, c.who))
		if got.Group != c.group || got.Prompt != c.prompt || got.Dir != c.dir || strings.Join(got.Reads, ",") != c.reads || strings.Join(got.Writes, ",") != c.writes {
			t.Errorf("%+v: %+v", c.who, got)
		}
	}
	if all := must(w.Contexts(ctx)); len(all) != 7 || all[0].For != "role:member" {
		t.Errorf("%+v", all)
	}
	w.did(w.SetContext(ctx, policy.Setting{For: " telegram:-100 "}))
	if got := must(w.ContextOf(ctx, policy.Who{Chat: thread, Role: "member"})); got.Group != "member" {
		t.Errorf("%+v", got)
	}
}

func TestRefusedContexts(t *testing.T) {
	w := seeded(t, policy.Config{Contexts: []policy.Setting{{For: "role:member", Prompt: "be brief"}}})
	for name, s := range map[string]policy.Setting{
		"for nobody": {Prompt: "x"}, "for a word": {For: "me", Prompt: "x"}, "for half a role": {For: "role:", Prompt: "x"}, "for controls": {For: "job:a\x00", Prompt: "x"},
		"group": {For: "default", Group: "A B"}, "prompt": {For: "default", Prompt: strings.Repeat("x", 1e5)}, "binary prompt": {For: "default", Prompt: "\xff"},
		"relative": {For: "default", Dir: "a/b"}, "home": {For: "default", Dir: "~"}, "up": {For: "default", Dir: "$workspace/../x"}, "word alike": {For: "default", Dir: "$workspaces"},
		"secrets": {For: "default", Dir: "$workspace/secrets"}, "Secrets in full": {For: "default", Reads: []string{workspace + "/a/Secrets/b"}},
		"data": {For: "default", Writes: []string{"/ok", data + "/x"}}, "NUL": {For: "default", Reads: []string{"/a\x00"}}, "nothing": {For: "default", Reads: []string{""}},
		"huge": {For: "default", Dir: "/" + strings.Repeat("x", 1e6)}, "huge for": {For: "job:" + strings.Repeat("x", 1e6)},
	} {
		c, err := w.SetContext(ctx, s)
		w.refuses("not a context", c, err)
		if len(c.Reply) > 400 {
			t.Errorf("%s: %s", name, c.Reply)
		}
	}
	c, err := w.SetContext(ctx, policy.Setting{For: "default", Group: "nobody"})
	w.refuses("unknown group", c, err)
	c, err = w.SetContext(ctx, policy.Setting{For: "role:member"})
	w.refuses("a context of config.yaml", c, err)
	w.did(w.SetContext(ctx, policy.Setting{For: "default", Group: "default", Dir: "/a/secrets", Reads: []string{"$workspace"}}))
}

func TestDamagedContext(t *testing.T) {
	w := seeded(t, policy.Config{})
	w.store.(*mem).put(putRow("contexts", "telegram:5", "{"))
	w.put(rule(allow, "x", ""))
	if got, err := w.ContextOf(ctx, policy.Who{Chat: key("5")}); err == nil || got.Dir != "" {
		t.Errorf("%+v, %v", got, err)
	}
	must(w.ContextOf(ctx, policy.Who{Chat: key("6")}))
	w.wants(allow, tool("x"))
	w.did(w.SetContext(ctx, policy.Setting{For: "telegram:5", Prompt: "x"}))
	must(w.ContextOf(ctx, policy.Who{Chat: key("5")}))
	w.store.(*mem).fail = errDisk
	if _, err := w.ContextOf(ctx, policy.Who{Chat: key("6")}); err == nil {
		t.Error("a context without a store")
	}
}

func TestWithoutWorkspace(t *testing.T) {
	p := must(policy.New(&mem{}, policy.Config{Contexts: []policy.Setting{{For: "default", Dir: "$workspace/x"}}}))
	if got := must(p.ContextOf(ctx, policy.Who{Chat: key("1"), Private: true, Role: "owner"})); got.Dir != "" || got.Workspace != "" {
		t.Errorf("%+v", got)
	}
}
