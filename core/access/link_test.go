package access_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"parley/core/access"
	"parley/core/chat"
)

// link joins an account to the person of another and returns the change.
func link(w *world, maker, joiner chat.User) access.Change {
	w.t.Helper()
	made := w.did(w.Link(ctx, maker, home(maker), true, ""))
	return w.did(w.Link(ctx, joiner, home(joiner), true, codeIn(w.t, made.Reply)))
}

func TestLink(t *testing.T) {
	w := newWorld(t, owned())
	w.says(ada, "hi")
	discord := chat.User{ID: "discord:1", Name: "ada_l"}
	c := link(w, ada, discord)
	if len(c.Told) != 1 || c.Told[0].Key != home(ada) || !strings.Contains(c.Told[0].Text, "/unlink discord:1") {
		t.Errorf("told: %+v", c.Told)
	}
	w.wantRole(discord.ID, access.Owner)
	p := must(w.PersonOf(ctx, discord.ID))
	if p.ID != "telegram:1" || p.Private["telegram"] != home(ada) || p.Private["discord"] != home(discord) {
		t.Errorf("person: %+v", p)
	}
	if k, ok, _ := w.PrivateChat(ctx, discord.ID, "telegram"); !ok || k != home(ada) {
		t.Errorf("private chat over there: %v", k)
	}
	if k, ok, _ := w.PrivateChat(ctx, discord.ID, "slack"); ok {
		t.Errorf("private chat on an adapter without account: %v", k)
	}
	if v := w.says(discord, "hi"); v.Role != access.Owner || v.Person.ID != "telegram:1" {
		t.Errorf("%+v", v)
	}
	c, err := w.Link(ctx, discord, home(discord), true, "0000-0000")
	w.refuses("wrong", c, err)
	if owners := must(w.Approvers(ctx)); len(owners) != 1 || len(owners[0].Accounts) != 2 {
		t.Errorf("approvers: %+v", owners)
	}
	// What config.yaml gave ends with config.yaml, for all accounts.
	without := newWorldOn(t, w.store, access.Config{})
	without.wantRole(discord.ID, access.None)
	without.wantRole(ada.ID, access.None)
	if v := without.says(ada, "hi"); codeIn(t, v.Reply) == "" {
		t.Errorf("%+v", v)
	}
}

func TestLinkRefusals(t *testing.T) {
	other := chat.User{ID: "discord:5"}
	for _, c := range []struct {
		name           string
		maker, joiner  chat.User
		private, early bool
		want           string
	}{
		{"maker is nobody", eve, other, true, false, "no role"},
		{"maker was removed", removed, other, true, false, "no role"},
		{"maker is a bot", friend, other, true, false, "bot"},
		{"removed person", bob, removed, true, true, "removed person"},
		{"higher role", bob, admin, true, true, "would lose a role"},
		{"own code", bob, bob, true, true, "linked already"},
		{"in a group", bob, eve, false, true, "group"},
		{"by a bot", bob, friend, true, true, "bot"},
	} {
		w := peopled(t, access.Pairing, access.Mention)
		made, err := w.Link(ctx, c.maker, home(c.maker), true, "")
		if !c.early {
			w.refuses(c.want, made, err)
			continue
		}
		w.did(made, err)
		code := codeIn(t, made.Reply)
		got, err := w.Link(ctx, c.joiner, home(c.joiner), c.private, code)
		w.refuses(c.want, got, err)
		if !c.private {
			got, err = w.Link(ctx, eve, home(eve), true, code)
			w.refuses("wrong link code", got, err)
		}
	}
}

func TestLinkCodeIsVoidWhenItsMakerIsRemovedOrTimeIsUp(t *testing.T) {
	w := peopled(t, access.Pairing, access.Mention)
	made := w.did(w.Link(ctx, admin, home(admin), true, ""))
	w.pass(10 * time.Minute)
	c, err := w.Link(ctx, eve, home(eve), true, codeIn(t, made.Reply))
	w.refuses("wrong", c, err)
	made = w.did(w.Link(ctx, admin, home(admin), true, ""))
	w.did(w.Remove(ctx, ada, string(admin.ID)))
	c, err = w.Link(ctx, eve, home(eve), true, codeIn(t, made.Reply))
	w.refuses("wrong", c, err)
	made = w.did(w.Link(ctx, ada, home(ada), true, ""))
	newer := w.did(w.Link(ctx, ada, home(ada), true, ""))
	c, err = w.Link(ctx, eve, home(eve), true, codeIn(t, made.Reply))
	w.refuses("wrong", c, err)
	w.did(w.Link(ctx, eve, home(eve), true, codeIn(t, newer.Reply)))
	c, err = w.Link(ctx, eve, home(eve), true, codeIn(t, newer.Reply))
	w.refuses("wrong", c, err)
	if c, err = w.Link(ctx, eve, home(eve), false, ""); err != nil || !c.Refused || c.Ops != nil {
		t.Errorf("a code in a group: %+v", c)
	}
}

func TestLinkMergesWholePersons(t *testing.T) {
	w := newWorld(t, owned())
	w.did(w.SetRole(ctx, ada, "slack:1", "guest"))
	link(w, chat.User{ID: "slack:1"}, chat.User{ID: "discord:1"})
	slack := chat.User{ID: "slack:1"}
	w.says(slack, "hi")
	w.did(w.SetHome(ctx, slack, home(slack)))
	link(w, ada, chat.User{ID: "discord:1"})
	p := must(w.PersonOf(ctx, "slack:1"))
	if p.ID != "telegram:1" || len(p.Accounts) != 3 || p.Role != access.Owner || p.Home != home(slack) {
		t.Errorf("%+v", p)
	}
	if all := must(w.People(ctx)); len(all) != 2 { // Ada and Bob
		t.Errorf("%+v", all)
	}
	for n := range 7 {
		link(w, ada, chat.User{ID: chat.UserID("web:" + string(rune('1'+n)))})
	}
	made := w.did(w.Link(ctx, ada, home(ada), true, ""))
	c, err := w.Link(ctx, eve, home(eve), true, codeIn(t, made.Reply))
	w.refuses("too many accounts", c, err)
}

func TestUnlink(t *testing.T) {
	w := peopled(t, access.Pairing, access.Mention)
	cleo := chat.User{ID: "discord:8"}
	link(w, admin, cleo)
	for _, who := range []chat.User{bob, eve, removed} {
		c, err := w.Unlink(ctx, who, "discord:8")
		w.refuses("not theirs", c, err)
	}
	// The account that gave the person its id leaves, and begins anew.
	c := w.did(w.Unlink(ctx, cleo, string(admin.ID)))
	if !slices.Equal(c.Revoked, []chat.UserID{admin.ID}) {
		t.Errorf("%+v", c)
	}
	w.wantRole(admin.ID, access.None)
	w.wantRole(cleo.ID, access.Admin)
	w.did(w.SetRole(ctx, ada, string(admin.ID), "guest"))
	w.wantRole(cleo.ID, access.Admin)
	if a, b := must(w.PersonOf(ctx, admin.ID)), must(w.PersonOf(ctx, cleo.ID)); a.ID == b.ID || a.Role != access.Guest {
		t.Errorf("%+v and %+v", a, b)
	}
	c, err := w.Unlink(ctx, cleo, string(cleo.ID))
	w.refuses("not linked", c, err)
}
