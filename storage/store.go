package storage

import (
	"context"
	"errors"
	"io"
	"time"
)

var (
	// ErrConflict is returned by Apply when its conditional op does not hold:
	// somebody else wrote first. The caller reads again and decides anew.
	ErrConflict = errors.New("conflict")
	// ErrNotFound is returned when a row, an item or a blob does not exist.
	ErrNotFound = errors.New("not found")
	// ErrClosed is returned by every method after Close.
	ErrClosed = errors.New("store is closed")
	// ErrTooLarge is returned by PutBlob when the reader holds more than the
	// caller allowed; nothing is kept.
	ErrTooLarge = errors.New("too large")
)

// Store is a whole engine. It is wide because it is the sum of four small
// contracts; code asks for the one it needs.
type Store interface {
	Applier
	Log
	Table
	Queue
	Blobs

	// Sweep removes what has outlived its keeping: ids of finished items
	// after [KeepFinished], blobs that nothing refers to after [KeepBlobs].
	// It works in small steps and may be called at any time, again and again.
	Sweep(ctx context.Context) error

	// Close waits for what Apply has begun and releases the data. Calling it
	// twice is fine.
	Close() error
}

// How long an engine keeps what is finished. Platforms redeliver within hours;
// seven days leave room for a long outage.
const (
	KeepFinished = 7 * 24 * time.Hour
	KeepBlobs    = 30 * 24 * time.Hour
)

// Applier writes.
type Applier interface {
	// Apply does the ops in order as one step and returns when it is durable.
	// No ops: it returns nil at once. A batch that breaks a rule of this
	// package (two conditional ops, an empty name) is an error that says so.
	// The bytes in ops are the store's until Apply has returned, and if its
	// context has ended, for good.
	Apply(ctx context.Context, ops ...Op) error
}

// Log reads streams. A stream begins to exist with its first record.
type Log interface {
	// Read returns up to limit records of the stream from sequence number
	// from on, in order; none when there are none.
	Read(ctx context.Context, stream string, from uint64, limit int) ([]Record, error)
	// Tail returns the last n records of the stream, in order.
	Tail(ctx context.Context, stream string, n int) ([]Record, error)
}

// Record is one entry of a stream.
type Record struct {
	Seq  uint64 // 1 for the first
	ID   string
	Data []byte
}

// Table reads rows. A table begins to exist with its first row.
type Table interface {
	// Get returns a row, or ErrNotFound.
	Get(ctx context.Context, table, key string) (Row, error)
	// List returns up to limit rows whose key begins with prefix and is
	// greater than after, in order of their keys.
	List(ctx context.Context, table, prefix, after string, limit int) ([]Row, error)
}

// Row is a value with the revision that the last write gave it.
type Row struct {
	Key   string
	Rev   uint64 // 1 for the first write of a key, then counting up
	Value []byte
}

// Queue reads queues and claims from them. Order is kept within a key and
// lane: an item comes out only when all before it have been finished, buried
// or dropped. Different keys and lanes never wait for each other.
type Queue interface {
	// Claim takes up to limit items from the head of a lane for owner until
	// the given time. It returns none when the head is claimed by somebody
	// else or rests until a later time ([Retry]); it stops at the first such
	// item. Claiming one's own items again extends them and returns them.
	Claim(ctx context.Context, queue, key, lane, owner string, until time.Time, limit int) ([]Item, error)
	// Release gives back what owner holds in a queue, so that others need
	// not wait for the claim's end. Items that it does not hold are passed
	// over.
	Release(ctx context.Context, queue, owner string, ids ...string) error
	// Item returns one item by its id in whatever state it is, or
	// ErrNotFound when it was never there or has been swept.
	Item(ctx context.Context, queue, id string) (Item, error)
	// Items lists the items of a queue in the given state, in order of
	// arrival, beginning after the sequence number after. An empty key or
	// lane stands for all.
	Items(ctx context.Context, queue string, of Filter, after uint64, limit int) ([]Item, error)
	// Lanes lists the lanes that have waiting items.
	Lanes(ctx context.Context, queue string) ([]Lane, error)
	// Waiting returns how many items wait in one lane. It is cheap.
	Waiting(ctx context.Context, queue, key, lane string) (int, error)
}

// State is where an item is in its life.
type State string

const (
	StateWaiting State = "waiting" // also while it is claimed
	StateDone    State = "done"
	StateDead    State = "dead"
)

// Filter picks items. The zero Filter picks all that wait.
type Filter struct {
	State State // "" means StateWaiting
	Key   string
	Lane  string
}

// Item is one element of a queue.
type Item struct {
	ID       string
	Seq      uint64 // order of arrival in the whole queue; may have gaps
	Key      string
	Lane     string
	State    State
	Data     []byte    // of a waiting or dead item
	Result   []byte    // what Finish left, of a done item
	Reason   string    // of a dead item
	Attempts int       // how often Retry put it back
	Since    time.Time // when it arrived; of a done or dead item, when it ended
	NotFor   time.Time // it rests until then, zero: it does not rest
}

// Lane is one line of waiting items.
type Lane struct {
	Key   string
	Lane  string
	Count int
}

// Blobs holds files by their content.
type Blobs interface {
	// PutBlob stores what r holds and returns its id, the same for the same
	// content. It is durable when it returns. More than limit bytes is
	// ErrTooLarge; limit <= 0 is refused. A blob that nothing refers to
	// ([Refer]) is swept after KeepBlobs.
	PutBlob(ctx context.Context, r io.Reader, limit int64) (BlobInfo, error)
	// OpenBlob opens a blob for reading, or returns ErrNotFound. The caller
	// closes it.
	OpenBlob(ctx context.Context, id string) (io.ReadSeekCloser, BlobInfo, error)
}

// BlobInfo describes a blob.
type BlobInfo struct {
	ID   string // "sha256-" and the hash in hex
	Size int64
}
