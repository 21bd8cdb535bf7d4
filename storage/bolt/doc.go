// Package bolt keeps parley's durable state in one file and a directory of
// blobs: the [storage.Store] of a single process.
//
//	parley.db     a B+tree: log, table, queue, and who refers to which blob
//	blobs/ab/…    the blobs, each named by the hash of its content
//
// # Writing
//
// One goroutine writes. It takes every batch that waits in its queue, applies
// them one after another in a single transaction, and makes them durable with
// a single fsync. A lone writer is never kept waiting for company, and many
// writers share the cost of the disk. A batch whose condition does not hold is
// turned away alone; when anything worse happens, the whole transaction is
// undone and each of its batches is tried again by itself, so that only the
// culprit fails. The queue is bounded: when it is full, Apply blocks until
// there is room or its context ends.
//
// A failure of the disk is an error of the requests it hits. A panic while a
// request is applied is an error of that request, and the writer goes on; only
// when the file itself is found to be damaged does it stop writing for good,
// and everything that comes then is answered with [ErrDamaged].
//
// A batch that changes nothing, because its condition does not hold or because
// it stands already, costs no fsync. Redelivered events are that cheap.
//
// # Reading
//
// Readers do not wait for the writer, nor it for them. Each call reads one
// moment in one short transaction and copies what it returns; none calls its
// caller's code inside, so a caller may read and write as it likes while it
// walks over what it has read.
//
// # Layout
//
// The file has ten flat buckets. Every name in a key is preceded by its
// length, so no name can be mistaken for the beginning of another, whatever
// bytes it holds; numbers are big-endian, so that keys sort as numbers do.
//
//	meta     "version", "clean"          the schema; how the file was closed
//	records  stream, seq                 -> id, data
//	ids      stream, id                  ids of unconditional appends
//	rows     table, key                  -> revision, writer, value
//	items    queue, id                   -> the item in whatever state it is
//	order    queue, state, seq           -> id, key, lane: items by arrival
//	blobs    blob                        -> size, when it may go
//	refs     blob, owner                 who keeps a blob
//	owners   owner, blob                 the same, the other way round
//	expiry   time, kind, …               what may go when
//
// A stream ends where its last record says, so numbers need no counter and have
// no gaps. Items are numbered by one counter for all queues. A conditional
// append needs no memory of ids, since the stream itself tells whether it
// stands; and a row remembers who wrote it last, from which revision.
//
// The items that wait, all but their data, are mirrored in memory together
// with the claims on them; this is what makes Waiting and Claim cheap. An open
// rebuilds the mirror from the waiting items alone and reads nothing else.
// Claims are in memory only: after a restart everything can be claimed.
//
// # Keeping
//
// A finished item keeps its id, key, lane and result, not its data. It goes
// KeepFinished after it ended, as do the ids of unconditional appends, whose
// records stay. Dead letters stay until they are revived or dropped. A blob has
// an expiry exactly while nobody refers to it, counted from when it was last
// put or let go. All this is noted in the expiry bucket in the commit in which
// it begins, in order of time, and Sweep takes from its beginning.
//
// A blob is recorded before its file gets its name, and its file goes before
// its record does. What a crash leaves in between is a record without a file,
// which is not found and expires, or a temporary file, which a sweep removes.
//
// # Opening
//
// The file is locked against a second process, and it is inspected before the
// B+tree code, which trusts what it reads, may touch it: the meta pages, the
// size, the free list and the root always; every page when the file was not
// closed cleanly or has been changed since. A file that does not pass is
// refused with [ErrDamaged] and left as it is. Pages cannot send the
// inspection round in circles, since it enters each of them once.
//
// # Caveats
//
// The file never shrinks; space that is freed is used again. It must not lie
// on a network file system. [DB.Backup] covers the file, not the blobs.
// Damage that happens under a running store surfaces as ErrDamaged where the
// code can tell, and may surface as a crash where it cannot.
package bolt
