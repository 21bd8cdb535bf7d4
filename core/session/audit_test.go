package session_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"parley/core/session"
	"parley/storage"
	"parley/storage/bolt"
)

// noted is a store whose audit stream has lines of these ages, in order.
func noted(t *testing.T, now time.Time, ages ...time.Duration) *bolt.DB {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "parley.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	ops := make([]storage.Op, 0, len(ages))
	for i, age := range ages {
		ops = append(ops, session.Record(session.Audit{At: now.Add(-age), Label: fmt.Sprint(i), Decision: "done"}))
	}
	if err := db.Apply(t.Context(), ops...); err != nil {
		t.Fatal(err)
	}
	return db
}

// TestAuditIsKeptForItsTime: what is older goes, in as many steps as it takes.
func TestAuditIsKeptForItsTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const old, young = session.AuditKept + time.Second, session.AuditKept - time.Second
	many := func(n int, age time.Duration) []time.Duration {
		list := make([]time.Duration, n)
		for i := range list {
			list[i] = age
		}
		return list
	}
	for _, c := range []struct {
		name  string
		ages  []time.Duration
		stays int
	}{
		{"nothing", nil, 0},
		{"young", many(3, young), 3},
		{"old and young", append(many(3, old), many(2, young)...), 2},
		{"a step", append(many(500, old), young), 1},
		{"many", append(many(1203, old), many(7, young)...), 7},
		{"all old", many(1000, old), 1}, // the store keeps the last of a stream
		{"one", many(1, old), 1},
		{"an old one among young ones", []time.Duration{old, young, old, young}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			db := noted(t, now, c.ages...)
			for range 2 {
				if err := session.TrimAudit(t.Context(), db, now); err != nil {
					t.Fatal(err)
				}
				lines, err := session.ReadAudit(t.Context(), db, 5000)
				if err != nil || len(lines) != c.stays {
					t.Fatalf("%d lines stay, want %d (%v)", len(lines), c.stays, err)
				}
				if c.stays > 0 && lines[c.stays-1].Label != fmt.Sprint(len(c.ages)-1) {
					t.Errorf("the newest line is %+v", lines[c.stays-1])
				}
			}
		})
	}
}

// TestAuditLineThatCannotBeRead says so, hides no other, and goes with the
// next.
func TestAuditLineThatCannotBeRead(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	db := noted(t, now, time.Hour)
	broken := storage.Append{Stream: session.AuditStream, After: storage.Anywhere, Entries: []storage.Entry{{ID: "x", Data: []byte("{")}}}
	if err := db.Apply(t.Context(), broken, session.Record(session.Audit{At: now.Add(-time.Minute), Decision: "done"})); err != nil {
		t.Fatal(err)
	}
	lines, err := session.ReadAudit(t.Context(), db, 10)
	if err != nil || len(lines) != 3 || lines[1].Decision != "unreadable" || lines[2].Decision != "done" {
		t.Fatalf("%+v, %v", lines, err)
	}
	for _, c := range []struct {
		later time.Duration
		stays int
	}{{session.AuditKept - 30*time.Minute, 2}, {2 * session.AuditKept, 1}} {
		if err := session.TrimAudit(t.Context(), db, now.Add(c.later)); err != nil {
			t.Fatal(err)
		}
		lines, err := session.ReadAudit(t.Context(), db, 10)
		if err != nil || len(lines) != c.stays || lines[c.stays-1].Decision != "done" {
			t.Errorf("behind %s: %+v, %v", c.later, lines, err)
		}
	}
}
