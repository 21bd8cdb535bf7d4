package main_test

import (
	"regexp"
	"strings"
	"testing"
)

// Tools, rules and the audit can be seen and changed beside a parley that serves
// and without one.
func TestRealRules(t *testing.T) {
	t.Parallel()
	for _, serves := range []bool{false, true} {
		name := "alone"
		if serves {
			name = "beside serve"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := real(t, fakeModel(t, said).URL())
			if serves {
				s := p.serve(t)
				defer s.stop(t, 0)
			}
			p.run(t, "audit").expect(t, 0, "Nothing was decided yet.\n", "")
			for _, c := range []struct {
				args []string
				out  string // what stands in it
				err  string
			}{
				{[]string{"tools"}, "execute_cmd             core    shell       require       never offered yet\n", ""},
				{[]string{"tools", "--role", "guest"}, "read_file               core    filesystem  inside only    never offered yet\n", ""},
				{[]string{"rules"}, "member   …   34 that came with parley: `parley rules list member`\n", ""},
				{[]string{"rules", "list", "member"}, "member  1100      member.execute_cmd                    require  execute_cmd  ", ""},
				{[]string{"rules", "member"}, "member  1100      member.execute_cmd                    require  execute_cmd  ", ""},
				{[]string{"rules", "list", "nope"}, "", "parley: There is no group `nope`. There are admin, default, guest, member, owner\n"},
				{[]string{"rules", "add", "deny", "@shell", "group=member", "path=/srv/a b", "not", "here"}, " of group member (100): deny `@shell`, path `/srv/a b`.\n", ""},
				{[]string{"rules"}, "deny    @shell  /srv/a b  not here\n", ""},
				{[]string{"rules", "add", "deny"}, "", "parley: expected \"<tool>\"; `parley --help` lists what there is\n"},
				{[]string{"rules", "add", "deny", "x", "grup=y"}, "", "parley: `grup` is no field here; there are path, group, agent, source, priority, note. Say `parley rules add ACTION TOOL [path=P] [group=G] [agent=A] [source=S] [priority=N] [note]`\n"},
				{[]string{"rules", "change", "member.execute_cmd", "allow"}, "Rule `member.execute_cmd` of group member (1100): allow `execute_cmd`.\n", ""},
				{[]string{"rules", "move", "member.execute_cmd", "5"}, "Rule `member.execute_cmd` of group member is at 5 now.\n", ""},
				{[]string{"rules", "explain", "execute_cmd", "role=member"}, "It decides.\n\nIt runs.\n", ""},
				{[]string{"rules", "explain", "read_file", "/etc/passwd"}, "\nA person is asked.\n", ""},
				{[]string{"rules", "explain", "reed_file"}, "", "parley: There is no tool `reed_file`. Did you mean `read_file`?\n"},
				{[]string{"rules", "delete", "member.execute_cmd"}, "Rule `member.execute_cmd` is deleted.\n", ""},
				{[]string{"rules", "delete", "member.execute_cmd"}, "", "parley: There is no rule `member.execute_cmd`\n"},
				{[]string{"rules", "copy", "member", "team"}, "Group team is there, with ", ""},
				{[]string{"rules", "rename", "team", "crew"}, "Group team is called crew now.\n", ""},
				{[]string{"rules", "context", "role:guest", "group=crew", "prompt=Be brief."}, "The context of `role:guest` is set.", ""},
				{[]string{"rules", "context"}, "- `role:guest`, group `crew`, prompt `Be brief.`\n", ""},
				{[]string{"rules", "drop", "crew"}, "", "parley: Group crew is used by the context of `role:guest`. Give them another group first\n"},
				{[]string{"rules", "context", "role:guest", "none"}, "Nothing is set for `role:guest` any more.\n", ""},
				{[]string{"rules", "drop", "crew"}, "Group crew is deleted", ""},
				{[]string{"audit"}, "  the command line  changed   rules  rule member.execute_cmd of group member moved to 5\n", ""},
				{[]string{"audit", "-n", "1"}, "  the command line  changed   rules  group crew deleted", ""},
				{[]string{"audit", "-n", "0"}, "", "parley: \"0\" is no number of lines; ask for 1 to 5000\n"},
			} {
				r := p.run(t, c.args...)
				if r.err != c.err || !strings.Contains(r.out, c.out) || (r.code == 0) != (c.err == "") {
					t.Errorf("parley %s: %+v, want %q", strings.Join(c.args, " "), r, c.out+c.err)
				}
			}
		})
	}
}

// When a tool was first offered is known after the parley that offered it has
// ended.
func TestRealToolsAreRemembered(t *testing.T) {
	t.Parallel()
	p := real(t, fakeModel(t, said).URL())
	p.stdin = "hello\n"
	if r := p.run(t, "chat"); r.code != 0 {
		t.Fatalf("got %+v", r)
	}
	r := p.run(t, "tools")
	if !regexp.MustCompile(`execute_cmd +core +shell +require +\d{4}-\d\d-\d\d .* UTC\n`).MatchString(r.out) || strings.Contains(r.out, "never offered") {
		t.Errorf("got %+v", r)
	}
}
