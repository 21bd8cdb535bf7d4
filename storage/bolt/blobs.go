package bolt

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"parley/storage"
)

// blobDir is the directory of the blobs. A blob is first written as
// "tmp-…" in the directory itself and then renamed to where it belongs.
type blobDir struct {
	path string
	mu   sync.Mutex
	busy map[string]bool // the temporary files that are being written
}

// tempPrefix begins the names of unfinished files, which no blob id begins with.
const tempPrefix = "tmp-"

// PutBlob implements [storage.Blobs]. The content goes to a temporary file
// first, since its name is known only at its end; then the blob is recorded,
// with its time, and only then does the file get its name. In this order a
// sweep cannot take away a file that has just come, and after a crash in
// between there is a record without a file, which is not found and expires.
//
// It holds no transaction while it reads
// from r, so r may do what it likes.
func (db *DB) PutBlob(ctx context.Context, r io.Reader, limit int64) (storage.BlobInfo, error) {
	if limit <= 0 {
		return storage.BlobInfo{}, fmt.Errorf("storing a blob: the limit is %d bytes; it must be positive", limit)
	}
	if err := db.ready(ctx); err != nil {
		return storage.BlobInfo{}, fmt.Errorf("storing a blob: %w", err)
	}
	temp, err := db.blobs.create()
	if err != nil {
		return storage.BlobInfo{}, fmt.Errorf("storing a blob: %w", err)
	}
	defer db.blobs.discard(temp)
	info, err := fill(ctx, temp, r, limit)
	if err != nil {
		return storage.BlobInfo{}, fmt.Errorf("storing a blob: %w", err)
	}
	if err := db.writer.submit(ctx, func(b *batch) error { return b.touch(info) }); err != nil {
		return storage.BlobInfo{}, fmt.Errorf("recording %s: %w", info.ID, err)
	}
	if err := db.blobs.place(temp.Name(), info.ID); err != nil {
		return storage.BlobInfo{}, fmt.Errorf("storing %s: %w", info.ID, err)
	}
	return info, nil
}

// OpenBlob implements [storage.Blobs].
func (db *DB) OpenBlob(ctx context.Context, id string) (io.ReadSeekCloser, storage.BlobInfo, error) {
	if err := db.ready(ctx); err != nil {
		return nil, storage.BlobInfo{}, fmt.Errorf("opening a blob: %w", err)
	}
	if err := checkBlob(id); err != nil {
		return nil, storage.BlobInfo{}, fmt.Errorf("opening a blob: %w: %w", err, storage.ErrNotFound)
	}
	f, err := os.Open(db.blobs.file(id))
	if errors.Is(err, os.ErrNotExist) {
		return nil, storage.BlobInfo{}, fmt.Errorf("opening %s: %w", id, storage.ErrNotFound)
	}
	if err != nil {
		return nil, storage.BlobInfo{}, fmt.Errorf("opening %s: %w", id, err)
	}
	stat, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, storage.BlobInfo{}, fmt.Errorf("opening %s: %w", id, err)
	}
	return f, storage.BlobInfo{ID: id, Size: stat.Size()}, nil
}

// fill copies r into the file, makes it durable, and says what it is.
func fill(ctx context.Context, f *os.File, r io.Reader, limit int64) (storage.BlobInfo, error) {
	hash := sha256.New()
	enough := limit
	if limit < math.MaxInt64 {
		enough++ // one byte more tells that it is too large
	}
	size, err := io.Copy(io.MultiWriter(f, hash), io.LimitReader(endingReader{ctx, r}, enough))
	if err != nil {
		return storage.BlobInfo{}, err
	}
	if size > limit {
		return storage.BlobInfo{}, fmt.Errorf("more than %d bytes: %w", limit, storage.ErrTooLarge)
	}
	if err := f.Sync(); err != nil {
		return storage.BlobInfo{}, err
	}
	return storage.BlobInfo{ID: blobPrefix + hex.EncodeToString(hash.Sum(nil)), Size: size}, nil
}

// endingReader ends with its context, at the next read.
type endingReader struct {
	ctx context.Context
	io.Reader
}

// Read refuses to go on when the context has ended.
func (r endingReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// file returns where a blob lies. The directories below the top share out what
// would make one very long directory.
func (d *blobDir) file(id string) string {
	hash := strings.TrimPrefix(id, blobPrefix)
	return filepath.Join(d.path, hash[:2], id)
}

// create opens a temporary file and notes that it is in use.
func (d *blobDir) create() (*os.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := makeDir(d.path); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(d.path, tempPrefix+"*")
	if err == nil {
		d.busy[f.Name()] = true
	}
	return f, err
}

// discard ends the use of a temporary file, placed or not.
func (d *blobDir) discard(f *os.File) {
	_ = f.Close()
	_ = os.Remove(f.Name()) // gone if it has been placed
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.busy, f.Name())
}

// place moves a finished file to where its id belongs. One that is there
// already has the same content, unless it was damaged, and then this heals it.
func (d *blobDir) place(temp, id string) error {
	target := d.file(id)
	if err := makeDir(filepath.Dir(target)); err != nil {
		return err
	}
	if err := os.Rename(temp, target); err != nil {
		return err
	}
	return syncDir(filepath.Dir(target))
}

// remove removes a blob. One that is not there is fine.
func (d *blobDir) remove(id string) error {
	if err := checkBlob(id); err != nil {
		return err
	}
	if err := os.Remove(d.file(id)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// removeStale removes temporary files that nobody is writing.
func (d *blobDir) removeStale() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	names, err := filepath.Glob(filepath.Join(d.path, tempPrefix+"*"))
	if err != nil {
		return err
	}
	for _, name := range names {
		if d.busy[name] {
			continue
		}
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// touch records a blob. If nothing refers to it, its time begins anew.
func (b *batch) touch(info storage.BlobInfo) error {
	_, at, err := b.blob(info.ID)
	if err != nil {
		return err
	}
	if err := b.keep(info.ID, at); err != nil {
		return err
	}
	if b.referred(info.ID) {
		return b.putBlob(info.ID, info.Size, zeroTime)
	}
	return b.letGo(info.ID, info.Size)
}

// refer adds a reference. The blob may come later: the reference counts then.
func (b *batch) refer(o storage.Refer) error {
	ref := join(o.Blob, o.Owner)
	if b.get(inRefs, ref) != nil {
		return nil
	}
	if err := b.put(inRefs, ref, []byte{}); err != nil {
		return err
	}
	if err := b.put(inOwners, join(o.Owner, o.Blob), []byte{}); err != nil {
		return err
	}
	size, at, err := b.blob(o.Blob)
	if err != nil || at.IsZero() {
		return err
	}
	if err := b.keep(o.Blob, at); err != nil {
		return err
	}
	return b.putBlob(o.Blob, size, zeroTime)
}

// unrefer ends an owner's references; of a blob that was kept by nobody else
// the time begins.
func (b *batch) unrefer(o storage.Unrefer) error {
	prefix := within(o.Owner)
	var blobs []string
	c := b.tx.Bucket([]byte(inOwners)).Cursor()
	for k, _ := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, _ = c.Next() {
		blobs = append(blobs, string(k[len(prefix):]))
	}
	for _, id := range blobs {
		if err := b.delete(inOwners, join(o.Owner, id)); err != nil {
			return err
		}
		if err := b.delete(inRefs, join(id, o.Owner)); err != nil {
			return err
		}
		if b.get(inBlobs, []byte(id)) == nil || b.referred(id) {
			continue
		}
		size, _, err := b.blob(id)
		if err != nil {
			return err
		}
		if err := b.letGo(id, size); err != nil {
			return err
		}
	}
	return nil
}

// referred reports whether anybody keeps a blob.
func (b *batch) referred(id string) bool {
	prefix := within(id)
	k, _ := b.tx.Bucket([]byte(inRefs)).Cursor().Seek(prefix)
	return bytes.HasPrefix(k, prefix)
}

// letGo lets a blob expire after KeepBlobs, counted from now.
func (b *batch) letGo(id string, size int64) error {
	at := b.now.Add(storage.KeepBlobs)
	if err := b.expire(at, kindBlob, []byte(id)); err != nil {
		return err
	}
	return b.putBlob(id, size, at)
}

// keep takes back a letGo: the expiry that is noted at a time goes. An expiry
// exists exactly while a blob is recorded and nobody refers to it.
func (b *batch) keep(id string, at time.Time) error {
	if at.IsZero() {
		return nil
	}
	return b.delete(inExpiry, expiryKey(at, kindBlob, []byte(id)))
}

// putBlob writes what is known of a blob; the zero time is no expiry.
func (b *batch) putBlob(id string, size int64, at time.Time) error {
	return b.put(inBlobs, []byte(id), appendTime(appendUint64(nil, uint64(size)), at))
}

// blob returns a blob's size and the time after which it may go; zero: never,
// as long as it is referred to.
func (b *batch) blob(id string) (size int64, at time.Time, err error) {
	v := b.get(inBlobs, []byte(id))
	if v == nil {
		return 0, zeroTime, nil
	}
	d := decoder{b: v}
	size, at = int64(d.uint64()), d.time()
	return size, at, d.err("blob", id)
}
