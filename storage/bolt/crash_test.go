package bolt_test

import (
	"bufio"

	"path/filepath"
	"testing"
	"time"

	"parley/storage/bolt"
)

// A process is killed in the middle of many Applies, again and again. What it
// said was durable is there, and nothing is there by half.
func TestKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	binary := executable(t)
	var said []string
	for round := range 4 {
		cmd := process(t, binary, "write", path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			said = append(said, lines.Text())
			if n == 50+100*round {
				_ = cmd.Process.Kill() // and read what it could still say
			}
		}
		_ = cmd.Wait()
		checkWhole(t, path, said)
	}
}

// checkWhole opens the store and counts the pieces of each batch.
func checkWhole(t *testing.T, path string, said []string) {
	t.Helper()
	db, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	found := count(t, db)
	for id, n := range found {
		if n != 4 {
			t.Errorf("batch %s is there by %d pieces of 4", id, n)
		}
	}
	for _, id := range said {
		if found[id] == 0 {
			t.Errorf("batch %q was durable and is gone", id)
		}
	}
	if n, err := db.Waiting(t.Context(), "q", "k", "l"); err != nil || n != len(found) {
		t.Errorf("%d items wait, want %d: %v", n, len(found), err)
	}
	t.Logf("%d said to be durable, %d there", len(said), len(found))
}

// count returns of each batch how many of its pieces are there.
func count(t *testing.T, db *bolt.DB) map[string]int {
	t.Helper()
	found := make(map[string]int)
	records, err := db.Read(t.Context(), "s", 0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range records {
		if r.Seq != uint64(i+1) {
			t.Fatalf("record %d has number %d", i+1, r.Seq)
		}
		found[r.ID]++
	}
	for _, table := range []string{"a", "b"} {
		rows, err := db.List(t.Context(), table, "", "", 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			found[row.Key]++
		}
	}
	items, err := db.Claim(t.Context(), "q", "k", "l", "o", time.Now().Add(time.Hour), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range items {
		found[it.ID]++
	}
	return found
}
