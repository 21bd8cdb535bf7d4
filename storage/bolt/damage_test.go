package bolt_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"parley/storage"
	"parley/storage/bolt"
)

const (
	pageSize = 4096
	branch   = 1
	leaf     = 2
	freelist = 16
)

// whole returns the bytes of a store with trees of several levels and some
// free pages.
func whole(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "parley.db")
	db := open(t, path, bolt.Options{})
	for i := range 8 {
		var ops []storage.Op
		for j := range 100 {
			p := pieces(fmt.Sprint("piece-", i, "-", j))
			ops = append(ops, p[0], p[2], p[3])
		}
		apply(t, db, ops...)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	b := []byte(content(t, path))
	if os.Getpagesize() != pageSize {
		t.Skip("the test knows pages of 4 KiB only")
	}
	return b
}

func pageAt(b []byte, id int) []byte { return b[id*pageSize : (id+1)*pageSize] }

// find returns the n-th last page of a kind that is in use, as far as can be
// seen: a page that says that it is itself.
func find(t *testing.T, b []byte, kind uint16) []byte {
	t.Helper()
	for id := newestMeta(b).end - 1; id > 1; id-- {
		p := pageAt(b, int(id))
		if binary.NativeEndian.Uint16(p[8:]) == kind && binary.NativeEndian.Uint64(p) == id && used(b, id) {
			return p
		}
	}
	t.Fatalf("there is no page of kind %d", kind)
	return nil
}

type meta struct{ root, free, end, commit uint64 }

func newestMeta(b []byte) meta {
	var newest meta
	for id := range 2 {
		m := pageAt(b, id)[16:]
		if commit := binary.NativeEndian.Uint64(m[48:]); commit >= newest.commit {
			newest = meta{binary.NativeEndian.Uint64(m[16:]), binary.NativeEndian.Uint64(m[32:]), binary.NativeEndian.Uint64(m[40:]), commit}
		}
	}
	return newest
}

// used reports whether the free list lacks a page.
func used(b []byte, id uint64) bool {
	free := pageAt(b, int(newestMeta(b).free))
	for i := range int(binary.NativeEndian.Uint16(free[10:])) {
		if binary.NativeEndian.Uint64(free[16+8*i:]) == id {
			return false
		}
	}
	return true
}

// damages are what has happened to files, or could.
var damages = map[string]func(t *testing.T, b []byte) []byte{
	"half is missing":      func(t *testing.T, b []byte) []byte { return b[:len(b)/2] },
	"one page is left":     func(t *testing.T, b []byte) []byte { return b[:pageSize] },
	"a few bytes are left": func(t *testing.T, b []byte) []byte { return b[:100] },
	"text":                 func(t *testing.T, b []byte) []byte { return bytes.Repeat([]byte("not a store "), 9999) },
	"zeros":                func(t *testing.T, b []byte) []byte { return make([]byte, len(b)) },
	"both metas are gone":  func(t *testing.T, b []byte) []byte { clear(b[:2*pageSize]); return b },
	"the root is gone":     func(t *testing.T, b []byte) []byte { clear(pageAt(b, int(newestMeta(b).root))); return b },
	"the free list is gone": func(t *testing.T, b []byte) []byte {
		clear(pageAt(b, int(newestMeta(b).free)))
		return b
	},
	"the free list has a page in use": func(t *testing.T, b []byte) []byte {
		copy(pageAt(b, int(newestMeta(b).free))[16:], find(t, b, leaf)[:8])
		return b
	},
	"the free list is too long": func(t *testing.T, b []byte) []byte {
		binary.NativeEndian.PutUint16(pageAt(b, int(newestMeta(b).free))[10:], 0xfff0)
		return b
	},
	"a branch leads to itself": func(t *testing.T, b []byte) []byte {
		p := find(t, b, branch)
		copy(p[16+8:], p[:8])
		return b
	},
	"a branch leads outside": func(t *testing.T, b []byte) []byte {
		binary.NativeEndian.PutUint64(find(t, b, branch)[16+8:], 1<<40)
		return b
	},
	"two branches lead to one page": func(t *testing.T, b []byte) []byte {
		p := find(t, b, branch)
		copy(p[16+8:16+16], p[32+8:])
		return b
	},
	"a leaf is overwritten": func(t *testing.T, b []byte) []byte {
		copy(find(t, b, leaf), bytes.Repeat([]byte{0xff}, pageSize))
		return b
	},
	"a leaf's keys are gone": func(t *testing.T, b []byte) []byte { clear(find(t, b, leaf)[2000:]); return b },
	"an element lies outside": func(t *testing.T, b []byte) []byte {
		binary.NativeEndian.PutUint32(find(t, b, leaf)[16+4:], 1<<30)
		return b
	},
	"a page overflows the end": func(t *testing.T, b []byte) []byte {
		binary.NativeEndian.PutUint32(find(t, b, leaf)[12:], 1<<30)
		return b
	},
}

// Each damaged file is refused in words, soon, and left as it is; set aside, it
// makes room for a fresh one.
func TestSTO03DamagedFiles(t *testing.T) {
	good := whole(t)
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "parley.db")
			bad := damage(t, bytes.Clone(good))
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := bolt.Open(path, bolt.Options{})
			if !errors.Is(err, bolt.ErrDamaged) {
				t.Fatalf("got %v, want ErrDamaged", err)
			}
			says(t, err.Error(), path, "restore a backup", "set it aside", "left as it is")
			if content(t, path) != string(bad) {
				t.Error("the damaged file has been changed")
			}
			if err := os.Rename(path, path+".damaged"); err != nil {
				t.Fatal(err)
			}
			apply(t, open(t, path, bolt.Options{}), pieces("a")...)
		})
	}
}

// Whichever page is overwritten, an open refuses the file or, if the page was
// of no importance, gives a store that works. It does not panic.
func TestAnyPageOverwritten(t *testing.T) {
	good := whole(t)
	path := filepath.Join(t.TempDir(), "parley.db")
	for id := range newestMeta(good).end {
		if err := os.WriteFile(path, overwritten(good, id), 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := bolt.Open(path, bolt.Options{})
		if err != nil {
			if !errors.Is(err, bolt.ErrDamaged) {
				t.Fatalf("page %d: %v", id, err)
			}
			continue
		}
		if id > 1 && used(good, id) { // of the two metas one is enough
			t.Errorf("page %d is in use and was not missed", id)
		}
		apply(t, db, pieces("new")...)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func overwritten(good []byte, id uint64) []byte {
	bad := bytes.Clone(good)
	p := pageAt(bad, int(id))
	for i := range p {
		p[i] = byte(i*7 + int(id))
	}
	return bad
}

// After a clean close, as long as nobody has changed the file, an open does not
// read every page. What it relies on it checks all the same.
func TestCleanlyClosedFile(t *testing.T) {
	good := whole(t)
	path := filepath.Join(t.TempDir(), "parley.db")
	at := closedAt(t, good)
	refused, unseen := 0, 0
	for id := uint64(2); id < newestMeta(good).end; id++ {
		if !used(good, id) {
			continue
		}
		if err := errors.Join(os.WriteFile(path, overwritten(good, id), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
		db, err := bolt.Open(path, bolt.Options{})
		switch {
		case err == nil:
			unseen++
			_ = db.Close()
		case errors.Is(err, bolt.ErrDamaged):
			refused++
		default:
			t.Fatalf("page %d: %v", id, err)
		}
		if top := newestMeta(good); err == nil && (id == top.root || id == top.free) {
			t.Errorf("page %d is at the top and was not missed", id)
		}
	}
	if unseen == 0 {
		t.Errorf("all %d pages have been read", refused)
	}
}

// closedAt reads from the file when it was closed, which it had as its
// modification time.
func closedAt(t *testing.T, b []byte) time.Time {
	t.Helper()
	i := bytes.LastIndex(b[newestMeta(b).root*pageSize:][:pageSize], []byte("clean"))
	if i < 0 {
		t.Fatal("the file has no mark")
	}
	v := b[int(newestMeta(b).root)*pageSize+i+len("clean")+8+1:]
	seconds, _ := binary.Varint(v)
	return time.Unix(seconds, 0)
}

// A store whose pages go bad while it is open says so.
func TestDamageUnderARunningStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	db := open(t, path, bolt.Options{})
	for i := range 50 {
		apply(t, db, pieces(fmt.Sprint(i))...)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if err := f.Truncate(2 * pageSize); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Read(t.Context(), "s", 0, 10); !errors.Is(err, bolt.ErrDamaged) {
		t.Errorf("reading: got %v, want ErrDamaged", err)
	}
	for range 2 {
		if err := db.Apply(t.Context(), pieces("new")...); !errors.Is(err, bolt.ErrDamaged) {
			t.Errorf("writing: got %v, want ErrDamaged", err)
		}
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if _, err := bolt.Open(path, bolt.Options{}); !errors.Is(err, bolt.ErrDamaged) {
		t.Errorf("opening again: got %v, want ErrDamaged", err)
	}
}
