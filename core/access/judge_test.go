package access_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/core/access"
	"parley/core/chat"
	"parley/storage"
)

// outcome is a verdict in one word.
func outcome(v access.Verdict) string {
	switch {
	case v.Admit:
		return "admit"
	case v.Command:
		return "command"
	case v.Reply != "":
		return "reply"
	default:
		return "silence"
	}
}

var (
	removed = chat.User{ID: "telegram:7", Name: "Mallory"} // taken away by Ada
	admin   = chat.User{ID: "telegram:8", Name: "Cleo"}    // by Ada
	robot   = chat.User{ID: "telegram:9", Name: "Robot", Bot: true}
	friend  = chat.User{ID: "telegram:10", Name: "Friend", Bot: true} // listed
)

func peopled(t testing.TB, door access.Door, mode access.Mode) *world {
	c := owned()
	c.DM, c.Groups, c.Bots = door, mode, []chat.UserID{friend.ID}
	w := newWorld(t, c)
	w.did(w.SetRole(ctx, ada, string(removed.ID), "none"))
	w.did(w.SetRole(ctx, ada, string(admin.ID), "admin"))
	return w
}

func TestJudgePrivate(t *testing.T) {
	for _, c := range []struct {
		who   chat.User
		wants map[access.Door]string
	}{
		{ada, map[access.Door]string{access.Pairing: "admit", access.Allowlist: "admit", access.Open: "admit"}},
		{bob, map[access.Door]string{access.Pairing: "admit", access.Allowlist: "admit", access.Open: "admit"}},
		{admin, map[access.Door]string{access.Pairing: "admit", access.Allowlist: "admit", access.Open: "admit"}},
		{friend, map[access.Door]string{access.Pairing: "admit", access.Allowlist: "admit", access.Open: "admit"}},
		{eve, map[access.Door]string{access.Pairing: "reply", access.Allowlist: "reply", access.Open: "admit"}},
		{removed, map[access.Door]string{access.Pairing: "reply", access.Allowlist: "reply", access.Open: "reply"}},
		{robot, map[access.Door]string{access.Pairing: "silence", access.Allowlist: "silence", access.Open: "silence"}},
	} {
		for door, want := range c.wants {
			w := peopled(t, door, access.Mention)
			if got := outcome(w.says(c.who, "hello")); got != want {
				t.Errorf("%s says at door %s: %s, want %s", c.who.Name, door, got, want)
			}
			w = peopled(t, door, access.Mention)
			press := chat.Event{Key: home(c.who), From: c.who, Body: chat.Pressed{Line: "/approve x", Private: true}}
			if got := outcome(w.judge(press)); got != want {
				t.Errorf("%s presses at door %s: %s, want %s", c.who.Name, door, got, want)
			}
		}
	}
}

func TestJudgeGroup(t *testing.T) {
	const plain, addressed, command, pressed = "plain", "addressed", "command", "pressed"
	event := func(who chat.User, at chat.Key, how string) chat.Event {
		switch how {
		case addressed:
			return inGroup(who, at, "parley, hello", true)
		case command:
			return inGroup(who, at, "/status", true)
		case pressed:
			return chat.Event{Key: at, From: who, Body: chat.Pressed{Line: "/approve x"}}
		default:
			return inGroup(who, at, "hello all", false)
		}
	}
	heard := map[access.Mode]map[string]bool{
		access.Mention: {addressed: true, command: true, pressed: true},
		access.Always:  {plain: true, addressed: true, command: true, pressed: true},
		access.Off:     {command: true, pressed: true},
	}
	thread := chat.Key{Adapter: group.Adapter, Chat: group.Chat, Thread: "45"}
	for _, door := range []access.Door{access.Pairing, access.Allowlist, access.Open} {
		for mode, hears := range heard {
			for _, how := range []string{plain, addressed, command, pressed} {
				for _, who := range []chat.User{ada, bob, admin, friend, eve, removed, robot} {
					for _, at := range []chat.Key{group, thread, closed} {
						want := "silence"
						known := who != eve && who != removed && who != robot || who == eve && door == access.Open
						switch {
						case at == closed && (who == ada || who == admin) && how != plain:
							want = "reply"
						case at == closed:
						case hears[how] && known:
							want = "admit"
						case hears[how] && how != plain && !who.Bot:
							want = "reply"
						}
						w := peopled(t, door, mode)
						if got := outcome(w.judge(event(who, at, how))); got != want {
							t.Errorf("door %s, mode %s: %s %s in %s: %s, want %s", door, mode, who.Name, how, at, got, want)
						}
					}
				}
			}
		}
	}
}

func TestJudgeOtherBodies(t *testing.T) {
	private := chat.Key{Adapter: "telegram", Chat: "2"}
	for _, c := range []struct {
		name string
		at   chat.Key
		who  chat.User
		body chat.Body
		want string
	}{
		{"edit of a member", group, bob, chat.Edited{Message: "1"}, "admit"},
		{"edit of a member in private", private, bob, chat.Edited{Message: "1"}, "admit"},
		{"edit of a stranger", group, eve, chat.Edited{Message: "1"}, "silence"},
		{"edit of a stranger in private", home(eve), eve, chat.Edited{Message: "1"}, "silence"},
		{"edit in a closed chat", closed, ada, chat.Edited{Message: "1"}, "silence"},
		{"deletion by nobody", group, chat.User{}, chat.Deleted{Message: "1"}, "admit"},
		{"deletion by a moderator", group, eve, chat.Deleted{Message: "1"}, "admit"},
		{"deletion by a stranger", home(eve), eve, chat.Deleted{Message: "1"}, "silence"},
		{"deletion by a member", private, bob, chat.Deleted{Message: "1"}, "admit"},
		{"place in a group", group, bob, chat.Located{Latitude: 1}, "silence"},
		{"place in private", private, bob, chat.Located{Latitude: 1}, "admit"},
		{"place of a stranger", home(eve), eve, chat.Located{Latitude: 1}, "silence"},
		{"brought by an owner", closed, ada, chat.Joined{}, "reply"},
		{"brought by a member", closed, bob, chat.Joined{}, "silence"},
		{"brought by a stranger", closed, eve, chat.Joined{}, "silence"},
		{"brought by a bot", group, robot, chat.Joined{}, "silence"},
		{"brought to an allowed chat", group, bob, chat.Joined{}, "admit"},
		{"brought by a stranger to an allowed chat", group, eve, chat.Joined{}, "silence"},
		{"move of an allowed chat", group, chat.User{}, chat.Moved{To: closed}, "admit"},
		{"move of another", closed, chat.User{}, chat.Moved{To: group}, "silence"},
		{"report", home(ada), ada, chat.Reported{Text: "done"}, "silence"},
		{"no sender", home(ada), chat.User{}, chat.Said{Text: "hi", Private: true}, "silence"},
		{"no chat", chat.Key{}, ada, chat.Said{Text: "hi", Private: true}, "silence"},
		{"sender of another adapter", chat.Key{Adapter: "web", Chat: "1"}, ada, chat.Said{Text: "hi", Private: true}, "silence"},
		{"the command line's name", chat.Key{Adapter: "telegram", Chat: "1"}, chat.User{ID: access.CLI}, chat.Said{Text: "hi", Private: true}, "silence"},
		{"huge id", chat.Key{Adapter: "telegram", Chat: "1"}, chat.User{ID: chat.UserID("telegram:" + strings.Repeat("1", 1e5))}, chat.Said{Private: true}, "silence"},
		{"SEC-09 the owner's handle", home(eve), chat.User{ID: eve.ID, Handle: ada.Handle, Name: ada.Name}, chat.Said{Text: "hi", Private: true}, "reply"},
		{"SEC-09 an owner with another name", home(ada), chat.User{ID: ada.ID, Name: "Somebody"}, chat.Said{Text: "hi", Private: true}, "admit"},
	} {
		w := newWorld(t, owned())
		w.says(bob, "hello") // his private chat is known from then on
		if got := outcome(w.judge(chat.Event{Key: c.at, From: c.who, Body: c.body})); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if _, err := newWorld(t, owned()).Judge(ctx, chat.Event{ID: "1", Key: group, From: ada}); err == nil {
		t.Error("an event without a body is judged")
	}
}

func TestJudgeRemembersPrivateChats(t *testing.T) {
	w := newWorld(t, owned())
	v := w.says(ada, "hello")
	if v.Person.ID != "telegram:1" || v.Person.Name != "Ada" || v.Person.Private["telegram"] != home(ada) {
		t.Errorf("person: %+v", v.Person)
	}
	if k, ok, err := w.PrivateChat(ctx, ada.ID, "telegram"); err != nil || !ok || k != home(ada) {
		t.Errorf("private chat: %v %v %v", k, ok, err)
	}
	if v = w.says(ada, "again"); len(v.Ops) > 0 {
		t.Errorf("nothing is new, but: %+v", v.Ops)
	}
	moved := chat.Key{Adapter: "telegram", Chat: "other", Thread: "3"}
	w.judge(chat.Event{Key: moved, From: ada, Body: chat.Said{Text: "here", Private: true}})
	if k, _, _ := w.PrivateChat(ctx, ada.ID, ""); k != (chat.Key{Adapter: "telegram", Chat: "other"}) {
		t.Errorf("private chat: %v", k)
	}
	w.judge(inGroup(chat.User{ID: ada.ID, Name: "Ada L."}, group, "hi", true))
	if p := must(w.PersonOf(ctx, ada.ID)); p.Name != "Ada L." || p.Private["telegram"].Chat != "other" {
		t.Errorf("person: %+v", p)
	}
}

func TestPairingCodeIsRepeatedAndRare(t *testing.T) {
	w := newWorld(t, owned())
	first := codeIn(t, w.says(eve, "hello").Reply)
	if v := w.says(eve, "hello?"); v.Reply != "" {
		t.Errorf("answered at once: %q", v.Reply)
	}
	w.pass(11 * time.Minute)
	again := w.says(eve, "hello??")
	if codeIn(t, again.Reply) != first || !strings.Contains(again.Reply, "49 minutes") {
		t.Errorf("after ten minutes: %q, first was %s", again.Reply, first)
	}
	w.pass(time.Hour)
	if codeIn(t, w.says(eve, "hello???").Reply) == first {
		t.Error("a code outlived its hour")
	}
	if list := must(w.Pairings(ctx)); len(list) != 1 || list[0].User.ID != eve.ID {
		t.Errorf("pending: %+v", list)
	}
}

func TestFourthPairingRequest(t *testing.T) {
	w := newWorld(t, owned())
	stranger := func(n int) chat.User { return chat.User{ID: chat.UserID(fmt.Sprintf("telegram:90%d", n)), Name: "S"} }
	for n := range 3 {
		codeIn(t, w.says(stranger(n), "hi").Reply)
		w.pass(time.Minute)
	}
	v := w.says(stranger(3), "hi")
	if !strings.Contains(v.Reply, "/role telegram:903 member") || len(must(w.Pairings(ctx))) != 3 {
		t.Errorf("the fourth: %q", v.Reply)
	}
	if v = w.says(stranger(3), "hi"); v.Reply != "" {
		t.Errorf("the fourth again: %q", v.Reply)
	}
	w.pass(8 * time.Minute) // the first stood for eleven, the second for ten
	codeIn(t, w.says(stranger(4), "hi").Reply)
	list := must(w.Pairings(ctx))
	if len(list) != 3 || list[0].User.ID != "telegram:901" || list[2].User.ID != "telegram:904" {
		t.Errorf("pending: %+v", list)
	}
	if v = w.says(stranger(0), "hi"); !strings.Contains(v.Reply, "/role telegram:900 member") {
		t.Errorf("who gave way is told %q", v.Reply)
	}
}

func TestUnclaimedParleyTellsHowToClaim(t *testing.T) {
	w := newWorld(t, access.Config{Local: []chat.UserID{"terminal:1"}})
	if v := w.says(eve, "hello"); !strings.Contains(v.Reply, "/claim CODE") {
		t.Errorf("%q", v.Reply)
	}
	w = newWorld(t, owned())
	if v := w.says(eve, "hello"); strings.Contains(v.Reply, "/claim") {
		t.Errorf("%q", v.Reply)
	}
}

func TestRefusalsComeOnceADay(t *testing.T) {
	w := peopled(t, access.Allowlist, access.Mention)
	for name, ev := range map[string]chat.Event{
		"not on the list": inPrivate(eve, "hello"),
		"removed":         inPrivate(removed, "hello"),
		"in a group":      inGroup(eve, group, "hello", true),
	} {
		if v := w.judge(ev); v.Reply == "" {
			t.Errorf("%s: silence", name)
		}
		w.pass(time.Hour)
		if v := w.judge(ev); v.Reply != "" {
			t.Errorf("%s, an hour later: %q", name, v.Reply)
		}
		w.pass(24 * time.Hour)
		if v := w.judge(ev); v.Reply == "" {
			t.Errorf("%s, a day later: silence", name)
		}
	}
}

func TestPublicCommands(t *testing.T) {
	for line, want := range map[string]bool{
		"/claim ABCD": true, "/link": true, " \u200b/WhoAmI@parley_bot": true, "/help": true, "/help\nme": true,
		"/status": false, "claim": false, "/": false, "": false, "/claims": false, "say /claim": false, "/cla\u200bim": false, "/claim.": false, "@bot /claim": false,
		strings.Repeat("/claim", 1e5): false,
	} {
		if got := access.Public(line); got != want {
			t.Errorf("%.20q: %v", line, got)
		}
	}
	w := peopled(t, access.Pairing, access.Mention)
	for _, ev := range []chat.Event{inPrivate(eve, "/claim X"), inPrivate(removed, "/whoami"), inGroup(eve, group, "/whoami", true)} {
		if v := w.judge(ev); v.Admit || !v.Command || v.Role != access.None {
			t.Errorf("%+v: %+v", ev, v)
		}
	}
	for range 30 {
		w.says(eve, "/help")
	}
	if v := w.says(eve, "/help"); v.Command || v.Reply != "" {
		t.Error("public commands are not limited")
	}
	w.pass(time.Hour)
	if v := w.says(eve, "/help"); !v.Command {
		t.Error("the limit does not end")
	}
}

func TestClosedChatIsOpenedByAnAdmin(t *testing.T) {
	w := peopled(t, access.Pairing, access.Always)
	v := w.judge(inGroup(admin, closed, "hello", true))
	if !strings.Contains(v.Reply, "/mention mention") || !strings.Contains(v.Reply, "telegram:-666") {
		t.Errorf("%q", v.Reply)
	}
	if v = w.judge(inGroup(admin, closed, "hello", true)); v.Reply != "" {
		t.Errorf("told again at once: %q", v.Reply)
	}
	if v = w.judge(inGroup(admin, closed, "/mention mention", false)); v.Admit || !v.Command || v.Role != access.Admin {
		t.Errorf("%+v", v)
	}
	if v = w.judge(inGroup(bob, closed, "/mention mention", true)); v.Command || v.Reply != "" {
		t.Errorf("%+v", v)
	}
	w.did(w.SetMention(ctx, admin, closed, "mention"))
	if got := outcome(w.judge(inGroup(bob, closed, "hello", true))); got != "admit" {
		t.Errorf("in the opened chat: %s", got)
	}
	if got := outcome(w.judge(inGroup(bob, closed, "hello", false))); got != "silence" {
		t.Errorf("not addressed in the opened chat: %s", got)
	}
}

func TestGRP08ListedBotIsLimited(t *testing.T) {
	w := peopled(t, access.Pairing, access.Mention)
	for n := range 20 {
		if v := w.judge(inGroup(friend, group, "and you?", true)); !v.Admit || v.Role != access.Guest {
			t.Fatalf("message %d: %+v", n, v)
		}
	}
	if v := w.judge(inGroup(friend, group, "and you?", true)); v.Admit || v.Reply != "" {
		t.Errorf("the loop goes on: %+v", v)
	}
	w.pass(time.Hour)
	if v := w.judge(inGroup(friend, group, "and you?", true)); !v.Admit {
		t.Error("the limit does not end")
	}
}

func TestBatchIsJudgedInOrder(t *testing.T) {
	w := newWorld(t, owned())
	var ops []storage.Op
	replies := 0
	for n := range 5 {
		v, err := w.After(ops).Judge(ctx, inPrivate(eve, fmt.Sprint(n)))
		if err != nil {
			t.Fatal(err)
		}
		if v.Reply != "" {
			replies++
		}
		ops = append(ops, v.Ops...)
	}
	for n := range 6 {
		who := chat.User{ID: chat.UserID(fmt.Sprintf("telegram:90%d", n))}
		v, err := w.After(ops).Judge(ctx, inPrivate(who, "hi"))
		if err != nil {
			t.Fatal(err)
		}
		ops = append(ops, v.Ops...)
	}
	w.apply(ops)
	if list := must(w.Pairings(ctx)); replies != 1 || len(list) != 3 {
		t.Errorf("%d replies to one stranger, pending %+v", replies, list)
	}
}

func TestAfterSeesListsAsTheyWillBe(t *testing.T) {
	w := newWorld(t, owned())
	for n := range 600 { // more than a page
		w.did(w.SetRole(ctx, ada, fmt.Sprintf("telegram:%04d", 1000+n), "member"))
	}
	c := w.did(w.SetRole(ctx, ada, "telegram:5000", "guest"))
	base := len(must(w.People(ctx)))
	later := w.After(append(c.Ops, storage.Delete{Table: "access_people", Key: "telegram:1000", Rev: storage.AnyRev},
		storage.Put{Table: "access_people", Key: "telegram:0", Value: []byte(`{"accounts":["telegram:0"],"role":"superuser"}`), Rev: storage.AnyRev},
		storage.Put{Table: "access_accounts", Key: "telegram:0", Value: []byte(`{"person":"telegram:0"}`), Rev: storage.AnyRev}))
	list := must(later.People(ctx))
	if len(list) != base || list[0].ID != "telegram:0" || list[0].Role != access.None {
		t.Errorf("%d people, was %d, first %+v", len(list), base, list[0])
	}
	if v := must(later.Judge(ctx, inPrivate(chat.User{ID: "telegram:0"}, "hi"))); v.Admit {
		t.Error("a role that is none admits")
	}
}
