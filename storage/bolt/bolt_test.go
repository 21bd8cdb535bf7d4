package bolt_test

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"parley/storage"
	"parley/storage/bolt"
	"parley/storage/storagetest"
)

// TestMain runs the tests, or, in a process that a test has started, a role.
func TestMain(m *testing.M) {
	if role, found := roles[os.Getenv(roleVariable)]; found {
		os.Exit(role(os.Getenv(pathVariable)))
	}
	goleak.VerifyTestMain(m)
}

func TestStore(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) storagetest.Harness {
		path := filepath.Join(t.TempDir(), "parley.db")
		clock := storagetest.NewClock()
		db := open(t, path, bolt.Options{Now: clock.Now})
		return storagetest.Harness{
			Store: db, Clock: clock,
			Reopen: func() storage.Store {
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				db = open(t, path, bolt.Options{Now: clock.Now})
				return db
			},
		}
	})
}

// open opens a store that is closed after the test.
func open(t testing.TB, path string, o bolt.Options) *bolt.DB {
	t.Helper()
	db, err := bolt.Open(path, o)
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

func apply(t testing.TB, db *bolt.DB, ops ...storage.Op) {
	t.Helper()
	if err := db.Apply(t.Context(), ops...); err != nil {
		t.Fatal(err)
	}
}
