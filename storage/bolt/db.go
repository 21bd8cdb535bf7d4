package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"parley/storage"
)

var _ storage.Store = (*DB)(nil)

// DB is an open store. Its methods are safe for concurrent use, and none of
// them calls anything of its caller's while it holds a lock or a transaction.
type DB struct {
	path    string
	now     func() time.Time
	log     zerolog.Logger
	bolt    *bbolt.DB
	file    *os.File // the one that bolt has open
	writer  *writer
	waiting *waiting
	blobs   *blobDir

	closing  sync.Once
	closeErr error
	marked   uint64 // the commit that the file's mark of a clean end names
}

// Apply implements [storage.Applier]. A batch is atomic, always. Apply blocks until the batch is on disk,
// which includes waiting for room in the writer's queue when that is full.
func (db *DB) Apply(ctx context.Context, ops ...storage.Op) error {
	if err := check(ops); err != nil {
		return fmt.Errorf("applying: %w", err)
	}
	if len(ops) == 0 {
		if err := db.ready(ctx); err != nil {
			return fmt.Errorf("applying: %w", err)
		}
		return nil
	}
	if err := db.writer.submit(ctx, func(b *batch) error { return b.apply(ops) }); err != nil {
		return fmt.Errorf("applying: %w", err)
	}
	return nil
}

// Backup writes a copy of the file as it is now to w; put in place of the file
// it opens as that state. The blobs are not in it. The copy is first made in a
// temporary file beside the store, so that a slow w holds up nobody, and w may
// even use the store.
func (db *DB) Backup(ctx context.Context, w io.Writer) error {
	temp, err := os.CreateTemp(filepath.Dir(db.path), filepath.Base(db.path)+".backup-*")
	if err != nil {
		return fmt.Errorf("backing up store %q: %w", db.path, err)
	}
	_ = os.Remove(temp.Name()) // gone with the process, where a system allows it
	defer func() {
		_ = temp.Close()
		_ = os.Remove(temp.Name())
	}()
	// A reader keeps the file from being mapped anew when it grows, and so in
	// the end every writer; hence only the local copy is made inside one.
	err = db.view(ctx, func(tx *bbolt.Tx) error {
		_, err := tx.WriteTo(temp)
		return err
	})
	if err == nil {
		_, err = temp.Seek(0, io.SeekStart)
	}
	if err == nil {
		_, err = io.Copy(w, endingReader{ctx, temp})
	}
	if err != nil {
		return fmt.Errorf("backing up store %q: %w", db.path, err)
	}
	return nil
}

// Close implements [storage.Store]. It marks the file as cleanly closed, so
// that the next open need not inspect all of it.
func (db *DB) Close() error {
	db.closing.Do(func() {
		db.writer.stop()
		if err := db.release(); err != nil {
			db.closeErr = fmt.Errorf("closing store %q: %w", db.path, err)
		}
	})
	return db.closeErr
}

// release gives up the file. When the B+tree code has panicked over a damaged
// one and kept a lock, its Close would wait for ever; then the file stays
// locked until the process ends.
func (db *DB) release() error {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	var p *panicked
	if errors.As(db.writer.broken, &p) && p.locked {
		return db.file.Close()
	}
	if db.writer.broken != nil {
		return db.bolt.Close()
	}
	if err := db.mark(); err != nil {
		db.log.Warn().Err(err).Str("store", db.path).Msg("the next open will inspect the whole file")
	}
	return db.bolt.Close()
}

// mark writes into the file which commit is the last one, and gives the file
// the modification time that it writes beside it. Whatever is done to the file
// afterwards, by a later run that is killed or by anybody else, breaks one of
// the two.
func (db *DB) mark() error {
	changed := time.Now().Truncate(time.Second)
	err := update(db.bolt, func(tx *bbolt.Tx) error {
		if uint64(tx.ID()) == db.marked+1 {
			return errUnchanged // nothing has been written since the last mark
		}
		return tx.Bucket([]byte(inMeta)).Put([]byte(metaClean), encodeMark(uint64(tx.ID()), changed))
	})
	if errors.Is(err, errUnchanged) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("marking the end: %w", err)
	}
	return os.Chtimes(db.path, changed, changed)
}

// Trouble says why the last commit could not be written (a full disk, damage),
// nil if it was: somebody should look after the file. It never blocks.
func (db *DB) Trouble() error {
	if err := db.writer.trouble.Load(); err != nil {
		return cause(*err)
	}
	return nil
}

// ready refuses a call when the store is closed or the context has ended.
func (db *DB) ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if db.writer.stopped.Load() {
		return storage.ErrClosed
	}
	return nil
}

// view reads in one transaction. f takes no lock and calls nothing of this
// package that reads or writes: a transaction within a transaction of the same
// goroutine blocks for ever once the file has to grow. A page that cannot be
// read is an ErrDamaged.
func (db *DB) view(ctx context.Context, f func(*bbolt.Tx) error) error {
	if err := db.ready(ctx); err != nil {
		return err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	err := asDamage(guarded(func() error { return db.bolt.View(f) }))
	if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
		return storage.ErrClosed
	}
	return err
}

// walk calls f for the keys of a bucket that begin with prefix, starting at
// from, until it returns false or an error. What f gets it has to copy.
func walk(ctx context.Context, tx *bbolt.Tx, bucket string, prefix, from []byte, f func(k, v []byte) (bool, error)) error {
	c := tx.Bucket([]byte(bucket)).Cursor()
	n := 0
	for k, v := c.Seek(from); bytes.HasPrefix(k, prefix) && k != nil; k, v = c.Next() {
		if err := pause(ctx, n); err != nil {
			return err
		}
		n++
		if more, err := f(k, v); err != nil || !more {
			return err
		}
	}
	return nil
}

// pause looks at the context every so many steps of a loop.
func pause(ctx context.Context, step int) error {
	if step%256 != 0 {
		return nil
	}
	return ctx.Err()
}
