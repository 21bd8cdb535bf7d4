package bolt

import "context"

// Commits returns how many transactions have been made durable.
func Commits(db *DB) int64 { return db.writer.commits.Load() }

// Queued returns how many requests wait for the writer.
func Queued(db *DB) int { return len(db.writer.requests) }

// Do has the writer run f as a request that changes nothing.
func Do(ctx context.Context, db *DB, f func() error) error {
	return db.writer.submit(ctx, func(*batch) error { return f() })
}

// SetVersion writes another schema version into the file.
func SetVersion(ctx context.Context, db *DB, version byte) error {
	return db.writer.submit(ctx, func(b *batch) error {
		return b.put(inMeta, []byte(metaVersion), []byte{version})
	})
}

// MaxQueued is the size of the writer's queue.
const MaxQueued = maxQueued
