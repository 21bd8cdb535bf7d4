package access_test

import (
	"strings"
	"testing"

	"parley/core/access"
	"parley/core/chat"
)

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name string
		c    access.Config
		want []string // in the error; none: valid
	}{
		{"nothing", access.Config{}, nil},
		{"all", access.Config{
			Owners: []chat.UserID{"telegram:1", "slack:U012AB"}, Members: []chat.UserID{"discord:3"}, DM: access.Open,
			Groups: access.Off, Chats: []string{"telegram:-100123"}, Approvers: []string{"owner", "slack:U012AB"}, Bots: []chat.UserID{"telegram:9"},
		}, nil},
		{"SEC-09 handle", access.Config{Owners: []chat.UserID{"telegram:1", "@ada"}}, []string{"access.owners[1]", `"@ada"`, "platform:ID", "/whoami"}},
		{"SEC-09 handle of a platform", access.Config{Members: []chat.UserID{"telegram:@ada"}}, []string{"access.members[0]", "handle"}},
		{"bare number", access.Config{Owners: []chat.UserID{"123"}}, []string{"access.owners[0]", "platform:ID"}},
		{"empty", access.Config{Owners: []chat.UserID{""}}, []string{"access.owners[0]", "empty"}},
		{"spaces", access.Config{Bots: []chat.UserID{"telegram:1 2"}}, []string{"access.bots[0]"}},
		{"upper case", access.Config{Bots: []chat.UserID{"Telegram:12"}}, []string{"access.bots[0]"}},
		{"huge", access.Config{Owners: []chat.UserID{chat.UserID("telegram:" + strings.Repeat("1", 1e6))}}, []string{"longer than 128"}},
		{"door", access.Config{DM: "closed"}, []string{"access.dm", "pairing, allowlist, open"}},
		{"mode", access.Config{Groups: "sometimes"}, []string{"access.groups", "mention, always, off"}},
		{"chat", access.Config{Chats: []string{"-100123"}}, []string{"access.chats[0]", "/whoami"}},
		{"thread", access.Config{Chats: []string{"telegram:-100123/4"}}, []string{"access.chats[0]", `"telegram:-100123"`}},
		{"approver", access.Config{Approvers: []string{"boss"}}, []string{"access.approvers[0]", "role"}},
		{"guest approver", access.Config{Approvers: []string{"guest"}}, []string{"access.approvers[0]", "may not approve"}},
		{"owning bot", access.Config{Owners: []chat.UserID{"telegram:1"}, Bots: []chat.UserID{"telegram:1"}}, []string{"access.bots[0]", "access.owners"}},
		{"several", access.Config{DM: "x", Groups: "y"}, []string{"access.dm", "access.groups"}},
	} {
		err := c.c.Validate()
		if (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q lacks %q", c.name, err, want)
			}
		}
		if err != nil && len(err.Error()) > 1000 {
			t.Errorf("%s: the error is %d bytes long", c.name, len(err.Error()))
		}
		if _, newErr := access.New(&mem{}, c.c); (newErr == nil) != (err == nil) {
			t.Errorf("%s: New says %v", c.name, newErr)
		}
	}
}

func TestRoles(t *testing.T) {
	for _, c := range []struct {
		word string
		want access.Role
		ok   bool
	}{
		{"owner", access.Owner, true}, {" Admin ", access.Admin, true}, {"none", access.None, true},
		{"", access.None, false}, {"root", access.None, false},
	} {
		if got, ok := access.ParseRole(c.word); got != c.want || ok != c.ok {
			t.Errorf("%q: %q, %v", c.word, got, ok)
		}
	}
	if got := access.Group(access.None) + " " + access.Group("superuser") + " " + access.Group(access.Owner); got != "none none owner" {
		t.Error(got)
	}
	if !access.Owner.Reaches(access.Admin) || access.Guest.Reaches(access.Member) || access.Role("superuser").Reaches(access.Guest) {
		t.Error("roles are out of order")
	}
}
