package access_test

import (
	"strings"
	"testing"
	"time"

	"parley/core/access"
	"parley/core/chat"
)

func TestSetMention(t *testing.T) {
	w := peopled(t, access.Pairing, access.Mention)
	thread := chat.Key{Adapter: group.Adapter, Chat: group.Chat, Thread: "9"}
	for _, who := range []chat.User{bob, eve, friend, removed} {
		c, err := w.SetMention(ctx, who, group, "always")
		w.refuses("not an admin", c, err)
	}
	c, err := w.SetMention(ctx, ada, group, "loud`\x00")
	w.refuses("unknown mode", c, err)
	w.did(w.SetMention(ctx, admin, thread, " Always "))
	if allowed, mode, err := w.Room(ctx, group); !allowed || mode != access.Always || err != nil {
		t.Errorf("%v %v %v", allowed, mode, err)
	}
	if c = w.did(w.SetMention(ctx, bob, group, "")); !strings.Contains(c.Reply, "every message") {
		t.Errorf("%q", c.Reply)
	}
	if c = w.did(w.SetMention(ctx, bob, closed, "")); !strings.Contains(c.Reply, "access.chats") {
		t.Errorf("%q", c.Reply)
	}
	w.says(ada, "hi")
	c, err = w.SetMention(ctx, ada, home(ada), "off")
	w.refuses("private chat", c, err)
	// A chat of config.yaml is not kept when it is taken out there.
	without := newWorldOn(t, w.store, access.Config{})
	if allowed, mode, _ := without.Room(ctx, group); allowed || mode != access.Always {
		t.Errorf("%v %v", allowed, mode)
	}
}

func TestSetHome(t *testing.T) {
	w := peopled(t, access.Open, access.Mention)
	thread := chat.Key{Adapter: group.Adapter, Chat: group.Chat, Thread: "9"}
	c, err := w.SetHome(ctx, eve, group)
	w.refuses("no role", c, err)
	c, err = w.SetHome(ctx, ada, closed)
	w.refuses("home in a closed chat", c, err)
	w.did(w.SetHome(ctx, ada, thread))
	if k, ok, err := w.HomeOf(ctx, "telegram:1"); k != thread || !ok || err != nil {
		t.Errorf("%v %v %v", k, ok, err)
	}
	w.says(bob, "hi")
	w.did(w.SetHome(ctx, bob, home(bob)))
	if p := must(w.PersonOf(ctx, bob.ID)); p.Home != home(bob) {
		t.Errorf("%+v", p)
	}
}

func TestGRP07ChatMoves(t *testing.T) {
	w := peopled(t, access.Pairing, access.Mention)
	super := chat.Key{Adapter: "telegram", Chat: "-100200"}
	w.did(w.SetMention(ctx, ada, group, "always"))
	w.did(w.SetHome(ctx, bob, chat.Key{Adapter: "telegram", Chat: group.Chat, Thread: "4"}))
	if v := w.judge(inGroup(bob, super, "the first message", false)); v.Admit {
		t.Error("a chat nobody allowed is answered")
	}
	for range 2 { // the service message and the error of a send
		w.apply(must(w.Moved(ctx, group, super)))
		if allowed, mode, err := w.Room(ctx, super); !allowed || mode != access.Always || err != nil {
			t.Errorf("%v %v %v", allowed, mode, err)
		}
	}
	if v := w.judge(inGroup(bob, super, "hello", false)); !v.Admit {
		t.Errorf("%+v", v)
	}
	if p := must(w.PersonOf(ctx, bob.ID)); p.Home.Chat != super.Chat || p.Home.Thread != "4" {
		t.Errorf("home: %v", p.Home)
	}
	w.did(w.SetMention(ctx, ada, super, "off"))
	w.apply(must(w.Moved(ctx, group, super)))
	if _, mode, _ := w.Room(ctx, super); mode != access.Off {
		t.Errorf("what was said under the new key is lost: %v", mode)
	}
	if ops := must(w.Moved(ctx, closed, chat.Key{Adapter: "telegram", Chat: "-7"})); len(ops) != 0 {
		t.Errorf("a chat nobody allowed: %+v", ops)
	}
	if ops := must(w.Moved(ctx, group, chat.Key{})); len(ops) != 0 {
		t.Errorf("to nowhere: %+v", ops)
	}
}

func TestWhoami(t *testing.T) {
	w := peopled(t, access.Pairing, access.Mention)
	link(w, ada, chat.User{ID: "discord:1"})
	for _, c := range []struct {
		who     chat.User
		at      chat.Key
		private bool
		has     []string
		lacks   []string
	}{
		{ada, home(ada), true, []string{"Ada (`telegram:1`)", "owner, by config.yaml", "`discord:1`, `telegram:1`", "/sethome"}, nil},
		{ada, group, false, []string{"owner", "`telegram:-100`"}, []string{"discord:1", "home"}},
		{ada, closed, false, []string{"`telegram:-666`", "do not answer"}, nil},
		{admin, home(admin), true, []string{"Your role: admin."}, nil},
		{eve, home(eve), true, []string{"`telegram:666`", "do not know you"}, []string{"/sethome"}},
		{removed, home(removed), true, []string{"taken away"}, nil},
	} {
		text := must(w.Whoami(ctx, c.who, c.at, c.private))
		for _, has := range c.has {
			if !strings.Contains(text, has) {
				t.Errorf("%s in %s: %q lacks %q", c.who.Name, c.at, text, has)
			}
		}
		for _, lacks := range c.lacks {
			if strings.Contains(text, lacks) {
				t.Errorf("%s in %s: %q has %q", c.who.Name, c.at, text, lacks)
			}
		}
	}
}

func TestWhoamiAtThisMachine(t *testing.T) {
	w := newWorld(t, access.Config{Local: []chat.UserID{"terminal:1"}})
	sitter := chat.User{ID: "terminal:1"}
	if text := must(w.Whoami(ctx, sitter, home(sitter), true)); !strings.Contains(text, "owner, as whoever sits at this machine") {
		t.Errorf("%q", text)
	}
}

func TestNamesAreCleaned(t *testing.T) {
	for name, want := range map[string]string{
		"Ada":                        "Ada (`telegram:666`)",
		"":                           "`telegram:666`",
		"\x00\u202e\u200b\n":         "`telegram:666`",
		"A\nB\tC\u202eD":             "A B CD (`telegram:666`)",
		"[x](http://e) `rm` *b*":     "\\[x\\]\\(http://e\\) \\`rm\\` \\*b\\* (`telegram:666`)",
		"\xff\xfe bad":               "bad (`telegram:666`)",
		strings.Repeat("long ", 1e5): strings.TrimSpace(strings.Repeat("long ", 8)) + "… (`telegram:666`)",
		strings.Repeat("ß", 41):      strings.Repeat("ß", 40) + "… (`telegram:666`)",
	} {
		w := newWorld(t, owned())
		who := chat.User{ID: eve.ID, Name: name}
		code := codeIn(t, w.says(who, "hi").Reply)
		if got := must(w.Whoami(ctx, who, home(eve), true)); !strings.HasPrefix(got, "You are "+want+".") {
			t.Errorf("%.30q: %q", name, got)
		}
		if c := w.did(w.Pair(ctx, ada, code)); c.Reply != want+" is a member now." {
			t.Errorf("%.30q: %q", name, c.Reply)
		}
	}
}

func TestTidy(t *testing.T) {
	w := peopled(t, access.Pairing, access.Mention)
	w.says(ada, "hi")
	w.says(eve, "hi")
	w.says(eve, "/whoami")
	w.judge(inGroup(eve, group, "hi", true))
	w.did(w.Link(ctx, ada, home(ada), true, ""))
	if ops := must(w.Tidy(ctx)); len(ops) != 0 {
		t.Errorf("nothing has expired, but: %+v", ops)
	}
	w.pass(60 * 24 * time.Hour)
	ops := must(w.Tidy(ctx))
	if countConditional(ops) != 0 || len(ops) != 4 {
		t.Errorf("%+v", ops)
	}
	w.apply(ops)
	for _, table := range []string{"access_rates", "access_pairings", "access_codes"} {
		if rows := must(w.store.List(ctx, table, "", "", 100)); len(rows) != 0 {
			t.Errorf("left in %s: %+v", table, rows)
		}
	}
	if _, ok, _ := w.PrivateChat(ctx, ada.ID, ""); !ok {
		t.Error("the owner's private chat is forgotten")
	}
}

func TestTidyForgetsGuests(t *testing.T) {
	w := peopled(t, access.Open, access.Mention)
	w.says(eve, "hi")
	w.pass(31 * 24 * time.Hour)
	w.apply(must(w.Tidy(ctx)))
	if _, ok, _ := w.PrivateChat(ctx, eve.ID, ""); ok {
		t.Error("a guest is remembered for ever")
	}
}
