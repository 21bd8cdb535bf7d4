package access_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"parley/core/access"
	"parley/core/chat"
)

var cli = chat.User{ID: access.CLI}

func TestPair(t *testing.T) {
	w := peopled(t, access.Pairing, access.Mention)
	thread := chat.Key{Adapter: "telegram", Chat: "666", Thread: "5"}
	code := codeIn(t, w.judge(chat.Event{Key: thread, From: eve, Body: chat.Said{Text: "hi", Private: true}}).Reply)
	for _, who := range []chat.User{bob, eve, removed, friend, {ID: "telegram:404"}} {
		c, err := w.Pair(ctx, who, code)
		w.refuses("not an admin", c, err)
	}
	c, err := w.Pair(ctx, ada, "AAAA-AAAA")
	w.refuses("unknown pairing code", c, err)
	if c = w.did(w.Pair(ctx, admin, "")); !strings.Contains(c.Reply, code) || !strings.Contains(c.Reply, "telegram:666") {
		t.Errorf("list: %q", c.Reply)
	}
	c = w.did(w.Pair(ctx, admin, strings.ToLower(code)))
	if len(c.Told) != 1 || c.Told[0].Key != thread {
		t.Errorf("told: %+v", c.Told)
	}
	w.wantRole(eve.ID, access.Member)
	if got := outcome(w.says(eve, "hi")); got != "admit" {
		t.Error(got)
	}
	c, err = w.Pair(ctx, ada, code)
	w.refuses("unknown pairing code", c, err)
}

func TestPairingCodeExpires(t *testing.T) {
	w := newWorld(t, owned())
	code := codeIn(t, w.says(eve, "hi").Reply)
	w.pass(time.Hour)
	c, err := w.Pair(ctx, cli, code)
	w.refuses("unknown pairing code", c, err)
	w.wantRole(eve.ID, access.None)
}

func TestRemovedPersonGetsNoCodeButARole(t *testing.T) {
	w := peopled(t, access.Pairing, access.Mention)
	v := w.says(removed, "let me in")
	if strings.Contains(v.Reply, "/pair") || len(must(w.Pairings(ctx))) != 0 {
		t.Errorf("%q", v.Reply)
	}
	w.did(w.SetRole(ctx, ada, string(removed.ID), "member"))
	if got := outcome(w.says(removed, "thanks")); got != "admit" {
		t.Error(got)
	}
}

func TestSetRole(t *testing.T) {
	guest := chat.User{ID: "telegram:11"}
	owner := chat.User{ID: "telegram:12"}
	for _, c := range []struct {
		name, by   string
		user, role string
		refused    string // "": done
	}{
		{"owner makes an owner", "ada", "telegram:8", "owner", ""},
		{"owner removes an admin", "ada", "telegram:8", "none", ""},
		{"owner lets in somebody never seen", "ada", "discord:77", "member", ""},
		{"owner bans somebody never seen", "ada", "discord:77", "none", ""},
		{"owner demotes an owner", "ada", "telegram:12", "guest", ""},
		{"owner steps down", "owner", "telegram:12", "admin", ""},
		{"in backticks", "ada", "`telegram:8`", "member", ""},
		{"command line removes an owner", "cli", "telegram:12", "none", ""},
		{"admin makes a member", "admin", "telegram:11", "member", ""},
		{"admin removes a guest", "admin", "telegram:11", "none", ""},
		{"admin lets back in", "admin", "telegram:7", "guest", ""},
		{"admin makes an admin", "admin", "telegram:11", "admin", "not an owner"},
		{"admin demotes an owner", "admin", "telegram:12", "member", "not an owner"},
		{"admin changes itself", "admin", "telegram:8", "member", "not an owner"},
		{"admin raises itself", "admin", "telegram:8", "owner", "not an owner"},
		{"member", "bob", "telegram:2", "owner", "not an admin"},
		{"guest", "guest", "telegram:11", "owner", "not an admin"},
		{"stranger", "eve", "telegram:666", "owner", "not an admin"},
		{"removed", "removed", "telegram:7", "member", "not an admin"},
		{"listed owner", "owner", "telegram:1", "member", "listed in config.yaml"},
		{"listed owner by the command line", "cli", "telegram:1", "none", "listed in config.yaml"},
		{"listed member", "ada", "telegram:2", "guest", "listed in config.yaml"},
		{"listed member rises", "ada", "telegram:2", "admin", ""},
		{"unknown role", "ada", "telegram:2", "king\x00`", "unknown role"},
		{"same role", "ada", "telegram:8", "admin", "no change"},
		{"removed twice", "ada", "telegram:7", "none", "no change"},
		{"bot", "ada", "telegram:10", "admin", "a bot"},
		{"SEC-09 handle", "ada", "@eve", "admin", "no account named"},
		{"SEC-09 name", "ada", "Cleo", "owner", "a name instead of an id"},
		{"nobody", "ada", "", "none", "no account named"},
		{"the command line itself", "ada", "cli", "none", "no account named"},
		{"huge", "ada", strings.Repeat("x", 1e6), "none", "no account named"},
		{"controls", "ada", "telegram:\x1b[2J", "none", "no account named"},
	} {
		w := peopled(t, access.Pairing, access.Mention)
		w.says(admin, "hi") // so that the name is known
		w.did(w.SetRole(ctx, cli, string(guest.ID), "guest"))
		w.did(w.SetRole(ctx, cli, string(owner.ID), "owner"))
		by := map[string]chat.User{"ada": ada, "bob": bob, "admin": admin, "guest": guest, "owner": owner, "eve": eve, "removed": removed, "cli": cli}[c.by]
		got, err := w.SetRole(ctx, by, c.user, c.role)
		if err != nil || got.Refused != (c.refused != "") || !strings.Contains(got.Why, c.refused) {
			t.Errorf("%s: %+v, %v", c.name, got, err)
			continue
		}
		if strings.ContainsAny(got.Reply, "\x00\x1b\u202e") || len(got.Reply) > 500 {
			t.Errorf("%s: reply %q", c.name, got.Reply)
		}
		w.apply(got.Ops)
		if want, _ := access.ParseRole(c.role); c.refused == "" {
			w.wantRole(chat.UserID(strings.Trim(c.user, "`")), want)
		}
	}
}

func TestLosingARoleStopsTurns(t *testing.T) {
	w := peopled(t, access.Pairing, access.Mention)
	w.did(w.SetRole(ctx, ada, "telegram:11", "member"))
	link(w, chat.User{ID: "telegram:11"}, chat.User{ID: "discord:11"})
	if c := w.did(w.SetRole(ctx, ada, "discord:11", "admin")); len(c.Revoked) != 0 || len(c.Told) != 1 {
		t.Errorf("%+v", c)
	}
	for _, role := range []string{"member", "none"} {
		c := w.did(w.SetRole(ctx, ada, "telegram:11", role))
		if !slices.Equal(c.Revoked, []chat.UserID{"telegram:11", "discord:11"}) {
			t.Errorf("revoked by %s: %v", role, c.Revoked)
		}
	}
	w.wantRole("discord:11", access.None)
}

func TestLastOwnerStays(t *testing.T) {
	w, code := claimable(t)
	w.did(w.claims(bob, code))
	c, err := w.SetRole(ctx, bob, string(bob.ID), "member")
	w.refuses("the last owner", c, err)
	w.did(w.SetRole(ctx, bob, string(eve.ID), "owner"))
	w.did(w.SetRole(ctx, bob, string(bob.ID), "member"))
	c, err = w.SetRole(ctx, eve, string(eve.ID), "none")
	w.refuses("the last owner", c, err)
	w.did(w.SetRole(ctx, chat.User{ID: "terminal:1"}, string(eve.ID), "none"))
	if _, _, needed, _ := w.ClaimCode(ctx); !needed {
		t.Error("nobody owns parley, and no claim code is needed")
	}
}

func TestApprovers(t *testing.T) {
	c := owned()
	c.Approvers = []string{"owner", "telegram:2", "telegram:404"}
	w := newWorld(t, c)
	w.did(w.SetRole(ctx, ada, string(admin.ID), "admin"))
	for _, q := range []struct {
		user, requester chat.User
		want            bool
	}{
		{ada, bob, true}, {ada, ada, true}, {bob, ada, true}, {bob, bob, false}, {admin, bob, false},
		{eve, bob, false}, {eve, eve, false}, {chat.User{ID: "telegram:404"}, bob, false}, {cli, bob, true},
	} {
		if got := must(w.MayApprove(ctx, q.user.ID, q.requester.ID)); got != q.want {
			t.Errorf("%s for %s: %v", q.user.ID, q.requester.ID, got)
		}
	}
	var ids []string
	for _, p := range must(w.Approvers(ctx)) {
		ids = append(ids, p.ID)
	}
	if !slices.Equal(ids, []string{"telegram:1", "telegram:2"}) {
		t.Error(ids)
	}
	open := owned()
	open.DM = access.Open
	if must(newWorld(t, open).MayApprove(ctx, eve.ID, bob.ID)) {
		t.Error("a stranger may approve")
	}
}
