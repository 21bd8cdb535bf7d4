package storage

import "time"

// Op is one step of an [Applier.Apply]. The set is sealed: [Append], [Trim], [Put],
// [Delete], [Enqueue], [Update], [Finish], [Retry], [Bury], [Revive], [Drop],
// [Refer] and [Unrefer]. Each is a literal; repeating one that already stands
// succeeds and changes nothing.
type Op interface{ op() }

// Anywhere as Append.After means: behind whatever is there.
const Anywhere = ^uint64(0)

// Append adds entries to the end of a stream. With After not Anywhere it is
// conditional: the last record must have the sequence number After (0: the
// stream is empty), else ErrConflict; but if the records that follow After
// carry the ids of Entries, whatever others have added since, the append stands
// and succeeds. Without Entries it only asks whether the stream ends at After.
// With Anywhere, an entry whose id was appended Anywhere before is passed over,
// as long as the engine remembers the id (KeepFinished at least). The ids of
// conditional appends need not be remembered: write a stream in one way or in
// the other.
type Append struct {
	Stream  string
	After   uint64
	Entries []Entry
}

// Entry is a record to be appended. ID is not empty and not used twice in a
// stream.
type Entry struct {
	ID   string
	Data []byte
}

// Trim removes the records of a stream up to the sequence number Through, but
// never the last one of the stream: numbers go on from it. It takes as long as
// it removes, so much is trimmed in several steps. A conditional append whose
// records were trimmed cannot be recognised as repeated any more.
type Trim struct {
	Stream  string
	Through uint64
}

// Revision conditions of Put and Delete.
const (
	AnyRev uint64 = ^uint64(0) // unconditional
	NewRev uint64 = 0          // the row must not exist
)

// Put writes a row. With Rev not AnyRev it is conditional: the row must have
// that revision (NewRev: not exist), else ErrConflict. If the row stands
// already as this Put would leave it (written by the same ID from the same
// Rev), it succeeds. A conditional Put needs an ID.
type Put struct {
	Table string
	Key   string
	Value []byte
	Rev   uint64
	ID    string
}

// Delete removes a row; one that does not exist is fine. With Rev not AnyRev
// it is conditional on an existing row having that revision. A row that is put
// again afterwards has revision 1 once more.
type Delete struct {
	Table string
	Key   string
	Rev   uint64
}

// Enqueue puts an item at the end of a lane. If the queue knows the id in any
// state, waiting, done or dead, nothing changes. Key and Lane may be empty.
type Enqueue struct {
	Queue string
	ID    string
	Key   string
	Lane  string
	Data  []byte
	// Done records the id as finished at once, so that a redelivery is known
	// without anybody having to take the item: a refused event.
	Done bool
}

// Update replaces the data of a waiting item, in its place. An item that does
// not wait (any more) is left alone.
type Update struct {
	Queue string
	ID    string
	Data  []byte
}

// Finish ends a waiting or dead item well and keeps Result with its id. An
// item that is done or unknown is left alone.
type Finish struct {
	Queue  string
	ID     string
	Result []byte
}

// Retry puts a waiting item to rest until At, keeps its place, counts an
// attempt and ends its claim.
type Retry struct {
	Queue string
	ID    string
	At    time.Time
}

// Bury makes a waiting item a dead letter, kept with its data until somebody
// revives or drops it. Reason is written for the operator.
type Bury struct {
	Queue  string
	ID     string
	Reason string
}

// Revive puts a dead item at the end of its lane again, as if it arrived now:
// with a new Seq and no attempts.
type Revive struct {
	Queue string
	ID    string
}

// Drop removes a waiting or dead item unshown; its id counts as finished, with
// no result.
type Drop struct {
	Queue string
	ID    string
}

// Refer keeps a blob for as long as the named owner refers to it. Owners are
// names that the caller chooses; the pair counts once. The blob need not be
// there yet: the reference counts when it comes.
type Refer struct {
	Blob  string
	Owner string
}

// Unrefer ends all references of an owner. For what nobody else keeps,
// KeepBlobs begins now.
type Unrefer struct{ Owner string }

func (Append) op()  {}
func (Trim) op()    {}
func (Put) op()     {}
func (Delete) op()  {}
func (Enqueue) op() {}
func (Update) op()  {}
func (Finish) op()  {}
func (Retry) op()   {}
func (Bury) op()    {}
func (Revive) op()  {}
func (Drop) op()    {}
func (Refer) op()   {}
func (Unrefer) op() {}

// Conditional reports whether the op can end an Apply with ErrConflict.
func Conditional(o Op) bool {
	switch o := o.(type) {
	case Append:
		return o.After != Anywhere
	case Put:
		return o.Rev != AnyRev
	case Delete:
		return o.Rev != AnyRev
	case Trim, Enqueue, Update, Finish, Retry, Bury, Revive, Drop, Refer, Unrefer:
		return false
	default:
		panic("storage: unknown op")
	}
}
