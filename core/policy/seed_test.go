package policy_test

import (
	"slices"
	"strings"
	"testing"

	"parley/core/policy"
	"parley/tools"
)

var groups = []string{"default", "owner", "admin", "member", "guest"}

func TestSeededGroups(t *testing.T) {
	w := seeded(t, policy.Config{})
	if got := must(w.Groups(ctx)); !slices.Equal(got, slices.Sorted(slices.Values(groups))) {
		t.Fatal(got)
	}
	for _, group := range groups {
		rules := must(w.Rules(ctx, group))
		if last := rules[len(rules)-1]; last.Tool != "*" || last.Action != require || last.ID != group+".last" {
			t.Errorf("%s ends in %+v", group, last)
		}
		for _, r := range rules {
			if r.Seed != "1" || !strings.HasPrefix(r.ID, group+".") || r.Group != group {
				t.Errorf("%+v", r)
			}
		}
	}
	if ops := must(w.Seed(ctx)); ops != nil {
		t.Errorf("%d ops of a second Seed", len(ops))
	}
	if got := must(newWorld(t, policy.Config{}).Groups(ctx)); !slices.Equal(got, []string{"default"}) {
		t.Error(got)
	}
}

func TestSeededActions(t *testing.T) {
	w := seeded(t, policy.Config{})
	allowed := []string{
		"write_todos", "update_scratchpad", "ask_user_clarification", "activate_tools", "notify", "read_notification", "show_file_to_user",
		"execute_subtask", "read_agent_result", "memory_search", "memory_save", "memory_conclude", "web_search", "send_voice_message",
	}
	ofPeople := []string{"list_items", "execute_task", "list_secrets", "image_generate_providers_list"}
	required := []string{"web_fetch", "unheard_of", "send_attachment"}
	risky := []string{"execute_cmd", "restart", "image_generate", "toggle_item", "register_mcp", "delete_mcp", "configure_plugin", "set_secret", "delete_cron_job"}
	for _, group := range groups {
		for _, name := range allowed {
			w.wants(allow, in(group, tool(name)))
			w.wants(require, in(group, mcp("evil", name))) // the same name from elsewhere
		}
		for _, name := range required {
			w.wants(require, in(group, tool(name)))
		}
		for _, name := range ofPeople {
			w.wants(map[bool]policy.Action{true: w.Judge(ctx, in(group, tool(name))).Action, false: allow}[group == "guest"], in(group, tool(name)))
		}
		for _, name := range risky {
			w.wants(map[bool]policy.Action{true: deny, false: require}[group == "guest"], in(group, tool(name)))
		}
	}
	w.wants(require, in("guest", tool("execute_task")))
	w.wants(deny, in("guest", tool("list_secrets")))
	w.wants(deny, in("guest", tool("list_items")))
	if !w.Hides(ctx, in("guest", tool("execute_cmd"))) || w.Hides(ctx, in("guest", reads(""))) || w.Hides(ctx, in("member", tool("execute_cmd"))) {
		t.Error("what guests are offered")
	}
}

func TestSeededFiles(t *testing.T) {
	w := seeded(t, policy.Config{})
	shows := func(name, path string) policy.Call {
		c := tool(name)
		c.Path = path
		return c
	}
	for _, group := range groups {
		beyond := require
		if group == "guest" {
			beyond = deny
		}
		for _, c := range []struct {
			call policy.Call
			want policy.Action
		}{
			{reads(dir + "/a"), allow},
			{reads(workspace + "/skills/a"), allow},
			{reads(workspace + "/chats/telegram_2/a"), beyond},
			{reads("/etc/passwd"), beyond},
			{writes(dir + "/scratch/a"), allow},
			{writes(dir + "/memory/a"), allow},
			{writes(dir + "/a"), beyond},
			{writes("/etc/passwd"), beyond},
			{reads(workspace + "/secrets/a"), deny},
			{writes(dir + "/secrets/a"), deny},
			{shows("show_file_to_user", dir+"/a"), allow},
			{shows("send_attachment", dir+"/a"), allow},
			{shows("show_file_to_user", "/etc/passwd"), beyond},
			{shows("send_attachment", "/etc/passwd"), beyond},
			{shows("show_file_to_user", workspace+"/secrets/a"), deny},
			{reads(""), require},
		} {
			w.wants(c.want, in(group, c.call))
		}
	}
	c := in("guest", reads("/lib/a"))
	c.Context.Reads = []string{"/lib"}
	w.wants(allow, c)
}

// Every tool of ours has a rule of its own, or of its class, in every group.
func TestEveryToolHasARule(t *testing.T) {
	w := seeded(t, policy.Config{})
	files := []string{
		tools.ListFiles, tools.ReadFile, tools.WriteFile, tools.EditFile, tools.InsertAtLine, tools.ReplaceLines, tools.SearchFile, tools.GrepFiles, tools.GetASTOutline,
	}
	for _, group := range groups {
		for _, name := range tools.Names() {
			c := in(group, tool(name))
			if slices.Contains(files, name) {
				c.Tool.Category, c.Path = tools.Filesystem, "/elsewhere"
			}
			if v := w.Judge(ctx, c); v.Rule.ID == "" || strings.HasSuffix(v.Rule.ID, ".last") && name != tools.SendAttachment {
				t.Errorf("%s in %s: %+v", name, group, v)
			}
		}
	}
}

func TestOwnersChangesStay(t *testing.T) {
	w := seeded(t, policy.Config{})
	w.did(w.Put(ctx, policy.Rule{ID: "member.execute_cmd", Tool: "execute_cmd", Action: allow}))
	w.did(w.Delete(ctx, "member.restart"))
	w.did(w.Move(ctx, "member.web_fetch", 5))
	w.did(w.Delete(ctx, "guest.last"))
	if ops := must(w.Seed(ctx)); ops != nil {
		t.Fatalf("planted again: %v", ops)
	}
	for _, name := range []string{"execute_cmd", "restart", "web_fetch", "image_generate"} {
		w.apply(w.PlantNext(ctx, "member", name, "fresh_"+name))
		w.wants(allow, in("member", tool("fresh_"+name)))
	}
	w.wants(allow, in("member", tool("execute_cmd")))
	w.wants(require, in("member", tool("web_fetch")))
	if v := w.wants(require, in("member", tool("restart"))); v.Rule.ID != "member.last" {
		t.Errorf("a deleted rule came back: %+v", v)
	}
	// Nobody touched this one: it is of the second edition now.
	if v := w.wants(deny, in("member", tool("image_generate"))); v.Rule.Seed != "2" {
		t.Errorf("%+v", v)
	}
	if ops := must(w.Seed(ctx)); ops != nil {
		t.Errorf("an older parley planted over a newer: %v", ops)
	}
	w.wants(require, in("guest", tool("unheard_of")))
}

func TestNewSeedsFollowARenamedGroup(t *testing.T) {
	w := seeded(t, policy.Config{})
	w.did(w.RenameGroup(ctx, "member", "staff"))
	w.did(w.DeleteGroup(ctx, "guest"))
	w.apply(w.PlantNext(ctx, "member", "image_generate", "fresh"))
	w.apply(w.PlantNext(ctx, "guest", "image_generate", "fresh"))
	w.wants(allow, in("staff", tool("fresh")))
	w.wants(deny, in("staff", tool("image_generate")))
	if got := must(w.Groups(ctx)); !slices.Equal(got, []string{"admin", "default", "owner", "staff"}) {
		t.Error(got)
	}
}

// Somebody had a group of that name with a rule for everything before.
func TestSeedKeepsARuleForEverything(t *testing.T) {
	w := newWorld(t, policy.Config{})
	w.put(policy.Rule{Group: "guest", Tool: "*", Action: deny})
	w.apply(w.Seed(ctx))
	w.wants(deny, in("guest", tool("unheard_of")))
	w.wants(allow, in("guest", tool("notify")))
	if ops := must(w.Seed(ctx)); ops != nil {
		t.Error(ops)
	}
}

func TestDefaultIsPlantedWhateverWasDeleted(t *testing.T) {
	w := seeded(t, policy.Config{})
	for _, r := range must(w.Rules(ctx, "default")) {
		w.did(w.Delete(ctx, r.ID))
	}
	if ops := must(w.Seed(ctx)); ops != nil {
		t.Error(ops)
	}
	w.apply(w.PlantNext(ctx, "default", "x", "fresh"))
	w.wants(allow, tool("fresh"))
	w.wants(require, tool("notify"))
}
