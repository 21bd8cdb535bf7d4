package bolt_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"parley/storage"
	"parley/storage/bolt"
)

// A caller walks over what is stored and writes as it goes, many at once,
// while the file grows and is mapped anew. Nobody holds a transaction across a
// call, so nobody blocks.
func TestSTO02NestedTransactions(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "parley.db"), bolt.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // or it would hang for ever
	defer cancel()
	for i := range 20 {
		apply(t, db, pieces(fmt.Sprint("session", i))...)
	}
	var g errgroup.Group
	for w := range 4 {
		g.Go(func() error { return walkAndWrite(ctx, db, w) })
	}
	g.Go(func() error { return db.Backup(ctx, writerFunc(func() error { return grow(ctx, db, "backup") })) })
	g.Go(func() error {
		_, err := db.PutBlob(ctx, &readerFunc{n: 3, do: func() error { return grow(ctx, db, "blob") }}, 100)
		return err
	})
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
}

func walkAndWrite(ctx context.Context, db *bolt.DB, w int) error {
	rows, err := db.List(ctx, "a", "session", "", 100)
	if err != nil {
		return err
	}
	for _, row := range rows {
		records, err := db.Read(ctx, "s", 0, 5)
		if err != nil {
			return err
		}
		for _, r := range records {
			if err := grow(ctx, db, fmt.Sprint(w, row.Key, r.ID)); err != nil {
				return err
			}
			if _, err := db.Claim(ctx, "q", "k", "l", "o", time.Now(), 3); err != nil {
				return err
			}
		}
	}
	return nil
}

// grow makes the file larger.
func grow(ctx context.Context, db *bolt.DB, id string) error {
	return db.Apply(ctx, storage.Put{Table: "big", Key: id, Value: make([]byte, 48<<10), Rev: storage.AnyRev})
}

type writerFunc func() error

func (f writerFunc) Write(p []byte) (int, error) { return len(p), f() }

// readerFunc does something n times and gives a byte each time.
type readerFunc struct {
	n  int
	do func() error
}

func (r *readerFunc) Read(p []byte) (int, error) {
	if r.n == 0 {
		return 0, io.EOF
	}
	r.n--
	p[0] = 'x'
	return 1, r.do()
}

func TestBackup(t *testing.T) {
	dir := t.TempDir()
	db := open(t, filepath.Join(dir, "parley.db"), bolt.Options{})
	apply(t, db, pieces("a")...)
	var copied bytes.Buffer
	if err := db.Backup(t.Context(), &copied); err != nil {
		t.Fatal(err)
	}
	apply(t, db, pieces("b")...)
	path := filepath.Join(dir, "copy.db")
	if err := os.WriteFile(path, copied.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	checkWhole(t, path, []string{"a"})
	broken := errors.New("broken")
	if err := db.Backup(t.Context(), writerFunc(func() error { return broken })); !errors.Is(err, broken) {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*backup*")); err != nil || len(left) > 0 {
		t.Errorf("%v is left behind: %v", left, err)
	}
}
