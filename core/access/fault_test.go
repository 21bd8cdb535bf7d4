package access_test

import (
	"context"
	"errors"
	"io"
	"reflect"
	"testing"

	"parley/core/access"
	"parley/core/chat"
	"parley/storage"
)

var errDisk = errors.New("disk on fire")

// failing is a table whose reads fail after some that don't.
type failing struct {
	storage.Table
	left *int
}

func (f failing) fails() bool { *f.left--; return *f.left < 0 }

func (f failing) Get(ctx context.Context, table, key string) (storage.Row, error) {
	if f.fails() {
		return storage.Row{}, errDisk
	}
	return f.Table.Get(ctx, table, key)
}

func (f failing) List(ctx context.Context, table, prefix, after string, limit int) ([]storage.Row, error) {
	if f.fails() {
		return nil, errDisk
	}
	return f.Table.List(ctx, table, prefix, after, limit)
}

// calls is every method that reads, as it is called in a peopled world.
func calls(a *access.Access, codes map[string]string) map[string]func() (any, error) {
	wrap := func(v any, err error) (any, error) { return v, err }
	discord := chat.User{ID: "discord:5"}
	return map[string]func() (any, error){
		"judge owner":    func() (any, error) { return wrap(a.Judge(ctx, inPrivate(ada, "hi"))) },
		"judge stranger": func() (any, error) { return wrap(a.Judge(ctx, inPrivate(eve, "hi"))) },
		"judge public":   func() (any, error) { return wrap(a.Judge(ctx, inPrivate(eve, "/help"))) },
		"judge removed":  func() (any, error) { return wrap(a.Judge(ctx, inPrivate(removed, "hi"))) },
		"judge group":    func() (any, error) { return wrap(a.Judge(ctx, inGroup(bob, group, "hi", true))) },
		"judge bot":      func() (any, error) { return wrap(a.Judge(ctx, inGroup(friend, group, "hi", true))) },
		"judge closed":   func() (any, error) { return wrap(a.Judge(ctx, inGroup(ada, closed, "hi", true))) },
		"judge claim":    func() (any, error) { return wrap(a.Judge(ctx, inGroup(eve, closed, "/claim x", true))) },
		"judge edit": func() (any, error) {
			return wrap(a.Judge(ctx, chat.Event{Key: group, From: bob, Body: chat.Edited{}}))
		},
		"judge deletion": func() (any, error) {
			return wrap(a.Judge(ctx, chat.Event{Key: group, From: eve, Body: chat.Deleted{}}))
		},
		"judge joined": func() (any, error) {
			return wrap(a.Judge(ctx, chat.Event{Key: group, From: ada, Body: chat.Joined{}}))
		},
		"pair":        func() (any, error) { return wrap(a.Pair(ctx, ada, codes["pair"])) },
		"role":        func() (any, error) { return wrap(a.SetRole(ctx, cli, string(admin.ID), "member")) },
		"name":        func() (any, error) { return wrap(a.SetRole(ctx, cli, "Cleo", "member")) },
		"link code":   func() (any, error) { return wrap(a.Link(ctx, ada, home(ada), true, "")) },
		"link":        func() (any, error) { return wrap(a.Link(ctx, discord, home(discord), true, codes["link"])) },
		"unlink":      func() (any, error) { return wrap(a.Unlink(ctx, ada, "discord:8")) },
		"mention":     func() (any, error) { return wrap(a.SetMention(ctx, ada, group, "off")) },
		"home":        func() (any, error) { return wrap(a.SetHome(ctx, ada, group)) },
		"moved":       func() (any, error) { return wrap(a.Moved(ctx, group, closed)) },
		"whoami":      func() (any, error) { return wrap(a.Whoami(ctx, ada, group, false)) },
		"whoami home": func() (any, error) { return wrap(a.Whoami(ctx, ada, home(ada), true)) },
		"approvers":   func() (any, error) { return wrap(a.Approvers(ctx)) },
		"person":      func() (any, error) { return wrap(a.PersonOf(ctx, ada.ID)) },
		"people":      func() (any, error) { return wrap(a.People(ctx)) },
		"tidy":        func() (any, error) { return wrap(a.Tidy(ctx)) },
		"may":         func() (any, error) { return wrap(a.MayApprove(ctx, ada.ID, bob.ID)) },
		"claim":       func() (any, error) { return wrap(a.Claim(ctx, eve, home(eve), true, "x")) },
	}
}

// TestBrokenStoreChangesNothing lets each read of each method fail in turn:
// the method fails, too, and hands out nothing that could be applied.
func TestBrokenStoreChangesNothing(t *testing.T) {
	w := peopled(t, access.Pairing, access.Mention)
	codes := map[string]string{
		"pair": codeIn(t, w.says(chat.User{ID: "telegram:55"}, "hi").Reply),
	}
	link(w, admin, chat.User{ID: "discord:8"})
	codes["link"] = codeIn(t, w.did(w.Link(ctx, ada, home(ada), true, "")).Reply)
	left := 0
	c := owned()
	c.Bots = []chat.UserID{friend.ID}
	broken := newWorldOn(t, struct {
		storage.Table
		storage.Applier
	}{failing{w.store, &left}, w.store}, c)
	for name, call := range calls(broken.Access, codes) {
		for n := 0; ; n++ {
			left = n
			v, err := call()
			if left >= 0 {
				if err != nil || n == 0 {
					t.Errorf("%s: %v after %d reads", name, err, n)
				}
				break
			}
			if !errors.Is(err, errDisk) {
				t.Fatalf("%s with read %d failing: %+v, %v", name, n, v, err)
			}
			if ops := reflect.ValueOf(v); ops.Kind() == reflect.Struct && ops.FieldByName("Ops").IsValid() && ops.FieldByName("Ops").Len() > 0 {
				t.Errorf("%s with read %d failing hands out ops", name, n)
			}
		}
	}
}

func TestNoRandomnessNoCode(t *testing.T) {
	c := access.Config{Rand: io.LimitReader(nil, 0)}
	w := newWorld(t, c)
	if code, ops, _, err := w.ClaimCode(ctx); err == nil || code != "" || ops != nil {
		t.Errorf("%q %v", code, err)
	}
	if v, err := w.Judge(ctx, inPrivate(eve, "hi")); err == nil || v.Ops != nil {
		t.Errorf("%+v %v", v, err)
	}
	if change, err := w.SetRole(ctx, cli, "telegram:5", "owner"); err == nil || change.Ops != nil {
		t.Errorf("%+v %v", change, err)
	}
}

// between is a table in which something happens after one row was read.
type between struct {
	store
	table string
	then  func()
}

func (b *between) Get(ctx context.Context, table, key string) (storage.Row, error) {
	row, err := b.store.Get(ctx, table, key)
	if then := b.then; table == b.table && then != nil {
		b.then = nil
		then()
	}
	return row, err
}

func TestLinkedBetweenTwoReads(t *testing.T) {
	b := &between{store: &mem{}, table: "access_accounts"}
	w := newWorldOn(t, b, owned())
	slack := chat.User{ID: "slack:1"}
	w.did(w.SetRole(ctx, ada, string(slack.ID), "guest"))
	made := w.did(w.Link(ctx, ada, home(ada), true, ""))
	joined := must(w.Link(ctx, slack, home(slack), true, codeIn(t, made.Reply)))
	b.then = func() { w.apply(joined.Ops) }
	w.wantRole(slack.ID, access.Owner)
	if b.then != nil {
		t.Error("nothing happened between the reads")
	}
}

func BenchmarkJudge(b *testing.B) {
	w := newWorld(b, owned())
	w.says(bob, "hi")
	ev := inPrivate(bob, "hello")
	for b.Loop() {
		if v, err := w.Judge(ctx, ev); err != nil || !v.Admit {
			b.Fatal(v, err)
		}
	}
}
