package storagetest

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/storage"
)

// Harness is a store under test, empty at first.
type Harness struct {
	Store storage.Store
	// Reopen closes the store and opens the same data again.
	Reopen func() storage.Store
	// Clock is the one that the store goes by.
	Clock *Clock
	// KeepsClaims says that claims outlive a Reopen.
	KeepsClaims bool
}

// Clock is a clock that stands still unless it is moved. It is safe for
// concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock at some moment.
func NewClock() *Clock {
	return &Clock{now: time.Date(2026, 3, 14, 15, 9, 26, 535, time.UTC)}
}

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Move puts the clock forward.
func (c *Clock) Move(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

// Run runs the suite. open is called for every test and gives it an empty
// store; what it registers with t.Cleanup runs after that test.
func Run(t *testing.T, open func(t *testing.T) Harness) {
	groups := map[string][]trial{
		"Apply": applyTrials, "Log": logTrials, "Table": tableTrials,
		"Queue": queueTrials, "Claims": claimTrials, "Blobs": blobTrials, "Life": lifeTrials,
	}
	for name, trials := range groups {
		t.Run(name, func(t *testing.T) {
			for _, trial := range trials {
				t.Run(trial.name, func(t *testing.T) {
					k := &kit{T: t, Harness: open(t)}
					trial.run(k)
					k.noError(k.Store.Close(), "closing")
				})
			}
		})
	}
	t.Run("Histories", func(t *testing.T) { histories(t, open) })
}

// trial is one sentence of the contract.
type trial struct {
	name string
	run  func(k *kit)
}

// kit is what a trial works with. Its verbs end the trial when they fail.
type kit struct {
	*testing.T
	Harness
}

// noError fails if something that has to work does not.
func (k *kit) noError(err error, doing string) {
	k.Helper()
	if err != nil {
		k.Fatalf("%s: %v", doing, err)
	}
}

// is fails unless an error is the one that the contract names.
func (k *kit) is(err, want error, doing string) {
	k.Helper()
	if !errors.Is(err, want) {
		k.Fatalf("%s: got %v, want %v", doing, err, want)
	}
}

// equal fails unless two values are the same.
func (k *kit) equal(got, want any, what string) {
	k.Helper()
	if got != want {
		k.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// apply applies a batch that has to go through.
func (k *kit) apply(ops ...storage.Op) {
	k.Helper()
	k.noError(k.Store.Apply(k.Context(), ops...), "applying")
}

// conflict applies a batch that must not.
func (k *kit) conflict(ops ...storage.Op) {
	k.Helper()
	k.is(k.Store.Apply(k.Context(), ops...), storage.ErrConflict, "applying")
}

// reopen goes on with the same data after a restart.
func (k *kit) reopen() {
	k.Helper()
	k.Store = k.Reopen()
}

// stream returns the ids of a stream, and checks that its numbers are gapless.
func (k *kit) stream(name string) string {
	k.Helper()
	records, err := k.Store.Read(k.Context(), name, 0, 1000)
	k.noError(err, "reading")
	var ids []string
	for i, r := range records {
		k.equal(r.Seq, uint64(i+1), "sequence number of "+r.ID)
		ids = append(ids, r.ID)
	}
	return strings.Join(ids, " ")
}

// row returns a row; one that does not exist has revision 0.
func (k *kit) row(table, key string) storage.Row {
	k.Helper()
	row, err := k.Store.Get(k.Context(), table, key)
	if errors.Is(err, storage.ErrNotFound) {
		return storage.Row{}
	}
	k.noError(err, "getting")
	return row
}

// item returns an item that has to exist.
func (k *kit) item(queue, id string) storage.Item {
	k.Helper()
	it, err := k.Store.Item(k.Context(), queue, id)
	k.noError(err, "reading an item")
	return it
}

// listed returns the ids that a filter picks.
func (k *kit) listed(queue string, of storage.Filter) string {
	k.Helper()
	items, err := k.Store.Items(k.Context(), queue, of, 0, 1000)
	k.noError(err, "listing")
	return ids(items)
}

// claimFor is how long the trials claim for.
const claimFor = time.Minute

// claim returns the ids that an owner gets from the lane of the trials.
func (k *kit) claim(owner string, limit int) string {
	k.Helper()
	items, err := k.Store.Claim(k.Context(), "q", "k", "l", owner, k.Clock.Now().Add(claimFor), limit)
	k.noError(err, "claiming")
	return ids(items)
}

// putBlob stores a small blob.
func (k *kit) putBlob(content string) storage.BlobInfo {
	k.Helper()
	info, err := k.Store.PutBlob(k.Context(), strings.NewReader(content), 1<<20)
	k.noError(err, "putting a blob")
	return info
}

// blob returns a blob's content, or "-" if it is gone.
func (k *kit) blob(id string) string {
	k.Helper()
	content, err := readBlob(k.Context(), k.Store, id)
	if errors.Is(err, storage.ErrNotFound) {
		return "-"
	}
	k.noError(err, "reading a blob")
	return content
}

// sweep removes what has outlived its keeping, as of the clock.
func (k *kit) sweep() {
	k.Helper()
	k.noError(k.Store.Sweep(k.Context()), "sweeping")
}

// readBlob reads a whole blob and compares it with the size that it should have.
func readBlob(ctx context.Context, from storage.Blobs, id string) (string, error) {
	r, info, err := from.OpenBlob(ctx, id)
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Close() }()
	content, err := io.ReadAll(r)
	if err == nil && int64(len(content)) != info.Size {
		err = errors.New("the size is wrong")
	}
	return string(content), err
}

// ids writes out the ids of items with spaces between them.
func ids(items []storage.Item) string {
	var ids []string
	for _, it := range items {
		ids = append(ids, it.ID)
	}
	return strings.Join(ids, " ")
}

// entries makes entries whose data tells their ids.
func entries(ids ...string) []storage.Entry {
	var es []storage.Entry
	for _, id := range ids {
		es = append(es, storage.Entry{ID: id, Data: []byte("data of " + id)})
	}
	return es
}

// enqueue makes an item of the lane that the trials use.
func enqueue(id string) storage.Enqueue {
	return storage.Enqueue{Queue: "q", ID: id, Key: "k", Lane: "l", Data: []byte("data of " + id)}
}
