package policy_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"parley/core/policy"
	"parley/storage"
	"parley/storage/bolt"
	"parley/tools"
)

func openBolt(t *testing.T) store {
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

// retry is what the caller does about a conflict.
func retry(s storage.Applier, change func() (policy.Change, error)) (c policy.Change, conflicts int, err error) {
	for {
		if c, err = change(); err != nil || c.Refused {
			return c, conflicts, err
		}
		if err = s.Apply(ctx, c.Ops...); !errors.Is(err, storage.ErrConflict) {
			return c, conflicts, err
		}
		conflicts++
	}
}

// Of rules for everything that are put at the same time, one comes about.
func TestOneOfManyRulesForEverythingWins(t *testing.T) {
	w := newWorldOn(t, openBolt(t), policy.Config{})
	actions := []policy.Action{allow, require, deny}
	done := make([]policy.Change, len(actions))
	var wg sync.WaitGroup
	for i, a := range actions {
		wg.Go(func() {
			var err error
			if done[i], _, err = retry(w.store, func() (policy.Change, error) { return w.Put(ctx, rule(a, "*", "")) }); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	n := 0
	for _, c := range done {
		if !c.Refused {
			n++
		}
	}
	if rules := must(w.Rules(ctx, "")); n != 1 || len(rules) != 1 {
		t.Errorf("%d came about: %+v", n, rules)
	}
}

// Two changes that were worked out from the same rules cannot both be applied.
func TestSecondOfTwoChangesConflicts(t *testing.T) {
	w := newWorldOn(t, openBolt(t), policy.Config{})
	one, two := must(w.Put(ctx, rule(allow, "x", ""))), must(w.Put(ctx, rule(deny, "x", "")))
	w.apply(one.Ops, nil)
	w.apply(one.Ops, nil) // repeated
	if err := w.store.Apply(ctx, two.Ops...); !errors.Is(err, storage.ErrConflict) {
		t.Error(err)
	}
	w.wants(allow, tool("x"))
}

// Judges and changes at once: no change is lost, every Judge sees all that was
// applied before it began.
func TestJudgingWhileRulesChange(t *testing.T) {
	w := newWorldOn(t, openBolt(t), policy.Config{})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 10 {
				name := fmt.Sprintf("tool_%d_%d", i, j)
				if _, _, err := retry(w.store, func() (policy.Change, error) { return w.Put(ctx, rule(deny, name, "")) }); err != nil {
					t.Error(err)
				}
				if v := w.Judge(ctx, tool(name)); v.Action != deny {
					t.Errorf("%s: %+v", name, v)
				}
				if !w.Hides(ctx, tool(name)) {
					t.Errorf("%s is offered", name)
				}
				must(0, w.Grant("s"+strconv.Itoa(i), policy.Bypass{Tool: name}))
				w.Bypasses("s" + strconv.Itoa(j%4))
			}
			w.Forget("s" + strconv.Itoa(i))
		})
	}
	wg.Wait()
	if n := len(must(w.Rules(ctx, "default"))); n != 40 {
		t.Errorf("%d rules", n)
	}
}

func TestRulesAreReadOnce(t *testing.T) {
	s := &mem{}
	w := newWorldOn(t, s, policy.Config{})
	w.put(rule(allow, "x", ""))
	w.wants(allow, tool("x"))
	before := s.lists
	for range 100 {
		w.wants(allow, tool("x"))
		w.Hides(ctx, tool("x"))
	}
	if s.lists != before {
		t.Errorf("listed %d times more", s.lists-before)
	}
}

// restless is a store whose rules change whenever they are listed.
type restless struct{ *mem }

func (r restless) List(ctx context.Context, table, prefix, after string, limit int) ([]storage.Row, error) {
	rows, err := r.mem.List(ctx, table, prefix, after, limit)
	r.mem.mu.Lock()
	defer r.mem.mu.Unlock()
	r.mem.put(storage.Put{Table: "policy", Key: "revision", Value: []byte("{}")})
	return rows, err
}

func TestRulesThatNeverRestAreRequire(t *testing.T) {
	w := newWorldOn(t, restless{&mem{}}, policy.Config{})
	if v := w.wants(require, tool("x")); v.Err == nil {
		t.Errorf("%+v", v)
	}
}

func TestEndedContextIsRequire(t *testing.T) {
	w := newWorldOn(t, &mem{}, policy.Config{})
	w.put(rule(allow, "x", ""))
	over, cancel := context.WithCancel(ctx)
	cancel()
	if v := w.Judge(over, tool("x")); v.Action != require || !errors.Is(v.Err, context.Canceled) {
		t.Errorf("%+v", v)
	}
}

// manyRules is a store with n rules, half of them globs.
func manyRules(t fatal, n int) *world {
	s := &mem{}
	w := newWorldOn(t, s, policy.Config{})
	for i := range n {
		pattern := fmt.Sprintf("tool_%d", i)
		if i%2 == 0 {
			pattern += "_*"
		}
		s.put(putRow("rules", fmt.Sprintf("%06x", i), fmt.Sprintf(`{"group":"default","tool":%q,"action":"deny","priority":100}`, pattern)))
	}
	return w
}

func TestManyRules(t *testing.T) {
	w := manyRules(t, 100_000)
	w.wants(deny, tool("tool_99999"))
	w.wants(deny, tool("tool_99998_x"))
	w.wants(require, tool("tool"))
	w.put(rule(allow, "tool", ""))
	w.wants(allow, tool("tool"))
}

func BenchmarkJudge(b *testing.B) {
	for _, n := range []int{0, 1000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			w := manyRules(b, n)
			w.apply(w.Seed(ctx))
			c := in("member", reads(dir+"/a"))
			b.ReportAllocs()
			for b.Loop() {
				w.Judge(ctx, c)
			}
		})
	}
}

func BenchmarkHides(b *testing.B) {
	w := newWorldOn(b, &mem{}, policy.Config{})
	w.apply(w.Seed(ctx))
	for b.Loop() {
		for _, name := range tools.Names() {
			w.Hides(ctx, in("member", tool(name)))
		}
	}
}
