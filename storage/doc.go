// Package storage is the contract of parley's durable state: four primitives,
// small enough that a replicated engine can stand in for the file.
//
//	Log     streams of records with gapless sequence numbers
//	Table   rows with revisions
//	Queue   items in order per key and lane, claimed, retried, buried
//	Blobs   content-addressed files
//
// Reading is by method; writing is by [Op], and [Store.Apply] takes any number
// of them as one step: an event leaves the inbox in the very commit in which
// it enters the log.
//
// # Guarantees
//
// When Apply returns nil, everything in it is on disk. Apply is atomic where
// the engine can (storage/bolt: always); where it cannot, each op names itself
// by an id or a key, so that repeating a half-done batch completes it. At most
// one op of a batch is conditional, it is judged first, and when it conflicts
// nothing of the batch happens: Apply returns [ErrConflict].
//
// Bytes that are read are copies, and nothing that is returned outlives or
// holds a transaction. All methods are safe for concurrent use and end with
// their context; an Apply whose context ended may or may not have happened.
//
// # Caveats
//
// An engine may keep claims in memory if no second process can reach its data:
// after a restart everything waiting can be claimed at once.
package storage
