package access_test

import (
	"path/filepath"
	"sync"
	"testing"

	"parley/core/access"
	"parley/core/chat"
	"parley/storage/bolt"
)

// on runs a test on a real store.
func on(t *testing.T) store {
	db, err := bolt.Open(filepath.Join(t.TempDir(), "parley.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// atOnce runs the changes together, each repeated on a conflict, and returns
// how many came about.
func atOnce(t *testing.T, s store, changes ...func() (access.Change, error)) int {
	t.Helper()
	var wg sync.WaitGroup
	results := make([]access.Change, len(changes))
	for i, change := range changes {
		wg.Go(func() {
			var err error
			if results[i], err = retry(s, change); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	done := 0
	for _, c := range results {
		if !c.Refused {
			done++
		}
	}
	return done
}

func users(n int) []chat.User {
	var list []chat.User
	for i := range n {
		list = append(list, chat.User{ID: chat.UserID("telegram:90" + string(rune('a'+i)))})
	}
	return list
}

func TestOneOfManyClaimsWins(t *testing.T) {
	w := newWorldOn(t, on(t), access.Config{})
	code, ops, _, err := w.ClaimCode(ctx)
	if err != nil {
		t.Fatal(err)
	}
	w.apply(ops)
	var claims []func() (access.Change, error)
	for _, who := range users(8) {
		claims = append(claims, func() (access.Change, error) { return w.claims(who, code) })
	}
	if n := atOnce(t, w.store, claims...); n != 1 || len(must(w.People(ctx))) != 1 {
		t.Errorf("%d claims succeeded: %+v", n, must(w.People(ctx)))
	}
}

func TestGuessesAtOnceAllCount(t *testing.T) {
	w := newWorldOn(t, on(t), access.Config{})
	code, ops, _, err := w.ClaimCode(ctx)
	if err != nil {
		t.Fatal(err)
	}
	w.apply(ops)
	var wrong []func() (access.Change, error)
	for range 8 {
		wrong = append(wrong, func() (access.Change, error) { return w.claims(eve, "0000-0000") })
	}
	atOnce(t, w.store, wrong...)
	c, err := w.claims(eve, code)
	w.refuses("too many", c, err)
}

func TestOwnersDemotingEachOtherLeaveOne(t *testing.T) {
	w := newWorldOn(t, on(t), access.Config{})
	both := users(2)
	for _, who := range both {
		w.did(w.SetRole(ctx, cli, string(who.ID), "owner"))
	}
	n := atOnce(t, w.store,
		func() (access.Change, error) { return w.SetRole(ctx, both[0], string(both[1].ID), "none") },
		func() (access.Change, error) { return w.SetRole(ctx, both[1], string(both[0].ID), "none") })
	if n != 1 {
		t.Errorf("%d of two demotions came about: %+v", n, must(w.People(ctx)))
	}
}

func TestOneOfManyTakesALinkCode(t *testing.T) {
	w := newWorldOn(t, on(t), owned())
	code := codeIn(t, w.did(w.Link(ctx, ada, home(ada), true, "")).Reply)
	var joins []func() (access.Change, error)
	for _, who := range users(4) {
		joins = append(joins, func() (access.Change, error) { return w.Link(ctx, who, home(who), true, code) })
	}
	if n := atOnce(t, w.store, joins...); n != 1 || len(must(w.PersonOf(ctx, ada.ID)).Accounts) != 2 {
		t.Errorf("%d accounts were linked: %+v", n, must(w.PersonOf(ctx, ada.ID)))
	}
}

func TestPairingTwiceAtOnceIsOnce(t *testing.T) {
	w := newWorldOn(t, on(t), owned())
	code := codeIn(t, w.says(eve, "hi").Reply)
	pair := func() (access.Change, error) { return w.Pair(ctx, ada, code) }
	if n := atOnce(t, w.store, pair, pair, pair); n != 1 {
		t.Errorf("%d of three approvals came about", n)
	}
	w.wantRole(eve.ID, access.Member)
}
