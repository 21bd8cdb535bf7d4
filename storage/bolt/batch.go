package bolt

import (
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"parley/storage"
)

// The buckets. See the package comment for what is in them.
const (
	inMeta    = "meta"
	inRecords = "records"
	inIDs     = "ids"
	inRows    = "rows"
	inItems   = "items"
	inOrder   = "order"
	inBlobs   = "blobs"
	inRefs    = "refs"
	inOwners  = "owners"
	inExpiry  = "expiry"
)

// buckets are made with the file, and all of them have to be there in an old one.
var buckets = []string{
	inMeta, inRecords, inIDs, inRows, inItems, inOrder, inBlobs, inRefs, inOwners, inExpiry,
}

// batch is a transaction of the writer: what the requests of one commit write
// through, and what the memory is to learn when it is durable.
type batch struct {
	tx      *bbolt.Tx
	now     time.Time // the same for all of the commit
	changed bool
	news    []func(*waiting)
}

// run does the requests one after another. A conflict is the business of its
// request, which has written nothing; any other error undoes them all. If none
// of them has changed anything, because all conflict or stand already, there
// is nothing to make durable, and no fsync.
func (b *batch) run(group []*request) error {
	for _, r := range group {
		r.err = r.do(b)
		if r.err != nil && !errors.Is(r.err, storage.ErrConflict) {
			return r.err
		}
	}
	if !b.changed {
		return errUnchanged
	}
	return nil
}

// apply judges the conditional op and then does all of them in order. When the
// conditional op stands already, so do the others, since they came in the same
// commit; they are done again nevertheless, which changes nothing, because the
// contract lets a caller rely on their ids rather than on the engine.
func (b *batch) apply(ops []storage.Op) error {
	stands := -1 // the conditional op, if it has been done before
	for i, o := range ops {
		if !storage.Conditional(o) {
			continue
		}
		done, err := b.judge(o)
		if err != nil {
			return err
		}
		if done {
			stands = i
		}
	}
	for i, o := range ops {
		if i == stands {
			continue
		}
		if err := b.do(o); err != nil {
			return err
		}
	}
	return nil
}

// judge reports whether a conditional op stands already, and ErrConflict when
// it neither stands nor can be done.
func (b *batch) judge(o storage.Op) (stands bool, err error) {
	switch o := o.(type) {
	case storage.Append:
		return b.judgeAppend(o)
	case storage.Put:
		return b.judgePut(o)
	case storage.Delete:
		return b.judgeDelete(o)
	default:
		panic(fmt.Errorf("bolt: %T is not conditional", o))
	}
}

// do carries out one op. It sees what the ops before it have written, and never
// returns a conflict.
func (b *batch) do(o storage.Op) error {
	switch o := o.(type) {
	case storage.Append:
		return b.append(o)
	case storage.Trim:
		return b.trim(o)
	case storage.Put:
		return b.putRow(o)
	case storage.Delete:
		return b.delete(inRows, join(o.Table, o.Key))
	case storage.Enqueue:
		return b.enqueue(o)
	case storage.Update:
		return b.update(o)
	case storage.Finish:
		return b.end(o.Queue, o.ID, o.Result)
	case storage.Retry:
		return b.retry(o)
	case storage.Bury:
		return b.bury(o)
	case storage.Revive:
		return b.revive(o)
	case storage.Drop:
		return b.end(o.Queue, o.ID, nil)
	case storage.Refer:
		return b.refer(o)
	case storage.Unrefer:
		return b.unrefer(o)
	default:
		panic(fmt.Errorf("bolt: unknown op %T", o))
	}
}

// get returns a value, which is valid only until the next write.
func (b *batch) get(bucket string, key []byte) []byte {
	return b.tx.Bucket([]byte(bucket)).Get(key)
}

// put writes a value, which must not be changed afterwards.
func (b *batch) put(bucket string, key, value []byte) error {
	b.changed = true
	if err := b.tx.Bucket([]byte(bucket)).Put(key, value); err != nil {
		return fmt.Errorf("writing to %s: %w", bucket, err)
	}
	return nil
}

// delete removes a key; one that is not there changes nothing.
func (b *batch) delete(bucket string, key []byte) error {
	if b.get(bucket, key) == nil {
		return nil
	}
	b.changed = true
	if err := b.tx.Bucket([]byte(bucket)).Delete(key); err != nil {
		return fmt.Errorf("deleting from %s: %w", bucket, err)
	}
	return nil
}

// tell lets the memory learn of something once it is durable.
func (b *batch) tell(f func(*waiting)) { b.news = append(b.news, f) }
