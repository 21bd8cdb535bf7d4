package gateway_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"parley/core/access"
	"parley/core/chat"
	"parley/core/gateway"
	"parley/core/policy"
	"parley/core/session"
	"parley/tools"
)

// ruler is a gateway that has rules and a catalogue, asked directly.
type ruler struct {
	*stack
	g     *gateway.Gateway
	rules *policy.Policy
}

// ruling runs a test of a gateway with rules. Ada is an owner, Bob a member and
// Eve a guest.
func ruling(t *testing.T, test func(ruler)) {
	t.Helper()
	look := &hand{name: "look", effect: tools.ReadOnly}
	workshop(t, echo, []tools.Tool{&hand{name: "do"}, look}, func(s *stack) {
		box := s.toolbox()
		r := ruler{s, gateway.New(gateway.Parts{
			Store: s.store, Access: s.who, Outbox: s.box, Policy: box.Policy, Version: "test",
			Catalog: tools.NewCatalog(nil, box.Sources[0], session.CoreTools()),
		}), box.Policy}
		s.say("a", "/role fake:2 member")
		s.say("a", "/role fake:3 guest")
		test(r)
	})
}

// tell has somebody say a command in private, carries it out and returns the
// reply.
func (r ruler) tell(who chat.User, line string) string {
	r.t.Helper()
	e, err := r.g.Run(r.t.Context(), r.event(who, "a", private(line)), session.Scene{Key: key("a"), Session: "s1"})
	if err == nil {
		err = r.store.Apply(r.t.Context(), e.Ops...)
	}
	if err != nil {
		r.t.Fatalf("%s: %v", line, err)
	}
	return e.Posts[0].Post.Text
}

func TestRulesAreReadAndChanged(t *testing.T) {
	t.Parallel()
	ruling(t, func(r ruler) {
		for _, c := range []struct{ line, says string }{
			{"/rules", "Here you are in group **owner**; the agent works in `"},
			{"/rules list", "Here you are in group **owner**"},
			{"/rules list nope", "There is no group `nope`. There are admin, default, guest, member, owner."},
			{"/rules list member", "The rules of group **member**, in the order in which they are asked:\n\n- `member.activate_tools` (1000): allow `activate_tools` – part of"},
			{"/rules do", "`do` in group `owner`, agent `main`, source `fake`, category `shell`, tools of `core`:\n- Rule `owner.last`"},
			{"/rules do role=guest", "`do` in group `guest`, agent `main`, source `fake`"},
			{"/rules do role=king", "`king` is no role."},
			{"/rules do source=task", "`do` in group `owner`, agent `main`, source `task`"},
			{"/rules explain do notes/x", "`do` in group `owner`, agent `main`, source `fake`, category `shell`, tools of `core`, path `" + r.dir + "/notes/x`"},
			{"/rules explain look a\x00b", "No tool would run there: "},
			{"/rules dow", "There is no tool `dow`. Did you mean `do`?"},
			{"/rules delet", "There is no tool `delet`. Did you mean `delete`?"},
			{"/rules something", "There is no tool `something`. `/tools` lists those there are."},
			{"/rules do a b", "I do not know what `b` means there. Say `/rules explain TOOL [PATH]"},
			{"/rules add", "Something is missing. Say `/rules add ACTION TOOL [path=P]"},
			{"/rules add maybe do", "That is no rule. action: \"maybe\" is none of allow, require, deny."},
			{"/rules add deny do grup=member", "`grup` is no field here; there are path, group, agent, source, priority, note."},
			{"/rules add deny do group=member group=owner", "`group` is written twice."},
			{"/rules add deny do priority=soon", "`soon` is no priority;"},
			{"/rules add deny do path=\"/a b", "A quotation mark is open"},
			{"/rules add allow * group=member", "Rule `member.last` of group member says require for everything already."},
			{"/rules change member.last", "Say what is to be different about rule `member.last`"},
			{"/rules change member.last deny", "Rule `member.last` of group member (1000000): deny `*`."},
			{"/rules change nope deny", "There is no rule `nope`."},
			{"/rules move member.last 999", "Rule `member.last` of group member is at 999 now."},
			{"/rules move member.last 0", "0 is no priority."},
			{"/rules move member.last up", "`up` is no priority;"},
			{"/rules delete member.last", "Rule `member.last` is deleted."},
			{"/rules delete member.last", "There is no rule `member.last`."},
			{"/rules copy member team", "Group team is there, with "},
			{"/rules rename team crew", "Group team is called crew now."},
			{"/rules drop crew", "Group crew is deleted"},
			{"/rules drop default", "The group default cannot be deleted"},
			{"/rules context", "No run context is set"},
			{"/rules context role:member", "Nothing is set for `role:member`."},
			{"/rules context group=x", "Say for what: a chat"},
			{"/rules context role:member group=nope", "There is no group `nope`."},
			{"/rules context role:member prompt=Be brief, and say a=b. group=guest", "The context of `role:member` is set."},
			{"/rules context role:member dir=$workspace/team reads=/srv/a,/srv/b", "The context of `role:member` is set."},
			{"/rules context role:member", "- `role:member`, group `guest`, dir `$workspace/team`, reads `/srv/a, /srv/b`, prompt `Be brief, and say a=b.`"},
			{"/rules context role:member all", "I do not know what `all` means there. Say `/rules context role:member none`"},
			{"/rules context role:member none", "Nothing is set for `role:member` any more."},
		} {
			if got := r.tell(ada, c.line); !strings.HasPrefix(got, c.says) {
				t.Errorf("%s: %q, want %q", c.line, got, c.says)
			}
		}
	})
}

// A rule that was added has what was written, however it was quoted.
func TestRulesTakeFields(t *testing.T) {
	t.Parallel()
	ruling(t, func(r ruler) {
		for _, c := range []struct {
			line string
			want policy.Rule
		}{
			{"/rules add deny do", policy.Rule{Action: policy.Deny, Tool: "do", Priority: 100}},
			{"/rules ADD Deny do it is too loud=bad", policy.Rule{Action: policy.Deny, Tool: "do", Priority: 100, Note: "it is too loud=bad"}},
			{`/rules add allow @fs_read path="/srv/a b/*" group=member agent=main source=fake priority=7 note="two words"`, policy.Rule{
				Action: policy.Allow, Tool: "@fs_read", Path: "/srv/a b/*", Group: "member", Agent: "main", Source: "fake", Priority: 7, Note: "two words",
			}},
			{"/rules add allow @fs_read path=“/srv/a b” because I\nsay so group=owner", policy.Rule{
				Action: policy.Allow, Tool: "@fs_read", Path: "/srv/a b", Group: "owner", Priority: 100, Note: "because I say so",
			}},
			{`/rules add require mcp/x/* path= note=`, policy.Rule{Action: policy.Require, Tool: "mcp/x/*", Priority: 100}},
		} {
			says := r.tell(ada, c.line)
			all, err := r.rules.Rules(r.t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			id := strings.Split(says+"``", "`")[1]
			found := false
			for _, got := range all {
				if c.want.ID, c.want.Seed = id, ""; got == c.want {
					found = true
				}
			}
			if !found {
				t.Errorf("%s: %s: no rule is %+v", c.line, says, c.want)
			}
			if got := r.tell(ada, "/rules"); !strings.Contains(got, "- `"+id+"` (") {
				t.Errorf("/rules does not list %s: %s", id, got)
			}
		}
		says := r.tell(ada, "/rules")
		if !strings.Contains(says, "**member**, 3") || !strings.Contains(says, "came with parley\n") {
			t.Errorf("/rules: %s", says)
		}
	})
}

func TestRulesAreForThoseWhoMay(t *testing.T) {
	t.Parallel()
	ruling(t, func(r ruler) {
		r.say("a", "/role fake:4 admin")
		mel := chat.User{ID: "fake:4", Name: "Mel"}
		for _, c := range []struct {
			who        chat.User
			line, says string
		}{
			{eve, "/rules do", "/rules is for people with the role member or above; you have guest."},
			{bob, "/rules", "Seeing the rules is for people with the role admin or above; you have member."},
			{bob, "/rules do", "`do` in group `member`"},
			{bob, "/rules do role=owner", "You can ask what applies to yourself only."},
			{bob, "/rules add allow do", "Changing rules is for people with the role owner or above; you have member."},
			{mel, "/rules", "Here you are in group **admin**"},
			{mel, "/rules do role=owner", "`do` in group `owner`"},
			{mel, "/rules context role:admin group=owner", "Changing rules is for people with the role owner or above; you have admin."},
			{mel, "/rules delete admin.last", "Changing rules is for people with the role owner or above; you have admin."},
		} {
			if got := r.tell(c.who, c.line); !strings.HasPrefix(got, c.says) {
				t.Errorf("%s of %s: %q, want %q", c.line, c.who.Name, got, c.says)
			}
		}
	})
}

// A change is in the audit stream, by whoever made it; a refusal is not.
func TestRuleChangesAreAudited(t *testing.T) {
	t.Parallel()
	ruling(t, func(r ruler) {
		r.tell(ada, "/rules move owner.last 999999")
		r.tell(ada, "/rules move nope 5")
		if _, err := r.g.OrderRules(r.t.Context(), []string{"delete", "owner.last"}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.g.OrderRules(r.t.Context(), []string{"delete", "owner.last"}); !errors.Is(err, gateway.ErrRefused) {
			t.Errorf("a second time: %v", err)
		}
		if _, err := r.g.AskRules(r.t.Context(), []string{"delete", "guest.last"}); !errors.Is(err, gateway.ErrRefused) {
			t.Errorf("a change as a question: %v", err)
		}
		lines, err := session.ReadAudit(r.t.Context(), r.store, 10)
		if err != nil || len(lines) != 2 {
			t.Fatalf("%+v, %v", lines, err)
		}
		for i, by := range []chat.UserID{ada.ID, access.CLI} {
			if l := lines[i]; l.By.ID != by || l.Decision != "changed" || l.Label != "rules" || !strings.HasPrefix(l.Why, "rule owner.last of group owner ") {
				t.Errorf("line %d: %+v", i, l)
			}
		}
	})
}

func TestToolsAreListed(t *testing.T) {
	t.Parallel()
	ruling(t, func(r ruler) {
		if err := r.rules.Grant("s1", policy.Bypass{Tool: "look"}); err != nil {
			t.Fatal(err)
		}
		for who, want := range map[*chat.User][]string{
			&ada: {"- `do` (shell): require\n", "- `look` (shell): allow\n", "- `" + tools.WriteTodos + "`: allow\n", "Let through: `look` for this session."},
			&eve: {"- `" + tools.WriteTodos + "`: allow\n"},
		} {
			got := r.tell(*who, "/tools")
			for _, line := range want {
				if !strings.Contains(got, line) {
					t.Errorf("/tools of %s lacks %q: %s", who.Name, line, got)
				}
			}
		}
		if got := r.tell(eve, "/tools"); strings.Contains(got, "`do`") || strings.Contains(got, "not offered") {
			t.Errorf("/tools of a guest: %s", got)
		}
		r.tell(ada, "/rules add deny do group=owner")
		if got := r.tell(ada, "/tools"); !strings.Contains(got, "Denied here, and so not offered: do.") {
			t.Errorf("/tools behind a deny: %s", got)
		}
		if got := r.tell(ada, "/tools reset"); got != "There is nothing to take back: no group of tools is activated here." {
			t.Errorf("/tools reset: %s", got)
		}
		listed, err := r.g.ToolsFor(r.t.Context(), access.Guest)
		if err != nil || len(listed) != 5 || listed[1].Name != "do" || listed[1].Rule != "deny" {
			t.Errorf("%+v, %v", listed, err)
		}
	})
}

// Without rules and tools the commands say so.
func TestRulesWithoutRules(t *testing.T) {
	t.Parallel()
	bubble(t, echo, func(s *stack) {
		s.say("a", "/rules")
		s.wantLast("a", "There are no rules here.")
		s.say("a", "/tools")
		s.wantLast("a", "The agent has no tools here.")
	})
}

// What was let through for a session ends with it.
func TestNewForgetsWhatWasLetThrough(t *testing.T) {
	t.Parallel()
	do := &hand{name: "do"}
	model := wants("do", `{}`)
	workshop(t, model, []tools.Tool{do}, func(s *stack) {
		s.say("a", "please")
		id, _ := s.card()
		s.accept("a", chat.Pressed{Line: "/approve " + id + " session", Private: true})
		synctest.Wait()
		if n := do.ran.Load(); n != 1 {
			t.Fatalf("the tool ran %d times", n)
		}
		s.say("a", "/new")
		s.say("a", "please")
		if n := do.ran.Load(); n != 1 {
			t.Errorf("the tool ran %d times without being asked for", n)
		}
		s.card()
		s.say("a", "/stop")
		s.free()
	})
}
