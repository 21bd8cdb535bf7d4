package access_test

import (
	"strings"
	"testing"
	"time"

	"parley/core/access"
	"parley/core/chat"
)

// claimable is a world with nobody in config.yaml but the terminal, and its
// claim code.
func claimable(t testing.TB) (*world, string) {
	w := newWorld(t, access.Config{Local: []chat.UserID{"terminal:1"}})
	code, ops, needed, err := w.ClaimCode(ctx)
	if err != nil || !needed {
		t.Fatalf("%v, %v", needed, err)
	}
	w.apply(ops)
	return w, code
}

func (w *world) claims(who chat.User, code string) (access.Change, error) {
	return w.Claim(ctx, who, home(who), true, code)
}

func TestClaim(t *testing.T) {
	w, code := claimable(t)
	for _, row := range w.store.(*mem).rows["access_codes"] {
		if strings.Contains(string(row.Value), code) {
			t.Error("the code itself is stored")
		}
	}
	c, err := w.claims(eve, "AAAA-AAAA")
	w.refuses("wrong", c, err)
	c, err = w.claims(robot, code)
	w.refuses("bot", c, err)
	c, err = w.claims(chat.User{ID: "terminal:1"}, code)
	w.refuses("claim from this machine", c, err)
	w.did(w.claims(bob, " "+strings.ToLower(strings.ReplaceAll(code, "-", " "))+" "))
	w.wantRole(bob.ID, access.Owner)
	if k, ok, _ := w.PrivateChat(ctx, bob.ID, ""); !ok || k != home(bob) {
		t.Errorf("private chat of the owner: %v", k)
	}
	c, err = w.claims(eve, code)
	w.refuses("claimed already", c, err)
	if _, _, needed, err := w.ClaimCode(ctx); needed || err != nil {
		t.Errorf("a claim code is needed: %v", err)
	}
}

func TestClaimCodeOfTheLastStartCounts(t *testing.T) {
	w, old := claimable(t)
	code, ops, _, err := w.ClaimCode(ctx)
	if err != nil {
		t.Fatal(err)
	}
	w.apply(ops)
	c, err := w.claims(bob, old)
	w.refuses("wrong", c, err)
	w.did(w.claims(bob, code))
}

func TestClaimIsNotNeededWithAnOwnerInConfig(t *testing.T) {
	w := newWorld(t, owned())
	if code, _, needed, err := w.ClaimCode(ctx); code != "" || needed || err != nil {
		t.Errorf("%q %v %v", code, needed, err)
	}
	c, err := w.claims(eve, "")
	w.refuses("claimed", c, err)
}

func TestClaimInAGroupVoidsTheCode(t *testing.T) {
	w, code := claimable(t)
	if v := w.judge(inGroup(eve, closed, "/claim "+code, true)); !v.Command || v.Admit {
		t.Errorf("%+v", v)
	}
	c, err := w.Claim(ctx, eve, closed, false, "AAAA-AAAA")
	w.refuses("wrong", c, err)
	c, err = w.Claim(ctx, bob, closed, false, code)
	w.refuses("group", c, err)
	c, err = w.claims(eve, code)
	w.refuses("no claim code", c, err)
	if v := w.judge(inGroup(eve, closed, "/claim "+code, true)); v.Command || v.Reply != "" {
		t.Errorf("%+v", v)
	}
}

func TestGuessingIsLimited(t *testing.T) {
	w, code := claimable(t)
	for range 5 {
		c, err := w.claims(eve, "0000-0000")
		w.refuses("wrong", c, err)
	}
	c, err := w.claims(eve, code)
	w.refuses("too many", c, err)
	for n := range 45 {
		c, err = w.claims(chat.User{ID: chat.UserID("telegram:90" + string(rune('0'+n%10)) + string(rune('0'+n/10)))}, strings.Repeat("x", 1e6))
		w.refuses("wrong", c, err)
	}
	c, err = w.claims(bob, code)
	if w.refuses("too many", c, err); !strings.Contains(c.Reply, "access.owners") {
		t.Errorf("%q", c.Reply)
	}
	w.pass(time.Hour)
	w.did(w.claims(bob, code))
}
