package policy_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/core/policy"
	"parley/storage"
	"parley/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

// mem is the smallest honest store of rows. Get and List can be made to fail.
type mem struct {
	mu    sync.Mutex
	rows  map[string]map[string]storage.Row
	keys  map[string][]string // sorted, of tables that were listed
	fail  error
	lists int
}

func (m *mem) Get(ctx context.Context, table, key string) (storage.Row, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := errors.Join(m.fail, ctx.Err()); err != nil {
		return storage.Row{}, err
	}
	row, ok := m.rows[table][key]
	if !ok {
		return storage.Row{}, storage.ErrNotFound
	}
	return row, nil
}

func (m *mem) List(ctx context.Context, table, prefix, after string, limit int) ([]storage.Row, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lists++
	if err := errors.Join(m.fail, ctx.Err()); err != nil {
		return nil, err
	}
	if m.keys == nil {
		m.keys = make(map[string][]string)
	}
	if len(m.keys[table]) != len(m.rows[table]) {
		m.keys[table] = slices.Sorted(maps.Keys(m.rows[table]))
	}
	var rows []storage.Row
	from, _ := slices.BinarySearch(m.keys[table], after)
	for _, key := range m.keys[table][from:] {
		if strings.HasPrefix(key, prefix) && key > after && len(rows) < limit {
			rows = append(rows, m.rows[table][key])
		}
	}
	return rows, nil
}

func (m *mem) Apply(_ context.Context, ops ...storage.Op) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := conditional(ops); n > 1 {
		return fmt.Errorf("%d conditional ops in one batch", n)
	}
	for _, op := range ops {
		if put, ok := op.(storage.Put); ok && put.Rev != storage.AnyRev && m.rows[put.Table][put.Key].Rev != put.Rev {
			return storage.ErrConflict
		}
	}
	for _, op := range ops {
		switch op := op.(type) {
		case storage.Put:
			m.put(op)
		case storage.Delete:
			delete(m.rows[op.Table], op.Key)
			delete(m.keys, op.Table)
		default:
			return fmt.Errorf("unexpected op %T", op)
		}
	}
	return nil
}

func (m *mem) put(op storage.Put) {
	if m.rows == nil {
		m.rows = make(map[string]map[string]storage.Row)
	}
	if m.rows[op.Table] == nil {
		m.rows[op.Table] = make(map[string]storage.Row)
	}
	delete(m.keys, op.Table)
	m.rows[op.Table][op.Key] = storage.Row{Key: op.Key, Rev: m.rows[op.Table][op.Key].Rev + 1, Value: op.Value}
}

func conditional(ops []storage.Op) int {
	n := 0
	for _, op := range ops {
		if storage.Conditional(op) {
			n++
		}
	}
	return n
}

// store is what the tests need of one.
type store interface {
	storage.Table
	storage.Applier
}

// fatal is a test or a check of a property.
type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

// world is a Policy with its store and a clock that the test moves.
type world struct {
	*policy.Policy
	t     fatal
	store store
	clock *time.Time
}

const (
	workspace = "/srv/parley/workspace"
	dir       = "/srv/parley/workspace/chats/telegram_1"
	data      = "/srv/parley/data"
)

func newWorld(t fatal, c policy.Config) *world { return newWorldOn(t, &mem{}, c) }

func newWorldOn(t fatal, s store, c policy.Config) *world {
	t.Helper()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	c.Now = func() time.Time { return now }
	c.Workspace = workspace
	c.Denied = append(c.Denied, data)
	p, err := policy.New(s, c)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return &world{Policy: p, t: t, store: s, clock: &now}
}

// seeded is a world with the rules that come with parley.
func seeded(t fatal, c policy.Config) *world {
	t.Helper()
	w := newWorld(t, c)
	w.apply(w.Seed(ctx))
	return w
}

func (w *world) apply(ops []storage.Op, err error) {
	w.t.Helper()
	if err == nil {
		err = w.store.Apply(ctx, ops...)
	}
	if err != nil {
		w.t.Fatalf("applying: %v", err)
	}
}

// did applies a change that must have come about.
func (w *world) did(c policy.Change, err error) policy.Change {
	w.t.Helper()
	if err != nil || c.Refused || c.Reply == "" || c.Why == "" || conditional(c.Ops) != 1 {
		w.t.Fatalf("%+v, %v", c, err)
	}
	w.apply(c.Ops, nil)
	return c
}

// refuses checks that a change was refused for a reason, in a fit sentence.
func (w *world) refuses(why string, c policy.Change, err error) policy.Change {
	w.t.Helper()
	if err != nil || !c.Refused || len(c.Ops) > 0 || c.Why != why || c.Reply == "" || len(c.Reply) > 2000 || strings.ContainsAny(c.Reply, "\x00\x1b\n") {
		w.t.Fatalf("want a refusal for %q, got %+v, %v", why, c, err)
	}
	return c
}

// put adds rules.
func (w *world) put(rules ...policy.Rule) {
	w.t.Helper()
	for _, r := range rules {
		w.did(w.Put(ctx, r))
	}
}

// wants judges a call.
func (w *world) wants(want policy.Action, c policy.Call) policy.Verdict {
	w.t.Helper()
	v := w.Judge(ctx, c)
	if v.Action != want || v.Why == "" {
		w.t.Fatalf("%s %q write=%v group=%s: %+v, want %s", c.Tool.Name, c.Path, c.Write, c.Group, v, want)
	}
	return v
}

// tool is a call of a core tool that is about nothing.
func tool(name string) policy.Call {
	return policy.Call{
		Session: "s", Agent: "main", Source: "telegram", Tool: tools.Spec{Name: name, Source: tools.Core},
		Context: policy.Context{Dir: dir, Workspace: workspace},
	}
}

func mcp(server, name string) policy.Call {
	c := tool(name)
	c.Tool.Source = "mcp/" + server
	return c
}

func reads(path string) policy.Call {
	c := tool(tools.ReadFile)
	c.Tool.Category, c.Tool.Effect, c.Path = tools.Filesystem, tools.ReadOnly, path
	return c
}

func writes(path string) policy.Call {
	c := tool(tools.WriteFile)
	c.Tool.Category, c.Tool.Effect, c.Path, c.Write = tools.Filesystem, tools.Repeatable, path, true
	return c
}

func in(group string, c policy.Call) policy.Call {
	c.Group = group
	return c
}

func rule(action policy.Action, tool, path string) policy.Rule {
	r := policy.Rule{Tool: tool, Path: path, Action: action}
	if tool == "*" && path == "" {
		r.Group = policy.Default
	}
	return r
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// idOf finds a rule of a group by its tool.
func (w *world) idOf(group, pattern string) string {
	w.t.Helper()
	for _, r := range must(w.Rules(ctx, group)) {
		if r.Tool == pattern {
			return r.ID
		}
	}
	w.t.Fatalf("no rule for %s in %s", pattern, group)
	return ""
}

// putRow is a row as another version, or damage, may have left it.
func putRow(table, key, value string) storage.Put {
	return storage.Put{Table: table, Key: key, Value: []byte(value), Rev: storage.AnyRev}
}

var errDisk = errors.New("disk on fire")
