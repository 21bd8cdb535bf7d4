package bolt_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"parley/storage"
	"parley/storage/bolt"
)

// says fails unless text holds all the words.
func says(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("%q does not say %q", text, word)
		}
	}
}

func TestOpenMakesWhatIsMissing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "data")
	db := open(t, filepath.Join(dir, "parley.db"), bolt.Options{})
	if _, err := db.PutBlob(t.Context(), strings.NewReader("x"), 9); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{
		dir: 0o700, filepath.Dir(dir): 0o700, filepath.Join(dir, "parley.db"): 0o600, filepath.Join(dir, "blobs"): 0o700,
	} {
		stat, err := os.Stat(path)
		if err != nil || stat.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, stat.Mode(), err)
		}
	}
}

// The second start says that there is a first one, and ends.
func TestSTO01SecondStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	db := open(t, path, bolt.Options{})
	out, err := process(t, executable(t), "open", path).Output()
	if err == nil {
		t.Error("the second start opened the store")
	}
	says(t, string(out), path, "another", "parley", "stop that one")
	if _, err := bolt.Open(path, bolt.Options{Timeout: time.Millisecond}); !errors.Is(err, bolt.ErrLocked) {
		t.Errorf("got %v, want ErrLocked", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := process(t, executable(t), "open", path).Output(); err != nil {
		t.Errorf("after the first has ended: %v: %s", err, out)
	}
}

func TestNewerVersionIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	db := open(t, path, bolt.Options{})
	if err := bolt.SetVersion(t.Context(), db, 9); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before := content(t, path)
	_, err := bolt.Open(path, bolt.Options{})
	says(t, fmt.Sprint(err), path, "newer parley", "version 9", "update")
	if content(t, path) != before {
		t.Error("the refused file has been changed")
	}
}

func TestForeignFileIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	other, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = other.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket([]byte("theirs"))
		return err
	})
	if err := errors.Join(err, other.Close()); err != nil {
		t.Fatal(err)
	}
	_, err = bolt.Open(path, bolt.Options{})
	says(t, fmt.Sprint(err), path, "not a store of parley's")
	_, err = bolt.Open(t.TempDir(), bolt.Options{})
	says(t, fmt.Sprint(err), "not a store of parley's")
}

// A process that was killed before its first commit leaves a file with nothing
// in it, or an empty one.
func TestUnfinishedFileIsNew(t *testing.T) {
	dir := t.TempDir()
	bare, err := bbolt.Open(filepath.Join(dir, "bare.db"), 0o600, nil)
	if err == nil {
		err = bare.Close()
	}
	if err := errors.Join(err, os.WriteFile(filepath.Join(dir, "empty.db"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bare.db", "empty.db"} {
		apply(t, open(t, filepath.Join(dir, name), bolt.Options{}), pieces("a")...)
	}
}

// An open and a close without a write in between leave the file alone.
func TestOpenWritesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	db := open(t, path, bolt.Options{})
	apply(t, db, pieces("a")...)
	var before string
	for range 3 {
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if got := content(t, path); before != "" && got != before {
			t.Fatal("the file has been changed")
		} else {
			before = got
		}
		db = open(t, path, bolt.Options{})
	}
}

// Whoever may not use the file is told which one, and what to do. Root may do
// everything, so the test lets somebody else try.
func TestPermissions(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can start a process as another user")
	}
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // nobody has to get through
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "test")
	if err := os.WriteFile(binary, []byte(content(t, executable(t))), 0o755); err != nil { // and execute it
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ dir, file os.FileMode }{
		"directory closed":    {dir: 0o700},
		"directory read-only": {dir: 0o755},
		"file closed":         {dir: 0o777, file: 0o600},
		"file read-only":      {dir: 0o777, file: 0o644},
	} {
		t.Run(name, func(t *testing.T) {
			data := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
			path := filepath.Join(data, "parley.db")
			err := os.Mkdir(data, 0o700)
			if c.file != 0 {
				err = errors.Join(err, open(t, path, bolt.Options{}).Close(), os.Chmod(path, c.file))
			}
			if err := errors.Join(err, os.Chmod(data, c.dir)); err != nil {
				t.Fatal(err)
			}
			cmd := process(t, binary, "open", path)
			cmd.Dir = dir
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			out, err := cmd.Output()
			if err == nil {
				t.Error("it opened")
			}
			says(t, string(out), path, "permission denied", "read and write", "chown")
		})
	}
}

// What keeps a file from being opened is told with what helps.
func TestOpenSaysWhatHelps(t *testing.T) {
	dir := t.TempDir()
	full, file := filepath.Join(dir, "full.db"), filepath.Join(dir, "file")
	err := errors.Join(os.Symlink("/dev/full", full), os.WriteFile(file, nil, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	for path, helps := range map[string]string{
		full:                        "no space left on device; make room there",
		filepath.Join(file, "x.db"): "not a directory; something else is where its directory should be",
	} {
		_, err := bolt.Open(path, bolt.Options{})
		says(t, fmt.Sprint(err), "opening store", path, helps)
		if strings.Count(fmt.Sprint(err), path) > 1 {
			t.Errorf("%v names the file twice", err)
		}
	}
}

// What is written into a removed file is lost, so it is not said to be durable.
func TestNothingIsWrittenIntoARemovedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "parley.db")
	db := open(t, path, bolt.Options{})
	aside := filepath.Dir(path) + "-aside"
	if err := os.Rename(filepath.Dir(path), aside); err != nil {
		t.Fatal(err)
	}
	err := db.Apply(t.Context(), pieces("a")...)
	says(t, fmt.Sprint(err), path, "removed", "put it back")
	if db.Trouble() == nil {
		t.Error("nothing is wrong")
	}
	if err := os.Rename(aside, filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	apply(t, db, pieces("a")...)
	if err := db.Trouble(); err != nil {
		t.Error(err)
	}
}

func TestTroubleWhileTheDiskTakesNothing(t *testing.T) {
	out, err := process(t, executable(t), "full", filepath.Join(t.TempDir(), "parley.db")).Output()
	if err != nil || string(out) != "false: <nil>\ntrue: file too large\nfalse: <nil>\n" {
		t.Errorf("%v: %s", err, out)
	}
}

func TestSweepRemovesStaleFiles(t *testing.T) {
	dir := t.TempDir()
	db := open(t, filepath.Join(dir, "parley.db"), bolt.Options{Blobs: filepath.Join(dir, "b")})
	stale := filepath.Join(dir, "b", "tmp-stale")
	if err := errors.Join(os.MkdirAll(filepath.Dir(stale), 0o700), os.WriteFile(stale, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	// The sweep comes while a blob is being put, whose file is not stale.
	info, err := db.PutBlob(t.Context(), &readerFunc{n: 2, do: func() error { return db.Sweep(t.Context()) }}, 9)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(stale); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the stale file is there: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "b", "tmp-*")); len(left) > 0 || err != nil {
		t.Errorf("%v is left behind: %v", left, err)
	}
	r, _, err := db.OpenBlob(t.Context(), info.ID)
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	// A blob whose file somebody has removed is not found, and can be swept.
	if err := os.RemoveAll(filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := db.OpenBlob(t.Context(), info.ID); !errors.Is(err, storage.ErrNotFound) {
		t.Error(err)
	}
	if err := db.Sweep(t.Context()); err != nil {
		t.Error(err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
