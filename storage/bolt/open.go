package bolt

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/rs/zerolog"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"parley/storage"
)

var (
	// ErrLocked is returned by Open when another process has the file open.
	// The caller says so and ends; or waits for the other one and opens again.
	ErrLocked = errors.New("in use by another process")
	// ErrDamaged is returned by Open for a file that is not whole, and by any
	// method that comes upon something that cannot be. The caller stops and
	// leaves it to a person to restore a backup.
	ErrDamaged = errors.New("damaged")
)

// schema is the version of the layout in the package comment. A file of a
// newer one is refused; the day there is an older one, Open migrates it.
const schema = 1

// The keys of the meta bucket.
const (
	metaVersion = "version"
	metaClean   = "clean"
)

// Options are how Open does its work. The zero value is good.
type Options struct {
	// Blobs is the directory of the blobs; "blobs" beside the file by default.
	Blobs string
	// Timeout is how long Open waits for another process to close the file;
	// one second by default.
	Timeout time.Duration
	// Now is the clock; time.Now by default.
	Now func() time.Time
	// Log gets what an operator may want to know; silent by default.
	Log zerolog.Logger
}

// withDefaults fills in what is left open.
func (o Options) withDefaults(path string) Options {
	if o.Blobs == "" {
		o.Blobs = filepath.Join(filepath.Dir(path), "blobs")
	}
	if o.Timeout <= 0 {
		o.Timeout = time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Open opens the store in the file at path, which it makes if there is none,
// along with the directories above it, readable by the user alone. It blocks
// for at most Options.Timeout while another process has the file, and then
// returns an error that wraps ErrLocked. A file that is damaged or of a newer
// version is refused without being changed; every error is a sentence that
// names the file and what to do. The caller closes the store.
func Open(path string, o Options) (*DB, error) {
	db, err := open(path, o.withDefaults(path))
	if err != nil {
		return nil, fmt.Errorf("opening store %q: %w", path, explain(err))
	}
	return db, nil
}

// open is Open with errors that name causes only. The file is opened twice: once
// to be inspected, under a lock that readers share, and once to be used. Between
// the two another process may get it, and then this one waits again; what it
// finds in the end has been written by a store, and is whole.
func open(path string, o Options) (*DB, error) {
	if err := makeDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	was, err := inspect(path, o)
	if err != nil {
		return nil, err
	}
	tree, file, err := openTree(path, &bbolt.Options{Timeout: o.Timeout, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return nil, err
	}
	db := &DB{
		path: path, now: o.Now, log: o.Log, bolt: tree, file: file, marked: was.marked,
		waiting: &waiting{queues: make(map[string]*queue)},
		blobs:   &blobDir{path: o.Blobs, busy: make(map[string]bool)},
	}
	if err := db.prepare(was); err != nil {
		_ = tree.Close()
		return nil, err
	}
	db.writer = newWriter(path, tree, db.waiting, o.Now, o.Log)
	return db, nil
}

// prepare makes the buckets of a new file, or recalls what waits in an old
// one. An old file is not written to: one that is opened and closed again stays
// the same to the byte, and so does its mark of a clean end.
func (db *DB) prepare(was past) error {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	if !was.isNew {
		return asDamage(guarded(func() error { return db.bolt.View(db.recall) }))
	}
	err := db.bolt.Update(func(tx *bbolt.Tx) error {
		for _, name := range buckets {
			if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
				return err
			}
		}
		return tx.Bucket([]byte(inMeta)).Put([]byte(metaVersion), binary.AppendUvarint(nil, schema))
	})
	if err != nil {
		return err
	}
	return syncDir(filepath.Dir(db.path))
}

// recall reads the waiting items, queue by queue, past those that are done or
// dead without looking at them.
func (db *DB) recall(tx *bbolt.Tx) error {
	c := tx.Bucket([]byte(inOrder)).Cursor()
	for k, _ := c.First(); k != nil; { // k is the first of some queue
		d := decoder{b: k}
		name := d.string()
		prefix := append(within(name), stateCodes[storage.StateWaiting])
		err := walk(context.Background(), tx, inOrder, prefix, prefix, func(_, v []byte) (bool, error) {
			id, _ := decodeOrder(v, storage.Filter{})
			it, err := readItem(tx, name, id)
			if err == nil && it.State != storage.StateWaiting {
				err = fmt.Errorf("item %q of queue %q waits and does not: %w", id, name, ErrDamaged)
			}
			if err == nil {
				it.Data = nil
				db.waiting.enter(name, it)
			}
			return true, err
		})
		if err != nil {
			return err
		}
		k, _ = c.Seek(append(within(name), 0xff)) // no state has this code
	}
	return nil
}

// past is what a file tells about itself before it is opened for writing.
type past struct {
	isNew  bool
	marked uint64 // see DB.mark; 0 if the file was not closed cleanly
}

// inspect looks at the file under a lock that keeps writers away, and opens
// nothing for writing. The B+tree code follows whatever a page says, so no
// page is shown to it that has not been checked.
func inspect(path string, o Options) (past, error) {
	stat, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) || err == nil && stat.Size() == 0 {
		return past{isNew: true}, nil
	}
	if err != nil {
		return past{}, err
	}
	if !stat.Mode().IsRegular() {
		return past{}, errForeign
	}
	locked, _, err := openTree(path, &bbolt.Options{Timeout: o.Timeout, ReadOnly: true})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return past{}, err
	}
	if err == nil {
		defer func() { _ = locked.Close() }()
	}
	// Whatever else the B+tree code has to say, the inspection says it better.
	tree, treeErr := newTree(path)
	if treeErr != nil {
		return past{}, treeErr
	}
	defer tree.close()
	if err := tree.checkTop(); err != nil {
		return past{}, err
	}
	if err != nil {
		return past{}, err // the file is as it should be, and yet
	}
	was, err := readPast(locked, tree.changed())
	if err != nil || was.marked != 0 {
		return was, err
	}
	o.Log.Info().Str("store", path).Int64("bytes", tree.size).Msg("not closed cleanly, inspecting the whole file")
	return was, tree.checkAll()
}

// readPast reads the meta bucket of a file that was last changed at a time.
func readPast(file *bbolt.DB, changed time.Time) (was past, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	err = guarded(func() error {
		return file.View(func(tx *bbolt.Tx) error {
			if k, _ := tx.Cursor().First(); k == nil {
				was.isNew = true // made, and then killed before the first commit
				return nil
			}
			if err := checkSchema(tx); err != nil {
				return err
			}
			id, at := decodeMark(tx.Bucket([]byte(inMeta)).Get([]byte(metaClean)))
			if id == uint64(tx.ID()) && at.Equal(changed) {
				was.marked = id
			}
			return nil
		})
	})
	return was, asDamage(err)
}

// checkSchema refuses what is not a store, or not one that this code knows. It
// asks for the meta bucket first: other programs use the same kind of file.
func checkSchema(tx *bbolt.Tx) error {
	meta := tx.Bucket([]byte(inMeta))
	if meta == nil {
		return errForeign
	}
	switch version, n := binary.Uvarint(meta.Get([]byte(metaVersion))); {
	case n <= 0:
		return errForeign
	case version > schema:
		return fmt.Errorf("%w: it has version %d and this one knows %d", errNewer, version, schema)
	}
	for _, name := range buckets {
		if tx.Bucket([]byte(name)) == nil {
			return fmt.Errorf("%w: bucket %q is missing", ErrDamaged, name)
		}
	}
	return nil
}

// encodeMark and decodeMark are what DB.mark leaves in the file.
func encodeMark(id uint64, changed time.Time) []byte {
	return appendTime(appendUint64(nil, id), changed)
}

// decodeMark returns zeros if there is no mark.
func decodeMark(v []byte) (id uint64, changed time.Time) {
	d := decoder{b: v}
	return d.uint64(), d.time()
}

// openTree opens the B+tree, and returns also the file that it has opened. If
// it panics over what it reads, the lock does not stay behind.
func openTree(path string, o *bbolt.Options) (db *bbolt.DB, file *os.File, err error) {
	o.OpenFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		var err error
		file, err = os.OpenFile(name, flag, mode)
		return file, err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	err = guarded(func() (err error) {
		db, err = bbolt.Open(path, 0o600, o)
		return err
	})
	var p *panicked
	if errors.As(err, &p) && file != nil {
		_ = file.Close()
	}
	return db, file, asDamage(err)
}

// Why a file that is whole is refused.
var (
	errForeign = errors.New("it is not a store of parley's")
	errNewer   = errors.New("it was written by a newer parley")
)

// explain makes a sentence of an error that says what to do. Whoever reads it
// may never have heard of this package, and has a program that does not start.
func explain(err error) error {
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return fmt.Errorf("the file is %w, probably another parley; stop that one, or give this one another data directory", ErrLocked)
	case errors.Is(err, errForeign):
		return fmt.Errorf("%w; move it away, or use another data directory", err)
	case errors.Is(err, errNewer):
		return fmt.Errorf("%w; update this one, or use another data directory", err)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%w; parley has to be able to read and write the file and its directory: run it as the user they belong to, or hand them over with chown", err)
	case errors.Is(err, ErrDamaged):
		return fmt.Errorf("the file is %w; restore a backup in its place, or set it aside under another name to start fresh; it has been left as it is", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w; make room there, or use a data directory elsewhere", cause(err))
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w; mount it writable, or use a data directory elsewhere", cause(err))
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w; something else is where its directory should be: move that away, or use another data directory", cause(err))
	default:
		return fmt.Errorf("%w; if that stays, use another data directory", cause(err))
	}
}

// cause is an error without the path that it repeats.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// makeDir makes a directory for the user alone, with those above it, and
// makes it durable. One that exists is left as it is.
func makeDir(path string) error {
	if stat, err := os.Stat(path); err == nil && stat.IsDir() {
		return nil
	}
	parent := filepath.Dir(path)
	if parent != path {
		if err := makeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return syncDir(parent)
}

// syncDir makes durable what has been created or renamed in a directory. One
// that the user may write to but not read cannot be synced; so be it.
func syncDir(path string) error {
	d, err := os.Open(path)
	if errors.Is(err, os.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	return d.Sync()
}
