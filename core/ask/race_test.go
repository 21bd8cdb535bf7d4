package ask_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"parley/core/ask"
	"parley/core/chat"
	"parley/storage"
)

// Fifty people answer at once: one of them counts, everybody else is told who,
// and the winner's event gets its result again, also after a restart.
func TestFirstAnswerWins(t *testing.T) {
	w := newWorld(t)
	const n = 50
	open := approval()
	people := make([]chat.User, n)
	for i := range people {
		people[i] = chat.User{ID: chat.UserID(fmt.Sprintf("web:%d", i)), Name: fmt.Sprintf("P%d", i)}
		open.Answerers = append(open.Answerers, people[i].ID)
	}
	r := w.put(open)
	reply := func(i int) ask.Reply {
		if i%2 == 0 {
			return approve()
		}
		return reject(fmt.Sprint(i))
	}
	results := make([]ask.Result, n)
	var all sync.WaitGroup
	for i := range people {
		all.Go(func() { results[i] = w.answer(r.ID, people[i], fmt.Sprintf("e%d", i), reply(i)) })
	}
	all.Wait()

	winner := -1
	for i, res := range results {
		if res.Settled {
			if winner >= 0 {
				t.Fatalf("%d and %d both won", winner, i)
			}
			winner = i
		}
	}
	if winner < 0 {
		t.Fatal("nobody won")
	}
	verb := map[bool]string{true: "approved", false: "rejected"}[winner%2 == 0]
	for i, res := range results {
		want := fmt.Sprintf("`%s` was already %s by P%d.", r.ID, verb, winner)
		if i != winner && (res.Sentence != want || len(res.Ops) > 0) {
			t.Errorf("%d was told %q", i, res.Sentence)
		}
	}
	for range 2 {
		again := w.answer(r.ID, people[winner], fmt.Sprintf("e%d", winner), reply(winner))
		if !reflect.DeepEqual(again, results[winner]) {
			t.Errorf("the same event got\n%+v\nafter\n%+v", again, results[winner])
		}
		w.reopen()
	}
	if row, err := w.db.Get(context.Background(), "asks", r.ID); err != nil || row.Rev != 2 {
		t.Errorf("revision %d: %v", row.Rev, err)
	}
}

// An answer and the expiry meet: whoever comes second conflicts.
func TestAnswerAgainstExpiry(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	r := w.put(approval())
	answered, err := w.asks.Answer(ctx, r.ID, ada, "e1", approve())
	if err != nil {
		t.Fatal(err)
	}
	w.pass(24 * time.Hour)
	expired, err := w.asks.Expire(ctx)
	if err != nil || len(expired) != 1 {
		t.Fatal(expired, err)
	}
	w.apply(answered.Ops...)
	if err := w.db.Apply(ctx, expired[0].Ops...); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("the expiry came through: %v", err)
	}
	if list, err := w.asks.Expire(ctx); len(list) > 0 || err != nil {
		t.Errorf("expired after an answer: %v %v", list, err)
	}
	if got := w.get(r.ID); !got.Approved() {
		t.Errorf("state %s", got.State)
	}
}

// An answer that was judged before a withdrawal was committed does not undo it.
func TestAnswerAgainstWithdrawal(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	r := w.put(approval())
	answered, err := w.asks.Answer(ctx, r.ID, ada, "e1", approve())
	if err != nil {
		t.Fatal(err)
	}
	list, ops, err := w.asks.Withdraw(ctx, "stopped", r.ID, r.ID, "zzzzzz", "nonsense")
	if err != nil || len(list) != 1 || list[0].State != ask.Withdrawn {
		t.Fatal(list, err)
	}
	for _, op := range ops {
		if storage.Conditional(op) {
			t.Errorf("conditional: %#v", op)
		}
	}
	w.apply(ops...)
	if err := w.db.Apply(ctx, answered.Ops...); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("the answer came through: %v", err)
	}
	w.reopen()
	res := w.answer(r.ID, ada, "e1", approve())
	if has(t, res.Sentence, "is not asked any more: stopped."); w.get(r.ID).Approved() {
		t.Error("approved after all")
	}
	if list, ops, err := w.asks.Withdraw(ctx, "again", r.ID); len(list)+len(ops) > 0 || err != nil {
		t.Error("withdrawn twice", err)
	}
}
